package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/job"
)

// shared counts the operators of a view that hold something, and those that it has together with others.
func (w *world) shared(view string) (all, some int, with []string) {
	w.t.Helper()
	got, err := w.host.Remembered()
	require.NoError(w.t, err)
	seen := map[string]bool{}
	for _, size := range got[address(w.t, "view."+view)].Operators {
		all++
		if len(size.Shared) > 0 {
			some++
		}
		for _, other := range size.Shared {
			if !seen[other.Name] {
				seen[other.Name] = true
				with = append(with, other.Name)
			}
		}
	}
	return all, some, want(with...)
}

// computed counts, by view, the operators that keep something and did so in an epoch.
func computed(p job.Progress) map[string]int {
	out := map[string]int{}
	for _, o := range p.StateOperators {
		out[o.Relation]++
	}
	return out
}

const perCustomer = "SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY customer"

// common are pairs of views with an operator in common: how many operators of the second hold something, and how many of them the first has.
func commonViews() map[string]struct {
	first, second string
	all, some     int
} {
	return map[string]struct {
		first, second string
		all, some     int
	}{
		"an aggregate, and other results of its partials": {perCustomer, "SELECT customer, avg(v) AS a, 7 AS seven FROM purchases GROUP BY customer HAVING count(*) > 1", 1, 1},
		"an aggregate":       {perCustomer, "SELECT customer, total * 2 AS twice, n FROM (" + perCustomer + ") WHERE n > 1", 1, 1},
		"one over nothing":   {"SELECT count(*) AS n FROM purchases", "SELECT n + 1 AS more FROM (SELECT count(*) AS n FROM purchases)", 1, 1},
		"ranks":              {"SELECT customer, v, row_number() OVER (PARTITION BY customer ORDER BY v) AS r FROM purchases", "SELECT * FROM (SELECT customer, v, row_number() OVER (PARTITION BY customer ORDER BY v) AS r FROM purchases) WHERE v > 1", 1, 1},
		"the last of each":   {"SELECT customer, v FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) = 1", "SELECT v, customer AS name FROM (SELECT customer, v FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) = 1)", 1, 1},
		"a join":             {"SELECT a.customer, a.v, b.v AS w FROM purchases a JOIN purchases b ON a.customer = b.customer AND a.v < b.v", "SELECT customer, count(*) AS n FROM (SELECT a.customer, a.v, b.v AS w FROM purchases a JOIN purchases b ON a.customer = b.customer AND a.v < b.v) GROUP BY customer", 2, 1},
		"below what is new":  {perCustomer, "SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n", 2, 1},
		"beside what is new": {perCustomer, "SELECT p.customer, p.v, t.total FROM purchases p JOIN (" + perCustomer + ") t ON p.customer = t.customer", 3, 1},
		"several":            {"SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n", "SELECT n, customers FROM (SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n) WHERE customers > 1", 2, 2},
		"nothing":            {perCustomer, "SELECT customer, sum(v + 1) AS total FROM purchases GROUP BY customer", 1, 0},
	}
}

// Views that have operators in common have their keyed data once, whether they are built together or one after the other, and each of them goes on
// when the other is gone.
func TestViewsShareOperators(t *testing.T) {
	for name, c := range commonViews() {
		for _, together := range []bool{true, false} {
			t.Run(map[bool]string{true: name + ", together", false: name + ", one by one"}[together], func(t *testing.T) {
				w := newWorld(t)
				w.land("a.json", purchase("ann", 1), purchase("bob", 2), purchase("cy", 2))
				w.land("b.json", purchase("ann", 4))
				w.purchases(1, limit(1))
				check := func(view, sql string) {
					t.Helper()
					require.Equal(t, w.query(sql), w.query("FROM "+view), view)
					rows, _ := w.table("lake/" + view)
					require.Equal(t, w.query(sql), rows, "the table of %s", view)
				}
				put := func(view, sql string) {
					w.put("view."+view, 1, attributes{"sql": text(sql)})
					w.put("sink.delta."+view, 1, attributes{"from": text("view." + view), "path": text("lake/" + view)})
				}
				put("one", c.first)
				if !together {
					w.backfill()
				}
				put("two", c.second)
				w.backfill()
				check("one", c.first)
				check("two", c.second)
				all, some, _ := w.shared("two")
				require.Equal(t, []int{c.all, c.some}, []int{all, some})
				w.reopen()
				w.land("c.json", purchase("bob", 5), purchase("dee", 1))
				p := w.reports(nil)
				require.Len(t, p, 1)
				require.Equal(t, c.all-c.some, computed(p[0])["view.two"], "what is shared is computed once")
				check("one", c.first)
				check("two", c.second)
				require.NoError(t, w.host.Delete(t.Context(), address(t, "sink.delta.one")))
				require.NoError(t, w.host.Delete(t.Context(), address(t, "view.one")))
				w.land("d.json", purchase("bob", 9), purchase("ann", 1))
				w.once()
				check("two", c.second)
				_, some, _ = w.shared("two")
				require.Zero(t, some)
			})
		}
	}
}

