// Package bound holds DuckDB's bound logical plan as values, decoded from JSON, and renders its expressions back to SQL.
package bound

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Op is one step of a bound plan, as json_serialize_plan of DuckDB 1.5 writes it. Columns are positions in
// the children's output.
type Op struct {
	Type              string          `json:"type"`
	Children          []*Op           `json:"children"`
	Expressions       expressions     `json:"expressions"`
	Name              string          `json:"name"`
	Names             []string        `json:"names"`
	ReturnedTypes     []Type          `json:"returned_types"`
	ColumnIndexes     []ColumnIndex   `json:"column_indexes"`
	ProjectionIDs     []int           `json:"projection_ids"`
	ProjectionMap     []uint64        `json:"projection_map"`
	TableFilters      tableFilters    `json:"table_filters"`
	FunctionData      json.RawMessage `json:"function_data"`
	Groups            []*Expr         `json:"groups"`
	GroupingSets      [][]int         `json:"grouping_sets"`
	GroupingFunctions [][]int         `json:"grouping_functions"`
	SetOpAll          bool            `json:"setop_all"`
	ColumnCount       int             `json:"column_count"`
	TableIndex        json.Number     `json:"table_index"`
	CTEIndex          json.Number     `json:"cte_index"`
	DistinctType      string          `json:"distinct_type"`
	DistinctTargets   []*Expr         `json:"distinct_targets"`
	OrderBy           json.RawMessage `json:"order_by"`
	Orders            []Order         `json:"orders"`
	JoinType          string          `json:"join_type"`
	Conditions        []Condition     `json:"conditions"`
	Condition         *Expr           `json:"condition"`
	Predicate         *Expr           `json:"predicate"`
	LeftMap           []uint64        `json:"left_projection_map"`
	RightMap          []uint64        `json:"right_projection_map"`
	Eliminated        []*Expr         `json:"duplicate_eliminated_columns"`
	DelimFlipped      bool            `json:"delim_flipped"`
	LimitVal          Bound           `json:"limit_val"`
	OffsetVal         Bound           `json:"offset_val"`
	Projections       []uint64        `json:"projections"`
	Parameters        []Value         `json:"parameters"`      // of a table function
	Arguments         []Type          `json:"arguments"`       // types of a table function's arguments
	ProjectedInput    []int           `json:"projected_input"` // columns of the input that a table function hands on behind its own
	Ordinality        json.Number     `json:"ordinality_idx"`  // of WITH ORDINALITY
	MarkTypes         []Type          `json:"mark_types"`      // of the correlated columns of a MARK join, whose conditions come first
	ChunkTypes        []Type          `json:"chunk_types"`     // of a DELIM_GET's columns
	ExprTypes         []Type          `json:"expr_types"`      // of a VALUES' columns
	ResultTypes       []Type          `json:"return_types"`    // of an EMPTY_RESULT's columns

	// Stored names the operator whose output this leaf reads; set by Split.
	Stored string `json:"-"`
	// StoredColumns are that output's column types, by position.
	StoredColumns int `json:"-"`
}

// expressions are a step's expressions; of VALUES, those of one row after the other.
type expressions []*Expr

func (e *expressions) UnmarshalJSON(data []byte) error {
	if text := bytes.TrimSpace(data); !bytes.HasPrefix(text, []byte("[[")) {
		return json.Unmarshal(data, (*[]*Expr)(e))
	}
	var rows [][]*Expr
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	*e = slices.Concat(rows...)
	return nil
}

// Condition is one comparison of a join; its sides count columns from their own child.
type Condition struct {
	Left       *Expr  `json:"left"`
	Right      *Expr  `json:"right"`
	Comparison string `json:"comparison"`
}

// Bound is a LIMIT or OFFSET.
type Bound struct {
	Type     string `json:"type"`
	Constant int64  `json:"constant_integer"`
}

type Order struct {
	Expression *Expr  `json:"expression"`
	Type       string `json:"type"`
	NullOrder  string `json:"null_order"`
}

// ColumnIndex is one column that a scan reads.
type ColumnIndex struct {
	Index    json.Number       `json:"index"`
	Children []json.RawMessage `json:"child_indexes"`
}

type tableFilters struct {
	Filters []struct {
		Key   int    `json:"key"`
		Value Filter `json:"value"`
	} `json:"filters"`
}

type Filter struct {
	FilterType     string   `json:"filter_type"`
	ComparisonType string   `json:"comparison_type"`
	Constant       *Value   `json:"constant"`
	Expr           *Expr    `json:"expr"`
	ChildFilters   []Filter `json:"child_filters"`
	Values         []Value  `json:"values"`
	ChildName      string   `json:"child_name"`   // STRUCT_EXTRACT: the member that is filtered
	ChildFilter    *Filter  `json:"child_filter"` // STRUCT_EXTRACT
}

