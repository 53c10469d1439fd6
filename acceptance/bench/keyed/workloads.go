package keyed

import "github.com/streamform/streamform/acceptance/bench/workload"

// All are the workloads over keyed data.
func All(s workload.Settings) []workload.Workload {
	return []workload.Workload{growing(s), flatness(s), restarts(s), largest(s), tight(s)}
}
