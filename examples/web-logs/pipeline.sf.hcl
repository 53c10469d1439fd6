# Status snapshots of a web server: cumulative counters per zone become requests per zone and minute.

variable "data" {
  type        = string
  description = "Folder with nginx.ndjson."
  default     = "../../../shared/data/web-logs"
}

source "files" "snapshots" {
  path   = "${var.data}/*.ndjson"
  format = "json"
  columns = {
    timestamp    = "BIGINT"
    server_zones = "MAP(VARCHAR, STRUCT(requests BIGINT, received BIGINT, sent BIGINT))"
  }
}

stream "zones" {
  sql = <<-SQL
    SELECT seen_at, zone.key AS zone, zone.value.requests AS requests, zone.value.sent AS sent
    FROM (SELECT make_timestamp_ms("timestamp") AS seen_at, unnest(map_entries(server_zones)) AS zone FROM snapshots)
  SQL
}

view "zone_minutes" {
  sql = <<-SQL
    SELECT zone,
           time_bucket(INTERVAL 1 MINUTE, seen_at) AS minute,
           count(*)                                AS snapshots,
           max(requests) - min(requests)           AS requests,
           max(sent) - min(sent)                   AS bytes
    FROM zones
    GROUP BY ALL
  SQL
}

sink "delta" "zones" {
  from = stream.zones
  path = "./lake/zones"
}

sink "files" "zone_minutes" {
  from   = view.zone_minutes
  path   = "./out/zone_minutes"
  format = "csv"
}
