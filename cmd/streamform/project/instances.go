package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// instances are what addresses on the command line stand for: one without a key, of a block that has several instances, configured
// or recorded, stands for all of them. cfg and d may be nil.
func instances(list []addr.Resource, cfg *lang.Config, d *state.Document) []addr.Resource {
	out := make([]addr.Resource, 0, len(list))
	for _, a := range list {
		out = append(out, a)
		if a.Key != (addr.Key{}) {
			continue
		}
		several := instancesOf(a, cfg, d)
		if len(several) > 0 && !slices.Contains(several, a) {
			out = out[:len(out)-1]
		}
		for _, one := range several {
			if one != a {
				out = append(out, one)
			}
		}
	}
	return out
}

// instancesOf lists the resources of one block, in order.
func instancesOf(whole addr.Resource, cfg *lang.Config, d *state.Document) (out []addr.Resource) {
	if cfg != nil {
		for _, r := range cfg.Resources {
			out = append(out, r.Addr)
		}
	}
	if d != nil {
		for _, r := range d.Resources {
			out = append(out, r.Addr)
		}
	}
	out = slices.DeleteFunc(out, func(a addr.Resource) bool { return a.Whole() != whole })
	slices.SortFunc(out, addr.Resource.Compare)
	return slices.Compact(out)
}

func notRecorded(a addr.Resource, d *state.Document) diag.Diagnostic {
	detail := fmt.Sprintf("%s is not in the recorded state.", a)
	several := instancesOf(a.Whole(), nil, d)
	switch {
	case len(several) > 1 && a.Key == addr.Key{}:
		detail += fmt.Sprintf(" It has %d instances, of which one can be named, such as %s.", len(several), several[0])
	case len(several) > 0:
		detail += fmt.Sprintf(" There is %s.", strings.Join(texts(several[:min(len(several), 3)]), ", "))
	}
	return diag.NewError(nil, "Resource not recorded", detail+" List what is there with: streamform state list")
}

func texts(list []addr.Resource) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.String()
	}
	return out
}
