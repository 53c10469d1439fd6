package tpch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Options name a data set: equal options give equal rows.
type Options struct {
	Dir   string  // where logs are written
	Scale float64 // 1 is 6 million line items; 0.001 works
	Seed  uint64
	// Favor is the share of suppliers, parts and orders that are made to satisfy the queries' narrow conditions. At small
	// scales some queries have no rows without it; 0 follows the specification.
	Favor float64
}

// Generator makes the tables and then changes to them.
type Generator struct {
	options Options
	random  random
	seq     int64

	suppliers, customers, parts keys
	orders                      []order
	nextOrder                   int64
}

// keys are the keys of a table that are there, and the next one to give.
type keys struct {
	live []int
	next int
}

type order struct {
	key   int64
	lines int
}

// New prepares a data set.
func New(o Options) *Generator {
	g := &Generator{options: o, random: random{rand.New(rand.NewPCG(o.Seed, 0x7c9)), newVocabulary()}}
	g.suppliers, g.parts, g.customers = keys{next: 1}, keys{next: 1}, keys{next: 1}
	return g
}

func (g *Generator) sized(n int) int { return max(1, int(math.Round(float64(n)*g.options.Scale))) }

// supplierCount is how many suppliers parts are spread over.
func (g *Generator) supplierCount() int { return max(4, g.sized(10_000)) }

// Load writes the tables at their full size and returns the logs' files by the logs' names.
func (g *Generator) Load() (map[string]string, error) {
	l, err := openLogs(g.options.Dir, "0", &g.seq)
	if err != nil {
		return nil, err
	}
	for i := range g.random.regions {
		g.region(l, i, "I")
	}
	for i := range g.random.nations {
		g.nation(l, i, "I")
	}
	for range g.supplierCount() {
		g.insertSupplier(l)
	}
	for range g.sized(200_000) {
		g.insertPart(l)
	}
	for range g.sized(150_000) {
		g.insertCustomer(l)
	}
	for range g.sized(1_500_000) {
		g.insertOrder(l)
	}
	paths := l.paths()
	if err := l.close(); err != nil {
		return nil, fmt.Errorf("writing tables: %w", err)
	}
	return paths, nil
}

func (g *Generator) region(l *logs, i int, op string) {
	l.number("r_regionkey", int64(i))
	l.text("r_name", g.random.regions[i])
	l.text("r_comment", g.random.comment(31, 115))
	l.write("region", op)
}

func (g *Generator) nation(l *logs, i int, op string) {
	l.number("n_nationkey", int64(i))
	l.text("n_name", g.random.nations[i])
	l.number("n_regionkey", int64(g.random.nationRegions[i]))
	l.text("n_comment", g.random.comment(31, 114))
	l.write("nation", op)
}

func (g *Generator) supplier(l *logs, key int, op string) {
	r := g.random
	nation := r.IntN(len(r.nations))
	if r.chance(g.options.Favor) {
		nation = slices.Index(r.nations, r.of([]string{"SAUDI ARABIA", "CANADA", "GERMANY", "FRANCE"}))
	}
	comment := r.comment(25, 100)
	switch r.IntN(1000) {
	case 0, 1:
		comment = "Customer " + r.of(r.adverbs) + " Complaints"
	case 2, 3:
		comment = "Customer " + r.of(r.adverbs) + " Recommends"
	}
	l.number("s_suppkey", int64(key))
	l.text("s_name", fmt.Sprintf("Supplier#%09d", key))
	l.text("s_address", r.address())
	l.number("s_nationkey", int64(nation))
	l.text("s_phone", r.phone(nation))
	l.cents("s_acctbal", int64(r.between(-99_999, 999_999)))
	l.text("s_comment", comment)
	l.write("supplier", op)
}

func (g *Generator) customer(l *logs, key int, op string) {
	r := g.random
	nation := r.IntN(len(r.nations))
	l.number("c_custkey", int64(key))
	l.text("c_name", fmt.Sprintf("Customer#%09d", key))
	l.text("c_address", r.address())
	l.number("c_nationkey", int64(nation))
	l.text("c_phone", r.phone(nation))
	l.cents("c_acctbal", int64(r.between(-99_999, 999_999)))
	l.text("c_mktsegment", r.of(r.segments))
	l.text("c_comment", r.comment(29, 116))
	l.write("customer", op)
}

// favourite is one combination of a part's values that a query asks for.
type favourite struct {
	first, brand, kind, container string
	size                          int
}

func (g *Generator) favourite() favourite {
	wanted := []favourite{
		{"", "", "PROMO POLISHED BRASS", "", 15},
		{"green", "", "ECONOMY ANODIZED STEEL", "", 0},
		{"forest", "", "", "", 0},
		{"", "Brand#23", "", "MED BOX", 4},
		{"", "Brand#12", "", "SM PACK", 3},
		{"", "Brand#34", "", "LG CASE", 14},
	}
	return wanted[g.random.IntN(len(wanted))]
}

