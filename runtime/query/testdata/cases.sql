-- a NULL key of an outer join matches nothing, on either side, and its row stays
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.k = r.rk;
SELECT b.id, r.rid FROM b FULL JOIN r ON b.k = r.rk;
SELECT b.id, r.rid FROM b FULL JOIN r ON b.k = r.rk AND b.g = r.rg;
SELECT b.id, r.rid FROM b RIGHT JOIN r ON b.k + 1 = r.rk AND r.rg IS NULL;
SELECT x.id, y.id AS id2, z.id AS id3 FROM b x LEFT JOIN b y ON x.k = y.k AND x.id < y.id LEFT JOIN b z ON y.k = z.k AND z.id > y.id;

-- NULL keys match where the condition says so
SELECT b.id, r.rid FROM b FULL JOIN r ON b.k IS NOT DISTINCT FROM r.rk;
SELECT b.id, r.rid FROM b FULL JOIN r ON b.s IS NOT DISTINCT FROM r.rs;
SELECT b.id, r.rid FROM b JOIN r ON (b.k, b.g) IS NOT DISTINCT FROM (r.rk, r.rg);

-- a condition on one side of an outer join decides about matches, not about rows; after the join it decides about rows
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.k = r.rk AND b.f;
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.k = r.rk AND b.v > r.rv WHERE r.rid IS NULL OR r.rv > 0;
SELECT b.id, r.rid FROM b FULL JOIN r ON b.f;
SELECT b.id, r.rid FROM b FULL JOIN r ON b.f AND b.k = r.rk;
SELECT b.id FROM b LEFT JOIN r ON b.k = r.rk WHERE (r.rk > 1) IS NOT TRUE;

-- an outer join on a condition that never holds gives every row once
SELECT b.id, r.rid FROM b LEFT JOIN r ON false;
SELECT b.id, r.rid FROM b LEFT JOIN r ON NULL;

-- the key of a full join is that of the side that is there
SELECT coalesce(b.k, r.rk) AS c, b.id, r.rid FROM b FULL JOIN r ON b.k = r.rk;
SELECT k, n, m FROM (SELECT k, count(*) AS n FROM b GROUP BY k) FULL JOIN (SELECT rk AS k, sum(rv) AS m FROM r GROUP BY rk) USING (k);

-- constants and defaults computed on the side that is missing are NULL, structs as a whole
SELECT b.id, q.n FROM b LEFT JOIN (SELECT rk, count(*) AS n FROM r GROUP BY rk) q ON q.rk = b.k WHERE q.n IS NULL;
SELECT b.id, coalesce(q.n, 0) AS n FROM b LEFT JOIN (SELECT rk, count(*) AS n FROM r WHERE rv > 0 GROUP BY rk HAVING count(*) > 1) q ON q.rk = b.k;
SELECT b.id, q.c FROM b LEFT JOIN (SELECT rk, 1 AS c FROM r) q ON q.rk = b.k;
SELECT b.id, q.c IS NULL AS missing, coalesce(q.c, -1) AS c FROM b LEFT JOIN (SELECT rk, coalesce(rv, 7) AS c FROM r) q ON q.rk = b.k;
SELECT b.id, q.s IS NULL AS n FROM b LEFT JOIN (SELECT rk, {'a': NULL::INTEGER, 'b': rg} AS s FROM r) q ON q.rk = b.k;

-- a comparison across the sides is made after the join, also where it holds for what is missing
SELECT * FROM (SELECT b.k, r.rk FROM b LEFT JOIN r ON b.k = r.rk) WHERE rk IS DISTINCT FROM k;

-- rows met twice by OR are given once
SELECT count(*) AS n FROM b CROSS JOIN r;
SELECT b.id, r.rid FROM b, r WHERE b.k = r.rk OR b.g = r.rg;
SELECT a.id, c.id AS other FROM b a JOIN b c ON a.k = c.k AND a.id <> c.id;

-- keys of a join are compared as values: NaN with NaN, lists, structs, numbers of several types, days with moments
SELECT b.id, r.rid FROM b JOIN r ON b.x = r.rx;
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.x = r.rx AND b.x <> 0.5;
SELECT b.id, r.rid FROM b JOIN r ON b.l = r.rl;
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.s = r.rs;
SELECT b.id, r.rid FROM b JOIN r ON b.d = r.rv;
SELECT b.id, r.rid FROM b JOIN r ON b.ub = r.rv;
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.g COLLATE NOCASE = r.rg;

-- spans of time and inequalities join, whatever the order of arrival
SELECT b.id, r.rid FROM b LEFT JOIN r ON b.ts BETWEEN r.rts - INTERVAL 1 HOUR AND r.rts;

-- SEMI and ANTI JOIN keep the number of equal rows
SELECT a.id FROM b a SEMI JOIN r ON a.k = r.rk AND a.v <> r.rv;
SELECT a.id FROM b a ANTI JOIN r ON a.k = r.rk AND a.v <> r.rv;
SELECT k FROM bag SEMI JOIN r ON bag.k = r.rk;
SELECT k, g FROM bag ANTI JOIN r ON bag.k = r.rk;

