package logical
import "github.com/streamform/streamform/runtime/query/bound"
import "fmt"
func Explain(op *bound.Op)(string,error){ z := &canonizer{source: func(s string)string{return s}}
 c,err:=z.canon(bound.StripOrder(op)); return fmt.Sprintf("%+v",c),err}
