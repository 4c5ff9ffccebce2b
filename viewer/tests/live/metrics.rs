//! What `live --metrics` serves, to monitors and to clients that mean harm.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use lttng_testing::{Daemon, Relay, wait_until};
use rustix::process::Signal;

use super::replay::{Scene, archive};
use super::support::{Running, json, ltt_top};
use crate::tracee::Tracee;

/// Starts `live --metrics` on a free port; the second is where it serves.
pub fn serve(mut arguments: Vec<&str>) -> (Running, String) {
    arguments.extend(["--metrics", "127.0.0.1:0"]);
    let mut running = Running::start(ltt_top(arguments));
    let said = running.error_line();
    let address =
        said.trim().strip_prefix("ltt-top: metrics at http://").and_then(|url| url.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{said}")).to_owned();
    (running, address)
}

/// What an HTTP server replies: the status and the headers, and the body.
pub fn get(address: &str, path: &str, accept: &str) -> std::io::Result<(String, String)> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(connection, "GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: {accept}\r\n\r\n")?;
    let mut reply = String::new();
    connection.read_to_string(&mut reply)?;
    let (head, body) = reply.split_once("\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
    Ok((head.to_owned(), body.to_owned()))
}

/// The samples of a page, by their names with labels. The page must be as the format wants it.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let (mut family, mut families) = (String::new(), BTreeSet::new());
    for line in page.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            family = about.split(' ').next().unwrap().to_owned();
            assert!(families.insert(family.clone()), "{family} comes twice");
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
            assert!(name.starts_with(&family), "{name} in {family}");
            let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(samples.insert(name.to_owned(), value).is_none(), "{name} comes twice");
        }
    }
    samples
}

fn scrape(address: &str) -> BTreeMap<String, f64> {
    let mut reply = None;
    // On a busy machine it may say to come again.
    wait_until("it serves", || {
        let (head, page) = get(address, "/metrics", "application/openmetrics-text").expect("it replies");
        let is_served = !head.starts_with("HTTP/1.1 503 ");
        reply = Some((head, page));
        is_served
    });
    let (head, page) = reply.expect("it has replied");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("openmetrics-text"), "{head}");
    assert!(page.ends_with("# EOF\n"), "{page}");
    samples(&page)
}

#[test]
fn counters_have_the_figures_of_the_session_and_never_go_down() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, 100_000);
    session.record("tracee:*", &[]);
    let url = session.url(&relay);
    // A group for each event: many more than have their own series.
    let (running, address) = serve(vec!["live", &url, "--by", "duration"]);
    let mut program = Tracee::start(&daemon);
    let mut before = scrape(&address);
    let groups = |page: &BTreeMap<String, f64>| {
        page.iter()
            .filter(|(name, _)| name.starts_with("ltt_top_group_events_total"))
            .map(|(_, value)| *value)
            .collect::<Vec<f64>>()
    };
    for (count, total) in [(20, 20.0), (30, 50.0), (2000, 2050.0), (3000, 5050.0)] {
        program.emit("work", count);
        wait_until("the events are counted", || {
            let page = scrape(&address);
            for (name, value) in page.iter().filter(|(name, _)| name.contains("_total")) {
                assert!(before.get(name).is_none_or(|before| value >= before), "{name} went down");
            }
            before = page;
            before["ltt_top_events_total"] == total
        });
        assert_eq!(groups(&before).iter().sum::<f64>(), total);
        assert!(groups(&before).len() <= 51, "{}", groups(&before).len());
    }
    assert_eq!(before["ltt_top_groups"], 3000.0);
    let up = before.iter().find(|(name, _)| name.starts_with("ltt_top_session_up")).expect("a session");
    assert_eq!(*up.1, 1.0);
    for (path, status) in [("/", "404 Not Found"), ("/metrics?x=y", "200 OK")] {
        let (head, _) = get(&address, path, "*/*").unwrap();
        assert!(head.contains(status) && head.contains("text/plain"), "{path}: {head}");
    }
    // A service writes no tables.
    running.signal(Signal::TERM);
    let ended = running.end();
    assert_eq!((ended.status, &*ended.out), (Some(0), ""), "{ended:?}");
}

#[test]
fn groups_and_incidents_of_a_server_are_those_of_its_trace() {
    let url = Scene::recorded(false).serve_all();
    let (_running, address) = serve(vec!["live", &url]);
    let mut page = BTreeMap::new();
    wait_until("all events have arrived", || {
        page = scrape(&address);
        page.get("ltt_top_events_total") == Some(&267_919.0)
    });
    let top = json(ltt_top(["top", "--limit", "0"]).arg(archive()));
    for group in top["groups"].as_array().unwrap() {
        let key: Vec<&str> =
            group["key"].as_object().unwrap().values().filter_map(|value| value.as_str()).collect();
        let labels = format!("{{event={},group=\"{}\"}}", group["event"], key.join(","));
        assert_eq!(
            Some(page[&format!("ltt_top_group_events_total{labels}")]),
            group["count"].as_f64(),
            "{labels}"
        );
        let sum = page[&format!("ltt_top_event_duration_seconds_sum{labels}")] * 1e6;
        let total = group["total_us"].as_f64().unwrap_or(0.0);
        assert!((sum - total).abs() <= 0.001 + total * 1e-9, "{labels}: {sum} {total}");
    }
    // The last ones may not be settled.
    let incidents = json(ltt_top(["incidents"]).arg(archive()));
    let served = page.iter().find(|(name, _)| name.starts_with("ltt_top_incidents_total{host=\""));
    let (found, served) = (incidents["found"].as_f64().unwrap(), *served.expect("a host").1);
    assert!(served <= found && served >= found - 3.0, "{served} of {found}");
}

