-- Queries q0 to q23 of Nexmark (nexmark/nexmark on GitHub), with what makes their results functions of the input:
-- a total order where rows tie, windows' beginnings in the result, event time instead of receipt time. A name with
-- a word behind the number is another form of the same query. "stream" after a name: rows are never taken back.
-- q0 stream
SELECT auction, bidder, price, dateTime, extra FROM bid
-- q1 stream
SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid
-- q2 stream
SELECT auction, price FROM bid WHERE auction % 123 = 0
-- q3 stream
SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
-- q4
SELECT category, avg(final) AS avg_final FROM (
  SELECT a.id, a.category, max(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires GROUP BY a.id, a.category) GROUP BY category
-- q5
WITH n AS (SELECT auction, starttime, count(*) AS num FROM (
             SELECT auction, unnest(range(time_bucket(INTERVAL 2 SECOND, dateTime), dateTime - INTERVAL 10 SECOND, -INTERVAL 2 SECOND)) AS starttime FROM bid) GROUP BY ALL)
SELECT auction, num, starttime FROM n QUALIFY rank() OVER (PARTITION BY starttime ORDER BY num DESC) = 1
-- q5join
WITH n AS (SELECT auction, starttime, count(*) AS num FROM (
             SELECT auction, unnest(range(time_bucket(INTERVAL 2 SECOND, dateTime), dateTime - INTERVAL 10 SECOND, -INTERVAL 2 SECOND)) AS starttime FROM bid) GROUP BY ALL),
     m AS (SELECT starttime, max(num) AS maxn FROM n GROUP BY ALL)
SELECT n.auction, n.num, n.starttime FROM n JOIN m ON n.starttime = m.starttime AND n.num >= m.maxn
-- q5pane
WITH p AS (SELECT auction, time_bucket(INTERVAL 2 SECOND, dateTime) AS b, count(*) AS c FROM bid GROUP BY ALL),
     n AS (SELECT auction, b - s * INTERVAL 2 SECOND AS starttime, sum(c)::BIGINT AS num FROM p, range(5) t(s) GROUP BY ALL)
SELECT auction, num, starttime FROM n QUALIFY rank() OVER (PARTITION BY starttime ORDER BY num DESC) = 1
-- q6
WITH w AS (SELECT a.id, a.seller, b.price, b.dateTime FROM auction a JOIN bid b ON a.id = b.auction
           WHERE b.dateTime BETWEEN a.dateTime AND a.expires
           QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.bidder DESC, b.extra DESC) = 1)
SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY dateTime, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS avg_price FROM w
-- q6narrow
WITH w AS (SELECT a.id, a.seller, unnest(max((b.price, -epoch_us(b.dateTime)))) FROM auction a JOIN bid b ON a.id = b.auction
           WHERE b.dateTime BETWEEN a.dateTime AND a.expires GROUP BY a.id, a.seller),
     x AS (SELECT id, seller, price, t FROM w AS w(id, seller, price, t))
SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY -t, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS avg_price FROM x
-- q7
WITH m AS (SELECT time_bucket(INTERVAL 10 SECOND, dateTime) AS ws, max(price) AS maxprice FROM bid GROUP BY ALL)
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra FROM bid b JOIN m ON b.price = m.maxprice
 AND b.dateTime BETWEEN m.ws AND m.ws + INTERVAL 10 SECOND
-- q7half
WITH m AS (SELECT time_bucket(INTERVAL 10 SECOND, dateTime) AS ws, max(price) AS maxprice FROM bid GROUP BY ALL)
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra FROM bid b JOIN m ON b.price = m.maxprice
 AND time_bucket(INTERVAL 10 SECOND, b.dateTime) = m.ws
-- q8
WITH p AS (SELECT id, name, time_bucket(INTERVAL 10 SECOND, dateTime) AS starttime FROM person GROUP BY ALL),
     a AS (SELECT seller, time_bucket(INTERVAL 10 SECOND, dateTime) AS starttime FROM auction GROUP BY ALL)
