variable "folder" {
  default = "clicks"
}
source "files" "clicks" {
  path    = "clicks"
  format  = "json"
  columns = { user_id = "BIGINT", url = "VARCHAR", price = "DECIMAL(10,2)", ts = "TIMESTAMP" }
  trigger = trigger.processing_time.live
}
source "files" "user_events" {
  path    = "user_events"
  format  = "json"
  columns = { user_id = "BIGINT", name = "VARCHAR" }
}
stream "valid" {
  sql = "SELECT * FROM clicks WHERE user_id IS NOT NULL"
}
view "spend" {
  sql = "SELECT time_bucket(INTERVAL 1 MINUTE, ts) AS w, user_id, count(*) AS n, sum(price) AS total FROM valid GROUP BY ALL"
}
view "top3" {
  sql = "SELECT * FROM valid QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY price DESC, ts, url) <= 2"
}
view "users" {
  sql = "SELECT user_id, max(name) AS name, count(*) AS changes FROM user_events GROUP BY user_id"
}
view "named" {
  sql = "SELECT s.w, s.total, u.name FROM spend s JOIN users u USING (user_id)"
}
view "paths" {
  sql = "SELECT time_bucket(INTERVAL 1 MINUTE, ts) AS w, median(price) AS middle FROM valid GROUP BY ALL"
}
sink "files" "valid" {
  from   = stream.valid
  path   = "out/valid"
  format = "json"
}
sink "delta" "spend" {
  from = view.spend
  path = "lake/spend"
}
trigger "processing_time" "live" {
  interval = "1s"
}
monitor "freshness" "spend" {
  on  = view.spend
  max = "5m"
}
