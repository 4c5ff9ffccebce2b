//! The longer texts of the help.

/// What follows the list of commands.
pub const EXAMPLES: &str = "\
Each command has its own options: ltt-top COMMAND --help.

Examples:
  ltt-top ~/lttng-traces/valkey-20260131-235959
      What held the server up, and which commands and which housekeeping took the most time?
  ltt-top incidents TRACE --longer-than 10ms
      Every stall of ten milliseconds or more: why, who waited, and what helps?
  ltt-top TRACE --by addr --event command_call --sort p99
      Which clients have the slowest commands?
  ltt-top slow TRACE --where name=keys --since +10s --until +20s
      The slowest KEYS within ten seconds of the trace.
  ltt-top outliers TRACE --sensitivity high
      What is unusual, and why?
  ltt-top hist TRACE --event eventloop --over-time
      When was the event loop slow?
  ltt-top top TRACE --where 'duration>1ms' --format json
      Statistics of all calls longer than a millisecond, for a program to read.
  ltt-top events TRACE --where name=flushall --context 20
      What happened just before and after each FLUSHALL?
  ltt-top compare before/ after/ --fail-if 'p99>+10%'
      Did the change help? Exits with 4 if a 99th percentile is certainly more than a tenth longer.
  ltt-top html TRACE --output report.html
      All of this as one page for a browser, with pictures: for a ticket or a colleague.
  ltt-top export TRACE --output trace.json.gz
      A timeline for Perfetto, Speedscope or chrome://tracing.
  ltt-top live -e 'valkey_*'
      What is slow on this machine right now?
  ltt-top live net://collector/checkout --wait --metrics 9464
      Serve the figures of a session to Prometheus.
  ltt-top record -e 'valkey_*' --name valkey-server --for 30s
      Record half a minute of a server, then show what held it up.

Times, for --since, --until and --around:
  2026-01-31T23:59:59Z   with a time zone; without one in local time
  23:59:59.5             on the day of the trace
  1769903999000000000    nanoseconds since 1970
  +2s                    after the trace's first event
  -500ms                 before the trace's last event

Exit status:
  0  the result is complete as far as the trace goes
  1  nothing could be read, or the result could not be written
  2  the command line is wrong, or asks for a field or an event that the trace does not have
  3  a result was given, but part of the trace is damaged and left out, or a recording or a live
     session ended early
  4  compare: a change is beyond a limit of --fail-if

A valid filter that matches no event is not an error; the output names it.

Environment:
  LTT_TOP_CATALOG  catalogs to read, separated by colons, after those of --catalog
  LTT_TOP_DEADLINE how long LTTng's tools may take to start, to answer and to stop; by default 20s
  LTTNG_HOME       where lttng-traces is, if not in the home folder
  NO_COLOR         no colours, if set and not empty
  COLUMNS          the maximum width of lines; by default that of the terminal,
                   or unlimited without a terminal
  TZ               the local time zone";

/// What follows the options of `compare`.
pub const COMPARE_HELP: &str = "\
Groups are ranked by LOST/S, how much more of each second they take. The verdict compares ranks of durations over 24 \
blocks of time, because calls of one moment resemble each other; in brackets are the changes that the data allow, from \
drawing blocks again. docs/compare.md describes the method and its limits.

Examples:
  ltt-top compare before/ after/
      Did the change help?
  ltt-top compare before.tar.gz after.tar.gz --event command_call --fail-if 'p99>+10%'
      Fail a build if the 99th percentile of any command is more than a tenth longer, or AFTER proves nothing.
  ltt-top compare before/ after/ --fail-if 'blocked>+50%' --allow new --report gate.xml --annotate
      A gate for CI: JUnit's XML and annotations; new commands are expected.
  ltt-top compare --before a1 --before a2 --after b1
      Recordings of several traces.";

/// What follows the options of `html`.
pub const HTML_HELP: &str = "\
The page needs no network and no other file: losses and damage first, incidents with causes, victims and advice, \
throughput and a heat map of durations over time, a table of groups with their histograms and tails, the slowest \
events, what is unusual, and clients. A range of time narrows incidents, groups and slowest events, and the page's \
address remembers what is chosen. It is smaller than 2 MB: of long traces it has the heaviest groups, the longest incidents and wider slices of \
time, and says so.

Examples:
  ltt-top html TRACE
      Writes report.html.
  ltt-top html before.tar.gz --since +10s --until +20s --output before.html --force
      Ten seconds of a recording; replaces the page of an earlier run.";

/// What follows the options of `export`.
pub const EXPORT_HELP: &str = "\
Each thread is a track with its intervals, nested as they were and with their fields as arguments; incidents have a \
track, and the rate of intervals and the blocked time are counters. Perfetto's format also has a track for each client. In \
Speedscope's, a frame is a name alone, so that its Sandwich view sums up what has the same name; it has neither fields nor counters, and \
requests of an async program are one after the other in a profile. Recorded durations are truncated, so intervals may \
seem to cross: up to 100 us these are clipped, and the output says how many. Intervals that cross by more are drawn on \
another track of their thread. Events without a duration are left out, as are those that only repeat others.

The size of a large file is estimated first. Of what does not fit into --max-size the longest intervals are written, and around \
incidents those of a thousandth of that length; the output says what was left out. chrome://tracing opens up to about 500 MiB, \
Perfetto's page up to about 2 GiB.

Examples:
  ltt-top export --to perfetto TRACE --output trace.pftrace
      A trace, for Perfetto's page.
  ltt-top export --to speedscope TRACE --output trace.speedscope.json
      The same for Speedscope: which names take the time, and where they are called.
  ltt-top export TRACE --around 23:59:59.5 --within 200ms --output stall.json
      What happened around a stall.
  ltt-top export --to parquet RELAY --output tables
      All hosts of a relay, as tables for DuckDB and Spark.";

/// What follows the options of `record`.
pub const RECORD_HELP: &str = "\
Buffers are large; events that were lost nevertheless are reported at the end. The contexts vpid, vtid and \
procname are recorded too. A session daemon is started if none is running, and stopped when its last session, \
whoever created it, is gone.

Examples:
  ltt-top record -e 'valkey_*' -o trace -- valkey-server --port 7000
      Record while the server runs.
  ltt-top record -e 'valkey_*' --name valkey-server --for 30s
      Record half a minute of a server that is already running.";

/// What `live` takes in place of folders.
pub const LIVE_URL: &str =
    "Sessions: net://HOST[:PORT][/host/HOSTNAME]/SESSION; by default the only one on this machine";
