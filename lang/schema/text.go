package schema

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/agext/levenshtein"
)

// Duration is written as text: "90s", "1h30m", "7d". It is stored as text in values.
type Duration time.Duration

// Size is a number of bytes, written as text: "64MB" (10^6), "64MiB" (2^20), or a plain number.
type Size int64

// Ref is a reference to another resource (stream.x, view.y, source.files.z.malformed); it is
// stored as text in values. addr.ParseReference reads it.
type Ref string

// SQL is query or expression text; changing it is judged by meaning, not by text.
type SQL string

type durationUnit struct {
	name string
	size time.Duration
}

// durationUnits lists the units from the greatest; text is written with the first that fit.
func durationUnits() []durationUnit {
	return []durationUnit{
		{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
		{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", 1},
	}
}

// ParseDuration reads "1h30m", "7d", "0.5s". Units are d (24 hours), h, m, s, ms,
// us and ns; "0" needs none. The error is a sentence for the user.
func ParseDuration(text string) (Duration, error) {
	bad := fmt.Errorf("%q is not a duration; write a number and a unit, such as \"90s\", \"1h30m\" or \"7d\" (units: d, h, m, s, ms, us, ns).", text)
	if text == "0" {
		return 0, nil
	}
	total := new(big.Rat)
	for rest := text; rest != "" || text == ""; {
		number, unit, after := splitQuantity(rest)
		n, ok := decimal(number)
		size := unitSize(unit)
		if !ok || size == 0 {
			return 0, bad
		}
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(int64(size))))
		rest = after
	}
	ns, ok := roundToInt64(total)
	if !ok {
		return 0, fmt.Errorf("%q is longer than the longest duration, about 292 years.", text)
	}
	return Duration(ns), nil
}

func unitSize(name string) time.Duration {
	for _, u := range durationUnits() {
		if u.name == name {
			return u.size
		}
	}
	return 0
}

// String writes the duration in its greatest units: 90 minutes are "1h30m".
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	rest := uint64(d)
	if d < 0 {
		b.WriteByte('-')
		rest = uint64(-d)
	}
	for _, u := range durationUnits() {
		if n := rest / uint64(u.size); n > 0 {
			b.WriteString(strconv.FormatUint(n, 10) + u.name)
			rest %= uint64(u.size)
		}
	}
	return b.String()
}

// ParseSize reads "64MB", "1.5GiB", "1000". Units of ten: kB, MB, GB, TB, PB; of
// two: KiB, MiB, GiB, TiB, PiB; capitals do not matter. The error is a sentence for the user.
func ParseSize(text string) (Size, error) {
	number, unit, rest := splitQuantity(strings.TrimSpace(text))
	n, ok := decimal(number)
	factor := sizeFactor(strings.ToLower(strings.TrimSpace(unit)))
	if !ok || rest != "" || factor == 0 {
		return 0, fmt.Errorf("%q is not a size; write a number of bytes, or a number and a unit, such as \"64MB\" or \"1GiB\".", text)
	}
	bytes, ok := roundToInt64(n.Mul(n, new(big.Rat).SetInt64(factor)))
	if !ok {
		return 0, fmt.Errorf("%q is greater than the greatest size, 8 EiB.", text)
	}
	return Size(bytes), nil
}

func sizeFactor(unit string) int64 {
	if unit == "" || unit == "b" {
		return 1
	}
	power := strings.IndexByte("kmgtp", unit[0]) + 1
	switch {
	case power == 0:
		return 0
	case unit[1:] == "b":
		return int64(math.Pow10(3 * power))
	case unit[1:] == "ib":
		return 1 << (10 * power)
	}
	return 0
}

// String writes the size in the greatest unit that divides it: "64MiB", "1500kB", "7B".
func (s Size) String() string {
	for power := 5; power > 0 && s > 0; power-- {
		letter := "kMGTP"[power-1 : power]
		if two := int64(1) << (10 * power); int64(s)%two == 0 {
			return strconv.FormatInt(int64(s)/two, 10) + strings.ToUpper(letter) + "iB"
		}
		if ten := int64(math.Pow10(3 * power)); int64(s)%ten == 0 {
			return strconv.FormatInt(int64(s)/ten, 10) + letter + "B"
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// splitQuantity cuts the first number and unit off: "1h30m" is "1", "h", "30m".
func splitQuantity(s string) (number, unit, rest string) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }
	i := strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) })
	if i < 0 {
		return s, "", ""
	}
	number, rest = s[:i], s[i:]
	j := strings.IndexFunc(rest, isDigit)
	if j < 0 {
		return number, rest, ""
	}
	return number, rest[:j], rest[j:]
}

// decimal reads digits with at most one point; a length limit keeps hostile text cheap.
func decimal(s string) (*big.Rat, bool) {
	if s == "" || s == "." || len(s) > 40 || strings.Count(s, ".") > 1 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func roundToInt64(r *big.Rat) (int64, bool) {
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return n.Int64(), n.IsInt64()
}

// SecretText is what secret(ref) evaluates to, and what values and state hold.
func SecretText(ref string) string { return "secret:" + ref }

// ParseSecret splits a secret reference's text, "secret:env:NAME", into the place it
// is kept in (env or file) and its name there. The error is a sentence for the user.
func ParseSecret(text string) (place, name string, err error) {
	ref, ok := strings.CutPrefix(text, "secret:")
	if !ok {
		return "", "", errors.New(`it must be a secret reference, so that the secret itself never reaches state or plans: secret("env:NAME") or secret("file:PATH").`)
	}
	place, name, _ = strings.Cut(ref, ":")
	if (place != "env" && place != "file") || name == "" {
		return "", "", fmt.Errorf("%q does not say where the secret is kept: write \"env:NAME\" or \"file:PATH\".", ref)
	}
	return place, name, nil
}

// Nearest is the candidate most like what was written, for "Did you mean"; empty when
// none is within three edits, or when reaching it would replace most of the word.
func Nearest(written string, candidates []string) string {
	best, least := "", min(3, (len(written)+1)/2)
	for _, c := range candidates {
		if d := len(written) - len(c); d > least || -d > least {
			continue
		}
		if d := levenshtein.Distance(written, c, nil); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}
