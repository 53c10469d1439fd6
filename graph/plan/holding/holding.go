// Package holding says what it means that a source holds rows it admitted, and what a change of that means.
package holding

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/streamform/streamform/lang/schema"
)

// Kept is how much of what a source has read the runtime holds.
type Kept struct {
	Files  int64 // that were read, and whose rows are held
	Bytes  int64 // of them, as stored
	Rows   int64
	Stored int64         // bytes that the rows take where they are held
	Epoch  int64         // the first one whose rows are held
	Age    time.Duration // of its commit
	Beside int64         // files that were read, and whose rows are not held
	Lost   int64         // of Files: gone or changed since
	Gone   string        // path of one that is lost
}

// Whole reports whether all that was read is held.
func (k Kept) Whole() bool { return k.Files > 0 && k.Beside == 0 }

// After is what stays of what is held when a source is to hold something else: nothing is counted on of what is about to go.
func (k Kept) After(was, is schema.Keeping) Kept {
	if is.Less(was) && (!is.Any() || k.Age >= is.For) {
		return Kept{}
	}
	return k
}

// Of reads which rows a source holds out of its attributes.
func Of(attributes json.RawMessage) schema.Keeping {
	var v struct{ Keep string }
	if json.Unmarshal(attributes, &v) != nil {
		return schema.Keeping{}
	}
	k, err := schema.ParseKeep(v.Keep)
	if err != nil {
		return schema.Keeping{}
	}
	return k
}

// Reason says what a change from one keep to another does; read and held are amounts for people, of what was read before and of what is held.
func Reason(was, is schema.Keeping, k Kept, read, held string) string {
	switch {
	case is.Any() && !was.Any() && read == "":
		return "its rows are held from the first epoch on"
	case is.Any() && !was.Any():
		return fmt.Sprintf("its rows are held from the next epoch on; those of the %s read before are not, and are read from the files again where they are needed", read)
	case !is.Any() && k.Files == 0:
		return "its rows are not held any more"
	case !is.Any():
		return fmt.Sprintf("the %s it holds, from epoch %d on, are dropped: what is computed anew from them has to read its files again, as long as they are there", held, k.Epoch)
	case is.Less(was) && k.Age < is.For:
		return fmt.Sprintf("all of the %s it holds are younger than %s, and are dropped when they are not", held, schema.Duration(is.For))
	case is.Less(was):
		return fmt.Sprintf("of the %s it holds, those committed more than %s ago are dropped", held, schema.Duration(is.For))
	}
	return "what it holds stays longer"
}
