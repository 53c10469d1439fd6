SELECT zone, count(*) AS minutes, sum(snapshots) AS snapshots, sum(requests) AS requests FROM zone_minutes GROUP BY zone ORDER BY zone
