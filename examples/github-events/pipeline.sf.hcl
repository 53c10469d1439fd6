# Webhook payloads of sixty event types, one JSON object a file, all of different shape.
# Their columns are inferred; the event's type is the folder a file lies in.

variable "data" {
  type        = string
  description = "Folder with one folder of payloads for each event type."
  default     = "../../../shared/data/github-events"
}

source "files" "payloads" {
  path     = var.data
  format   = "json"
  metadata = ["_file_path"]
}

stream "events" {
  sql = <<-SQL
    SELECT regexp_extract(_file_path, '([^/]+)/[^/]+$', 1) AS event,
           action,
           repository.full_name                            AS repository,
           sender.login                                    AS sender
    FROM payloads
  SQL
}

view "events_by_type" {
  sql = "SELECT event, count(*) AS events, count(DISTINCT action) AS actions FROM events GROUP BY event"
}

view "events_by_repository" {
  sql = "SELECT repository, event, count(*) AS events FROM events GROUP BY ALL"
}

sink "delta" "events" {
  from = stream.events
  path = "./lake/events"
}

sink "delta" "events_by_repository" {
  from = view.events_by_repository
  path = "./lake/events_by_repository"
}
