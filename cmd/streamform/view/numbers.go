package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count writes a number with separators between its thousands.
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Things writes a number and what is counted: 1 row, 1,200 rows.
func Things(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Bytes writes a size in decimal units with three digits.
func Bytes(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), -1
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return fmt.Sprintf("%s %cB", short(value), units[unit])
}

// Rate writes a speed per second with three digits: 1.25M rows/s.
func Rate(n int64, elapsed time.Duration, one string) string {
	if elapsed <= 0 {
		return ""
	}
	value := float64(n) / elapsed.Seconds()
	suffix := ""
	for _, s := range []string{"k", "M", "G"} {
		if value < 9999.5 && suffix == "" && s == "k" || value < 999.5 {
			break
		}
		value /= 1000
		suffix = s
	}
	return fmt.Sprintf("%s%s %ss/s", short(value), suffix, one)
}

func short(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Elapsed writes a duration in whole seconds, as progress lines have it: 5s, 1m10s.
func Elapsed(d time.Duration) string { return d.Round(time.Second).String() }

// clock writes a duration as minutes and seconds: 00m10s.
func clock(d time.Duration) string {
	seconds := int64(d / time.Second)
	return fmt.Sprintf("%02dm%02ds", seconds/60, seconds%60)
}
