//! A real Prometheus scrapes `live --metrics`, and knows what `top` and `incidents` say of the same session's folder.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lttng_testing::{CommandInTime as _, Daemon, Relay, need, not_allowed, patience, wait_until, workspace};
use serde_json::Value;
use tempfile::TempDir;

use super::metrics::{get, serve};
use super::server::{Server, commands};
use super::support::{json, ltt_top};

/// A Prometheus that scrapes one address every second; dropping it ends it.
struct Prometheus {
    process: Child,
    address: String,
    _folder: TempDir,
}

impl Prometheus {
    fn start(target: &str) -> Prometheus {
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let configuration = format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n  - job_name: ltt-top\n    static_configs:\n      \
             - targets: ['{target}']\n"
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, configuration).unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        command.arg(format!("--web.listen-address={address}"));
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is installed");
        let prometheus = Prometheus { process, address, _folder: folder };
        wait_until("Prometheus is ready", || {
            get(&prometheus.address, "/-/ready", "*/*").is_ok_and(|(head, _)| head.contains(" 200 "))
        });
        prometheus
    }

    /// The value of a query that has one, or none.
    fn query(&self, query: &str) -> Option<f64> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let (_, body) = get(&self.address, &format!("/api/v1/query?query={encoded}"), "*/*").ok()?;
        let reply: Value = serde_json::from_str(&body).ok()?;
        reply["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn promtool(arguments: &[&str], file: Option<&Path>, input: &str) {
    let folder = TempDir::new().unwrap();
    let given = folder.path().join("input");
    std::fs::write(&given, input).unwrap();
    let mut command = Command::new("promtool");
    command.args(arguments).args(file).stdin(std::fs::File::open(given).unwrap());
    let output = command.output_in_time().expect("it is installed");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said));
}

#[test]
#[ignore = "make check: prometheus"]
fn prometheus_knows_what_the_folder_says() {
    if !need("prometheus") || !need("promtool") {
        return;
    }
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, 100_000);
    session.record("valkey_*", &["vpid", "vtid", "procname"]);
    let url = session.url(&relay);
    let (_running, address) = serve(vec!["live", &url]);
    let prometheus = Prometheus::start(&address);
    wait_until("it scrapes", || prometheus.query("ltt_top_events_total") == Some(0.0));
    let server = Server::start(&daemon);
    for _ in 0..5 {
        commands(server.port, &["SET a 1", "GET a", "INCR b"], 200);
        commands(server.port, &["DEBUG SLEEP 0.03"], 1);
        std::thread::sleep(Duration::from_millis(300));
    }
    // What came last is settled by what comes after it.
    for _ in 0..20 {
        commands(server.port, &["GET a"], 5);
        std::thread::sleep(Duration::from_millis(100));
    }
    for query in dashboard_queries() {
        wait_until(&format!("{query} has a value"), || prometheus.query(&query).is_some_and(f64::is_finite));
    }
    drop(server);
    daemon.lttng(["stop", session.name()]);
    let top = json(ltt_top(["top", "--limit", "0"]).arg(relay.folder()));
    let incidents = json(ltt_top(["incidents", "--limit", "0"]).arg(relay.folder()));
    let trace = &top["trace"];
    let expect = |query: &str, expected: &Value, scale: f64| {
        let expected = expected.as_f64().expect(query) / scale;
        let mut last = None;
        wait_until(&format!("{query} is {expected}"), || {
            last = prometheus.query(query);
            last.is_some_and(|value| (value - expected).abs() <= 1e-9 + expected * 1e-9)
        });
    };
    expect("ltt_top_events_total", &trace["events"], 1.0);
    expect("ltt_top_discarded_events_total", &trace["discarded_events"], 1.0);
    let length = trace["length_ns"].as_f64().unwrap() / 1e9;
    for group in top["groups"].as_array().unwrap() {
        let key: Vec<&str> =
            group["key"].as_object().unwrap().values().filter_map(|value| value.as_str()).collect();
        let labels = format!("{{event={},group=\"{}\"}}", group["event"], key.join(","));
        expect(&format!("ltt_top_group_events_total{labels}"), &group["count"], 1.0);
        if group["total_us"].is_number() {
            expect(&format!("ltt_top_event_duration_seconds_sum{labels}"), &group["total_us"], 1e6);
        }
        expect(
            &format!("max_over_time(ltt_top_group_events_total{labels}[1h]) / {length}"),
            &group["rate_per_s"],
            1.0,
        );
    }
    // On a busy machine the server is silent at times. A relay says that nothing was recorded then; no packet in the folder does.
    let lasting =
        incidents["incidents"].as_array().unwrap().iter().filter(|found| found["kind"] != "silence");
    let held: Vec<f64> = lasting.map(|found| found["held_us"].as_f64().unwrap()).collect();
    assert!(held.len() >= 5, "{incidents}");
    let without_silence = |what: &str| {
        format!("ltt_top_{what} - on() (sum(ltt_top_cause_{what}{{cause=\"silent\"}}) or vector(0))")
    };
    expect(&without_silence("incidents_total"), &held.len().into(), 1.0);
    expect(&without_silence("blocked_seconds_total"), &held.iter().sum::<f64>().into(), 1e6);
    for cause in incidents["causes"].as_array().unwrap().iter().filter(|cause| cause["event"].is_string()) {
        let key: Vec<&str> =
            cause["key"].as_object().unwrap().values().filter_map(|value| value.as_str()).collect();
        let detail = cause["detail"].as_str().unwrap_or_default();
        let labels = format!("{{cause={},group=\"{}\",detail=\"{detail}\"}}", cause["event"], key.join(","));
        expect(&format!("ltt_top_cause_incidents_total{labels}"), &cause["count"], 1.0);
        expect(&format!("ltt_top_cause_blocked_seconds_total{labels}"), &cause["total_us"], 1e6);
    }
    let (_, page) = get(&address, "/metrics", "text/plain").unwrap();
    promtool(&["check", "metrics"], None, &page);
}

