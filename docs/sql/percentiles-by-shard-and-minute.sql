-- How did the 99th percentile of each command develop, by shard and minute? A shard is a server process of a host.
WITH buckets AS (
  SELECT host, pid, minute, event, group_name, bucket_ns, SUM(count) AS events, SUM(total_ns) AS total_ns
  FROM groups
  WHERE NOT is_repeat AND bucket_ns IS NOT NULL
  GROUP BY host, pid, minute, event, group_name, bucket_ns
), ranks AS (
  SELECT host, pid, minute, event, group_name, bucket_ns, total_ns, events,
         SUM(events) OVER (PARTITION BY host, pid, minute, event, group_name
                           ORDER BY bucket_ns ROWS UNBOUNDED PRECEDING) AS up_to,
         SUM(events) OVER (PARTITION BY host, pid, minute, event, group_name) AS of_group
  FROM buckets
)
SELECT host, pid, minute, event, group_name, SUM(events) AS events, SUM(total_ns) AS total_ns,
       MIN(CASE WHEN up_to >= CEIL(of_group * 50 / 100e0) THEN bucket_ns END) AS p50_ns,
       MIN(CASE WHEN up_to >= CEIL(of_group * 99 / 100e0) THEN bucket_ns END) AS p99_ns,
       MAX(bucket_ns) AS longest_ns
FROM ranks
GROUP BY host, pid, minute, event, group_name
ORDER BY host, pid, minute, event, group_name
