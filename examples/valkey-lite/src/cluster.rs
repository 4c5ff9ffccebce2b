//! The cluster's configuration: which slots this node serves, kept in a file that survives any crash.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use valkey_trace::valkey_cluster::{
    cluster_config_close, cluster_config_dir_fsync, cluster_config_fsync, cluster_config_open,
    cluster_config_rename, cluster_config_unlink, cluster_config_write,
};

use crate::stall;

/// Slots that keys are spread over.
pub const SLOTS: u16 = 16384;

/// This node, as it knows itself.
pub struct Cluster {
    path: PathBuf,
    /// The slots that it serves.
    pub slots: BTreeSet<u16>,
}

impl Cluster {
    /// Reads the configuration, or starts without slots if there is none.
    pub fn load(path: PathBuf) -> io::Result<Self> {
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let slots = text.split_whitespace().filter_map(|word| word.parse().ok());
        Ok(Self { path, slots: slots.filter(|&slot| slot < SLOTS).collect() })
    }

    /// Writes the file so that at any moment there is a whole one: to a temporary file, forced to disk, then
    /// renamed, and the folder forced to disk. Each step is an event.
    pub fn save(&self) -> io::Result<()> {
        let text = self.slots.iter().map(u16::to_string).collect::<Vec<_>>().join(" ") + "\n";
        let temporary = self.path.with_extension(format!("conf.tmp-{}", process::id()));
        let folder = self.path.parent().filter(|path| *path != "").unwrap_or(Path::new("."));
        let mut file = cluster_config_open::timed(|| File::create(&temporary))?;
        let result = cluster_config_write::timed(|| file.write_all(text.as_bytes()))
            .and_then(|()| {
                cluster_config_fsync::timed(|| {
                    stall::CLUSTER.reached();
                    file.sync_all()
                })
            })
            .and_then(|()| cluster_config_rename::timed(|| fs::rename(&temporary, &self.path)))
            .and_then(|()| cluster_config_dir_fsync::timed(|| File::open(folder)?.sync_all()));
        cluster_config_close::timed(|| drop(file));
        if result.is_err() {
            let _ = cluster_config_unlink::timed(|| fs::remove_file(&temporary));
        }
        result
    }
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