/// What the panels of the dashboard ask for, and whether there is what its variables choose from, for all that is there.
fn dashboard_queries() -> Vec<String> {
    let text =
        std::fs::read_to_string(workspace().join("contrib/prometheus/grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let targets = list(&dashboard["panels"]).into_iter().flat_map(|panel| list(&panel["targets"]));
    let asked = targets.map(|target| target["expr"].as_str().expect("a query").to_owned());
    let variables = list(&dashboard["templating"]["list"]);
    let chosen = variables.iter().filter_map(|variable| variable["query"]["query"].as_str()).map(|query| {
        let metric = query.strip_prefix("label_values(").and_then(|rest| rest.split(", ").next());
        format!("count({})", metric.expect(query))
    });
    let queries: Vec<String> = asked.chain(chosen).collect();
    assert!(queries.len() >= 12, "{queries:?}");
    let filled = |query: String| {
        let all = ["$instance", "$event"].iter().fold(query, |query, name| query.replace(name, ".*"));
        ["$__rate_interval", "$__range"].iter().fold(all, |query, name| query.replace(name, "5m"))
    };
    queries.into_iter().map(filled).collect()
}

#[test]
#[ignore = "make check: Grafana's types from npm"]
fn the_dashboard_has_the_types_that_grafana_publishes() {
    if !need("npm") {
        return;
    }
    let mut check = Command::new(workspace().join("scripts/check-dashboard.sh"));
    let output = check.output_within(patience(Duration::from_secs(180))).expect("it runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    match output.status.code() {
        Some(77) => not_allowed("Grafana's types", &said),
        status => assert_eq!(status, Some(0), "{said}"),
    }
}

#[test]
#[ignore = "make check: prometheus"]
fn rules_are_accepted_and_fire() {
    if !need("promtool") {
        return;
    }
    let folder = workspace().join("contrib/prometheus");
    promtool(&["check", "rules"], Some(&folder.join("ltt-top.rules.yml")), "");
    promtool(&["test", "rules"], Some(&folder.join("ltt-top.rules.test.yml")), "");
}
