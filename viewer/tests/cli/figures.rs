//! What is shown of groups and events: percentiles, intervals, booleans, guesses, lists, at any width.

use super::handwritten::{BEGIN, Handwritten, requests};
use super::run::{json, ltt_top, said};

#[test]
fn any_percentile_is_shown_and_sorted_by() {
    let mut many: Vec<(&str, u64)> = (0..20_000).map(|n| ("get", n)).collect();
    many.extend([("set", 19_998), ("set", 19_998)]);
    let trace = requests("alpha", &many).write();
    let by_name = ["top", "--by", "name", "--percentiles", "50,99.99"];
    let found = json(ltt_top(by_name).arg(trace.path()));
    let group = found["groups"][0].as_object().unwrap();
    let told: Vec<&str> = group.keys().filter(|key| key.starts_with('p')).map(|key| &**key).collect();
    assert_eq!(told, ["p50_us", "p9999_us"]);
    let near = |figure: &str, exact: f64| (group[figure].as_f64().unwrap() - exact).abs() <= exact / 1000.0;
    assert!(near("p50_us", 9_999.0) && near("p9999_us", 19_997.0), "{group:?}");
    let csv = said(ltt_top(by_name).args(["--format", "csv"]).arg(trace.path()));
    assert!(
        csv.out.starts_with("event,key.name,count,implausible,total_us,mean_us,p50_us,p9999_us,min_us"),
        "{csv:?}"
    );
    // By the total `get` comes first, by the 99.9th percentile `set` does, which is then shown too.
    let found = json(ltt_top(by_name).args(["--sort", "p99.9"]).arg(trace.path()));
    assert_eq!((&found["groups"][0]["key"]["name"], &found["sorted_by"]), (&"set".into(), &"p99.9".into()));
    assert_eq!(found["groups"][0]["p999_us"], 19_998);
    let table = said(ltt_top(by_name).args(["--sort", "p99.9"]).arg(trace.path()).env("COLUMNS", "60"));
    assert!(table.out.contains("P99.9 "), "{table:?}");
    for (option, value) in [("--percentiles", "50,101"), ("--percentiles", "x"), ("--sort", "p0")] {
        assert_eq!(said(ltt_top(["top", option, value]).arg(trace.path())).status, 2, "{option} {value}");
    }
}

#[test]
fn an_interval_has_a_beginning_and_an_end() {
    let trace = requests("alpha", &[("get", 7)]).write();
    let found = json(ltt_top(["slow"]).arg(trace.path()));
    let event = &found["events"][0];
    let time = |name: &str| event[name].as_u64().unwrap();
    assert_eq!((time("begin_ns"), time("end_ns"), time("timestamp_ns")), (BEGIN - 7_000, BEGIN, BEGIN));
    let table = said(ltt_top(["slow"]).arg(trace.path()));
    assert!(table.out.contains("22:13:19.999993  22:13:20.000000"), "{table:?}");
    let csv = said(ltt_top(["slow", "--format", "csv"]).arg(trace.path()));
    let expected = format!("{BEGIN},{},{BEGIN},app:request,7,", BEGIN - 7_000);
    assert!(csv.out.lines().nth(1).unwrap().starts_with(&expected), "{csv:?}");
}

#[test]
fn a_sum_of_pieces_is_not_an_interval() {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("valkey_server:eventloop_cron", "u64 _duration;");
    trace.event(class, &[&5_u64.to_le_bytes()]);
    let trace = trace.write();
    let event = &json(ltt_top(["slow"]).arg(trace.path()))["events"][0];
    assert!(event["begin_ns"].is_null() && event["end_ns"].is_null(), "{event}");
    assert_eq!((&event["is_sum"], &event["duration_us"]), (&true.into(), &5.into()));
}

const CATALOG: &str = r#"
[catalog]
name = "app"
version = 1
doc = "What the tests trace."

[provider.app]
doc = "A test's program."

[provider.app.event.request]
doc = "A request."
duration = "took"
fields = [
    { name = "hit", type = "bool", doc = "Whether the cache had it." },
    { name = "took", type = "u64", unit = "us", doc = "How long it took." },
]
"#;

/// Three requests, of which the first and the last hit the cache.
fn hits() -> Handwritten {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:request", "u8 _hit; u64 _took;");
    for (hit, took) in [(1, 10_u64), (0, 20), (1, 30)] {
        trace.event(class, &[&[hit], &took.to_le_bytes()]);
    }
    trace
}

