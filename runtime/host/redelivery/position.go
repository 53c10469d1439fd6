package redelivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Start is the position before everything.
const Start = "start"

const forms = "A position is one of\n\n" +
	"  start                  everything that was read\n" +
	"  12                     what epoch 12 and later ones have read\n" +
	"  2026-05-01T10:00:00Z   what was read at that time and later\n" +
	"  landing/b.json         that file of a source, and those read after it"

// rewindable says why a resource cannot be rewound.
func (w *work) rewindable() error {
	r := w.Network.Record(w.at)
	switch {
	case w.at.Block == addr.View:
		return &connector.UserError{Summary: "A view is not rewound", Detail: fmt.Sprintf(
			"%s equals its query over everything that was read. Were something read twice, it would be counted twice. "+
				"To compute it anew from the start, run:\n  streamform apply -replace=%s", w.at, w.at)}
	case w.at.Block == addr.Sink:
		from, err := r.Newest().From()
		if err != nil {
			return err
		}
		return &connector.UserError{Summary: "A sink is not rewound", Detail: fmt.Sprintf(
			"Name the stream or source that it delivers: %s. To write %s anew from the start, run:\n  streamform apply -replace=%s", from, w.at, w.at)}
	case r.Live == nil:
		return &connector.UserError{Summary: "Nothing to rewind", Detail: fmt.Sprintf("%s serves nothing yet. Run \"streamform apply\" first.", w.at)}
	}
	return nil
}

// twice refuses a rewind that may not deliver rows twice.
func (w *work) twice() error {
	var names []string
	for _, s := range w.sinks {
		names = append(names, s.Addr.String())
	}
	return &connector.UserError{Summary: "Rows would be delivered twice", Detail: fmt.Sprintf(
		"Rows of %s that were delivered stay where they are, and a rewind gives them to %s once more. "+
			"If that is what you want, add -allow-duplicates. To write a sink anew instead, run:\n  streamform apply -replace=%s", w.at, strings.Join(names, " and "), names[0])}
}

// position finds the ordinal of each source after which a rewind begins.
func (w *work) position(v *store.View, to string) (map[string]int64, error) {
	begins, err := w.beginning(to)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	var found []string
	for _, s := range w.sources {
		state, err := job.ReadSourceState(v, s.ID)
		if err != nil {
			return nil, fmt.Errorf("reading the position of %s: %w", s.Addr, err)
		}
		out[s.ID] = state.Position
		err = job.Records(v, s.ID, func(r job.Record) error {
			if r.Ordinal > state.Position || !given(r) || !begins(r) {
				return nil
			}
			found = append(found, r.Path)
			out[s.ID] = min(out[s.ID], r.Ordinal-1)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading the ledger of %s: %w", s.Addr, err)
		}
	}
	if len(found) == 0 {
		return nil, &connector.UserError{Summary: "Nothing to deliver again", Detail: fmt.Sprintf("%s has read nothing at %q or after it.\n\n%s", w.at, to, forms)}
	}
	slices.Sort(found)
	if paths := slices.Compact(found); len(paths) > 1 && named(to) {
		return nil, &connector.UserError{Summary: "Several files have that name", Detail: fmt.Sprintf("%q is the name of %s. Write more of the path.", to, strings.Join(paths, " and of "))}
	}
	return out, nil
}

// given reports whether a file has given rows.
func given(r job.Record) bool {
	return r.Status == connector.Read || r.Status == connector.Overwritten && r.Rows >= 0
}

// named reports whether a position is the name of a file.
func named(to string) bool {
	_, err := strconv.ParseInt(to, 10, 64)
	_, timeless := moment(to)
	return to != Start && err != nil && timeless != nil
}

// beginning reads a position: it tells the files at which it begins.
func (w *work) beginning(to string) (func(job.Record) bool, error) {
	epoch, err := strconv.ParseInt(to, 10, 64)
	at, timeless := moment(to)
	switch {
	case to == "":
		return nil, &connector.UserError{Summary: "No position", Detail: "Say with -to from where on rows are delivered again. " + forms}
	case to == Start:
		return func(job.Record) bool { return true }, nil
	case err == nil:
		return func(r job.Record) bool { return r.Epoch >= epoch }, nil
	case timeless == nil:
		return func(r job.Record) bool { return !r.CommittedAt.Before(at) }, nil
	}
	tail := "/" + strings.TrimPrefix(strings.TrimPrefix(to, "./"), "/")
	return func(r job.Record) bool { return r.Path == to || strings.HasSuffix("/"+r.Path, tail) }, nil
}

func moment(to string) (time.Time, error) { return time.Parse(time.RFC3339, to) }

// retained refuses a rewind over files that cannot be read as they were, and whose rows are not held.
func (w *work) retained(ctx context.Context, v *store.View, rec record) error {
	for _, s := range w.sources {
		lost, last := 0, job.Record{}
		held, err := s.Holding(v, rec.Done[s.ID], rec.Ends[s.ID])
		if err != nil {
			return fmt.Errorf("looking at what %s holds: %w", s.Addr, err)
		}
		err = job.Records(v, s.ID, func(r job.Record) error {
			if r.Ordinal <= rec.Done[s.ID] || r.Ordinal > rec.Ends[s.ID] || !given(r) || held.Has(r.Ordinal) {
				return nil
			}
			found := error(connector.ErrChanged)
			if r.Status == connector.Read {
				found = s.From.Verify(ctx, r.Entry)
			}
			if found != nil && !errors.Is(found, connector.ErrVanished) && !errors.Is(found, connector.ErrChanged) {
				return found
			}
			if found != nil {
				lost++
				last = r
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for the files of %s: %w", s.Addr, err)
		}
		if lost > 0 {
			return &connector.UserError{Summary: "What is below that position cannot be read again", Detail: fmt.Sprintf(
				"%d of the files that %s has read from %q on are gone or have changed; the last is %s. Put them back as they were, or rewind to what was read later: -to=%d is the first epoch after it.",
				lost, s.Addr, rec.To, last.Path, last.Epoch+1)}
		}
	}
	return nil
}
