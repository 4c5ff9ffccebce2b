//! Files: every way to link, stripped or not, and files that are not programs.

use std::path::Path;
use std::process::Command;

use lttng_testing::CommandInTime as _;
use serde_json::{Value, json};

use super::built::{Built, list, offer, plain};

#[test]
#[ignore = "make check: sys/sdt.h"]
fn probes_are_those_that_readelf_lists() {
    let path = plain().path();
    let notes = Command::new("readelf").arg("--notes").arg(&path).succeed();
    let of = |key: &str| {
        let lines = notes.lines().filter_map(move |line| line.trim().strip_prefix(key));
        lines.map(|value| value.trim().to_owned()).collect::<Vec<_>>()
    };
    let (providers, names, arguments) = (of("Provider:"), of("Name:"), of("Arguments:"));
    assert_eq!(names.len(), 4, "{notes}");
    let offer = offer(&path);
    let probes = offer["probes"].as_array().expect("a list");
    assert_eq!(probes.len(), 3, "one of them is in two places");
    for probe in probes {
        let at = names.iter().position(|name| *name == probe["name"]).expect("readelf has it");
        assert_eq!(probe["provider"], providers[at].as_str());
        let operands = arguments[at].split_whitespace().map(|said| said.split_once('@').expect("a size").1);
        let found =
            probe["arguments"].as_array().expect("a list").iter().map(|said| said["operand"].as_str());
        assert!(operands.map(Some).eq(found), "{probe}");
        assert_eq!(probe["sites"], names.iter().filter(|name| *name == &names[at]).count());
        assert_eq!(probe["has_semaphore"], true);
        assert_eq!(probe["attached"], Value::Null, "a file does not run");
    }
    let types = |index: usize| {
        probes[index]["arguments"].as_array().expect("a list").iter().map(|said| said["type"].clone())
    };
    assert_eq!(
        types(0).collect::<Vec<_>>(),
        ["i32", "u64", "i32", "i32", "i64"],
        "sys/sdt.h has pointers unsigned"
    );
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn events_of_the_official_macros_have_their_fields() {
    let expected = json!([
        { "name": "closed", "fields": [] },
        { "name": "lists", "fields": ["[u8; 4] four", "[char; 3] tag", "[i16] numbers", "bytes bytes", "text text"] },
        { "name": "sale", "fields": [
            "i32 price", "u16 hex hex", "u32 network network", "i64 hidden, for filters", "string article",
            "f64 rate", "f32 narrow", "enum payment paid",
        ]},
    ]);
    assert_eq!(events(&plain().path()), expected);
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn every_linker_and_strip_leave_the_same() {
    let expected = (events(&plain().path()), offer(&plain().path())["probes"].clone());
    let ways: [&[&str]; 6] = [
        &["-no-pie"],
        &["-fuse-ld=lld", "-Wl,-z,nostart-stop-gc"],
        &["-fuse-ld=lld", "-Wl,-z,nostart-stop-gc", "-Wl,--pack-dyn-relocs=relr"],
        &["-Wl,--gc-sections"],
        &["-flto"],
        &["-Wl,-z,now", "-Wl,-z,noseparate-code"],
    ];
    for way in ways {
        for built in [Built::new(way), Built::new(way).strip()] {
            let offer = offer(&built.path());
            assert_eq!(events(&built.path()), expected.0, "{way:?}");
            let (probes, known) =
                (offer["probes"].as_array().expect("a list"), expected.1.as_array().expect("a list"));
            let names = |probes: &[Value]| {
                probes.iter().map(|probe| (probe["name"].clone(), probe["sites"].clone())).collect::<Vec<_>>()
            };
            assert_eq!(names(probes), names(known), "{way:?}");
        }
    }
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn catalogs_say_what_events_and_probes_mean() {
    let offer = offer(&plain().path());
    let said = |name: &str| {
        let probes = offer["probes"].as_array().expect("a list");
        probes.iter().find(|probe| probe["name"] == name).expect("it is listed")["said"].clone()
    };
    let get = said("command__get");
    assert_eq!((&get["catalog"], &get["event"]), (&json!("memcached"), &json!("memcached:command__get")));
    assert_eq!(get["fields"], json!(["connid", "key", "key_length", "size", "casid"]));
    assert_eq!(said("process__command__start")["event"], "memcached:process__command__start");
    assert_eq!(said("plain"), Value::Null);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let catalog = folder.path().join("shop.toml");
    let text = "[catalog]\nname = \"shop\"\nversion = 1\ndoc = \"A shop.\"\n[provider.shop]\ndoc = \"It.\"\n\
                [provider.shop.event.closed]\ndoc = \"It is closed.\"\n";
    std::fs::write(&catalog, text).expect("a writable folder");
    let path = plain().path();
    let (status, json, _) = list(&[
        path.to_str().expect("UTF-8"),
        "--no-libraries",
        "--catalog",
        catalog.to_str().expect("UTF-8"),
    ]);
    assert_eq!(status, 0);
    assert_eq!(json["files"][0]["events"][0]["said"]["doc"], "It is closed.");
}

#[test]
#[ignore = "make check: release builds"]
fn events_of_this_project_are_found_in_debug_and_release_and_stripped() {
    let emit_all = || lttng_testing::Program::example("valkey-trace", "emit-all").traced();
    for program in [emit_all(), emit_all().release(), emit_all().release().rustc("-Cstrip=symbols")] {
        let offer = offer(&program.build());
        let events = offer["events"].as_array().expect("a list").clone();
        assert_eq!(events.len(), 35);
        let catalog = lttng_catalog::valkey();
        for (provider, event) in catalog.events() {
            let found = events.iter().find(|found| {
                found["provider"] == provider.name.as_str() && found["name"] == event.name.as_str()
            });
            let found = found.unwrap_or_else(|| panic!("{}:{}", provider.name, event.name));
            let fields = event.fields.iter().map(|field| json!({ "name": field.name, "type": field.kind.to_string(), "recorded": field.recorded }));
            assert_eq!(found["fields"], fields.collect::<Value>());
            assert_eq!(found["has_tracepoint"], true);
        }
    }
}

/// Each probe passes what the catalog says, and has a semaphore.
#[test]
fn probes_of_this_project_are_found_beside_its_events() {
    let offer = offer(&lttng_testing::Program::example("valkey-trace", "emit-all").traced().build());
    assert_eq!(offer["events"].as_array().map(Vec::len), Some(35));
    let probes = offer["probes"].as_array().expect("a list");
    let catalog = lttng_catalog::valkey();
    for (provider, event) in catalog.events() {
        let full = (json!(provider.name), json!(event.name));
        let probe = probes.iter().find(|probe| (&probe["provider"], &probe["name"]) == (&full.0, &full.1));
        let probe = probe.unwrap_or_else(|| panic!("{}:{}", provider.name, event.name));
        assert_eq!(probe["has_semaphore"], true, "{probe}");
        assert_eq!(probe["arguments"].as_array().map(Vec::len), Some(event.fields.len()), "{probe}");
        assert_eq!(probe["said"]["catalog"], "valkey");
    }
}

#[test]
fn programs_of_32_bits_are_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool/list/c");
    Command::new("as").arg("--32").arg(sources.join("probe32.s")).arg("-o").arg(path("probe.o")).succeed();
    Command::new("ld").args(["-m", "elf_i386"]).arg(path("probe.o")).arg("-o").arg(path("program")).succeed();
    let notes = Command::new("readelf").arg("--notes").arg(path("program")).succeed();
    assert!(notes.contains("Name: narrow"), "{notes}");
    let expected = json!([{
        "provider": "shop", "name": "narrow", "sites": 1, "has_semaphore": true, "attached": null, "said": null,
        "arguments": [{ "type": "i32", "operand": "%eax" }, { "type": "u16", "operand": "4(%ebp)" }],
    }]);
    assert_eq!(offer(&path("program"))["probes"], expected);
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn what_is_no_program_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("text"), "#!/bin/sh\n").expect("a writable folder");
    std::fs::write(path("empty"), "").expect("a writable folder");
    std::fs::write(path("cut"), &std::fs::read(plain().path()).expect("it is built")[..100])
        .expect("a writable folder");
    Command::new("mkfifo").arg(path("fifo")).succeed();
    Command::new("gcc").args(["-c", "-x", "c", "/dev/null", "-o"]).arg(path("object.o")).succeed();
    for (name, reason) in [
        ("text", "not an ELF file"),
        ("empty", "not an ELF file"),
        ("cut", "damaged ELF file"),
        ("fifo", "not a regular file"),
        ("", "not a regular file"),
        ("missing", "No such file"),
        ("object.o", "link it first"),
    ] {
        let (status, json, said) = list(&[&path(name)]);
        assert_eq!((status, json), (1, Value::Null), "{name}");
        assert!(said.contains(reason) && said.lines().count() == 1, "{name}: {said}");
    }
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn the_table_is_cut_to_the_width_and_names_the_total() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttng-catalog"));
    let text = command.arg("list").arg(plain().path()).arg("--no-libraries").env("COLUMNS", "130").succeed();
    assert!(
        text.lines().filter(|line| !line.contains('/')).all(|line| line.chars().count() <= 130),
        "{text}"
    );
    assert!(text.contains("i32 connid, u64 key, i32 key_length, i32 size, i64 casid"), "{text}");
    assert!(text.trim_end().ends_with("3 LTTng-UST events and 3 USDT probes in 1 of 1 files"), "{text}");
}

/// The events with their fields, one text each.
fn events(path: &Path) -> Value {
    let offer = offer(path);
    let events = offer["events"].as_array().expect("a list").iter().map(|event| {
        assert_eq!((&event["provider"], &event["has_tracepoint"]), (&json!("shop"), &json!(true)));
        let fields = event["fields"].as_array().expect("a list").iter().map(|field| {
            let (kind, name) =
                (field["type"].as_str().expect("a text"), field["name"].as_str().expect("a text"));
            let note = if field["recorded"] == true { "" } else { ", for filters" };
            format!("{kind} {name}{note}")
        });
        json!({ "name": event["name"], "fields": fields.collect::<Vec<_>>() })
    });
    events.collect()
}
