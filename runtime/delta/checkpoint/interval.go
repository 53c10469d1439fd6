package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Table properties that hold a time span, and their defaults.
const (
	deletedFileRetention     = "delta.deletedFileRetentionDuration" // how long a removed file is kept for readers of older versions
	logRetention             = "delta.logRetentionDuration"
	deletedFileRetentionTime = 7 * day
	logRetentionTime         = 30 * day
	forever                  = 100 * 365 * day
)

// span is a time span from a table's configuration. One that cannot be read counts as forever: it must not cost anybody history.
func span(configuration map[string]string, key string, otherwise time.Duration) time.Duration {
	text, ok := configuration[key]
	if !ok {
		return otherwise
	}
	d, err := ParseInterval(text)
	if err != nil {
		return forever
	}
	return d
}

// ParseInterval reads a span as Spark writes it in table properties: "interval 30 days", "2 weeks 12 hours".
func ParseInterval(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, fmt.Errorf("%q is not an interval", text)
	}
	var total time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(strings.Trim(words[i], "'"), 10, 32)
		unit, ok := unitOf(strings.TrimSuffix(words[i+1], "s"))
		if err != nil || !ok || n < 0 {
			return 0, fmt.Errorf("%q is not an interval", text)
		}
		part := time.Duration(n) * unit
		if n > 0 && part/unit != time.Duration(n) || total+part < total {
			return 0, fmt.Errorf("interval %q is too long", text)
		}
		total += part
	}
	return total, nil
}

func unitOf(word string) (time.Duration, bool) {
	switch word {
	case "microsecond":
		return time.Microsecond, true
	case "millisecond":
		return time.Millisecond, true
	case "second":
		return time.Second, true
	case "minute":
		return time.Minute, true
	case "hour":
		return time.Hour, true
	case "day":
		return day, true
	case "week":
		return 7 * day, true
	}
	return 0, false
}