-- NOT IN is NULL for all rows as soon as the subquery has a NULL, and true for all when it has no row
SELECT id FROM b WHERE k NOT IN (SELECT rk FROM r);
SELECT id FROM b WHERE k NOT IN (SELECT rk FROM r WHERE rk IS NOT NULL);
SELECT id FROM b WHERE k NOT IN (SELECT rk FROM r WHERE r.rg = b.g);
SELECT id, k IN (SELECT rk FROM r) AS m FROM b;
SELECT id FROM b WHERE (k, g) NOT IN (SELECT rk, rg FROM r);

-- IN of rows
SELECT id FROM b WHERE (k, g) IN (SELECT rk, rg FROM r);
SELECT id, (k, g) IN (SELECT rk, rg FROM r) AS m FROM b;

-- membership inside of OR, NOT and CASE
SELECT id FROM b WHERE k IN (SELECT rk FROM r) OR v IN (SELECT rv FROM r);
SELECT id FROM b WHERE NOT (k IN (SELECT rk FROM r) AND v IN (SELECT rv FROM r));
SELECT id FROM b WHERE CASE WHEN k IN (SELECT rk FROM r) THEN v > 0 ELSE g = 'a' END;

-- ALL and ANY over no rows, NULLs and the row's own group
SELECT id FROM b WHERE k > ALL (SELECT rk FROM r WHERE r.rid <> b.id);
SELECT id, k > ALL (SELECT rk FROM r WHERE rk > 100) AS m, k > ANY (SELECT rk FROM r WHERE rk > 100) AS n FROM b;
SELECT id, k = ALL (SELECT rk FROM r) AS m FROM b;
SELECT id, k <> ALL (SELECT rk FROM r WHERE rg = 'a') AS m FROM b;

-- EXISTS of an aggregate, of HAVING, of LIMIT and OFFSET
SELECT id FROM b WHERE EXISTS (SELECT 1 FROM r WHERE r.rk = b.k HAVING count(*) > 1);
SELECT id FROM b WHERE EXISTS (SELECT max(rv) FROM r WHERE r.rk = b.k);
SELECT id FROM b WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.rk = b.k AND NOT EXISTS (SELECT 1 FROM b c WHERE c.k = r.rk AND c.g = b.g));
SELECT id, EXISTS (SELECT 1 FROM r WHERE r.rk = b.k GROUP BY r.rg HAVING sum(rv) > 1) AS e FROM b;
SELECT id FROM b WHERE EXISTS (SELECT 1 FROM r WHERE r.rk IS NOT DISTINCT FROM b.k OFFSET 1);

-- IN with a first row, and with one value of each group
SELECT id FROM b WHERE k IN (SELECT rk FROM r ORDER BY rk DESC NULLS LAST LIMIT 1);
SELECT id FROM b WHERE k IN (SELECT max(rk) FROM r GROUP BY rg);
SELECT id FROM b WHERE k IN (1, 2, NULL);
SELECT id FROM b WHERE k NOT IN (1, NULL);

-- a correlated count over no rows is 0, a sum NULL, and with HAVING there is no row
SELECT id FROM b WHERE (SELECT count(*) FROM r WHERE r.rk = b.k) = 0;
SELECT id, (SELECT count(*) FROM r WHERE r.rk = b.k) AS n, (SELECT sum(rv) FROM r WHERE r.rk = b.k) AS s FROM b;
SELECT id, (SELECT count(rv) + 1 FROM r WHERE r.rk = b.k) AS n FROM b;
SELECT id, (SELECT coalesce(sum(rv), 0) FROM r WHERE r.rk = b.k AND rv > b.v) AS s FROM b;
SELECT id, (SELECT count(*) FROM r WHERE r.rk = b.k HAVING count(*) > 1) AS s FROM b;
SELECT id, (SELECT list(rv ORDER BY rid) FROM r WHERE r.rk = b.k) AS s FROM b;
SELECT id, (SELECT count(*) FROM r WHERE r.rk > b.k OR b.k IS NULL) AS s FROM b;

-- scalar subqueries without rows, nested, and beside aggregates
SELECT (SELECT count(*) FROM b) AS n, (SELECT max(rv) FROM r) AS m;
SELECT (SELECT sum(k) FROM b WHERE false) AS n, (SELECT count(k) FROM b WHERE false) AS m;
SELECT id, (SELECT (SELECT count(*) FROM r r2 WHERE r2.rk = r1.rk AND r2.rid <> b.id) FROM r r1 WHERE r1.rid = b.id) AS n FROM b;
SELECT max(k) AS m, (SELECT max(rk) FROM r) AS n FROM b HAVING max(k) >= (SELECT max(rk) FROM r);
SELECT g, count(*) AS n FROM b GROUP BY g HAVING count(*) >= ALL (SELECT count(*) FROM b GROUP BY g);

