//! The cluster's configuration, kept in a file that survives any crash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process;

use valkey_trace::valkey_cluster::{
    cluster_config_close, cluster_config_dir_fsync, cluster_config_fsync, cluster_config_open,
    cluster_config_rename, cluster_config_unlink, cluster_config_write,
};

use crate::stall;

/// Writes the file so that at any moment there is a whole one: to a temporary file, forced to disk, then
/// renamed, and the folder forced to disk. Each step is an event.
pub fn save(folder: &Path) -> io::Result<()> {
    let temporary = folder.join(format!("nodes.conf.tmp-{}", process::id()));
    let mut file = cluster_config_open::timed(|| File::create(&temporary))?;
    let result = cluster_config_write::timed(|| file.write_all(b"this node serves all slots\n"))
        .and_then(|()| {
            cluster_config_fsync::timed(|| {
                stall::CLUSTER.reached();
                file.sync_all()
            })
        })
        .and_then(|()| cluster_config_rename::timed(|| fs::rename(&temporary, folder.join("nodes.conf"))))
        .and_then(|()| cluster_config_dir_fsync::timed(|| File::open(folder)?.sync_all()));
    cluster_config_close::timed(|| drop(file));
    if result.is_err() {
        let _ = cluster_config_unlink::timed(|| fs::remove_file(&temporary));
    }
    result
}