#[test]
fn hostile_clients_are_harmless() {
    let (_running, address) = serve(vec!["live", &Scene::recorded(false).serve_all()]);
    scrape(&address);
    // Requests that make no sense.
    for request in [
        &b"POST /metrics HTTP/1.1\r\n\r\n"[..],
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\xff\xfe\x00\x01\r\n\r\n",
        &[&b"GET /metrics HTTP/1.1\r\nX: "[..], &[b'x'; 100_000], b"\r\n\r\n"].concat(),
    ] {
        let mut connection = TcpStream::connect(&address).unwrap();
        // It may close the connection before all of it is sent.
        _ = connection.write_all(request);
        let mut reply = Vec::new();
        _ = connection.read_to_end(&mut reply);
        assert!(!reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply));
        scrape(&address);
    }
    // Clients that go away: before they ask, in the middle, and before they are answered.
    for request in [&b""[..], b"GET /met", b"GET /metrics HTTP/1.1\r\n\r\n"] {
        for _ in 0..100 {
            let mut connection = TcpStream::connect(&address).unwrap();
            _ = connection.write_all(request);
            _ = connection.shutdown(Shutdown::Both);
        }
    }
    // Many that say nothing, or one byte a time, or never read: nobody else waits for them.
    let mut idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for round in 0..4 {
        for (place, connection) in idle.iter_mut().enumerate() {
            _ = connection.write_all([&b""[..], b"G", b"GET /metrics HTTP/1.1\r\n\r\n"][(place + round) % 3]);
        }
        scrape(&address);
        idle.truncate(200);
        idle.extend((0..100).map(|_| TcpStream::connect(&address).unwrap()));
    }
    drop(idle);
    wait_until("it serves all events", || scrape(&address)["ltt_top_events_total"] == 267_919.0);
}

#[test]
fn many_clients_at_once_are_served_or_refused_but_never_cut_off() {
    let (_running, address) = serve(vec!["live", &Scene::recorded(false).serve_all()]);
    let request = |_| {
        let replies = (0..10).map(|_| get(&address, "/metrics", "*/*").expect("a reply").0);
        replies.collect::<Vec<String>>()
    };
    let replies: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..50).map(|number| scope.spawn(move || request(number))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(replies.len(), 500);
    let served = replies.iter().filter(|head| head.contains(" 200 OK")).count();
    let refused =
        replies.iter().filter(|head| head.contains(" 503 ") && head.contains("Retry-After")).count();
    assert!(served + refused == 500 && served >= 50, "{served} served, {refused} refused");
    // As many at once as are too many: the first ones wait, the others are told so.
    let mut clients: Vec<TcpStream> = (0..120).map(|_| TcpStream::connect(&address).unwrap()).collect();
    clients.iter_mut().for_each(|client| client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap());
    for mut client in clients {
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut reply = String::new();
        client.read_to_string(&mut reply).expect("a whole reply");
        assert!(reply.starts_with("HTTP/1.1 200 OK") || reply.starts_with("HTTP/1.1 503 "), "{reply}");
    }
    let mut head = TcpStream::connect(&address).unwrap();
    head.write_all(b"HEAD /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut reply = String::new();
    head.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200 OK") && reply.ends_with("\r\n\r\n"), "{reply}");
    let length =
        reply.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("it has a length");
    assert!(length.parse::<u64>().unwrap() > 100, "{reply}");
}

#[test]
fn address_that_cannot_be_served_is_an_error_and_a_missing_session_is_not() {
    for (address, status, because) in [
        ("somewhere", 2, "127.0.0.1:9464"),
        ("99999", 2, "127.0.0.1:9464"),
        ("192.0.2.1:9464", 1, "choose an address of this machine"),
    ] {
        // Nothing is recorded, and so nothing is left.
        let ended = Running::start(ltt_top(["live", "--enable", "x", "--metrics", address])).end();
        assert!(ended.status == Some(status) && ended.err.contains(because), "{ended:?}");
        assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    }
    let relay = Relay::start();
    let url = format!("{}/later", relay.viewer_url());
    let (running, address) = serve(vec!["live", &url, "--wait"]);
    let taken = Running::start(ltt_top(["live", &url, "--wait", "--metrics", &address])).end();
    assert!(taken.status == Some(1) && taken.err.contains("choose another port"), "{taken:?}");
    // A monitor is told so: the alert TraceSessionDown fires.
    let down = format!("ltt_top_session_up{{session=\"{url}\",host=\"\"}}");
    assert_eq!(scrape(&address).get(&down), Some(&0.0));
    running.signal(Signal::TERM);
    assert_eq!(running.end().status, Some(0));
}
