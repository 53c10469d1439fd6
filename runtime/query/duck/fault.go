package duck

import "strings"

// Unreadable recognises the messages of DuckDB's readers about records and files.
func Unreadable(text string) bool {
	if strings.Contains(text, "INTERNAL Error") || strings.Contains(text, "FATAL Error") || ofMachine(text) {
		return false
	}
	for _, mark := range []string{"Invalid Input Error", "Conversion Error", "CSV Error", "JSON", "Parquet", "parquet", "IO Error", "No magic bytes", "Could not", "Invalid Error", "Serialization Error", "Out of Range", "gzip", "zstd", "ZSTD", "sniff"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// ofMachine recognises what says nothing about a file: the system had no means to give it, or took no more. A file that may not be opened is
// malformed as a whole.
func ofMachine(text string) bool {
	for _, mark := range []string{"No space left", "Disk quota exceeded", "Permission Error", "Input/output error", "Too many open files",
		"Stale file handle", "Transport endpoint", "Host is down", "Connection timed out", "Read-only file system"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// DataFault recognises errors that the values of the input cause.
func DataFault(text string) bool {
	for _, mark := range []string{"Conversion Error", "Out of Range Error", "Invalid Input Error", "Constraint Error", "Mismatch Type Error", "Divide by zero"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
