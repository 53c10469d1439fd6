package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// source is an open source.files.
type source struct {
	path    string // absolute
	exclude *globSet
	config  *sourceConfig
	after   time.Time // zero: no bound
	before  time.Time // zero: no bound
	now     func() time.Time
}

// Discover lists the path once and compares it with the ledger. It looks at nothing
// but names, sizes and times, so a hundred thousand files cost well under a second.
func (s *source) Discover(ctx context.Context, ledger connector.Ledger) ([]connector.Entry, error) {
	place, err := newTarget(s.path)
	if err != nil {
		return nil, &connector.UserError{Summary: "Invalid path", Detail: err.Error(), Attr: "path"}
	}
	place.exclude, place.hidden = s.exclude, s.config.IncludeHidden
	listed, err := place.list(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now().UTC()
	if ledger.LastOrdinal() == 0 && !s.config.IncludeExisting {
		return s.skipExisting(listed, now), nil
	}
	var fresh []found
	var changed []connector.Entry
	for _, f := range listed {
		if !s.admits(f) || s.unsettled(f, now) {
			continue
		}
		known, ok, err := ledger.Lookup(f.path)
		if err != nil {
			return nil, fmt.Errorf("looking up %s in the ledger: %w", f.path, err)
		}
		verdict, err := s.judge(f, known, ok)
		if err != nil {
			return nil, err
		}
		switch verdict {
		case enter:
			fresh = append(fresh, f)
		case refresh:
			changed = append(changed, revised(known, f, connector.Pending))
		case supersede:
			changed = append(changed, revised(known, f, connector.Overwritten))
		}
	}
	s.sort(fresh)
	return append(newEntries(fresh, ledger.LastOrdinal(), now, connector.Pending), changed...), nil
}

// verdict is what becomes of a listed file.
type verdict int

const (
	leave     verdict = iota // nothing new about it
	enter                    // a new entry with the next ordinal
	refresh                  // not read yet: its entry takes the new version
	supersede                // read before, and the new version is not to be read
)

// judge compares a listed file with the newest entry of its path.
func (s *source) judge(f found, known connector.Entry, ok bool) (verdict, error) {
	switch {
	case !ok, known.Status == connector.Vanished: // one that came back was never read
		return enter, nil
	case opened(known, f.version()):
		return enter, nil
	case known.Version == f.version():
		return leave, nil
	case known.Status == connector.Pending:
		return refresh, nil
	case known.Status == connector.Malformed, known.Status == connector.Skipped:
		return enter, nil // nothing of it was read, so nothing is overwritten
	}
	switch s.config.OnOverwrite {
	case "append":
		return enter, nil
	case "fail":
		return leave, &connector.UserError{Summary: "A file was overwritten after it was read",
			Detail: fmt.Sprintf("%s was read with %d bytes of %s and now has %d bytes of %s; on_overwrite = \"fail\" stops here. "+
				"Put the former file back, or set on_overwrite to \"ignore\" (keep what was read) or \"append\" (read the new version as well).",
				f.path, known.SizeBytes, stamp(known.ModifiedAt), f.size, stamp(f.modified))}
	}
	return supersede, nil
}

// opened reports whether a file that could not be read because nobody may open it can be opened now. Permission is given without a new
// version of the file; only files that were refused are tried.
func opened(known connector.Entry, version string) bool {
	if known.Status != connector.Malformed || known.Version != version || !strings.Contains(known.Error, fs.ErrPermission.Error()) {
		return false
	}
	f, err := os.Open(known.Path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// stamp shows a time as people compare it with a listing.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999999Z") }

// skipExisting enters what is there when the source is created as files that are never read. A
// source that starts on nothing enters its folder, so that the next listing is not the first.
func (s *source) skipExisting(listed []found, now time.Time) []connector.Entry {
	there := slices.DeleteFunc(listed, func(f found) bool { return !s.admits(f) })
	if len(there) == 0 {
		there = []found{{path: s.path, modified: now}}
	}
	s.sort(there)
	return newEntries(there, 0, now, connector.Skipped)
}

// admits applies the bounds on the modification time; both are exclusive.
func (s *source) admits(f found) bool {
	return (s.after.IsZero() || f.modified.After(s.after)) && (s.before.IsZero() || f.modified.Before(s.before))
}

// unsettled reports whether a file may still be growing.
func (s *source) unsettled(f found, now time.Time) bool {
	settle := time.Duration(s.config.Settle)
	return settle > 0 && now.Sub(f.modified) < settle
}

// sort puts the files of one listing into the order they are read in.
func (s *source) sort(files []found) {
	slices.SortFunc(files, func(a, b found) int {
		if s.config.Order == "name" {
			return cmp.Compare(a.path, b.path)
		}
		return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.path, b.path))
	})
}

// newEntries gives files the ordinals after last.
func newEntries(files []found, last int64, now time.Time, status string) []connector.Entry {
	entries := make([]connector.Entry, len(files))
	for i, f := range files {
		entries[i] = connector.Entry{Path: f.path, Version: f.version(), SizeBytes: f.size, ModifiedAt: f.modified,
			DiscoveredAt: now, Ordinal: last + int64(i) + 1, Rows: -1, Status: status}
	}
	return entries
}

// revised is a known entry that now stands for another version of its file.
func revised(e connector.Entry, f found, status string) connector.Entry {
	e.Version, e.SizeBytes, e.ModifiedAt, e.Status = f.version(), f.size, f.modified, status
	return e
}

// Scan says how the files are decoded, and how many an epoch takes.
func (s *source) Scan() (batch.Scan, connector.Limits) { return s.config.scan(), s.config.limits() }

// Verify looks at the file once more.
func (s *source) Verify(_ context.Context, e connector.Entry) error {
	info, err := os.Stat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", e.Path, connector.ErrVanished)
	case err != nil:
		return listingError(e.Path, err)
	}
	now := found{size: info.Size(), modified: info.ModTime()}.version()
	if now != e.Version || opened(e, now) {
		return fmt.Errorf("%s: %w", e.Path, connector.ErrChanged)
	}
	return nil
}

// Close does nothing: a listing leaves nothing open.
func (s *source) Close() error { return nil }