-- an expression that would fail is not computed for rows that its CASE, COALESCE or WHERE leaves out
SELECT id, CASE WHEN t SIMILAR TO '[0-9]+' THEN CAST(t AS INTEGER) ELSE -1 END AS n FROM b;
SELECT id, CAST(t AS INTEGER) AS n FROM b WHERE t SIMILAR TO '[0-9]+';
SELECT sum(CASE WHEN regexp_full_match(t, '[0-9]+') THEN CAST(t AS INTEGER) END) AS n FROM b;
SELECT b.id, r.rid FROM b JOIN r ON CAST(b.t AS INTEGER) = r.rk WHERE b.t SIMILAR TO '[0-9]+';
SELECT b.id, r.rid FROM b LEFT JOIN r ON CASE WHEN b.t SIMILAR TO '[0-9]+' THEN CAST(b.t AS INTEGER) END = r.rk;
SELECT id, coalesce(k, CAST(t AS INTEGER)) AS n FROM b WHERE k IS NOT NULL;
SELECT k, sum(v) AS s FROM b WHERE v < 100 AND CAST(CASE WHEN t SIMILAR TO '[0-9]+' THEN t ELSE '0' END AS INTEGER) >= 0 GROUP BY k;
SELECT a.id FROM (SELECT * FROM b WHERE v <> 0 AND v IS NOT NULL) a WHERE ln(abs(a.v)) >= 0;
SELECT b.id FROM b WHERE k IN (SELECT CAST(rt AS INTEGER) FROM r WHERE rt SIMILAR TO '[0-9]+');
SELECT n FROM (SELECT CAST(t AS INTEGER) AS n, row_number() OVER (PARTITION BY k ORDER BY id) AS w FROM b WHERE t SIMILAR TO '[0-9]+') WHERE w = 1;
SELECT g, CAST(max(t) FILTER (WHERE t SIMILAR TO '[0-9]+') AS INTEGER) AS n FROM b GROUP BY g;
SELECT id, CASE WHEN len(l) > 0 THEN 10 // l[1] END AS n FROM b;
SELECT id, strptime(t, '%Y-%m-%d') AS n FROM b WHERE t LIKE '____-__-__';
SELECT d, rn FROM (SELECT CAST(rt AS DATE) AS d, rn FROM (SELECT rt, row_number() OVER (ORDER BY rid) AS rn FROM r WHERE rt LIKE '2026%'));
SELECT k FROM b WHERE v <> 2147483647 AND v + 1 > 0;

-- what nobody reads is not computed
SELECT id FROM (SELECT id, CAST(t AS INTEGER) AS n FROM b);
SELECT count(*) AS n FROM (SELECT id, CAST(t AS INTEGER) AS n FROM b);

-- filters stay above the windows, groups and joins that they stand on
SELECT * FROM (SELECT id, t, count(*) OVER (PARTITION BY t SIMILAR TO '[0-9]+') AS c FROM b) WHERE t SIMILAR TO '[0-9]+' AND CAST(t AS INTEGER) > 0;
SELECT * FROM (SELECT t, count(*) AS c FROM b GROUP BY t) WHERE t SIMILAR TO '[0-9]+' AND CAST(t AS INTEGER) > 0;
SELECT b.id, r.rid FROM b JOIN r ON b.v + 1 = r.rv WHERE b.v <> 2147483647;
SELECT b.id, r.rid FROM b JOIN r ON b.id = r.rid AND b.v + 1 > r.rv WHERE b.v < 100;
SELECT b.id, r.rid FROM (SELECT * FROM b WHERE v < 100) b LEFT JOIN (SELECT * FROM r WHERE rt SIMILAR TO '[0-9]+') r ON b.v + 1 = CAST(r.rt AS INTEGER);
SELECT id, (SELECT max(CAST(rt AS INTEGER)) FROM r WHERE rt SIMILAR TO '[0-9]+' AND rk = b.k) AS n FROM b;

-- a failure that no row brings about is none
SELECT id, error('never') AS e FROM b WHERE k > 100;
SELECT id, CASE WHEN k > 100 THEN error('never') ELSE 'ok' END AS e FROM b;

-- DISTINCT and FILTER of one aggregate do not touch those of its neighbour
SELECT k, count(DISTINCT g) FILTER (WHERE v > 0) AS n, count(g) FILTER (WHERE v > 0) AS m, count(DISTINCT v) AS o FROM b GROUP BY k;
SELECT count(DISTINCT (k, g)) AS n, count(DISTINCT k) AS m FROM b;
SELECT count(DISTINCT s) AS n, count(DISTINCT l) AS m, count(DISTINCT x) AS o FROM b;

-- sums, averages and extremes of a group whose rows go, one by one and all at once
SELECT k, sum(v) AS s, avg(v) AS f_a, min(v) AS mi, max(v) AS ma FROM b GROUP BY k;
SELECT sum(d) AS s, avg(d) AS f_a, sum(DISTINCT d) AS sd FROM b;
SELECT sum(big) AS s FROM b WHERE big < 2;
SELECT k, sum(big) AS s, max(big) AS m, avg(big) AS f_a FROM b WHERE big < 2 GROUP BY k;
SELECT k, bool_and(f) AS a, bool_or(f) AS o, count_if(f) AS c FROM b GROUP BY k;
SELECT sum(v::BIGINT * 2147483647) AS a, sum(v::BIGINT * 2147483647 * 2) AS c FROM b;
SELECT sum(x) AS f_a, avg(x) AS f_c FROM b;
SELECT k, sum(d * d) AS a, sum(d::DECIMAL(18,6)) AS c, min(d * 1.000) AS e FROM b WHERE d < 100 GROUP BY k;

-- groups of zeros, NaN and infinity
SELECT x, count(*) AS n FROM b GROUP BY x;
SELECT DISTINCT x FROM b;
SELECT x, count(*) FROM bag GROUP BY x HAVING count(*) > 1;
SELECT max(x) AS a, min(x) AS c, max(-x) AS d, min(x::FLOAT) AS e FROM b;
SELECT e, count(*) AS n FROM (SELECT [x, -x] AS e FROM b) GROUP BY e;
SELECT DISTINCT [x, NULL] AS e FROM b;