SELECT p.id, p.name, p.starttime FROM p JOIN a ON p.id = a.seller AND p.starttime = a.starttime
-- q9
SELECT a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra
FROM auction a JOIN bid b ON a.id = b.auction WHERE b.dateTime BETWEEN a.dateTime AND a.expires
QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.bidder DESC, b.extra DESC) = 1
-- q9two
WITH w AS (SELECT a.id, max((b.price, -epoch_us(b.dateTime))) AS k
           FROM auction a JOIN bid b ON a.id = b.auction WHERE b.dateTime BETWEEN a.dateTime AND a.expires GROUP BY a.id),
     c AS (SELECT id, k[1] AS price, make_timestamp(-k[2]) AS t FROM w)
SELECT a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra
FROM c JOIN auction a USING (id) JOIN bid b ON b.auction = c.id AND b.price = c.price AND b.dateTime = c.t
QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.bidder DESC, b.extra DESC) = 1
-- q10 stream
SELECT auction, bidder, price, dateTime, extra, strftime(dateTime, '%Y-%m-%d') AS dt, strftime(dateTime, '%H:%M') AS hm FROM bid
-- q11
WITH m AS (SELECT bidder, dateTime AS t, dateTime > lag(dateTime) OVER o + INTERVAL 10 SECOND AS fresh FROM bid
           WINDOW o AS (PARTITION BY bidder ORDER BY dateTime)),
     s AS (SELECT bidder, t, count(*) FILTER (fresh) OVER (PARTITION BY bidder ORDER BY t) AS i FROM m)
SELECT bidder, count(*) AS bid_count, min(t) AS starttime, max(t) + INTERVAL 10 SECOND AS endtime FROM s GROUP BY bidder, i
-- q11two
WITH d AS (SELECT bidder, dateTime AS t, count(*) AS c FROM bid GROUP BY ALL),
     m AS (SELECT *, t > lag(t) OVER (PARTITION BY bidder ORDER BY t) + INTERVAL 10 SECOND AS fresh FROM d),
     s AS (SELECT *, count(*) FILTER (fresh) OVER (PARTITION BY bidder ORDER BY t ROWS UNBOUNDED PRECEDING) AS i FROM m)
SELECT bidder, sum(c)::BIGINT AS bid_count, min(t) AS starttime, max(t) + INTERVAL 10 SECOND AS endtime FROM s GROUP BY bidder, i
-- q12
SELECT bidder, count(*) AS bid_count, time_bucket(INTERVAL 10 SECOND, dateTime) AS starttime FROM bid GROUP BY ALL
-- q13 stream
SELECT b.auction, b.bidder, b.price, b.dateTime, s.value FROM bid b JOIN side_input s ON b.auction % 10000 = s.key
-- q14 stream
SELECT auction, bidder, 0.908 * price AS price,
 CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime' WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
      ELSE 'otherTime' END AS bidTimeType,
 dateTime, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
-- q15
SELECT strftime(dateTime, '%Y-%m-%d') AS day, count(*) AS total_bids, count(*) FILTER (price < 10000) AS rank1_bids,
 count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
 count(DISTINCT bidder) AS total_bidders, count(DISTINCT bidder) FILTER (price < 10000) AS rank1_bidders,
 count(DISTINCT bidder) FILTER (price >= 10000 AND price < 1000000) AS rank2_bidders,
 count(DISTINCT bidder) FILTER (price >= 1000000) AS rank3_bidders,
 count(DISTINCT auction) AS total_auctions, count(DISTINCT auction) FILTER (price < 10000) AS rank1_auctions,
 count(DISTINCT auction) FILTER (price >= 10000 AND price < 1000000) AS rank2_auctions,
 count(DISTINCT auction) FILTER (price >= 1000000) AS rank3_auctions
