-- Forms of queries that DuckDB computes faster in one shot than the first ones; they serve as lower bounds only.
-- q16
WITH s AS (SELECT channel, dateTime::DATE AS d, bidder, count(*) c, max(dateTime) mt, count(*) FILTER (price < 10000) c1,
             count(*) FILTER (price >= 10000 AND price < 1000000) c2, count(*) FILTER (price >= 1000000) c3 FROM bid GROUP BY ALL),
     u AS (SELECT channel, dateTime::DATE AS d, auction, count(*) c, count(*) FILTER (price < 10000) c1,
             count(*) FILTER (price >= 10000 AND price < 1000000) c2, count(*) FILTER (price >= 1000000) c3 FROM bid GROUP BY ALL),
     x AS (SELECT channel, d, strftime(max(mt), '%H:%M') AS minute, sum(c)::BIGINT total_bids, sum(c1)::BIGINT rank1_bids, sum(c2)::BIGINT rank2_bids, sum(c3)::BIGINT rank3_bids,
             count(*) total_bidders, count(*) FILTER (c1 > 0) rank1_bidders, count(*) FILTER (c2 > 0) rank2_bidders,
             count(*) FILTER (c3 > 0) rank3_bidders FROM s GROUP BY channel, d),
     y AS (SELECT channel, d, count(*) total_auctions, count(*) FILTER (c1 > 0) rank1_auctions, count(*) FILTER (c2 > 0) rank2_auctions,
             count(*) FILTER (c3 > 0) rank3_auctions FROM u GROUP BY channel, d)
SELECT channel, strftime(d, '%Y-%m-%d') AS day, * EXCLUDE (channel, d) FROM x JOIN y USING (channel, d)
-- q17
SELECT auction, strftime(d, '%Y-%m-%d') AS day, * EXCLUDE (auction, d) FROM (
  SELECT auction, dateTime::DATE AS d, count(*) AS total_bids, count(*) FILTER (price < 10000) AS rank1_bids,
    count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids, count(*) FILTER (price >= 1000000) AS rank3_bids,
    min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price FROM bid GROUP BY ALL)
-- q18
WITH w AS (SELECT bidder, auction, max(dateTime) AS t FROM bid GROUP BY bidder, auction)
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (SELECT b.* FROM bid b JOIN w ON b.bidder = w.bidder AND b.auction = w.auction AND b.dateTime = w.t)
QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, extra DESC) = 1
