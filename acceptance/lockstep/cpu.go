package lockstep

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, user and system; it means more than the time of day where others
// use the machine, too.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
