-- p99 of the turns of the event loop by shard and minute, only of those in which the server wrote or synchronised its log.
-- Needs raw events: no histogram was made for this question.
WITH turns AS (
  SELECT host, pid, date_trunc('minute', time) AS minute, group_name, time_ns - duration_ns AS begin_ns, time_ns AS end_ns,
         duration_ns
  FROM events
  WHERE event = 'valkey_server:eventloop' AND duration_ns IS NOT NULL
), writes AS (
  SELECT host, pid, time_ns - duration_ns AS begin_ns, time_ns AS end_ns
  FROM events
  WHERE provider = 'valkey_aof' AND NOT is_repeat AND duration_ns IS NOT NULL AND event <> 'valkey_aof:aof_flush'
), overlapping AS (
  SELECT DISTINCT c.host, c.pid, c.minute, c.group_name, c.begin_ns, c.end_ns, c.duration_ns
  FROM turns c
  JOIN writes w ON c.host = w.host AND COALESCE(c.pid, 0) = COALESCE(w.pid, 0)
               AND c.begin_ns < w.end_ns AND w.begin_ns < c.end_ns
), ranks AS (
  SELECT host, pid, minute, group_name, duration_ns,
         ROW_NUMBER() OVER (PARTITION BY host, pid, minute, group_name ORDER BY duration_ns) AS up_to,
         COUNT(*) OVER (PARTITION BY host, pid, minute, group_name) AS of_group
  FROM overlapping
)
SELECT host, pid, minute, group_name, COUNT(*) AS events,
       MIN(CASE WHEN up_to >= CEIL(of_group * 99 / 100e0) THEN duration_ns END) AS p99_ns, MAX(duration_ns) AS longest_ns
FROM ranks
GROUP BY host, pid, minute, group_name
ORDER BY host, pid, minute, group_name
