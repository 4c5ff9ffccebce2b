//! The cluster's configuration: which slots this node serves, kept in a file that survives any crash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process;

use lttng_provider::traced;
use valkey_trace::valkey_cluster;

use crate::stall::Place;

/// Slots that keys are spread over.
pub const SLOTS: u16 = 16384;

/// Slots from one to another.
pub type SlotRange = RangeInclusive<u16>;

/// This node, as it knows itself.
pub struct Cluster {
    path: PathBuf,
    port: u16,
    pub id: String,
    slots: Vec<bool>,
    /// Whether the last copy of slots to another server succeeded.
    pub last_copy_ok: bool,
}

impl Cluster {
    /// Reads the configuration, or makes up a new node if there is none.
    pub fn load(path: PathBuf, port: u16) -> io::Result<Self> {
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let mut words = text.lines().find(|line| line.contains("myself")).unwrap_or("").split(' ');
        let id = words.next().filter(|id| !id.is_empty()).map_or_else(random_id, String::from);
        let mut cluster = Self { path, port, id, slots: vec![false; SLOTS.into()], last_copy_ok: true };
        for range in words.skip(7).filter_map(parse_range) {
            cluster.assign(range, true);
        }
        Ok(cluster)
    }

    /// Takes slots up or gives them away.
    pub fn assign(&mut self, range: SlotRange, is_ours: bool) {
        for slot in range {
            self.slots[usize::from(slot)] = is_ours;
        }
    }

    pub fn serves(&self, slot: u16) -> bool {
        self.slots[usize::from(slot)]
    }

    /// How many slots are ours.
    pub fn assigned(&self) -> usize {
        self.slots.iter().filter(|&&is_ours| is_ours).count()
    }

    /// The node's line of CLUSTER NODES, which is also what the file holds.
    pub fn describe(&self) -> String {
        let port = self.port;
        let bus_port = u32::from(port) + 10000;
        let mut line = format!("{} 127.0.0.1:{port}@{bus_port} myself,master - 0 0 0 connected", self.id);
        let mut slot = 0;
        while slot < SLOTS {
            let run = self.slots[slot.into()..].iter().take_while(|&&is_ours| is_ours).count() as u16;
            match run {
                0 => {}
                1 => line.push_str(&format!(" {slot}")),
                _ => line.push_str(&format!(" {slot}-{}", slot + run - 1)),
            }
            slot += run + 1;
        }
        line + "\n"
    }

    /// Writes the file so that at any moment there is a whole one: to a temporary file, forced to disk, then
    /// renamed, and the folder forced to disk.
    pub fn save(&self) -> io::Result<()> {
        let temporary = self.path.with_extension(format!("conf.tmp-{}", process::id()));
        let content = self.describe() + "vars currentEpoch 0 lastVoteEpoch 0\n";
        let mut file = open(&temporary)?;
        let result = write(&mut file, content.as_bytes())
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
    Place::ClusterSync.reached();
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

fn random_id() -> String {
    (0..40).map(|_| fastrand::digit(16)).collect()
}

fn parse_range(text: &str) -> Option<SlotRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok()?..=last.parse().ok()?;
    (*range.end() < SLOTS).then_some(range)
}

/// The slot of a key: CRC16 (XMODEM) of what is between the first `{` and the next `}`, if anything is, and
/// otherwise of the whole key.
pub fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|&byte| byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        rest.iter().position(|&byte| byte == b'}').filter(|&length| length > 0).map(|length| &rest[..length])
    });
    let crc = tag.unwrap_or(key).iter().fold(0u16, |crc, &byte| {
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
        assert_eq!(slot_of(b"{foo}.bar"), slot_of(b"foo"));
        assert_ne!(slot_of(b"{}foo"), slot_of(b"{}bar"));
    }

    #[test]
    fn ranges_outside_the_slots_are_refused() {
        assert_eq!(parse_range("0-16383"), Some(0..=16383));
        assert_eq!(parse_range("7"), Some(7..=7));
        assert_eq!(parse_range("0-16384"), None);
        assert_eq!(parse_range("[12->"), None);
    }
}