-- aggregates with an order of their own
SELECT string_agg(g, ',' ORDER BY id) AS s, string_agg(DISTINCT g, ',' ORDER BY g) AS t FROM b;
SELECT k, list(v ORDER BY v DESC NULLS FIRST, id) AS l, array_agg(v ORDER BY id) FILTER (WHERE v IS NOT NULL) AS l2 FROM b GROUP BY k;
SELECT k, first(v ORDER BY id) AS f, last(v ORDER BY id) AS l, any_value(v ORDER BY id) AS a FROM b GROUP BY k;
SELECT k, arg_max(g, id) AS a, arg_max_null(g, id) AS b, arg_min(g, id, 2) AS c FROM b GROUP BY k;
SELECT k, list(DISTINCT v ORDER BY v) AS l FROM b GROUP BY k;
SELECT k, max(v, 2) AS top, min(g, 3) AS low, arg_max(g, id, 2) AS am FROM b GROUP BY k;

-- values in the middle of a group
SELECT k, mode(v ORDER BY v) AS m FROM b GROUP BY k;
SELECT k, median(v) AS m, quantile_cont(v, 0.5) AS f_q, quantile_disc(v, [0.25, 0.75]) AS q2 FROM b GROUP BY k;
SELECT median(ts) AS m, median(day) AS n, quantile_disc(g, 0.5) AS o FROM b;

-- histograms, nested values and all types have a least and a greatest
SELECT k, histogram(v) AS h FROM b GROUP BY k;
SELECT histogram(g) AS h, histogram(f) AS hf FROM b;
SELECT k, min(s) AS a, max(s) AS z FROM b GROUP BY k;
SELECT k, min(l) AS a, max(l) AS z, max(z) AS zz FROM b GROUP BY k;
SELECT min(iv) AS a, max(iv) AS z, count(DISTINCT iv) AS n FROM b WHERE iv <> INTERVAL 1 DAY AND iv <> INTERVAL 1 MONTH;
SELECT max(e) AS a, min(e) AS c, count(DISTINCT e) AS n FROM (SELECT CASE k WHEN 1 THEN chr(0) || 'a' WHEN 2 THEN '🦆' WHEN 3 THEN chr(1114111) ELSE g END AS e FROM b);
SELECT max(bt) AS a, min(bt) AS c, bit_or(bt) AS d FROM (SELECT CASE k WHEN 1 THEN '0101'::BIT ELSE '1010'::BIT END AS bt FROM b);

-- a group by collated text
SELECT max(g) AS a, min(g) AS c, max(g COLLATE NOCASE) IS NULL AS n FROM b;
SELECT lower(g) AS lg, count(*) AS n FROM b GROUP BY g COLLATE NOCASE, lower(g);

-- GROUPING SETS: the empty set has a row over nothing, and sets that stand twice give rows twice
SELECT k, count(*) AS n FROM b GROUP BY GROUPING SETS ((k), ());
SELECT k, g, count(*) AS n, GROUPING(k) AS gk, GROUPING_ID(k, g) AS gi FROM b GROUP BY CUBE (k, g);
SELECT k, g, sum(v) AS n FROM b GROUP BY ROLLUP (k, g) HAVING GROUPING(g) = 1;
SELECT k, count(*) AS n FROM b WHERE false GROUP BY ROLLUP (k);
SELECT k, count(*) AS n FROM b GROUP BY GROUPING SETS ((k), (k));

-- aggregates over nothing, with and without HAVING
SELECT count(*) AS n FROM b HAVING count(*) > 3;
SELECT 1 AS one FROM b HAVING count(*) = 0;
SELECT 1 AS one FROM b GROUP BY k HAVING max(v) > 1;
SELECT k FROM b GROUP BY k HAVING bool_or(g = 'a') AND NOT bool_or(g = 'b');
SELECT count(NULL) AS a, sum(NULL::INTEGER) AS c, max(NULL::VARCHAR) AS d FROM b;

-- aggregates of aggregates, and of subqueries
SELECT k + 1 AS kk, count(*) AS n FROM b GROUP BY k;
SELECT k, (SELECT max(rv) FROM r WHERE rk = b.k) AS m, count(*) AS n FROM b GROUP BY k;
SELECT k, sum(n) AS s FROM (SELECT k, g, count(*) AS n FROM b GROUP BY k, g HAVING count(*) > 1) GROUP BY k;
SELECT max(n) AS m, min(n) AS mi, avg(n) AS f_a FROM (SELECT count(*) AS n FROM b GROUP BY k);

-- statistics of two columns, and moments
SELECT covar_pop(v, id) AS f_a, corr(v, id) AS f_c, regr_slope(v, id) AS f_r, regr_count(v, id) AS n FROM b WHERE v < 100;
SELECT k, stddev(v) AS f_s, var_pop(v) AS f_v, kurtosis(v) AS f_k, skewness(v) AS f_sk FROM b WHERE v < 100 GROUP BY k;
SELECT k, entropy(v) AS f_e, mad(v) AS f_m FROM b WHERE v < 100 GROUP BY k;

