package delta_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/logstore/storetest"
)

// TestFaultAtEveryCall delivers twelve transactions, one after the other, as an outbox does: each one again, by a new process, until it is
// through. In every run one call to the store fails: before its effect, after it, or by being carried out twice.
func TestFaultAtEveryCall(t *testing.T) {
	for fault, name := range map[storetest.Fault]string{storetest.Before: "before", storetest.After: "after", storetest.Twice: "twice"} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				memory := storetest.NewMemory()
				store := storetest.FailAt(memory, n, fault)
				deliverAll(t, store)
				requireDelivered(t, memory, n)
				if store.Calls() < n {
					require.Greater(t, n, 40, "the run is long enough to mean something")
					return
				}
			}
		})
	}
}

const deliveries = 12

func deliverAll(t *testing.T, store logstore.Store) {
	t.Helper()
	var table *delta.Table
	for i := range deliveries {
		x := appendTo(fmt.Sprint("e", i), int64(i-1))
		x.AppID, x.AppVersion = "app", int64(i)
		if i == 0 {
			x.Metadata = metadata(t, columns(t, "id", "BIGINT", "at", "TIMESTAMP"), nil)
		}
		for tries := 0; ; tries++ {
			require.Less(t, tries, 3, "one fault costs one try")
			if table == nil {
				table = open(t, store)
			}
			_, err := table.Commit(context.Background(), x)
			if err == nil {
				break
			}
			var fault storetest.ErrFault
			require.ErrorAs(t, err, &fault, "only what was injected goes wrong")
			table = nil
		}
	}
}

func requireDelivered(t *testing.T, store logstore.Store, n int) {
	t.Helper()
	s := load(t, open(t, store))
	require.EqualValues(t, deliveries-1, s.Version, "fault at call %d", n)
	require.Len(t, s.Files(), deliveries, "fault at call %d", n)
	version, ok := s.Txn("app")
	require.True(t, ok)
	require.EqualValues(t, deliveries-1, version)
}

// TestAnswerLost writes a version whose answer is lost, while another writer follows at once.
func TestAnswerLost(t *testing.T) {
	ctx, memory := context.Background(), storetest.NewMemory()
	create(t, memory, nil)
	lost := false
	store := storetest.NewFaulty(memory, func(call, key string) storetest.Fault {
		if call == "PutIfAbsent" && key == logstore.CommitKey(1) && !lost {
			lost = true
			return storetest.After
		}
		if call == "Get" && key == logstore.CommitKey(1) {
			_, err := open(t, memory).Commit(ctx, appendTo("other", 0))
			require.NoError(t, err)
		}
		return storetest.None
	})
	result, err := open(t, store).Commit(ctx, appendTo("mine", 0))
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Version)
	require.Equal(t, "first mine other", paths(load(t, open(t, memory))))
}

// TestStoreThatLies never shows what it claims to hold: that ends, with an error.
func TestStoreThatLies(t *testing.T) {
	memory := storetest.NewMemory()
	create(t, memory, nil)
	store := storetest.NewFaulty(memory, func(call, key string) storetest.Fault {
		if call == "PutIfAbsent" {
			return storetest.Before
		}
		return storetest.None
	})
	_, err := open(t, store).Commit(context.Background(), appendTo("mine", 0))
	require.ErrorContains(t, err, "unknown")
	require.NotContains(t, err.Error(), "%!")
}

// TestCheckpointFailureIsNoFailure breaks every write of a checkpoint; the next one makes up for it.
func TestCheckpointFailureIsNoFailure(t *testing.T) {
	ctx, memory := context.Background(), storetest.NewMemory()
	create(t, memory, nil)
	broken := true
	table := open(t, storetest.NewFaulty(memory, func(call, _ string) storetest.Fault {
		if call == "Put" && broken {
			return storetest.Before
		}
		return storetest.None
	}))
	for i := int64(1); i <= 31; i++ {
		broken = i < 25
		if i == 25 {
			// A new process does not know what was due.
			table = open(t, memory)
		}
		result, err := table.Commit(ctx, appendTo(fmt.Sprint(i), i-1))
		require.NoError(t, err)
		require.Equal(t, i == 10 || i == 20 || i == 21 || i == 22 || i == 23 || i == 24, result.CheckpointError != nil, "version %d", i)
		require.Equal(t, i == 25 || i == 30, result.Checkpointed, "version %d", i)
	}
	require.EqualValues(t, 30, load(t, open(t, memory)).CheckpointVersion)
}

// TestEndedContext stops a commit that cannot get through.
func TestEndedContext(t *testing.T) {
	memory := storetest.NewMemory()
	create(t, memory, nil)
	ctx, cancel := context.WithCancel(context.Background())
	store := storetest.NewFaulty(memory, func(call, _ string) storetest.Fault {
		if call == "PutIfAbsent" {
			cancel()
		}
		return storetest.None
	})
	_, err := open(t, store).Commit(ctx, appendTo("mine", 0))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 0, load(t, open(t, memory)).Version)
}

// Environment of a process that TestRace starts.
const (
	raceDir    = "STREAMFORM_TEST_RACE_DIR"
	raceWriter = "STREAMFORM_TEST_RACE_WRITER"
)

const (
	racers   = 8
	raceEach = 50
)

// TestRace lets eight processes commit to one table at once: no version is lost or written twice, and all rows are there.
func TestRace(t *testing.T) {
	if os.Getenv(raceDir) != "" {
		race(t, os.Getenv(raceDir), os.Getenv(raceWriter))
		return
	}
	dir := t.TempDir()
	store := logstore.NewLocal(dir)
	create(t, store, nil)
	self, err := os.Executable()
	require.NoError(t, err)
	started := time.Now()
	var processes []*exec.Cmd
	for w := range racers {
		cmd := exec.Command(self, "-test.run", "^TestRace$", "-test.count", "1")
		cmd.Env = append(os.Environ(), raceDir+"="+dir, raceWriter+"="+strconv.Itoa(w))
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		processes = append(processes, cmd)
	}
	var failed error
	for _, p := range processes {
		failed = errors.Join(failed, p.Wait())
	}
	require.NoError(t, failed)
	t.Logf("%d commits of %d processes took %v", racers*raceEach, racers, time.Since(started))

	s := load(t, open(t, store))
	require.EqualValues(t, racers*raceEach, s.Version)
	require.Len(t, s.Files(), racers*raceEach+1)
	for w := range racers {
		version, ok := s.Txn(fmt.Sprint("writer", w))
		require.True(t, ok)
		require.EqualValues(t, raceEach-1, version)
	}
	left, err := filepath.Glob(filepath.Join(dir, logstore.LogDir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "no temporary file is left")
}

// race is one of the processes.
func race(t *testing.T, dir, writer string) {
	ctx := context.Background()
	table := open(t, logstore.NewLocal(dir))
	read := load(t, table).Version
	for i := range raceEach {
		x := appendTo(fmt.Sprintf("w%s-%d", writer, i), read)
		x.AppID, x.AppVersion = "writer"+writer, int64(i)
		result, err := table.Commit(ctx, x)
		require.NoError(t, err)
		require.NoError(t, result.CheckpointError)
		require.Greater(t, result.Version, read)
		read = result.Version
	}
}
