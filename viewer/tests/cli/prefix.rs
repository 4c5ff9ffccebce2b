//! What a program records whose providers have a prefix: the same trace under other names says the same.

use std::fs;
use std::path::{Path, PathBuf};

use lttng_testing::unpack;

use super::run::{ltt_top, said};
use super::shared_trace::data;

#[test]
fn a_prefix_of_the_providers_takes_neither_units_nor_groups_nor_incidents_nor_advice() {
    let folder = unpack(&data("valkey-causes.tar.xz"));
    let json = |command: &str| {
        let said = said(ltt_top([command, "--format", "json"]).arg(folder.path()));
        assert_eq!(said.status, 0, "{said:?}");
        said.out
    };
    let plain = ["incidents", "top", "slow"].map(json);
    assert!(plain[0].contains("Iterate with SSCAN"), "{}", plain[0]);
    let metadata = find_metadata(folder.path()).expect("a trace has metadata");
    let text = text_of(&fs::read(&metadata).unwrap());
    assert!(text.contains("\"valkey_commands:command_call\""));
    fs::write(&metadata, text.replace("\"valkey_", "\"acme_valkey_")).unwrap();
    for (command, plain) in ["incidents", "top", "slow"].into_iter().zip(plain) {
        let prefixed = json(command);
        assert!(prefixed.contains("acme_valkey_"), "{command}");
        assert_same(command, &prefixed.replace("acme_valkey_", "valkey_"), &plain);
    }
}

fn assert_same(command: &str, found: &str, expected: &str) {
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(found == expected, "{command}: {differs:?}");
}

fn find_metadata(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| match entry.path() {
        path if path.is_dir() => find_metadata(&path),
        path => path.ends_with("metadata").then_some(path),
    })
}

/// The text of metadata in packets: each has a header of 37 bytes, with the bits of its content at 24 and of the whole
/// packet at 28.
fn text_of(mut packets: &[u8]) -> String {
    let number = |packets: &[u8], at: usize| u32::from_le_bytes(packets[at..at + 4].try_into().unwrap());
    let mut text = String::new();
    while !packets.is_empty() {
        assert_eq!(number(packets, 0), 0x75D1_1D57);
        let [content, all] = [24, 28].map(|at| number(packets, at) as usize / 8);
        text.push_str(std::str::from_utf8(&packets[37..content]).unwrap());
        packets = &packets[all..];
    }
    text
}
