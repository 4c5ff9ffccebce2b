-- Did a deployment make commands slower? Write its time into the first line; clocks of hosts differ, so minutes are compared.
WITH deployment AS (
  SELECT CAST('2026-11-15 12:00:00' AS TIMESTAMP) AS deployed
), buckets AS (
  SELECT event, group_name, CASE WHEN minute < deployed THEN 'before' ELSE 'after' END AS period, bucket_ns,
         SUM(count) AS events, SUM(total_ns) AS total_ns
  FROM groups CROSS JOIN deployment
  WHERE NOT is_repeat AND bucket_ns IS NOT NULL
  GROUP BY event, group_name, CASE WHEN minute < deployed THEN 'before' ELSE 'after' END, bucket_ns
), ranks AS (
  SELECT event, group_name, period, bucket_ns, events, total_ns,
         SUM(events) OVER (PARTITION BY event, group_name, period ORDER BY bucket_ns ROWS UNBOUNDED PRECEDING) AS up_to,
         SUM(events) OVER (PARTITION BY event, group_name, period) AS of_period
  FROM buckets
), figures AS (
  SELECT event, group_name, period, SUM(events) AS events, SUM(total_ns) / SUM(events) AS mean_ns,
         MIN(CASE WHEN up_to >= CEIL(of_period * 99 / 100e0) THEN bucket_ns END) AS p99_ns
  FROM ranks
  GROUP BY event, group_name, period
)
SELECT event, group_name,
       SUM(CASE WHEN period = 'before' THEN events ELSE 0 END) AS events_before,
       SUM(CASE WHEN period = 'after' THEN events ELSE 0 END) AS events_after,
       MAX(CASE WHEN period = 'before' THEN mean_ns END) AS mean_before_ns,
       MAX(CASE WHEN period = 'after' THEN mean_ns END) AS mean_after_ns,
       MAX(CASE WHEN period = 'before' THEN p99_ns END) AS p99_before_ns,
       MAX(CASE WHEN period = 'after' THEN p99_ns END) AS p99_after_ns
FROM figures
GROUP BY event, group_name
ORDER BY event, group_name
