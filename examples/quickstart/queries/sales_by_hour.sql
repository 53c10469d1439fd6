SELECT * FROM sales_by_hour ORDER BY hour
