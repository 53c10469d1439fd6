package logstore

import (
	"fmt"
	"strconv"
	"strings"
)

// LogDir is where a table keeps its log, below its root.
const LogDir = "_delta_log"

// Keys below LogDir that have no version.
const (
	LastCheckpoint = LogDir + "/_last_checkpoint"
	SidecarDir     = LogDir + "/_sidecars"
)

// FileKind says what a file in LogDir is.
type FileKind int

// Kinds of files in LogDir. Names that are none of these are Other, and are to be skipped.
const (
	Other FileKind = iota
	Commit
	Classic   // a checkpoint in one Parquet file
	MultiPart // one part of a checkpoint in several Parquet files
	V2        // a checkpoint's top file named by a UUID, json or parquet
	Checksum
	Compacted
)

// File is a parsed name.
type File struct {
	Kind    FileKind
	Version int64
	Part    int // MultiPart: from 1
	Parts   int
	Name    string
}

// CommitName is the name of a version's table commit in LogDir.
func CommitName(version int64) string { return fmt.Sprintf("%020d.json", version) }

// CommitKey is the key of a version's table commit.
func CommitKey(version int64) string { return LogDir + "/" + CommitName(version) }

// CheckpointKey is the key of a version's classic checkpoint.
func CheckpointKey(version int64) string {
	return fmt.Sprintf("%s/%020d.checkpoint.parquet", LogDir, version)
}

// Before is a name that comes before all files of the version and after those of
// the version below: what to list after.
func Before(version int64) string { return fmt.Sprintf("%020d", max(version, 0)) }

// Parse reads a name in LogDir.
func Parse(name string) File {
	f := File{Name: name}
	part := strings.Split(name, ".")
	version, ok := number(part[0], 20)
	if !ok {
		return f
	}
	f.Version = version
	switch {
	case len(part) == 2 && part[1] == "json":
		f.Kind = Commit
	case len(part) == 2 && part[1] == "crc":
		f.Kind = Checksum
	case len(part) == 4 && part[2] == "compacted" && part[3] == "json":
		f.Kind = Compacted
	case len(part) >= 3 && part[1] == "checkpoint":
		f.checkpoint(part[2:])
	}
	return f
}

// checkpoint reads what follows "checkpoint." in a name.
func (f *File) checkpoint(rest []string) {
	switch {
	case len(rest) == 1 && rest[0] == "parquet":
		f.Kind = Classic
	case len(rest) == 2 && (rest[1] == "parquet" || rest[1] == "json") && rest[0] != "":
		f.Kind = V2
	case len(rest) == 3 && rest[2] == "parquet":
		part, ok := number(rest[0], 10)
		parts, ok2 := number(rest[1], 10)
		if ok && ok2 && part >= 1 && part <= parts {
			f.Kind, f.Part, f.Parts = MultiPart, int(part), int(parts)
		}
	}
}

func number(text string, digits int) (int64, bool) {
	if len(text) != digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}