-- every type is a key: nested values, JSON, wide numbers, texts with a zero byte, times at both ends
SELECT m, count(*) AS n FROM b GROUP BY m;
SELECT s, count(*) AS n FROM b GROUP BY s;
SELECT l, count(*) AS n FROM b GROUP BY l;
SELECT j, count(*) AS n FROM b GROUP BY j;
SELECT ee, u, tm, count(*) AS n FROM b GROUP BY ALL;
SELECT ub, big, count(*) AS n FROM b GROUP BY ALL;
SELECT v::BIT AS bi, count(*) AS n FROM b GROUP BY bi;
SELECT l[1:2] AS p, count(*) AS n FROM b GROUP BY p;
SELECT e, count(*) AS n, min(id) AS m FROM (SELECT id, CASE k WHEN 1 THEN TIMESTAMP 'infinity' WHEN 2 THEN TIMESTAMP '-infinity' WHEN 3 THEN TIMESTAMP '0044-03-15 (BC) 10:00:00' WHEN 0 THEN TIMESTAMP '294246-12-31 23:59:59.999999' ELSE ts END AS e FROM b) GROUP BY e;
SELECT e, count(*) AS n FROM (SELECT CASE k WHEN 1 THEN '\x00\xFF'::BLOB WHEN 2 THEN ''::BLOB ELSE t::BLOB END AS e FROM b) GROUP BY e;
SELECT tm, count(*) AS n, max(tm) AS m FROM (SELECT CASE k WHEN 1 THEN TIME '24:00:00' ELSE tm END AS tm FROM b) GROUP BY tm;
SELECT bt, count(*) AS n FROM (SELECT CASE k WHEN 1 THEN '0101'::BIT WHEN 2 THEN '00101'::BIT ELSE '1'::BIT END AS bt FROM b) GROUP BY bt;
SELECT DISTINCT m FROM b;
SELECT m2, count(*) AS n FROM (SELECT MAP {g: h} AS m2 FROM b WHERE g IS NOT NULL) GROUP BY m2;
SELECT m2, count(*) AS n FROM (SELECT MAP {day: {'a': tm, 'b': [ts]}} AS m2 FROM b WHERE day IS NOT NULL) GROUP BY m2;
SELECT l2, count(*) AS n FROM (SELECT [[k, v], NULL, []] AS l2 FROM b) GROUP BY l2;
SELECT l2, count(*) AS n FROM (SELECT [j] AS l2 FROM b) GROUP BY l2;

-- buckets and parts of times, over a change to summer time
SELECT ts::TIMESTAMP_S AS a, ts::TIMESTAMP_MS AS c, count(*) AS n FROM b GROUP BY ALL;
SELECT year(day) AS y, month(day) AS m, count(*) AS n, last(day ORDER BY id) AS l FROM b GROUP BY ALL;
SELECT date_trunc('hour', tz) AS hr, count(*) AS n FROM b GROUP BY hr;
SELECT tz AT TIME ZONE 'Europe/Berlin' AS loc, count(*) AS n FROM b GROUP BY loc;
SELECT day + INTERVAL 1 MONTH AS nm, count(*) AS n FROM b GROUP BY nm;
SELECT cast(tz AS DATE) AS dd, hour(tz) AS hh, count(*) AS n FROM b GROUP BY ALL;

-- ranks among equals, and shares of a total
SELECT id, row_number() OVER (ORDER BY v NULLS LAST, id) AS n FROM b;
SELECT id, rank() OVER (PARTITION BY k ORDER BY v DESC) AS r1, dense_rank() OVER (PARTITION BY k ORDER BY v) AS r2, percent_rank() OVER (PARTITION BY k ORDER BY v) AS f_p, cume_dist() OVER (PARTITION BY k ORDER BY v) AS f_c FROM b;
SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) AS r1 FROM bag;
SELECT id, sum(count(*)) OVER (ORDER BY id) AS n FROM b GROUP BY id;
SELECT k, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r1, count(*) * 100.0 / sum(count(*)) OVER () AS f_p FROM b GROUP BY k;

-- neighbours: before the first, behind the last, beyond NULLs, by an offset of the row's own
SELECT id, lag(v) OVER (PARTITION BY k ORDER BY id) AS a, lead(v, 2, -5) OVER (PARTITION BY k ORDER BY id) AS c, lag(v, -1) OVER (PARTITION BY k ORDER BY id) AS d FROM b;
SELECT id, lag(v IGNORE NULLS) OVER (PARTITION BY k ORDER BY id) AS a, lead(v, 2 IGNORE NULLS) OVER (ORDER BY id) AS c FROM b;
SELECT id, lag(v, NULL) OVER (ORDER BY id) AS a, lag(v, k) OVER (ORDER BY id) AS c FROM b;
SELECT id, first_value(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a, nth_value(v, 2) OVER (PARTITION BY k ORDER BY id) AS c, last_value(v IGNORE NULLS) OVER (PARTITION BY k ORDER BY id) AS d FROM b;

-- frames by rows, values, moments and groups, also empty ones
SELECT id, sum(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 30 MINUTE PRECEDING AND CURRENT ROW) AS a FROM b WHERE v < 100;
SELECT id, count(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL 1 DAY FOLLOWING) AS a FROM b;
SELECT id, count(*) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM b WHERE v < 100;
SELECT id, count(*) OVER (ORDER BY v DESC NULLS FIRST GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) AS a FROM b;
SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING) AS a FROM b;
SELECT id, count(*) FILTER (WHERE v > 0) OVER (PARTITION BY k ORDER BY id) AS a FROM b;

