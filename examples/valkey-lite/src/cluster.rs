//! The cluster's configuration: which slots this node serves, kept in a file that survives any crash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process;

use lttng_provider::traced;
use valkey_trace::valkey_cluster;

use crate::stall::StallPoint;

/// Slots that keys are spread over.
pub const SLOTS: u16 = 16384;

/// Slots from one to another.
pub type SlotRange = RangeInclusive<u16>;

/// This node, as it knows itself.
pub struct Cluster {
    path: PathBuf,
    slots: Vec<bool>,
    /// Whether the last copy of slots to another server succeeded.
    pub last_copy_ok: bool,
}

impl Cluster {
    /// Reads the configuration, or starts without slots if there is none.
    pub fn load(path: PathBuf) -> io::Result<Self> {
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let mut cluster = Self { path, slots: vec![false; SLOTS.into()], last_copy_ok: true };
        text.split_whitespace().filter_map(parse_range).flatten().for_each(|slot| cluster.assign(slot));
        Ok(cluster)
    }

    /// Takes a slot up.
    pub fn assign(&mut self, slot: u16) {
        self.slots[usize::from(slot)] = true;
    }

    pub fn serves(&self, slot: u16) -> bool {
        self.slots[usize::from(slot)]
    }

    /// The slots as text, e.g. `0-100 200`.
    fn describe(&self) -> String {
        let mut ranges = Vec::new();
        let mut slot = 0;
        while slot < SLOTS {
            let run = self.slots[slot.into()..].iter().take_while(|&&is_ours| is_ours).count() as u16;
            match run {
                0 => {}
                1 => ranges.push(slot.to_string()),
                _ => ranges.push(format!("{slot}-{}", slot + run - 1)),
            }
            slot += run + 1;
        }
        ranges.join(" ")
    }

    /// Writes the file so that at any moment there is a whole one: to a temporary file, forced to disk, then
    /// renamed, and the folder forced to disk.
    pub fn save(&self) -> io::Result<()> {
        let temporary = self.path.with_extension(format!("conf.tmp-{}", process::id()));
        let mut file = open(&temporary)?;
        let result = write(&mut file, format!("{}\n", self.describe()).as_bytes())
            .and_then(|()| sync(&file))
            .and_then(|()| rename(&temporary, &self.path))
            .and_then(|()| sync_folder(&self.path));
        close(file);
        if result.is_err() {
            unlink(&temporary);
        }
        result
    }
}

#[traced(valkey_cluster::cluster_config_open)]
fn open(path: &Path) -> io::Result<File> {
    File::create(path)
}

#[traced(valkey_cluster::cluster_config_write)]
fn write(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)
}

#[traced(valkey_cluster::cluster_config_fsync)]
fn sync(file: &File) -> io::Result<()> {
    StallPoint::ClusterSync.reached();
    file.sync_all()
}

#[traced(valkey_cluster::cluster_config_rename)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[traced(valkey_cluster::cluster_config_dir_fsync)]
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[traced(valkey_cluster::cluster_config_close)]
fn close(file: File) {
    drop(file);
}

#[traced(valkey_cluster::cluster_config_unlink)]
fn unlink(path: &Path) {
    let _ = fs::remove_file(path);
}

fn parse_range(text: &str) -> Option<SlotRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok()?..=last.parse().ok()?;
    (*range.end() < SLOTS).then_some(range)
}

/// The slot of a key, by CRC16 (XMODEM). Unlike Valkey's, it does not depend on a tag in braces.
pub fn slot_of(key: &[u8]) -> u16 {
    let crc = key.iter().fold(0u16, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_valkey() {
        assert_eq!(slot_of(b"123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot_of(b"foo"), 12182);
    }
}
