//! Metrics as text for monitors: OpenMetrics, or the older format of Prometheus.

use std::fmt::Write;

use ltt_analysis::finding::Forgotten;
use ltt_analysis::live::{BOUNDS, HostMetrics, Metrics, Series, SeriesName, SessionFinding};

/// How metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus.
    Prometheus,
}

impl Exposition {
    /// The value of the HTTP header.
    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Exposition::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Writes what is known.
    pub fn write(self, metrics: &Metrics) -> String {
        let mut page = Page { form: self, text: String::new() };
        let version = format!("{{version={}}}", quoted(env!("CARGO_PKG_VERSION")));
        page.family("build_info", Kind::Gauge, "The version of ltt-top.");
        page.sample("build_info", &version, "1");
        page.metrics(metrics);
        if self == Exposition::OpenMetrics {
            page.text.push_str("# EOF\n");
        }
        page.text
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

struct Page {
    form: Exposition,
    text: String,
}

impl Page {
    /// Begins a family of samples; the name of a counter is without `_total`.
    fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let (suffix, kind) = match (kind, self.form) {
            (Kind::Counter, Exposition::OpenMetrics) => ("", "counter"),
            (Kind::Counter, Exposition::Prometheus) => ("_total", "counter"),
            (Kind::Gauge, _) => ("", "gauge"),
            (Kind::Histogram, _) => ("", "histogram"),
        };
        _ = writeln!(self.text, "# HELP ltt_top_{name}{suffix} {help}");
        _ = writeln!(self.text, "# TYPE ltt_top_{name}{suffix} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: &str) {
        _ = writeln!(self.text, "ltt_top_{name}{labels} {value}");
    }

    /// A counter with one sample.
    fn counter(&mut self, name: &str, help: &str, value: &str) {
        self.family(name, Kind::Counter, help);
        self.sample(&format!("{name}_total"), "", value);
    }

    /// A sample of a counter for each series.
    fn counters<const N: usize>(
        &mut self,
        (name, help): (&str, &str),
        all: &[Series<N>],
        labels: impl Fn(&SeriesName) -> Labels,
        value: impl Fn(&[u64; N]) -> String,
    ) {
        self.family(name, Kind::Counter, help);
        for series in all {
            self.sample(&format!("{name}_total"), &labels(&series.name).text(), &value(&series.counters));
        }
    }

    fn metrics(&mut self, metrics: &Metrics) {
        self.durations(metrics);
        self.counters(
            ("group_events", "Events by group, with or without a duration."),
            &metrics.groups,
            group,
            |counters| counters[0].to_string(),
        );
        self.family("groups", Kind::Gauge, "Groups, with or without their own series.");
        self.sample("groups", "", &metrics.known_groups.to_string());
        self.hosts(metrics);
        let help = "Incidents that a cause took part in.";
        self.counters(("cause_incidents", help), &metrics.causes, cause, |counters| counters[0].to_string());
        let help = "Time in which a cause held threads up.";
        self.counters(("cause_blocked_seconds", help), &metrics.causes, cause, |counters| {
            seconds(counters[1])
        });
        for (name, help, value) in [
            ("events", "Events that arrived.", metrics.events),
            ("discarded_events", "Events that the tracer discarded.", metrics.discarded_events),
            ("lost_packets", "Packets that were lost.", metrics.lost_packets),
            ("damaged_places", "Places in the trace that could not be read.", metrics.damaged),
        ] {
            self.counter(name, help, &value.to_string());
        }
        self.forgotten(metrics);
        self.sessions(metrics);
    }

    fn hosts(&mut self, metrics: &Metrics) {
        let of = |host: &HostMetrics| Labels::default().with("host", &host.host).text();
        self.family("incidents", Kind::Counter, "Times in which a thread was held up.");
        for host in &metrics.hosts {
            self.sample("incidents_total", &of(host), &host.incidents.to_string());
        }
        self.family("blocked_seconds", Kind::Counter, "Time in which a thread was held up.");
        for host in &metrics.hosts {
            self.sample("blocked_seconds_total", &of(host), &seconds(host.blocked_ns));
        }
    }

    /// What was not told apart because a table was full, and what was forgotten because it was old.
    fn forgotten(&mut self, metrics: &Metrics) {
        let Forgotten { threads, clients, names, samples } = metrics.forgotten;
        let of = |what: &str| Labels::default().with("what", what).text();
        let help = "Times that something was not told apart from others, because there was too much of it.";
        self.family("forgotten", Kind::Counter, help);
        for (what, count) in
            [("threads", threads), ("clients", clients), ("names", names), ("samples", samples)]
        {
            self.sample("forgotten_total", &of(what), &count.to_string());
        }
        self.family("aged_out", Kind::Counter, "What was forgotten because an hour was over.");
        for (what, count) in [("threads", metrics.aged_threads), ("clients", metrics.aged_clients)] {
            self.sample("aged_out_total", &of(what), &count.to_string());
        }
    }

    fn durations(&mut self, metrics: &Metrics) {
        let name = "event_duration_seconds";
        self.family(name, Kind::Histogram, "Durations by group.");
        for Series { name: of, counters } in &metrics.groups {
            let [_, count, total, buckets @ ..] = counters;
            let mut within = 0;
            for (bound, counter) in BOUNDS.iter().zip(buckets) {
                within += counter;
                let labels = group(of).with("le", &bound_text(*bound));
                self.sample(&format!("{name}_bucket"), &labels.text(), &within.to_string());
            }
            let labels = group(of).with("le", "+Inf");
            self.sample(&format!("{name}_bucket"), &labels.text(), &count.to_string());
            self.sample(&format!("{name}_sum"), &group(of).text(), &seconds(*total));
            self.sample(&format!("{name}_count"), &group(of).text(), &count.to_string());
        }
    }

    fn sessions(&mut self, metrics: &Metrics) {
        let of = |session: &SessionFinding| {
            let host = session.host.as_deref().unwrap_or_default();
            Labels::default().with("session", &session.url).with("host", host)
        };
        self.family("session_up", Kind::Gauge, "Whether a session is being received.");
        for session in &metrics.sessions {
            let is_up = u8::from(session.state == "attached");
            self.sample("session_up", &of(session).text(), &is_up.to_string());
        }
        self.family("session_lag_seconds", Kind::Gauge, "How old the newest events of a session's host are.");
        for session in &metrics.sessions {
            if let Some(time) = session.time_ns {
                let lag = u64::try_from(metrics.now_ns.saturating_sub(time)).unwrap_or(0);
                self.sample("session_lag_seconds", &of(session).text(), &seconds(lag));
            }
        }
        let help = "Streams of processes that ended before the relay showed them: their events are missing.";
        self.family("session_unseen_streams", Kind::Counter, help);
        for session in &metrics.sessions {
            let unseen = session.unseen_streams.to_string();
            self.sample("session_unseen_streams_total", &of(session).text(), &unseen);
        }
    }
}

/// Labels in the order in which they were added.
#[derive(Default)]
struct Labels(Vec<String>);

impl Labels {
    fn with(mut self, name: &str, value: &str) -> Labels {
        self.0.push(format!("{name}={}", quoted(value)));
        self
    }

    fn text(&self) -> String {
        if self.0.is_empty() { String::new() } else { format!("{{{}}}", self.0.join(",")) }
    }
}

/// What is shown for all that have no series of their own.
fn event(name: &SeriesName) -> &str {
    if name.event.is_empty() { "(others)" } else { &name.event }
}

fn group(name: &SeriesName) -> Labels {
    Labels::default().with("event", event(name)).with("group", &name.group)
}

fn cause(name: &SeriesName) -> Labels {
    let of_host = Labels::default().with("host", &name.host);
    of_host.with("cause", event(name)).with("group", &name.group).with("detail", &name.detail)
}

/// A label's value, which may be anything that was recorded.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            character => text.push(character),
        }
    }
    text.push('"');
    text
}

fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

/// A bound in seconds, without zeros at its end: `0.005`, `1.0`.
fn bound_text(nanoseconds: u64) -> String {
    let text = seconds(nanoseconds);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ltt_analysis::live::GROUP_COUNTERS;

    fn metrics(group: &str) -> Metrics {
        let name = SeriesName { event: "p:e".into(), group: group.into(), ..SeriesName::default() };
        let mut counters = [0; GROUP_COUNTERS];
        (counters[0], counters[1], counters[2], counters[3], counters[12]) = (5, 4, 2_000_000_123, 2, 1);
        let rest = Series { name: SeriesName::default(), counters: [0; GROUP_COUNTERS] };
        Metrics { groups: vec![Series { name, counters }, rest], ..Metrics::default() }
    }

    #[test]
    fn histograms_are_cumulative_and_end_with_the_count() {
        let text = Exposition::OpenMetrics.write(&metrics("get"));
        let expected = [
            "# TYPE ltt_top_event_duration_seconds histogram",
            "ltt_top_event_duration_seconds_bucket{event=\"p:e\",group=\"get\",le=\"0.000001\"} 2",
            "ltt_top_event_duration_seconds_bucket{event=\"p:e\",group=\"get\",le=\"0.0005\"} 2",
            "ltt_top_event_duration_seconds_bucket{event=\"p:e\",group=\"get\",le=\"0.001\"} 3",
            "ltt_top_event_duration_seconds_bucket{event=\"p:e\",group=\"get\",le=\"10.0\"} 3",
            "ltt_top_event_duration_seconds_bucket{event=\"p:e\",group=\"get\",le=\"+Inf\"} 4",
            "ltt_top_event_duration_seconds_sum{event=\"p:e\",group=\"get\"} 2.000000123",
            "ltt_top_event_duration_seconds_count{event=\"(others)\",group=\"\"} 0",
            "# TYPE ltt_top_group_events counter",
            "ltt_top_group_events_total{event=\"p:e\",group=\"get\"} 5",
        ];
        for line in expected {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
        let older = Exposition::Prometheus.write(&metrics("get"));
        assert!(older.contains("# TYPE ltt_top_group_events_total counter\n") && !older.contains("EOF"));
    }

    #[test]
    fn hostile_names_stay_within_their_quotes() {
        for name in ["\"} 1\nltt_top_events_total 7", "\\", "\\\"", "a\\\nb", "{}=,", "\u{202e}ü", "\r\n\r\n"]
        {
            let text = Exposition::OpenMetrics.write(&metrics(name));
            let wanted = format!("ltt_top_group_events_total{{event=\"p:e\",group={}}} 5", quoted(name));
            assert!(text.split('\n').any(|line| line == wanted), "{name:?}: {text}");
            // What a parser makes of it is what it was.
            let quoted = quoted(name);
            let inside = &quoted[1..quoted.len() - 1];
            let (mut read, mut characters) = (String::new(), inside.chars());
            while let Some(character) = characters.next() {
                read.push(match character {
                    '\\' => characters
                        .next()
                        .map(|next| if next == 'n' { '\n' } else { next })
                        .expect("an escape"),
                    '"' | '\n' => panic!("{name:?} ends its quotes"),
                    other => other,
                });
            }
            assert_eq!(read, name);
        }
    }

    #[test]
    fn session_that_is_awaited_is_down() {
        let sessions = vec![SessionFinding::awaited("net://relay/later")];
        let text = Exposition::OpenMetrics.write(&Metrics { sessions, ..Metrics::default() });
        let down = "ltt_top_session_up{session=\"net://relay/later\",host=\"\"} 0";
        assert!(text.lines().any(|line| line == down) && text.ends_with("# EOF\n"), "{text}");
    }
}
