package bound

import "fmt"

// Unsupported says why a plan, or a part of it, cannot be rendered or made
// incremental. It is an explanation for people, never a failure.
type Unsupported struct {
	Reason string // what stands in the way, as a noun phrase
	By     Obstacle
}

func (u *Unsupported) Error() string { return u.Reason }

// Unsupportedf is an *Unsupported with a formatted reason.
func Unsupportedf(by Obstacle, format string, args ...any) error {
	return &Unsupported{Reason: fmt.Sprintf(format, args...), By: by}
}

// UnsupportedOp is an *Unsupported about a whole step of a plan.
func UnsupportedOp(op *Op) error {
	by := ByForm
	switch op.Type {
	case "LOGICAL_RECURSIVE_CTE":
		by = ByRecursion
	case "LOGICAL_POSITIONAL_JOIN":
		by = ByPosition
	case "LOGICAL_SAMPLE":
		by = BySample
	case "LOGICAL_DELIM_JOIN", "LOGICAL_DELIM_GET", "LOGICAL_DEPENDENT_JOIN":
		by = ByCorrelation
	case "LOGICAL_EXPRESSION_GET", "LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT":
		by = ByConstants
	}
	return Unsupportedf(by, "%s", Describe(op))
}

// Obstacle is what a reason comes down to: obstacles of one kind have one way out.
type Obstacle int

// The obstacles.
const (
	ByForm          Obstacle = iota // a form of plan that is not known
	ByProof                         // SQL whose rendering could not be proven equal
	ByRecursion                     // a recursive CTE
	ByOrder                         // LIMIT without ORDER BY
	ByLimit                         // LIMIT with an expression
	BySample                        // a random sample
	ByPosition                      // rows joined by where they stand
	ByCorrelation                   // a subquery that stays correlated
	ByMembership                    // IN with a subquery of a form that is not known
	ByJoin                          // a join of a type that is not known
	ByTableFunction                 // rows that a function makes
	ByConstants                     // rows that come from no relation
	ByAggregate                     // an aggregate that cannot be merged or written back
	ByRetraction                    // an aggregate that can be merged only while rows are never taken back
	ByWindow                        // a window function or frame that cannot be written back
	ByFunction                      // a function with constants of its own
	ByConstant                      // a constant that has no text
	ByType                          // a type that cannot be written or remembered
	ByRow                           // a row without member names
	ByKeys                          // keys that cannot be compared by their bytes
	obstacles                       // how many there are
)

// Obstacles are all of them.
func Obstacles() []Obstacle {
	out := make([]Obstacle, obstacles)
	for i := range out {
		out[i] = Obstacle(i)
	}
	return out
}

// Rewrite says how a query with this obstacle is written so that it costs less: whole sentences.
func (o Obstacle) Rewrite() string {
	switch o {
	case ByForm:
		return "Put the other parts of the query (filters, joins, aggregates) into views of their own: then only the part with this form runs again, over what those views hold."
	case ByProof:
		return "Write the expression in another way, or compute it as a column of a stream over the source: a stream runs its SQL as written, over new rows only."
	case ByRecursion:
		return "A recursive CTE always runs again in full. Put filters and joins before it into a view, so that it runs over few rows; where the depth is bounded, write each level as a join."
	case ByOrder:
		return "Add ORDER BY with columns that decide the order of all rows. Without it any rows would do, and only the query run in full gives those that DuckDB gives."
	case ByLimit:
		return "Write the number of rows as a constant, or filter by row_number() OVER (ORDER BY …)."
	case BySample:
		return "Choose rows by a value of theirs instead of by chance: WHERE hash(id) % 100 < 5 keeps the same 5 % of the rows whenever it runs."
	case ByPosition:
		return "Give both sides a number with row_number() OVER (ORDER BY …) and join on it."
	case ByCorrelation:
		return "Write the subquery as a join: group it by the columns that it compares with the outer query, and join with those."
	}
	return o.rewriteParts()
}

// rewriteParts is Rewrite for what concerns a part of a query, not its shape.
func (o Obstacle) rewriteParts() string {
	switch o {
	case ByMembership:
		return "Use EXISTS (SELECT … WHERE …) in WHERE, or a LEFT JOIN with the DISTINCT rows of the subquery and a test for NULL."
	case ByJoin:
		return "Use INNER, LEFT, RIGHT, FULL, SEMI or ANTI JOIN with a condition."
	case ByTableFunction:
		return "Read files and tables through a source. Make rows with range(), generate_series(), unnest() of a list or VALUES, and number them with row_number() instead of WITH ORDINALITY."
	case ByConstants:
		return "Read at least one relation, or put the constant rows into VALUES or UNION ALL beside one."
	case ByAggregate:
		return "Where it costs too much, use count, sum, avg, min, max, bool_and, bool_or, stddev or variance: they are merged group by group without their rows."
	case ByRetraction:
		return "Over a source or a stream, whose rows are never taken back, one value per group is enough. Over a view the rows of each group are needed; group by more columns, so that groups are small."
	case ByWindow:
		return "Use ROWS instead of RANGE or GROUPS, or another function; what cannot be written so goes into a view of its own, over as few rows as possible."
	case ByFunction:
		return "Call the function in a stream over the source: a stream runs its SQL as written, over new rows only. The view then reads its result."
	case ByConstant:
		return "Write the constant as text and cast it in a stream over the source, or compare with a column that holds the value."
	case ByType:
		return "Cast the column to a type that can be remembered (VARCHAR, JSON, a STRUCT) in a stream or view before this one."
	case ByRow:
		return "Name the members: {'a': …, 'b': …} or struct_pack(a := …, b := …) instead of row(…)."
	case ByKeys:
		return "Cast both keys to one type that has one form for equal values: an INTERVAL as epoch_us(…), mixed numbers as DECIMAL or BIGINT."
	}
	return ""
}
