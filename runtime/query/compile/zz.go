package compile
import "github.com/streamform/streamform/runtime/query/bound"
var zz func(string,*bound.Op)
