-- Which hosts were held up the longest, and what was recorded of them?
WITH held AS (
  SELECT host, COUNT(*) AS incidents, SUM(held_ns) AS held_ns, MAX(held_ns) AS longest_ns, SUM(not_served) AS not_served
  FROM incidents
  GROUP BY host
), recorded AS (
  SELECT host, SUM(count) AS events, MIN(minute) AS first_minute, MAX(minute) AS last_minute,
         COUNT(DISTINCT minute) AS minutes
  FROM groups
  GROUP BY host
)
SELECT r.host, r.events, r.first_minute, r.last_minute,
       COALESCE(h.incidents, 0) AS incidents, COALESCE(h.held_ns, 0) AS held_ns, h.longest_ns,
       COALESCE(h.not_served, 0) AS not_served, COALESCE(h.held_ns, 0) / (r.minutes * 60e9) AS held_share
FROM recorded r
LEFT JOIN held h ON r.host = h.host
ORDER BY held_ns DESC, r.host