// Expr is one bound expression.
type Expr struct {
	Class         string          `json:"expression_class"`
	Type          string          `json:"type"`
	Alias         string          `json:"alias"`
	Return        Type            `json:"return_type"`
	Index         int             `json:"index"`
	Children      []*Expr         `json:"children"`
	Child         *Expr           `json:"child"`
	Left          *Expr           `json:"left"`
	Right         *Expr           `json:"right"`
	Input         *Expr           `json:"input"`
	Lower         *Expr           `json:"lower"`
	Upper         *Expr           `json:"upper"`
	LowerIncluded bool            `json:"lower_inclusive"`
	UpperIncluded bool            `json:"upper_inclusive"`
	Name          string          `json:"name"`
	HasSerialize  bool            `json:"has_serialize"`
	FunctionData  json.RawMessage `json:"function_data"`
	TryCast       bool            `json:"try_cast"`
	Value         *Value          `json:"value"`
	Binding       binding         `json:"binding"`    // of a column that the plan left unresolved
	Identifier    string          `json:"identifier"` // of a parameter
	CaseChecks    []CaseCheck     `json:"case_checks"`
	ElseExpr      *Expr           `json:"else_expr"`
	Filter        *Expr           `json:"filter"`
	AggregateType string          `json:"aggregate_type"`
	OrderBys      json.RawMessage `json:"order_bys"`
	Arguments     []Type          `json:"arguments"`

	// Window functions.
	Partitions  []*Expr         `json:"partitions"`
	Orders      []Order         `json:"orders"`
	Filters     *Expr           `json:"filters"`
	IgnoreNulls bool            `json:"ignore_nulls"`
	Start       string          `json:"start"`
	End         string          `json:"end"`
	StartExpr   *Expr           `json:"start_expr"`
	EndExpr     *Expr           `json:"end_expr"`
	OffsetExpr  *Expr           `json:"offset_expr"`
	DefaultExpr *Expr           `json:"default_expr"`
	Exclude     string          `json:"exclude_clause"`
	Distinct    bool            `json:"distinct"`
	ArgOrders   json.RawMessage `json:"arg_orders"`
}

// binding names a column by the table it comes from.
type binding struct {
	Table  json.Number `json:"table_index"`
	Column int         `json:"column_index"`
}

type CaseCheck struct {
	When *Expr `json:"when_expr"`
	Then *Expr `json:"then_expr"`
}

// Value is a constant. Data stays as JSON: numbers keep all their digits.
type Value struct {
	Type   Type            `json:"type"`
	IsNull bool            `json:"is_null"`
	Data   json.RawMessage `json:"value"`
}

// Decode reads what json_serialize_plan returns for one statement. CTE
// references are replaced by what they read.
func Decode(doc []byte) (*Op, error) {
	var out struct {
		Error   bool   `json:"error"`
		Message string `json:"error_message"`
		Plans   []*Op  `json:"plans"`
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("decoding the bound plan: %w", err)
	}
	if out.Error {
		return nil, Unsupportedf(ByForm, "the bound plan cannot be written down: %s", out.Message)
	}
	if len(out.Plans) != 1 {
		return nil, Unsupportedf(ByForm, "%d statements instead of one", len(out.Plans))
	}
	op, err := inlineCTEs(out.Plans[0], map[string]*Op{})
	if err != nil {
		return nil, err
	}
	return normal(op, map[*Op]*Op{}), nil
}

func inlineCTEs(op *Op, ctes map[string]*Op) (*Op, error) {
	switch op.Type {
	case "LOGICAL_MATERIALIZED_CTE":
		if len(op.Children) != 2 {
			return nil, Unsupportedf(ByForm, "a CTE of an unknown form")
		}
		def, err := inlineCTEs(op.Children[0], ctes)
		if err != nil {
			return nil, err
		}
		ctes[string(op.TableIndex)] = def
		return inlineCTEs(op.Children[1], ctes)
	case "LOGICAL_CTE_REF":
		def, ok := ctes[string(op.CTEIndex)]
		if !ok {
			return nil, Unsupportedf(ByRecursion, "a recursive CTE")
		}
		return def, nil
	}
	for i, c := range op.Children {
		in, err := inlineCTEs(c, ctes)
		if err != nil {
			return nil, err
		}
		op.Children[i] = in
	}
	return op, nil
}

// Table is the relation a scan reads: its schema ("" for the default one) and
// name. ok is false for anything but a plain scan.
func (o *Op) Table() (schema, name string, ok bool) {
	if o.Type != "LOGICAL_GET" || o.Name != "seq_scan" {
		return "", "", false
	}
	var data struct {
		Schema string `json:"schema"`
		Table  string `json:"table"`
	}
	if json.Unmarshal(o.FunctionData, &data) != nil || data.Table == "" {
		return "", "", false
	}
	if data.Schema == "main" {
		data.Schema = ""
	}
	return data.Schema, data.Table, true
}