func (g *Generator) part(l *logs, key int, op string) {
	r := g.random
	var f favourite
	if r.chance(g.options.Favor) {
		f = g.favourite()
	}
	or := func(wanted, otherwise string) string {
		if wanted != "" {
			return wanted
		}
		return otherwise
	}
	name := or(f.first, r.of(r.colors))
	for range 4 {
		name += " " + r.of(r.colors)
	}
	mfgr := r.between(1, 5)
	size := r.between(1, 50)
	if f.size > 0 {
		size = f.size
	}
	l.number("p_partkey", int64(key))
	l.text("p_name", name)
	l.text("p_mfgr", fmt.Sprintf("Manufacturer#%d", mfgr))
	l.text("p_brand", or(f.brand, fmt.Sprintf("Brand#%d%d", mfgr, r.between(1, 5))))
	l.text("p_type", or(f.kind, r.of(r.typeSize)+" "+r.of(r.typeCoat)+" "+r.of(r.typeMetal)))
	l.number("p_size", int64(size))
	l.text("p_container", or(f.container, r.of(r.boxSize)+" "+r.of(r.boxKind)))
	l.cents("p_retailprice", retailPrice(key))
	l.text("p_comment", r.comment(5, 22))
	l.write("part", op)
}

// retailPrice is in cents.
func retailPrice(part int) int64 { return 90_000 + int64(part/10)%20_001 + 100*int64(part%1000) }

// partSupplier is the i-th of a part's four suppliers.
func (g *Generator) partSupplier(part, i int) int {
	s := g.supplierCount()
	return (part+i*(s/4+(part-1)/s))%s + 1
}

// partSuppliers lists a part's suppliers; at small scales two of the four may be one.
func (g *Generator) partSuppliers(part int) []int {
	var out []int
	seen := map[int]bool{}
	for i := range 4 {
		if s := g.partSupplier(part, i); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func (g *Generator) partsupp(l *logs, part, supplier int, op string) {
	l.number("ps_partkey", int64(part))
	l.number("ps_suppkey", int64(supplier))
	l.number("ps_availqty", int64(g.random.between(1, 9999)))
	l.cents("ps_supplycost", int64(g.random.between(100, 100_000)))
	l.text("ps_comment", g.random.comment(49, 198))
	l.write("partsupp", op)
}

// line is what an order's values are computed from.
type line struct {
	part, supplier, quantity, discount, tax int
	shipped, committed, received            time.Time
}

func (v line) price() int64 { return int64(v.quantity) * retailPrice(v.part) }

func (g *Generator) line(ordered time.Time, big bool) line {
	r := g.random
	v := line{part: g.parts.live[r.IntN(len(g.parts.live))], quantity: r.between(1, 50), discount: r.between(0, 10), tax: r.between(0, 8)}
	if big {
		v.quantity = r.between(42, 50)
	}
	v.supplier = g.partSupplier(v.part, r.IntN(4))
	v.shipped = ordered.AddDate(0, 0, r.between(1, 121))
	v.committed = ordered.AddDate(0, 0, r.between(30, 90))
	v.received = v.shipped.AddDate(0, 0, r.between(1, 30))
	return v
}

// today is the specification's CURRENTDATE: what was shipped before it has arrived.
func today() time.Time { return time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC) }

// order writes an order and its line items, and returns how many there are.
func (g *Generator) order(l *logs, key int64, op string, count int) int {
	r := g.random
	big := r.chance(g.options.Favor / 4)
	if count == 0 {
		count = r.between(1, 7)
		if big {
			count = 7
		}
	}
	ordered := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(2557-151))
	total, open := int64(0), 0
	for i := range count {
		v := g.line(ordered, big)
		if v.shipped.After(today()) {
			open++
		}
		total += v.price() * int64(100-v.discount) * int64(100+v.tax) / 10_000
		g.lineitem(l, key, i+1, v, op)
	}
	status := "P"
	switch open {
	case 0:
		status = "F"
	case count:
		status = "O"
	}
	l.number("o_orderkey", key)
	l.number("o_custkey", int64(g.buyer()))
	l.text("o_orderstatus", status)
	l.cents("o_totalprice", total)
	l.date("o_orderdate", ordered)
	l.text("o_orderpriority", r.of(r.priorities))
	l.text("o_clerk", fmt.Sprintf("Clerk#%09d", r.between(1, max(1, g.sized(1000)))))
	l.number("o_shippriority", 0)
	l.text("o_comment", r.comment(19, 78))
	l.write("orders", op)
	return count
}

// buyer is a customer that orders: those whose key is a multiple of three never do.
func (g *Generator) buyer() int {
	for range 64 {
		if c := g.customers.live[g.random.IntN(len(g.customers.live))]; c%3 != 0 {
			return c
		}
	}
	return 1
}

func (g *Generator) lineitem(l *logs, order int64, number int, v line, op string) {
	r := g.random
	returned, status := "N", "F"
	if !v.received.After(today()) {
		returned = r.of([]string{"R", "A"})
	}
	if v.shipped.After(today()) {
		status = "O"
	}
	l.number("l_orderkey", order)
	l.number("l_linenumber", int64(number))
	l.number("l_partkey", int64(v.part))
	l.number("l_suppkey", int64(v.supplier))
	l.number("l_quantity", int64(v.quantity))
	l.cents("l_extendedprice", v.price())
	l.cents("l_discount", int64(v.discount))
	l.cents("l_tax", int64(v.tax))
	l.text("l_returnflag", returned)
	l.text("l_linestatus", status)
	l.date("l_shipdate", v.shipped)
	l.date("l_commitdate", v.committed)
	l.date("l_receiptdate", v.received)
	l.text("l_shipinstruct", r.of(r.instructs))
	l.text("l_shipmode", r.of(r.mode))
	l.text("l_comment", r.comment(10, 43))
	l.write("lineitem", op)
}
