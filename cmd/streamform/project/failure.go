package project

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/state"
)

// findings splits an error into what the user can mend, as diagnostics with the
// place in the configuration where one is known, and the rest. cfg may be nil.
func findings(cfg *lang.Config, err error) (diag.Diagnostics, error) {
	var all diag.Diagnostics
	var rest []error
	for _, e := range split(err) {
		if d, ok := finding(cfg, e); ok {
			all = append(all, d)
		} else {
			rest = append(rest, e)
		}
	}
	return all, errors.Join(rest...)
}

// split takes joined errors apart.
func split(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, split(e)...)
	}
	return out
}

func finding(cfg *lang.Config, err error) (diag.Diagnostic, bool) {
	var failure *job.Failure
	var user *connector.UserError
	var asked *query.Error
	var data *query.DataError
	var form *catalog.FormError
	switch {
	case errors.Is(err, store.ErrInUse):
		return inUse(), true
	case errors.As(err, &form):
		return otherForm(form), true
	case errors.As(err, &failure):
		d := at(cfg, failure.Relation, failure.Summary, failure.Detail)
		d.Detail = strings.TrimSpace(d.Detail + "\n\nNothing of this epoch was committed; pipeline " + failure.Pipeline + " stopped here.")
		return d, true
	case errors.As(err, &user):
		return diag.NewError(nil, user.Summary, user.Detail), true
	case errors.As(err, &asked):
		return diag.NewError(nil, asked.Summary, asked.Detail), true
	case errors.As(err, &data):
		return at(cfg, data.Relation, data.Summary, data.Detail), true
	}
	return stateFinding(err)
}

func inUse() diag.Diagnostic {
	return diag.NewError(nil, "The runtime is in use",
		"Another streamform process, such as run or apply, has this project's data directory open. Wait until it ends or stop it (Ctrl-C finishes the epoch in hand), then try again.")
}

func otherForm(e *catalog.FormError) diag.Diagnostic {
	return diag.NewError(nil, "Keyed data has the form of another version", fmt.Sprintf(
		"What operators remember in %[1]s was written by another build of streamform, in form %[2]s. This one reads form %[3]s. Nothing was changed.\n\n"+
			"Go on with the build that wrote it. Or compute everything again from the sources:\n\n"+
			"  1. Move %[1]s away.\n"+
			"  2. Empty the tables and folders of the sinks, or give the sinks other paths: rows of the former runtime would be there twice.\n"+
			"  3. Run \"streamform apply\".", e.Dir, e.Form, e.Reads))
}

// stateFinding recognises what can be wrong with the recorded state.
func stateFinding(err error) (diag.Diagnostic, bool) {
	var locked *state.LockedError
	var damaged *state.CorruptedError
	var newer *state.NewerError
	var wrong *state.WrongLockError
	switch {
	case errors.As(err, &damaged):
		way := "Mend it, or move it away, and the next plan shows everything as new."
		if damaged.Backup != "" {
			way = "Copy that over it, and see with plan what has changed since."
		}
		return diag.NewError(nil, "The recorded state is damaged", sentence(damaged.Error())+" Nothing was changed. "+way), true
	case errors.As(err, &newer):
		return diag.NewError(nil, "The recorded state is newer than this program", sentence(newer.Error())+" Use that version or a later one."), true
	case errors.As(err, &wrong):
		return diag.NewError(nil, "Failed to unlock state", sentence(wrong.Error())), true
	case errors.As(err, &locked):
		return diag.NewError(nil, "Error acquiring the state lock", locked.Error()), true
	case errors.Is(err, fs.ErrPermission) && strings.HasPrefix(err.Error(), "locking the state"):
		return diag.NewError(nil, "Error acquiring the state lock", sentence(err.Error())+" Give this user write access to the folder."), true
	}
	return diag.Diagnostic{}, false
}

// at is an error about a resource, given as its address or the name of a relation.
func at(cfg *lang.Config, name, summary, detail string) diag.Diagnostic {
	d := diag.NewError(nil, summary, detail)
	d.Address = name
	if r := named(cfg, name); r != nil {
		subject := r.Range
		d.Subject, d.Address, d.Context = &subject, r.Addr.String(), r.Addr.Header()
	}
	return d
}

// named finds a resource by its address, or a relation by its name.
func named(cfg *lang.Config, name string) *lang.Resource {
	if cfg == nil {
		return nil
	}
	bare, _, _ := strings.Cut(name, ".")
	for i := range cfg.Resources {
		r := &cfg.Resources[i]
		if r.Addr.String() == name || r.Addr.Block.IsRelation() && strings.EqualFold(r.Addr.Relation(), bare) {
			return r
		}
	}
	return nil
}

// sqlError turns what the compiler or a connector says of a user's mistake into
// the form that graph and bind expect.
func sqlError(err error) error {
	var asked *query.Error
	var user *connector.UserError
	switch {
	case errors.As(err, &asked):
		return &graph.SQLError{Summary: asked.Summary, Detail: asked.Detail, Start: asked.Start, End: asked.End}
	case errors.As(err, &user):
		return &graph.SQLError{Summary: user.Summary, Detail: user.Detail, Attr: user.Attr}
	}
	return err
}

// address reads an address given on the command line.
func address(flag, text string) (addr.Resource, *diag.Diagnostic) {
	a, err := addr.Parse(text)
	if err == nil {
		return a, nil
	}
	d := diag.NewError(nil, "Invalid address", fmt.Sprintf("The %s cannot be used: %s.", flag, err))
	return a, &d
}

// sentence makes an error's text a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
