-- What held servers up, over all hosts, and how many hosts does it concern?
SELECT COALESCE(cause_event, held_by, kind) AS cause, cause_group,
       COUNT(*) AS incidents, COUNT(DISTINCT host) AS hosts,
       SUM(held_ns) AS held_ns, MAX(held_ns) AS longest_ns, SUM(unexplained_ns) AS unexplained_ns,
       SUM(waited_clients) AS waited_clients, SUM(not_served) AS not_served, MAX(advice) AS advice
FROM incidents
GROUP BY COALESCE(cause_event, held_by, kind), cause_group
ORDER BY held_ns DESC, cause, cause_group
