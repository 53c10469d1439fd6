package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
)

// shared counts the operators of a view that hold something, and those that it has together with others.
func (w *world) shared(view string) (all, some int, with []string) {
	w.T.Helper()
	got, err := w.Host.Remembered()
	require.NoError(w.T, err)
	seen := map[string]bool{}
	for _, size := range got[Address(w.T, "view."+view)].Operators {
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
	return all, some, Want(with...)
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
		"ranks":              {"SELECT customer, v, row_number() OVER (PARTITION BY customer ORDER BY v) AS r FROM purchases", "SELECT * FROM (SELECT customer, v, row_number() OVER (PARTITION BY customer ORDER BY v) AS r FROM purchases) WHERE v > 1", 2, 1},
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
				w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2), Purchase("cy", 2))
				w.Land("b.json", Purchase("ann", 4))
				w.Purchases(1, limit(1))
				check := func(view, sql string) {
					t.Helper()
					require.Equal(t, w.Query(sql), w.Query("FROM "+view), view)
					rows, _ := w.Table("lake/" + view)
					require.Equal(t, w.Query(sql), rows, "the table of %s", view)
				}
				put := func(view, sql string) {
					w.Put("view."+view, 1, Attributes{"sql": Text(sql)})
					w.Put("sink.delta."+view, 1, Attributes{"from": Text("view." + view), "path": Text("lake/" + view)})
				}
				put("one", c.first)
				if !together {
					w.Backfill()
				}
				put("two", c.second)
				w.Backfill()
				check("one", c.first)
				check("two", c.second)
				all, some, _ := w.shared("two")
				require.Equal(t, []int{c.all, c.some}, []int{all, some})
				w.Reopen()
				w.Land("c.json", Purchase("bob", 5), Purchase("dee", 1))
				p := w.reports(nil)
				require.Len(t, p, 1)
				require.Equal(t, c.all-c.some, computed(p[0])["view.two"], "what is shared is computed once")
				check("one", c.first)
				check("two", c.second)
				require.NoError(t, w.Host.Delete(t.Context(), Address(t, "sink.delta.one")))
				require.NoError(t, w.Host.Delete(t.Context(), Address(t, "view.one")))
				w.Land("d.json", Purchase("bob", 9), Purchase("ann", 1))
				w.Once()
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
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4))
	w.Purchases(1, nil)
	w.Put("view.one", 1, Attributes{"sql": Text(perCustomer)})
	w.Backfill()
	w.Gone()
	w.Put("view.two", 1, Attributes{"sql": Text("SELECT n, count(*) AS customers FROM (" + perCustomer + ") GROUP BY n")})
	w.Put("view.three", 1, Attributes{"sql": Text("SELECT customer, total FROM (" + perCustomer + ") WHERE total > 2")})
	w.Put("sink.delta.two", 1, Attributes{"from": Text("view.two"), "path": Text("lake/two")})
	s := w.Backfill()
	for _, source := range s.Sources {
		require.Zero(t, source.Rows, "%+v", source)
	}
	require.Equal(t, Want("1|1", "2|1"), w.Query("FROM two"))
	require.Equal(t, Want("ann|5"), w.Query("FROM three"))
	rows, _ := w.Table("lake/two")
	require.Equal(t, Want("1|1", "2|1"), rows)
	require.EqualValues(t, 2, w.Facts().Resources[Address(t, "view.two")].Rows)
	require.EqualValues(t, 1, w.Facts().Resources[Address(t, "view.three")].Rows)
	_, _, with := w.shared("two")
	require.Equal(t, Want("one", "three"), with)
	w.Land("c.json", Purchase("bob", 7), Purchase("cy", 1))
	w.Once()
	require.Equal(t, Want("1|1", "2|2"), w.Query("FROM two"))
	require.Equal(t, Want("ann|5", "bob|9"), w.Query("FROM three"))
}

// An edit that leaves what is shared takes nothing from the others; one that comes to it takes it over.
func TestEditsOfSharedOperators(t *testing.T) {
	for _, window := range []string{"", "24h"} {
		t.Run("window "+window, func(t *testing.T) {
			w := newWorld(t)
			if window != "" {
				w.Keeping = Attributes{"rollback_window": Text(window)}
			}
			w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
			w.Purchases(1, nil)
			w.Put("view.one", 1, Attributes{"sql": Text(perCustomer)})
			w.Put("view.two", 1, Attributes{"sql": Text(perCustomer)})
			w.Backfill()
			check := func(one, two []string, shared int) {
				t.Helper()
				require.Equal(t, one, w.Query("FROM one"))
				require.Equal(t, two, w.Query("FROM two"))
				_, some, _ := w.shared("two")
				require.Equal(t, shared, some)
			}
			check(Want("ann|1|1", "bob|2|1"), Want("ann|1|1", "bob|2|1"), 1)
			require.NotNil(t, w.Edit("view.two", 2, perCustomer+" HAVING count(*) > 1").Carry)
			w.Backfill()
			check(Want("ann|1|1", "bob|2|1"), []string{}, 1)
			w.Land("b.json", Purchase("ann", 4))
			w.Once()
			check(Want("ann|5|2", "bob|2|1"), Want("ann|5|2"), 1)
			require.NotNil(t, w.Edit("view.two", 3, "SELECT count(*) AS n FROM purchases").Carry)
			w.Backfill()
			check(Want("ann|5|2", "bob|2|1"), Want("3"), 0)
			w.Land("c.json", Purchase("bob", 1))
			w.Once()
			check(Want("ann|5|2", "bob|3|2"), Want("4"), 0)
			w.Reopen()
			w.Gone()
			require.Nil(t, w.Edit("view.two", 4, perCustomer).Carry)
			w.Backfill()
			check(Want("ann|5|2", "bob|3|2"), Want("ann|5|2", "bob|3|2"), 1)
			if window == "" {
				return
			}
			for _, rows := range [][]string{Want("4"), Want("ann|5|2", "bob|3|2")} {
				w.rollback("view.two")
				check(Want("ann|5|2", "bob|3|2"), rows, 0)
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
			w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
			w.Land("b.json", Purchase("ann", 4))
			w.Purchases(1, limit(1))
			w.Put("view.one", 1, Attributes{"sql": Text(perCustomer)})
			if serves {
				w.Backfill()
			}
			w.Put("view.two", 1, Attributes{"sql": Text(counted)})
			w.Put("sink.delta.two", 1, Attributes{"from": Text("view.two"), "path": Text("lake/two")})
			for i, m := range c.Shoot(func() { w.Backfill() }, crashes) {
				w.Cut(m)
				if i%2 == 0 { // what serves goes on before the build does
					w.Land("c.json", Purchase("cy", 3))
					w.Once()
				}
				w.Backfill()
				w.Land("d.json", Purchase("ann", 2), Purchase("bob", 1))
				w.Once()
				require.Equal(t, w.Query(perCustomer), w.Query("FROM one"), "cut %d", i)
				require.Equal(t, w.Query(counted), w.Query("FROM two"), "cut %d", i)
				rows, _ := w.Table("lake/two")
				require.Equal(t, w.Query(counted), rows, "cut %d", i)
				_, some, _ := w.shared("two")
				require.Equal(t, 1, some, "cut %d", i)
				for _, name := range []string{"c.json", "d.json"} {
					require.NoError(t, os.RemoveAll(w.Path("landing", name)))
				}
			}
		})
	}
}