-- in full: windows with an order of their own inside
SELECT id, list(v ORDER BY id DESC) OVER (PARTITION BY k) AS a FROM b;
SELECT id, string_agg(g, '-' ORDER BY id) OVER (PARTITION BY k ORDER BY id) AS a FROM b;
SELECT id, row_number(ORDER BY v, id) OVER (PARTITION BY k ORDER BY id) AS a, first_value(g ORDER BY v, id) OVER (PARTITION BY k) AS c FROM b;

-- windows partitioned and ordered by every kind of value
SELECT id, sum(v) OVER (PARTITION BY g COLLATE NOCASE) AS s FROM b;
SELECT id, sum(v) OVER (PARTITION BY x) AS s FROM b;
SELECT id, count(*) OVER (PARTITION BY s) AS n, count(*) OVER (PARTITION BY l) AS o FROM b;
SELECT id, count(*) OVER (ORDER BY x) AS n FROM b;
SELECT id, rank() OVER (ORDER BY ee DESC) AS n, rank() OVER (ORDER BY g COLLATE NOCASE) AS o FROM b;
SELECT e, id, row_number() OVER (PARTITION BY e ORDER BY id) AS n FROM (SELECT id, CASE k WHEN 1 THEN chr(0) || 'a' WHEN 2 THEN chr(0) WHEN 3 THEN '' ELSE g END AS e FROM b);
SELECT l2, id FROM (SELECT [h, 1] AS l2, id FROM b) QUALIFY row_number() OVER (PARTITION BY l2 ORDER BY id) = 1;
SELECT j, id FROM b QUALIFY row_number() OVER (PARTITION BY j ORDER BY id) = 1;

-- the first rows of a key, and filters on their number
SELECT id FROM b QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) <= 2;
SELECT id, row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS n FROM b QUALIFY n = 2;
SELECT id FROM b QUALIFY row_number() OVER (PARTITION BY k ORDER BY id) = count(*) OVER (PARTITION BY k);
SELECT id FROM b QUALIFY rank() OVER (PARTITION BY k ORDER BY v DESC) <= 1;
SELECT k, count(*) AS n FROM b GROUP BY k QUALIFY rank() OVER (ORDER BY n DESC) = 1;
SELECT *  FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM b) WHERE n = k;
SELECT * FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM b) WHERE n <= 0;

-- sessions: gaps decided by the row before, also when a row comes between
SELECT id, sum(brk) OVER (PARTITION BY k ORDER BY ts, id) AS session FROM (SELECT id, k, ts, CASE WHEN ts - lag(ts) OVER (PARTITION BY k ORDER BY ts, id) > INTERVAL 5 MINUTE THEN 1 ELSE 0 END AS brk FROM b WHERE ts IS NOT NULL);
SELECT k, session, count(*) AS n, min(ts) AS s FROM (SELECT k, ts, sum(brk) OVER (PARTITION BY k ORDER BY ts RANGE UNBOUNDED PRECEDING) AS session FROM (SELECT k, ts, CASE WHEN ts - lag(ts) OVER (PARTITION BY k ORDER BY ts, id) > INTERVAL 5 MINUTE THEN 1 ELSE 0 END AS brk FROM b WHERE ts IS NOT NULL)) GROUP BY k, session;

-- DISTINCT ON with an order that decides
SELECT DISTINCT ON (k) k, id, v FROM b ORDER BY k, v DESC NULLS LAST, id;
SELECT DISTINCT ON (k, g) k, g, id FROM b ORDER BY k, g, id DESC;
SELECT DISTINCT ON (k % 2) k, id FROM b ORDER BY id DESC;

-- first rows with ties, NULLs, an offset, none at all
SELECT id, v FROM b ORDER BY v, id LIMIT 3;
SELECT id, v FROM b ORDER BY v DESC NULLS FIRST, id LIMIT 3 OFFSET 2;
SELECT id FROM b ORDER BY id OFFSET 2;
SELECT id FROM b ORDER BY id LIMIT 0;
SELECT k, v FROM bag ORDER BY v, k NULLS FIRST LIMIT 4;
SELECT id FROM b ORDER BY g COLLATE NOCASE, id LIMIT 3;
SELECT id FROM b ORDER BY -v NULLS LAST, id LIMIT 2;

