SELECT origin, hour, flights, late, minutes, worst
FROM hourly_delays
ORDER BY flights DESC, hour, origin
LIMIT 5
