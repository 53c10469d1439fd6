package meter

import (
	"fmt"
	"slices"
)

// Of reads one number of each cost.
func Of(costs []Cost, f func(Cost) float64) []float64 {
	values := make([]float64, len(costs))
	for i, c := range costs {
		values[i] = f(c)
	}
	return values
}

// Quantile is the value below which a share q of all values lies; 0 without values.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Median is the middle value; 0 without values.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Ratio is the quotient of two sides, pair by pair.
type Ratio struct{ Median, Least, Greatest float64 }

// Ratios divides a by b, pair by pair; both have the same length, at least 1.
func Ratios(a, b []float64) Ratio {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return Ratio{Median(ratios), slices.Min(ratios), slices.Max(ratios)}
}

func (r Ratio) String() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.Median, r.Least, r.Greatest)
}
