package action

import (
	"errors"
	"fmt"
)

// Validate reports what must not stand together in one table commit: two
// metaData or protocol actions, two txns of one appId, two settings of one domain, a
// path twice among the adds or the removes, or a path added and removed with one and the same deletion vector.
func Validate(actions []Action) error {
	seen := validation{once: map[string]bool{}, adds: map[string]string{}, removes: map[string]string{}}
	for _, a := range actions {
		if err := seen.take(a); err != nil {
			return err
		}
	}
	for path, vector := range seen.adds {
		if removed, both := seen.removes[path]; both && removed == vector {
			return fmt.Errorf("file %q is added and removed with the same deletion vector", path)
		}
	}
	return nil
}

type validation struct {
	once          map[string]bool
	adds, removes map[string]string // path → deletion vector
}

func (v *validation) take(a Action) error {
	switch {
	case a.Metadata != nil:
		return v.single("metaData action")
	case a.Protocol != nil:
		return v.single("protocol action")
	case a.Txn != nil:
		return v.single(fmt.Sprintf("txn action of appId %q", a.Txn.AppID))
	case a.DomainMetadata != nil:
		return v.single(fmt.Sprintf("domainMetadata action of domain %q", a.DomainMetadata.Domain))
	case a.Add != nil:
		return v.file(v.adds, a.Add.Path, a.Add.Key())
	case a.Remove != nil:
		return v.file(v.removes, a.Remove.Path, a.Remove.Key())
	}
	return nil
}

func (v *validation) single(what string) error {
	if v.once[what] {
		return fmt.Errorf("more than one %s", what)
	}
	v.once[what] = true
	return nil
}

func (v *validation) file(side map[string]string, path string, key FileKey) error {
	if path == "" {
		return errors.New("a file action has no path")
	}
	if _, twice := side[key.Path]; twice {
		return fmt.Errorf("file %q is named twice on one side", path)
	}
	side[key.Path] = key.DV
	return nil
}
