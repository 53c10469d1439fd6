package schema

import (
	"fmt"
	"time"
)

// Keeping says which rows that a source admitted the runtime holds.
type Keeping struct {
	All bool          // for good
	For time.Duration // until they were committed that long ago; 0 without All: none are held
}

// Any reports whether rows are held at all.
func (k Keeping) Any() bool { return k.All || k.For > 0 }

// Less reports whether what k holds may be less than what was held before.
func (k Keeping) Less(before Keeping) bool {
	return before.All && !k.All || before.Any() && !k.All && k.For < before.For
}

// ParseKeep reads a value of the attribute keep: none, all or a duration. Its error is a sentence for the user.
func ParseKeep(text string) (Keeping, error) {
	switch text {
	case "", "none":
		return Keeping{}, nil
	case "all":
		return Keeping{All: true}, nil
	}
	d, err := ParseDuration(text)
	if err != nil || d <= 0 {
		return Keeping{}, fmt.Errorf("%q is not possible here; use \"none\", \"all\" or a duration such as \"30d\".", text)
	}
	return Keeping{For: time.Duration(d)}, nil
}

// Keep declares the attribute keep of sources.
func Keep(target *string) Field {
	return Optional("keep", target, "Which of its rows the runtime holds, so that what is made of them can be computed anew without reading the source again: none, all, or those committed within a duration such as 30d. Rows are held from the first epoch after it is set, compressed, with all columns; what is set aside as malformed is held with them.",
		Check(func(text string) error {
			_, err := ParseKeep(text)
			return err
		}))
}
