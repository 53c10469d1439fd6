SELECT time_bucket(INTERVAL 1 HOUR, bought_at) AS hour,
       count(*)    AS purchases,
       sum(amount) AS amount
FROM valid_purchases
GROUP BY ALL
