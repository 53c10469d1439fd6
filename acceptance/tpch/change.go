package tpch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Change writes a random set of changes of about the given share of every table's rows, a third each of inserts,
// updates and deletes, and returns the logs' files that got rows. number names the files. Orders come and go with their line
// items, parts with their suppliers; the lines of an order stay when its customer or parts go.
func (g *Generator) Change(number int, share float64) (map[string]string, error) {
	return g.changes(number, func(l *logs) {
		g.changeKeys(l, &g.suppliers, share, edits{g.insertSupplier, g.supplier, func(key int) { g.remove(l, "supplier", "s_suppkey", int64(key)) }})
		g.changeKeys(l, &g.parts, share, edits{g.insertPart, g.part, func(key int) { g.removePart(l, key) }})
		g.changeKeys(l, &g.customers, share, edits{g.insertCustomer, g.customer, func(key int) { g.remove(l, "customer", "c_custkey", int64(key)) }})
		g.changeOffers(l, share)
		g.changeOrders(l, share)
	})
}

// Reorganize takes regions and nations away, and brings them back when away is false: changes of few rows
// that most joins meet many times.
func (g *Generator) Reorganize(number int, away bool) (map[string]string, error) {
	r := g.random
	return g.changes(number, func(l *logs) {
		for _, name := range []string{"AMERICA", "EUROPE"} {
			key := slices.Index(r.regions, name)
			if away {
				g.remove(l, "region", "r_regionkey", int64(key))
			} else {
				g.region(l, key, "I")
			}
		}
		for _, name := range []string{"SAUDI ARABIA", "CANADA", "GERMANY"} {
			key := slices.Index(r.nations, name)
			if away {
				g.remove(l, "nation", "n_nationkey", int64(key))
			} else {
				g.nation(l, key, "I")
			}
		}
	})
}

func (g *Generator) changes(number int, write func(l *logs)) (map[string]string, error) {
	l, err := openLogs(g.options.Dir, strconv.Itoa(number), &g.seq)
	if err != nil {
		return nil, err
	}
	write(l)
	paths := l.paths()
	if err := l.close(); err != nil {
		return nil, fmt.Errorf("writing changes: %w", err)
	}
	return paths, nil
}

// third is how many rows of n each kind of change touches, at least one.
func (g *Generator) third(n int, share float64) int {
	return max(1, int(math.Round(float64(n)*share/3)))
}

func (g *Generator) remove(l *logs, table, key string, value int64) {
	l.number(key, value)
	l.write(table, "D")
}

// edits are the three ways to change a table.
type edits struct {
	insert func(*logs)
	update func(l *logs, key int, op string)
	remove func(key int)
}

func (g *Generator) changeKeys(l *logs, k *keys, share float64, e edits) {
	n := g.third(len(k.live), share)
	for range n {
		if len(k.live) > 8 {
			e.remove(k.take(g.random.IntN(len(k.live))))
		}
		e.update(l, k.live[g.random.IntN(len(k.live))], "U")
		e.insert(l)
	}
}

// take removes the i-th live key.
func (k *keys) take(i int) int {
	key := k.live[i]
	k.live[i] = k.live[len(k.live)-1]
	k.live = k.live[:len(k.live)-1]
	return key
}

// give makes the next key live.
func (k *keys) give() int {
	key := k.next
	k.next++
	k.live = append(k.live, key)
	return key
}

func (g *Generator) insertSupplier(l *logs) { g.supplier(l, g.suppliers.give(), "I") }

func (g *Generator) insertCustomer(l *logs) { g.customer(l, g.customers.give(), "I") }

func (g *Generator) insertPart(l *logs) {
	key := g.parts.give()
	g.part(l, key, "I")
	for _, s := range g.partSuppliers(key) {
		g.partsupp(l, key, s, "I")
	}
}

func (g *Generator) removePart(l *logs, key int) {
	g.remove(l, "part", "p_partkey", int64(key))
	for _, s := range g.partSuppliers(key) {
		l.number("ps_partkey", int64(key))
		g.remove(l, "partsupp", "ps_suppkey", int64(s))
	}
}

// changeOffers writes costs and quantities of parts' suppliers anew.
func (g *Generator) changeOffers(l *logs, share float64) {
	for range g.third(4*len(g.parts.live), share) {
		part := g.parts.live[g.random.IntN(len(g.parts.live))]
		suppliers := g.partSuppliers(part)
		g.partsupp(l, part, suppliers[g.random.IntN(len(suppliers))], "U")
	}
}

// insertOrder gives the first eight of every 32 keys, as the specification does.
func (g *Generator) insertOrder(l *logs) {
	n := g.nextOrder
	g.nextOrder++
	key := n/8*32 + n%8 + 1
	g.orders = append(g.orders, order{key, g.order(l, key, "I", 0)})
}

func (g *Generator) changeOrders(l *logs, share float64) {
	for range g.third(len(g.orders), share) {
		i := g.random.IntN(len(g.orders))
		g.removeOrder(l, g.orders[i])
		g.orders[i] = g.orders[len(g.orders)-1]
		g.orders = g.orders[:len(g.orders)-1]
		o := g.orders[g.random.IntN(len(g.orders))]
		g.order(l, o.key, "U", o.lines)
		g.insertOrder(l)
	}
}

func (g *Generator) removeOrder(l *logs, o order) {
	g.remove(l, "orders", "o_orderkey", o.key)
	for i := range o.lines {
		l.number("l_orderkey", o.key)
		g.remove(l, "lineitem", "l_linenumber", int64(i+1))
	}
}
