# Two folders of JSON lines become two tables that stay right, whenever a record arrives.

variable "landing" {
  type        = string
  description = "Folder in which records arrive."
  default     = "./landing"
}

source "files" "usage" {
  path     = "${var.landing}/usage"
  format   = "json"
  metadata = ["_file_name"]
}

source "files" "purchases" {
  path    = "${var.landing}/purchases"
  format  = "json"
  columns = { id = "BIGINT", customer = "VARCHAR", amount = "DECIMAL(10,2)", bought_at = "TIMESTAMP" }
}

stream "valid_purchases" {
  sql = "SELECT * FROM purchases WHERE amount > 0"
}

view "usage_by_meter" {
  sql = <<-SQL
    SELECT meter, count(*) AS records, sum(kwh) AS kwh
    FROM usage
    GROUP BY meter
  SQL
}

view "sales_by_hour" {
  sql = file("sales_by_hour.sql")
}

sink "delta" "valid_purchases" {
  from = stream.valid_purchases
  path = "./lake/valid_purchases"
}

sink "delta" "sales_by_hour" {
  from = view.sales_by_hour
  path = "./lake/sales_by_hour"
}
