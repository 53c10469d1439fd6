package host_test

import (
	"testing"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

const totals = Totals

// world is the world of hosttest, with what the tests of this room do in it.
type world struct{ *World }

func newWorld(t *testing.T) *world { return &world{NewWorld(t)} }

func running(t *testing.T) *world { return &world{Running(t)} }

func chain(t *testing.T) *world { return &world{Chain(t)} }

func crashable(t *testing.T) (*world, *Camera) {
	w, c := Crashable(t)
	return &world{w}, c
}