-- in full: a LIMIT that is computed, and rows numbered as they are unnested
SELECT id, uu, o FROM b, unnest(l) WITH ORDINALITY AS q(uu, o);
SELECT id FROM b ORDER BY id LIMIT 50%;
SELECT id FROM b ORDER BY id LIMIT (SELECT count(*) // 2 FROM r);

-- first rows per outer row
SELECT z.* FROM (SELECT DISTINCT k FROM b) d, LATERAL (SELECT id, v FROM b WHERE b.k = d.k ORDER BY v DESC NULLS LAST, id LIMIT 2) z;
SELECT d.k, z.* FROM (SELECT DISTINCT k FROM b) d LEFT JOIN LATERAL (SELECT id, v FROM b WHERE b.k = d.k AND v > 1 ORDER BY id LIMIT 1) z ON true;
(SELECT id FROM b ORDER BY id LIMIT 1) UNION ALL (SELECT rid FROM r ORDER BY rid DESC LIMIT 1);

-- bags: EXCEPT ALL and INTERSECT ALL count equal rows, UNION does not
SELECT k FROM b EXCEPT ALL SELECT rk FROM r;
SELECT k, g FROM b INTERSECT ALL SELECT rk, rg FROM r;
SELECT k FROM bag UNION SELECT k FROM bag;
SELECT NULL AS k UNION SELECT k FROM b;
(SELECT k FROM b EXCEPT SELECT rk FROM r) UNION ALL (SELECT rk FROM r EXCEPT SELECT k FROM b);
SELECT DISTINCT k, g FROM bag;

-- set operations over values that SQL takes as equal, and of several types
SELECT x FROM b EXCEPT SELECT rx FROM r;
SELECT x FROM b UNION SELECT rx FROM r;
SELECT s FROM b EXCEPT SELECT rs FROM r;
SELECT l FROM b INTERSECT SELECT rl FROM r;
SELECT k FROM b UNION SELECT d FROM b;

-- a list that is empty or NULL has no rows, one with a NULL has one
SELECT id, unnest(l) AS uu FROM b;
SELECT id, uu FROM b, unnest(l) AS q(uu);
SELECT id, uu FROM b LEFT JOIN unnest(l) AS q(uu) ON true;
SELECT id, uu FROM b LEFT JOIN LATERAL (SELECT unnest(l) AS uu) q ON uu > 1;
SELECT id, unnest(l) AS uu, unnest(z) AS zz FROM b;
SELECT id FROM b WHERE k IN (SELECT unnest(b.l));
SELECT id, unnest(map_keys(m)) AS e, unnest(map_values(m)) AS v2 FROM b;
SELECT id, unnest(range(k)) AS e FROM b;
SELECT id, unnest(CASE WHEN k = 1 THEN [1, 2] ELSE NULL END) AS e FROM b;

-- subqueries over the row's own list
SELECT id, (SELECT sum(uu) FROM (SELECT unnest(l) AS uu)) AS n FROM b;
SELECT id, (SELECT max(uu) FROM unnest(l) q(uu) WHERE uu > b.k) AS n FROM b;
SELECT id FROM b WHERE k IN (SELECT unnest(l) FROM b);
SELECT id, k = ANY(l) AS a, k <> ALL(l) AS c FROM b;

-- PIVOT and UNPIVOT with values written out
PIVOT (SELECT k, g, v FROM b WHERE v < 100) ON g IN ('a', 'b', 'A') USING sum(v) GROUP BY k;
PIVOT (SELECT k, g, v FROM b) ON g IN ('a', 'b') USING count(*) AS n, max(v) AS m GROUP BY k;
SELECT * FROM (SELECT k, f, v FROM b) PIVOT (count(*) FOR f IN (true, false));
UNPIVOT (SELECT id, k, v FROM b) ON k, v INTO NAME n VALUE val;
UNPIVOT (SELECT id, k, v FROM b) ON COLUMNS(* EXCLUDE (id));

-- a CTE named like the relation that it reads, and one that is read twice
WITH c AS MATERIALIZED (SELECT k, count(*) AS n FROM b GROUP BY k) SELECT a.k, a.n, d.n AS m FROM c a LEFT JOIN c d ON a.k = d.n;
WITH c AS NOT MATERIALIZED (SELECT k, count(*) AS n FROM b GROUP BY k) SELECT * FROM c UNION ALL SELECT k, -n FROM c;
WITH b AS (SELECT id, k FROM b WHERE k = 1) SELECT * FROM b;
WITH c AS (SELECT * FROM b), d AS (SELECT k FROM c) SELECT c.id, (SELECT count(*) FROM d WHERE d.k = c.k) AS n FROM c;

-- in full: recursion, as long as the rows last
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < (SELECT count(*) FROM b)) SELECT i FROM c;
WITH RECURSIVE c AS (SELECT id, k, 1 AS lvl FROM b WHERE id = 1 UNION SELECT b.id, b.k, lvl + 1 FROM b JOIN c ON b.k = c.id WHERE lvl < 4) SELECT * FROM c;

-- rows that come from no relation beside such that do
SELECT v.i, count(b.id) AS n FROM (VALUES (1), (2), (NULL)) v(i) LEFT JOIN b ON b.k = v.i GROUP BY v.i;
SELECT d.d, count(b.id) AS n FROM range(DATE '2026-02-27', DATE '2026-03-03', INTERVAL 1 DAY) d(d) LEFT JOIN b ON b.day = d.d GROUP BY d.d;
SELECT 1 AS one;
SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM b);
SELECT b.id, c.n FROM b, (SELECT count(*) AS n FROM r) c;
SELECT count(*) AS n FROM b WHERE 1 = 0;

-- ASOF joins with keys and moments that are NULL
SELECT b.id, z.rv FROM (SELECT * FROM b WHERE ts IS NOT NULL) b ASOF JOIN (SELECT rts, max(rv) AS rv FROM r GROUP BY rts) z ON b.ts >= z.rts;
SELECT b.id, z.rv FROM b ASOF LEFT JOIN (SELECT rk, rts, max(rv) AS rv FROM r WHERE rts IS NOT NULL GROUP BY rk, rts) z ON b.k = z.rk AND b.ts > z.rts;
SELECT b.id, z.rv FROM (SELECT * FROM b WHERE day IS NOT NULL) b ASOF JOIN (SELECT rday, max(rv) AS rv FROM r WHERE rday IS NOT NULL GROUP BY rday) z ON b.day < z.rday;

