# Departures and delays per airport and hour, over flights that arrive in any order.

variable "data" {
  type        = string
  description = "Folder with flights-20k.json."
  default     = "../../../shared/data/flights"
}

source "files" "flights" {
  path    = "${var.data}/*.json"
  format  = "json"
  columns = { date = "TIMESTAMP", delay = "INTEGER", distance = "INTEGER", origin = "VARCHAR", destination = "VARCHAR" }
}

# Flights that were reported late: some belong to hours that have long been counted.
source "files" "reports" {
  path    = "./landing"
  format  = "csv"
  columns = { date = "TIMESTAMP", delay = "INTEGER", distance = "INTEGER", origin = "VARCHAR", destination = "VARCHAR" }
}

stream "departures" {
  sql = <<-SQL
    SELECT date, origin, destination, delay FROM flights
    UNION ALL
    SELECT date, origin, destination, delay FROM reports
  SQL
}

view "hourly_delays" {
  sql = file("hourly_delays.sql")
}

view "airports" {
  sql = <<-SQL
    SELECT origin, sum(flights) AS flights, sum(late) AS late, max(worst) AS worst
    FROM hourly_delays
    GROUP BY origin
  SQL
}

sink "delta" "hourly_delays" {
  from = view.hourly_delays
  path = "./lake/hourly_delays"
}