#[test]
fn an_integer_that_the_catalog_says_is_a_boolean_is_shown_and_filtered_as_one() {
    let trace = tempfile::tempdir().unwrap();
    hits().write_to(&trace.path().join("ust"));
    std::fs::write(trace.path().join("catalog.toml"), CATALOG).unwrap();
    let found = json(ltt_top(["top", "--by", "hit"]).arg(trace.path()));
    let groups = found["groups"].as_array().unwrap();
    let groups: Vec<_> = groups.iter().map(|group| (&group["key"]["hit"], &group["count"])).collect();
    assert_eq!(groups, [(&true.into(), &2.into()), (&false.into(), &1.into())]);
    for (condition, count) in
        [("hit=true", 2), ("hit!=true", 1), ("hit=false", 1), ("hit=1", 2), ("hit~t*", 2)]
    {
        let found = json(ltt_top(["slow", "--where", condition]).arg(trace.path()));
        assert_eq!(found["timed"], count, "{condition}");
    }
    let table = said(ltt_top(["slow"]).arg(trace.path()));
    assert!(table.out.contains("hit=false"), "{table:?}");
    let wrong = said(ltt_top(["slow", "--where", "hit=maybe"]).arg(trace.path()));
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("hit is a boolean: compare it with true or false"), "{wrong:?}");
}

#[test]
fn a_guessed_unit_is_marked_where_the_figure_stands() {
    let mut trace = Handwritten::new("alpha");
    let guessed = trace.class("app:guessed", "u64 _duration;");
    let known = trace.class("app:known", "u64 _duration_us;");
    for class in [guessed, known] {
        trace.event(class, &[&7_u64.to_le_bytes()]);
    }
    let trace = trace.write();
    for command in ["top", "slow", "hist"] {
        let said = said(ltt_top([command]).arg(trace.path()));
        assert!(
            said.out.contains("7ns?") && said.out.contains("7µs") && !said.out.contains("7µs?"),
            "{said:?}"
        );
    }
}

#[test]
fn no_table_of_80_columns_loses_the_event_or_the_client() {
    let mut trace = Handwritten::new("a-host-with-a-rather-long-name.example.net");
    let fields = "string _prot; string _addr; string _laddr; string _name; u64 _duration;";
    let class = trace.class("valkey_commands:command_call", fields);
    let mut call = |address: &str, name: &str, duration: u64| {
        let texts = ["SOCKET", address, "[2001:db8::ffff]:6379", name].map(|text| [text, "\0"].concat());
        let texts = texts.iter().map(|text| text.as_bytes());
        let duration = duration.to_le_bytes();
        trace.event(class, &texts.chain([&duration[..]]).collect::<Vec<_>>());
    };
    (0..1000).for_each(|_| call("127.0.0.1:1", "zrangebyscore", 1));
    call("[2001:db8::1]:47388", "zrangebyscore", 999_999);
    let folder = tempfile::tempdir().unwrap();
    trace.write_to(&folder.path().join("a"));
    requests("beta", &[("get", 1)]).write_to(&folder.path().join("b"));
    for (command, event, client) in [
        (&["top", "--by", "addr"][..], "command_call", "[2001:db8::1]:47388"),
        (&["slow"], "command_call", "[2001:db8::1"),
        (&["outliers"], "command_call", "[2001:db8::1"),
        (&["info"], "valkey_commands:command_call", "a-host-with-a-rather-long-name"),
    ] {
        let said = said(ltt_top(command).arg(folder.path()).env("COLUMNS", "80"));
        let shows = |line: &&str| line.contains(event) && (line.contains(client) || command == ["info"]);
        assert!(said.out.lines().any(|line| shows(&line)) && said.out.contains(client), "{}", said.out);
        let is_table = |line: &&str| !line.contains('/');
        assert!(said.out.lines().filter(is_table).all(|line| line.chars().count() <= 80), "{}", said.out);
    }
}

#[test]
fn a_long_list_says_how_much_of_it_is_not_shown() {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:batch", "u32 _length; u64 _numbers[_length]; u64 _took_us; string _after;");
    let numbers: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
    let took = 5_u64.to_le_bytes();
    trace.event(class, &[&100_000_u32.to_le_bytes(), &numbers, &took, b"the end\0"]);
    let trace = trace.write();
    let slow = ["slow", "--duration", "took_us"];
    let event = json(ltt_top(slow).arg(trace.path()))["events"][0].clone();
    let numbers = event["fields"]["numbers"].as_array().unwrap();
    let (ellipsis, kept) = numbers.split_last().unwrap();
    assert_eq!(*ellipsis, format!("… {} more", 100_000 - kept.len()));
    assert!((1000..10_000).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept[999], 999);
    assert_eq!(event["fields"]["after"], "the end", "what stands after a long list is not lost");
    let table = said(ltt_top(slow).arg(trace.path()));
    assert!(table.out.contains(" more]"), "it is shown too");
}