-- names that need quotes, that are those of the engine, and that differ in case
SELECT id AS "select", k AS "Group", v AS "weird name", g AS "é日", d AS "c0", x AS "k0", ts AS "1st" FROM b;
SELECT "select", "Group" + 1 AS "order by", count(*) AS "count(*)" FROM (SELECT id AS "select", k AS "Group" FROM b WHERE v < 100) GROUP BY ALL;
SELECT K, Id, V FROM B WHERE K > 0;
SELECT count(*), count(*) FILTER (WHERE k = 1) FROM b GROUP BY k;
SELECT k0, c0, p0, g0, i, l, r FROM (SELECT id AS k0, k AS c0, v AS p0, g AS g0, d AS i, x AS l, ts AS r FROM b) QUALIFY row_number() OVER (PARTITION BY c0 ORDER BY k0) = 1;
SELECT "a""b" AS ab, count(*) AS n FROM (SELECT k AS "a""b" FROM b) GROUP BY "a""b";
SELECT '--' AS a, '/* x */' AS c, ';' AS d, '''' AS e, 'b' AS f2, chr(0) AS h2 FROM b;
SELECT b.b.id FROM (SELECT b FROM b) b;
SELECT s.a, s.b, (s).a AS sa, s['a'] AS sb FROM b;
SELECT b.s.a AS deep, count(*) AS n FROM b GROUP BY deep;
SELECT id AS "very long name very long name very long name very long name very long name very long name very long name very long name very long name" FROM b;
SELECT "x.y", "x.y" + 1 AS "z.z" FROM (SELECT k AS "x.y" FROM b);
SELECT {'x y': k, 'Select': g, 'a"b': v} AS st, count(*) AS n FROM b GROUP BY ALL;
SELECT max({'x y': k, 'Select': g}) AS st FROM b;

-- very long keys
SELECT repeat(g, 100000) AS long_key, count(*) AS n FROM b GROUP BY long_key;
SELECT repeat(g, 100000) AS long_key, id FROM b QUALIFY row_number() OVER (PARTITION BY repeat(g, 100000) ORDER BY id) = 1;
SELECT list_transform(range(5000), lambda y: y + k) AS long_list, count(*) AS n FROM b GROUP BY long_list;

-- structs, lists, maps and rows compare NULLs inside of them as values
SELECT id, s = {'a': 1, 'b': NULL} AS e, s IS NULL AS n, s.a IS NULL AS m, s IS NOT DISTINCT FROM {'a': NULL::INTEGER, 'b': NULL::VARCHAR} AS o FROM b;
SELECT id, l = [NULL]::INTEGER[] AS e, l < [2] AS c, [1, NULL] = [1, NULL] AS d, l IN ([1], [NULL]) AS f2 FROM b;
SELECT id, m['a'] AS e, m['zz'] AS c, element_at(m, 'b') AS d, m = MAP {'a': 1} AS f2 FROM b;

-- NULL in logic, ranges, CASE and functions of several values
SELECT id, nullif(k, 1) AS c, coalesce(k, v, -1) AS e, ifnull(g, 'n') AS f2, greatest(k, v, NULL) AS h2, least(k, NULL) AS i2 FROM b;
SELECT id, k IS DISTINCT FROM NULL AS c, (k = NULL) IS NULL AS e, NOT f AS f2, f AND NULL AS h2, f OR NULL AS i2, xor(k, v) AS j2 FROM b;
SELECT id, CASE k WHEN NULL THEN 'null' WHEN 1 THEN 'one' ELSE 'else' END AS c, CASE WHEN f THEN 1 ELSE 2.5 END AS e FROM b;

-- columns chosen by pattern, renamed, replaced, computed from one another
SELECT id, COLUMNS('^(k|v)$') + 1 FROM b WHERE v < 100;
SELECT id, COLUMNS(c -> c LIKE 'r%')::VARCHAR FROM (SELECT id, k AS rr, v AS rq FROM b);
SELECT * EXCLUDE (s, m) REPLACE (k + 1 AS k) FROM b;
SELECT * RENAME (k AS kk) FROM b;
FROM b SELECT id WHERE k = 1;
SELECT id, k AS kk, kk + 1 AS kl FROM b WHERE kk > 0;

-- lambdas that read the row around them
SELECT id, list_transform(l, lambda y, i: y + i + k) AS c FROM b;
SELECT id, list_transform(l, lambda y: list_transform(z, lambda w: w || y::VARCHAR)) AS c FROM b;
SELECT id, list_filter(l, lambda y: y IN (1, 2)) AS c FROM b;
SELECT id, list_transform([1, 2], lambda y: CASE WHEN y > k THEN g END) AS c FROM b;

-- joins on days, moments, zones, enumerations and lists of a fixed length
SELECT a.id, c.id AS c FROM (SELECT id, CASE k WHEN 1 THEN TIMESTAMPTZ 'infinity' ELSE tz END AS e FROM b) a JOIN (SELECT id, CASE k WHEN 1 THEN TIMESTAMPTZ 'infinity' ELSE tz END AS e FROM b) c ON a.e = c.e;
SELECT a.id, c.id AS c FROM (SELECT id, [k, v]::INTEGER[2] AS ar FROM b) a LEFT JOIN (SELECT id, [k, v]::INTEGER[2] AS ar FROM b) c ON a.ar = c.ar;
SELECT a.id, c.id AS c FROM b a JOIN b c ON a.j = c.j;
SELECT a.id, c.id AS c FROM b a JOIN b c ON a.ns = c.ts;
SELECT a.id, c.id AS c FROM b a JOIN b c ON a.u = c.u AND a.ee = c.ee AND a.tm = c.tm AND a.id <= c.id;
