SELECT * FROM events_by_type ORDER BY events DESC, event LIMIT 8
