-- What takes the time, over all hosts: the table of `ltt-top top`, from histograms alone.
-- Percentiles are nearest-rank, exact up to 1,023 units of the event's clock, and within 0.1 % above.
WITH buckets AS (
  SELECT event, group_name, is_implausible, bucket_ns,
         SUM(count) AS events, SUM(total_ns) AS total_ns, MIN(min_ns) AS min_ns, MAX(max_ns) AS max_ns
  FROM groups
  WHERE NOT is_repeat
  GROUP BY event, group_name, is_implausible, bucket_ns
), sums AS (
  SELECT event, group_name,
         SUM(events) AS events,
         SUM(CASE WHEN is_implausible THEN events ELSE 0 END) AS implausible,
         SUM(CASE WHEN bucket_ns IS NULL THEN 0 ELSE events END) AS timed,
         SUM(total_ns) AS total_ns, MIN(min_ns) AS min_ns, MAX(max_ns) AS max_ns
  FROM buckets
  GROUP BY event, group_name
), ranks AS (
  SELECT event, group_name, bucket_ns,
         SUM(events) OVER (PARTITION BY event, group_name ORDER BY bucket_ns ROWS UNBOUNDED PRECEDING) AS up_to
  FROM buckets
  WHERE bucket_ns IS NOT NULL
), percentiles AS (
  SELECT s.event, s.group_name,
         MIN(CASE WHEN up_to >= CEIL(timed * 50 / 100e0) THEN bucket_ns END) AS p50,
         MIN(CASE WHEN up_to >= CEIL(timed * 90 / 100e0) THEN bucket_ns END) AS p90,
         MIN(CASE WHEN up_to >= CEIL(timed * 99 / 100e0) THEN bucket_ns END) AS p99,
         MIN(CASE WHEN up_to >= CEIL(timed * 999 / 1000e0) THEN bucket_ns END) AS p999
  FROM sums s
  JOIN ranks r ON s.event = r.event AND COALESCE(s.group_name, '') = COALESCE(r.group_name, '')
  GROUP BY s.event, s.group_name
)
-- The first and the last rank are known exactly, and no percentile lies outside of them.
SELECT s.event, s.group_name, s.events, s.implausible, s.total_ns, s.total_ns / s.timed AS mean_ns,
       CASE WHEN CEIL(timed * 50 / 100e0) = timed THEN max_ns WHEN CEIL(timed * 50 / 100e0) <= 1 THEN min_ns
            ELSE LEAST(GREATEST(p50, min_ns), max_ns) END AS p50_ns,
       CASE WHEN CEIL(timed * 90 / 100e0) = timed THEN max_ns WHEN CEIL(timed * 90 / 100e0) <= 1 THEN min_ns
            ELSE LEAST(GREATEST(p90, min_ns), max_ns) END AS p90_ns,
       CASE WHEN CEIL(timed * 99 / 100e0) = timed THEN max_ns WHEN CEIL(timed * 99 / 100e0) <= 1 THEN min_ns
            ELSE LEAST(GREATEST(p99, min_ns), max_ns) END AS p99_ns,
       CASE WHEN CEIL(timed * 999 / 1000e0) = timed THEN max_ns WHEN CEIL(timed * 999 / 1000e0) <= 1 THEN min_ns
            ELSE LEAST(GREATEST(p999, min_ns), max_ns) END AS p999_ns,
       min_ns, max_ns
FROM sums s
LEFT JOIN percentiles p ON s.event = p.event AND COALESCE(s.group_name, '') = COALESCE(p.group_name, '')
ORDER BY s.total_ns DESC NULLS LAST, s.event, s.group_name
