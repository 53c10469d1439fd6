-- A batch job that loads what is newer than the last timestamp it has seen, beside the view.
WITH first_run AS (
  SELECT * FROM usage WHERE _file_name = 'usage-0835.json'
), second_run AS (
  SELECT * FROM usage
  WHERE _file_name = 'usage-0905.json'
    AND used_at > (SELECT max(used_at) FROM first_run)
), batch_job AS (
  SELECT * FROM first_run UNION ALL SELECT * FROM second_run
)
SELECT 'batch job, newer than the last timestamp' AS how, count(*) AS records, sum(kwh) AS kwh FROM batch_job
UNION ALL
SELECT 'streamform view', records, kwh FROM usage_by_meter
ORDER BY how
