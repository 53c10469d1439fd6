package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/google/uuid"
)

// NewLockInfo fills a lock record for this process: a new ID, user@host, the time. Operation is
// spelled as Terraform's users know it: OperationTypeApply.
func NewLockInfo(operation, version, path string) LockInfo {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		who += "@" + host
	}
	return LockInfo{ID: uuid.NewString(), Operation: operation, Who: who, Version: version, Created: time.Now().UTC(), Path: path}
}

// Acquire takes the lock, trying again until the timeout has passed (0: one try).
// It fails with the last *LockedError.
func Acquire(ctx context.Context, s Store, info LockInfo, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	wait := 50 * time.Millisecond
	for {
		err := s.Lock(ctx, info)
		var locked *LockedError
		left := time.Until(deadline)
		if err == nil || !errors.As(err, &locked) || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(min(wait, left)):
		}
		wait = min(2*wait, time.Second)
	}
}

// Details is the holder's record as lines of text, with its age and the command that removes the lock.
func (e *LockedError) Details(now time.Time) string {
	h := e.Holder
	var b strings.Builder
	b.WriteString("Lock Info:\n")
	fmt.Fprintf(&b, "  ID:        %s\n", h.ID)
	fmt.Fprintf(&b, "  Path:      %s\n", h.Path)
	fmt.Fprintf(&b, "  Operation: %s\n", h.Operation)
	fmt.Fprintf(&b, "  Who:       %s\n", h.Who)
	fmt.Fprintf(&b, "  Version:   %s\n", h.Version)
	fmt.Fprintf(&b, "  Created:   %s (%s ago)\n", h.Created.UTC().Format("2006-01-02 15:04:05 MST"), age(now.Sub(h.Created)))
	fmt.Fprintf(&b, "  Info:      %s\n", h.Info)
	if h.ID != "" {
		fmt.Fprintf(&b, "\nWhen you are sure that nobody is at work, remove the lock with:\n    streamform force-unlock %s\n", h.ID)
	}
	return b.String()
}

func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