// A view all of whose operators others have reads nothing again: what was read may be gone.
func TestSharedOperatorsReadNothing(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4))
	w.purchases(1, nil)
	w.put("view.one", 1, attributes{"sql": text(perCustomer)})
	w.backfill()
	w.gone()
	w.put("view.two", 1, attributes{"sql": text("SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n")})
	w.put("view.three", 1, attributes{"sql": text("SELECT customer, total FROM (" + perCustomer + ") WHERE total > 2")})
	w.put("sink.delta.two", 1, attributes{"from": text("view.two"), "path": text("lake/two")})
	s := w.backfill()
	for _, source := range s.Sources {
		require.Zero(t, source.Rows, "%+v", source)
	}
	require.Equal(t, want("1|1", "2|1"), w.query("FROM two"))
	require.Equal(t, want("ann|5"), w.query("FROM three"))
	rows, _ := w.table("lake/two")
	require.Equal(t, want("1|1", "2|1"), rows)
	require.EqualValues(t, 2, w.facts().Resources[address(t, "view.two")].Rows)
	require.EqualValues(t, 1, w.facts().Resources[address(t, "view.three")].Rows)
	_, _, with := w.shared("two")
	require.Equal(t, want("one", "three"), with)
	w.land("c.json", purchase("bob", 7), purchase("cy", 1))
	w.once()
	require.Equal(t, want("1|1", "2|2"), w.query("FROM two"))
	require.Equal(t, want("ann|5", "bob|9"), w.query("FROM three"))
}

// An edit that leaves what is shared takes nothing from the others; one that comes to it takes it over.
func TestEditsOfSharedOperators(t *testing.T) {
	for _, window := range []string{"", "24h"} {
		t.Run("window "+window, func(t *testing.T) {
			w := newWorld(t)
			if window != "" {
				w.keeping = attributes{"rollback_window": text(window)}
			}
			w.land("a.json", purchase("ann", 1), purchase("bob", 2))
			w.purchases(1, nil)
			w.put("view.one", 1, attributes{"sql": text(perCustomer)})
			w.put("view.two", 1, attributes{"sql": text(perCustomer)})
			w.backfill()
			check := func(one, two []string, shared int) {
				t.Helper()
				require.Equal(t, one, w.query("FROM one"))
				require.Equal(t, two, w.query("FROM two"))
				_, some, _ := w.shared("two")
				require.Equal(t, shared, some)
			}
			check(want("ann|1|1", "bob|2|1"), want("ann|1|1", "bob|2|1"), 1)
			require.NotNil(t, w.edit("view.two", 2, perCustomer+" HAVING count(*) > 1").Carry)
			w.backfill()
			check(want("ann|1|1", "bob|2|1"), []string{}, 1)
			w.land("b.json", purchase("ann", 4))
			w.once()
			check(want("ann|5|2", "bob|2|1"), want("ann|5|2"), 1)
			require.NotNil(t, w.edit("view.two", 3, "SELECT count(*) AS n FROM purchases").Carry)
			w.backfill()
			check(want("ann|5|2", "bob|2|1"), want("3"), 0)
			w.land("c.json", purchase("bob", 1))
			w.once()
			check(want("ann|5|2", "bob|3|2"), want("4"), 0)
			w.reopen()
			w.gone()
			require.Nil(t, w.edit("view.two", 4, perCustomer).Carry)
			w.backfill()
			check(want("ann|5|2", "bob|3|2"), want("ann|5|2", "bob|3|2"), 1)
			if window == "" {
				return
			}
			for _, rows := range [][]string{want("4"), want("ann|5|2", "bob|3|2")} {
				w.rollback("view.two")
				check(want("ann|5|2", "bob|3|2"), rows, 0)
			}
		})
	}
}

// Power cuts while a view is built on what another one holds, and while both are built together.
func TestPowerCutsWhileSharing(t *testing.T) {
	const counted = "SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n"
	for name, serves := range map[string]bool{"one by one": true, "together": false} {
		t.Run(name, func(t *testing.T) {
			w, c := crashable(t)
			w.land("a.json", purchase("ann", 1), purchase("bob", 2))
			w.land("b.json", purchase("ann", 4))
			w.purchases(1, limit(1))
			w.put("view.one", 1, attributes{"sql": text(perCustomer)})
			if serves {
				w.backfill()
			}
			w.put("view.two", 1, attributes{"sql": text(counted)})
			w.put("sink.delta.two", 1, attributes{"from": text("view.two"), "path": text("lake/two")})
			for i, m := range c.shoot(func() { w.backfill() }, crashes) {
				w.cut(m)
				if i%2 == 0 { // what serves goes on before the build does
					w.land("c.json", purchase("cy", 3))
					w.once()
				}
				w.backfill()
				w.land("d.json", purchase("ann", 2), purchase("bob", 1))
				w.once()
				require.Equal(t, w.query(perCustomer), w.query("FROM one"), "cut %d", i)
				require.Equal(t, w.query(counted), w.query("FROM two"), "cut %d", i)
				rows, _ := w.table("lake/two")
				require.Equal(t, w.query(counted), rows, "cut %d", i)
				_, some, _ := w.shared("two")
				require.Equal(t, 1, some, "cut %d", i)
				for _, name := range []string{"c.json", "d.json"} {
					require.NoError(t, os.RemoveAll(w.path("landing", name)))
				}
			}
		})
	}
}
