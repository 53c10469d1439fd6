SELECT count(*) AS hours, sum(flights) AS flights, sum(late) AS late FROM hourly_delays