FROM bid GROUP BY day
-- q15two
WITH s AS (SELECT dateTime::DATE AS d, bidder, count(*) c, count(*) FILTER (price < 10000) c1,
             count(*) FILTER (price >= 10000 AND price < 1000000) c2, count(*) FILTER (price >= 1000000) c3 FROM bid GROUP BY ALL),
     u AS (SELECT dateTime::DATE AS d, auction, count(*) c, count(*) FILTER (price < 10000) c1,
             count(*) FILTER (price >= 10000 AND price < 1000000) c2, count(*) FILTER (price >= 1000000) c3 FROM bid GROUP BY ALL),
     x AS (SELECT d, sum(c)::BIGINT total_bids, sum(c1)::BIGINT rank1_bids, sum(c2)::BIGINT rank2_bids, sum(c3)::BIGINT rank3_bids,
             count(*) total_bidders, count(*) FILTER (c1 > 0) rank1_bidders, count(*) FILTER (c2 > 0) rank2_bidders,
             count(*) FILTER (c3 > 0) rank3_bidders FROM s GROUP BY d),
     y AS (SELECT d, count(*) total_auctions, count(*) FILTER (c1 > 0) rank1_auctions, count(*) FILTER (c2 > 0) rank2_auctions,
             count(*) FILTER (c3 > 0) rank3_auctions FROM u GROUP BY d)
SELECT strftime(d, '%Y-%m-%d') AS day, * EXCLUDE (d) FROM x JOIN y USING (d)
-- q16
SELECT channel, strftime(dateTime, '%Y-%m-%d') AS day, max(strftime(dateTime, '%H:%M')) AS minute, count(*) AS total_bids, count(*) FILTER (price < 10000) AS rank1_bids,
 count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
 count(DISTINCT bidder) AS total_bidders, count(DISTINCT bidder) FILTER (price < 10000) AS rank1_bidders,
 count(DISTINCT bidder) FILTER (price >= 10000 AND price < 1000000) AS rank2_bidders,
 count(DISTINCT bidder) FILTER (price >= 1000000) AS rank3_bidders,
 count(DISTINCT auction) AS total_auctions, count(DISTINCT auction) FILTER (price < 10000) AS rank1_auctions,
 count(DISTINCT auction) FILTER (price >= 10000 AND price < 1000000) AS rank2_auctions,
 count(DISTINCT auction) FILTER (price >= 1000000) AS rank3_auctions
FROM bid GROUP BY channel, day
-- q17
SELECT auction, strftime(dateTime, '%Y-%m-%d') AS day, count(*) AS total_bids, count(*) FILTER (price < 10000) AS rank1_bids,
 count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
 min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price FROM bid GROUP BY auction, day
-- q18
SELECT auction, bidder, price, channel, url, dateTime, extra FROM bid
QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, extra DESC) = 1
-- q19
SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime, bidder DESC, extra DESC) AS rank_number
FROM bid QUALIFY rank_number <= 10
-- q19two
WITH t AS (SELECT auction, list_min(max(price, 10)) AS p FROM bid GROUP BY auction)
SELECT b.*, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime, bidder DESC, extra DESC) AS rank_number
FROM bid b JOIN t USING (auction) WHERE b.price >= t.p QUALIFY rank_number <= 10
-- q20 stream
SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.dateTime AS bid_dateTime, b.extra AS bid_extra, a.itemName, a.description,
 a.initialBid, a.reserve, a.dateTime AS auction_dateTime, a.expires, a.seller, a.category, a.extra AS auction_extra
FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10
-- q21 stream
SELECT auction, bidder, price, channel,
 CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3'
  ELSE nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '') END AS channel_id
FROM bid WHERE nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '') IS NOT NULL
   OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')
-- q21split stream
SELECT * FROM (SELECT auction, bidder, price, channel,
  CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3'
   ELSE CASE WHEN contains(url, '&channel_id=') THEN split_part(split_part(url, '&channel_id=', 2), '&', 1) END END AS channel_id
  FROM bid) WHERE channel_id IS NOT NULL
-- q22 stream
SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3 FROM bid
-- q23 stream
SELECT b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra, p.id AS person_id, p.name, p.emailAddress, p.creditCard, p.city, p.state,
 p.extra AS person_extra, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS auction_dateTime, a.expires, a.seller, a.category,
 a.extra AS auction_extra
FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder
