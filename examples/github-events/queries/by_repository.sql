SELECT * FROM events_by_repository ORDER BY events DESC, repository, event LIMIT 8
