SELECT origin,
       time_bucket(INTERVAL 1 HOUR, date) AS hour,
       count(*)                           AS flights,
       count(*) FILTER (WHERE delay > 15) AS late,
       sum(delay)                         AS minutes,
       max(delay)                         AS worst
FROM departures
GROUP BY ALL
