package compile
import ("testing";"context";"fmt";"github.com/streamform/streamform/runtime/batch";"github.com/streamform/streamform/runtime/query/logical";"github.com/streamform/streamform/runtime/query/bound")
func TestZZ(t *testing.T){
 c,_:=NewCompiler(context.Background(),1)
 rel:=[]Relation{{Name:"b",Columns:batch.Schema{{Name:"id",Type:"BIGINT"},{Name:"s",Type:"VARCHAR"},{Name:"st",Type:"STRUCT(op VARCHAR, q INTEGER)"}},Identity:"b"}}
 conn,_:=c.worker(context.Background())
 b := &binding{ctx: context.Background(), conn: conn, relations: map[string]Relation{}}
 zz=func(doc string, tree *bound.Op){ 
   w,_:=logical.Explain(tree); fmt.Println("WANT",w)
   op,err:=bound.Decode([]byte(doc)); if err!=nil{fmt.Println(err);return}; g,err:=logical.Explain(op); fmt.Println("GOT ",g,err) }
 _=b
 c.workers<-conn
 for _,q:=range []string{
 `SELECT 'all' AS k, count(*) AS n FROM b UNION ALL SELECT 'some', count(*) FROM b WHERE s IS NULL`,
 `SELECT count(*) AS n FROM b, (SELECT id AS y, count(*) AS z FROM b GROUP BY ALL) r`,
 `SELECT op, count(*) AS n FROM (PIVOT (SELECT id, s as op, 1 AS one FROM b t) ON id IN (0, 1, 2) USING count(*)) GROUP BY ALL`,
 `SELECT last.* FROM (SELECT arg_max(st, id) AS last FROM b GROUP BY s) WHERE last.op = 'u'`,
 `SELECT s AS k, max(id) AS n FROM b GROUP BY ROLLUP (s)`,
 `SELECT * FROM (SELECT s AS k, max(id) AS n FROM b GROUP BY ROLLUP (s)) WHERE k > 'a'`,
 `SELECT id AS n FROM b EXCEPT SELECT id FROM (SELECT id, s FROM b ORDER BY id LIMIT 3) WHERE id BETWEEN 0 AND 2`,
 `SELECT id, (SELECT count(*) FROM b y WHERE y.id < x.id) AS n FROM b x`,
 `SELECT a.* FROM (SELECT id, s FROM b WHERE id>2) a, LATERAL (SELECT max(id) AS m FROM b WHERE b.s = a.s)`,
 } { fmt.Println("Q", q)
  p,err:=c.Compile(context.Background(),Query{SQL:q,Relations:rel}); if err!=nil{fmt.Println(err);continue}; fmt.Println("   =>",p.FullRefresh)}
}
