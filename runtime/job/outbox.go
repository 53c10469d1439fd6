package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/store"
)

// parcel is one epoch's output for one sink, in the outbox from the commit that decided it until it is known to be delivered.
type parcel struct {
	Sink    string           `json:"sink"` // ID of its generation
	Address addr.Resource    `json:"address"`
	Epoch   int64            `json:"epoch"`
	Seq     int64            `json:"seq"` // order within the epoch
	Staged  connector.Staged `json:"staged"`
	Rows    batch.Counts     `json:"rows"`

	from      string // the relation
	overwrite bool
}

func (p parcel) key(pipeline string) string {
	return "out/" + pipeline + "/" + number(p.Epoch) + "/" + number(p.Seq)
}

// Receipt is the proof of a sink's last delivery.
type Receipt struct {
	Epoch       int64             `json:"epoch"`
	DeliveredAt time.Time         `json:"delivered_at"`
	Receipt     connector.Receipt `json:"receipt,omitempty"`
}

// ReadReceipt returns the last receipt of a sink.
func ReadReceipt(v *store.View, sink string) (r Receipt, ok bool, err error) {
	ok, err = readJSON(v, "rcp/"+sink, &r)
	return r, ok, err
}

func readOutbox(v *store.View, pipeline string) ([]parcel, error) {
	var all []parcel
	err := v.MetaPrefix("out/"+pipeline+"/", func(key string, value []byte) error {
		var p parcel
		if err := decode(key, value, &p); err != nil {
			return err
		}
		all = append(all, p)
		return nil
	})
	return all, err
}

// OutboxSinks are the IDs of the sinks for which a pipeline's outbox holds something.
func OutboxSinks(s *store.Store, pipeline string) (map[string]bool, error) {
	view := s.View()
	defer view.Close()
	parcels, err := readOutbox(view, pipeline)
	if err != nil {
		return nil, fmt.Errorf("reading the outbox: %w", err)
	}
	sinks := map[string]bool{}
	for _, p := range parcels {
		sinks[p.Sink] = true
	}
	return sinks, nil
}

// DropParcels takes out of every outbox what is meant for a sink.
func DropParcels(v *store.View, b *store.Batch, sink string) error {
	return v.MetaPrefix("out/", func(key string, value []byte) error {
		var p parcel
		if err := decode(key, value, &p); err != nil {
			return err
		}
		if p.Sink == sink {
			b.DeleteMeta(key)
		}
		return nil
	})
}

// delivery is a parcel that arrived.
type delivery struct {
	parcel
	receipt Receipt
}

// Deliver publishes what the outbox holds, in order. Publishing is repeatable, so a parcel whose delivery
// was not recorded is simply published again. It waits out machine failures.
func (j *Job) Deliver(ctx context.Context) error {
	for len(j.outbox) > 0 {
		p := j.outbox[0]
		to := j.receiver(p.Sink)
		if to == nil {
			return fmt.Errorf("delivering epoch %d: the pipeline %s has no sink %s of generation %s", p.Epoch, j.Name, p.Address, p.Sink)
		}
		d := delivery{parcel: p}
		err := j.persist(ctx, func(ctx context.Context) error {
			receipt, err := to.Publish(ctx, p.Staged)
			d.receipt = Receipt{Epoch: p.Epoch, DeliveredAt: j.Now().UTC(), Receipt: receipt}
			if err != nil {
				return j.failure(p.Address.String(), fmt.Errorf("delivering epoch %d to %s: %w", p.Epoch, p.Address, err))
			}
			return nil
		})
		if err != nil {
			return err
		}
		j.outbox = j.outbox[1:]
		j.delivered = append(j.delivered, d)
		if len(d.receipt.Receipt) > 0 {
			j.receipts[p.Sink] = d.receipt
		}
	}
	return nil
}

func (j *Job) receiver(id string) connector.Sink {
	for _, sinks := range [][]Sink{j.Sinks, j.Beside} {
		if i := slices.IndexFunc(sinks, func(s Sink) bool { return s.ID == id }); i >= 0 {
			return sinks[i].To
		}
	}
	return nil
}

// Pending is the number of parcels that are not delivered.
func (j *Job) Pending() int { return len(j.outbox) }

// Flush records the deliveries and reports that no commit has recorded yet.
func (j *Job) Flush() error {
	if len(j.delivered) == 0 && !j.told {
		return nil
	}
	if err := j.commitBatch(j.Store.NewBatch()); err != nil {
		return fmt.Errorf("recording deliveries of %s: %w", j.Name, err)
	}
	return nil
}

// commitBatch commits a batch, and with it the deliveries made, and that an epoch was reported, since the last one.
func (j *Job) commitBatch(b *store.Batch) error {
	for _, d := range j.delivered {
		b.DeleteMeta(d.key(j.ID))
		if len(d.receipt.Receipt) == 0 {
			continue // nothing was to be done, and the sink has nothing to say about it
		}
		if err := writeJSON(b, "rcp/"+d.Sink, d.receipt); err != nil {
			return err
		}
	}
	if j.told {
		b.DeleteMeta("rep/" + j.ID)
	}
	if err := j.Store.Commit(b); err != nil {
		return err
	}
	j.delivered, j.told = nil, false
	return nil
}
