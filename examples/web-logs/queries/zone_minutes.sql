SELECT * FROM zone_minutes ORDER BY minute, zone LIMIT 9
