SELECT * FROM airports ORDER BY flights DESC, origin LIMIT 5
