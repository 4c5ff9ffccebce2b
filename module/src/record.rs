//! The events, each with its duration in microseconds.

use valkey_trace::valkey_commands::command_call;
use valkey_trace::valkey_server::{command, eventloop, eventloop_cron, fast_command, module_acquire_gil};
use valkey_trace::{valkey_aof, valkey_cluster, valkey_rdb};

use crate::clients::Client;
use crate::commands::Command;
use crate::events::valkey_module;
pub use crate::events::valkey_module::ChildKind;

/// Whether any event of a command is recorded.
#[inline]
pub fn wants_commands() -> bool {
    command_call::enabled() || command::enabled() || fast_command::enabled()
}

/// Whether a turn of the event loop is recorded.
#[inline]
pub fn wants_turns() -> bool {
    eventloop::enabled() || module_acquire_gil::enabled()
}

/// A command, of a client if the server can tell. The server's own address cannot be known.
///
/// One event: `command` and `fast_command` only repeat its duration, and would double what recording costs a server, so they
/// are recorded only for a session that does not have `command_call`.
pub fn command(client: &Client, called: &Command, nanoseconds: u64) {
    let duration = microseconds(nanoseconds);
    if command_call::enabled() {
        command_call::emit(client.protocol, client.address(), "", &*called.name, duration);
    } else if called.is_fast {
        fast_command::emit(duration);
    } else {
        command::emit(duration);
    }
}

/// A turn of the event loop.
pub fn turn(nanoseconds: u64) {
    eventloop::emit(microseconds(nanoseconds));
}

/// The server's regular work.
pub fn cron(nanoseconds: u64) {
    eventloop_cron::emit(microseconds(nanoseconds));
}

/// The wait for the lock that modules share.
pub fn lock(nanoseconds: u64) {
    module_acquire_gil::emit(microseconds(nanoseconds));
}

/// A fork, and that the child begins its work.
pub fn fork(kind: ChildKind, nanoseconds: u64) {
    let duration = microseconds(nanoseconds);
    match kind {
        ChildKind::Rdb => valkey_rdb::fork::emit(duration),
        _ => valkey_aof::fork::emit(duration),
    }
    valkey_module::child_start::emit(kind);
}

/// A child has ended.
pub fn child_end(kind: ChildKind) {
    valkey_module::child_end::emit(kind);
}

/// Data were loaded.
pub fn loading(nanoseconds: u64) {
    valkey_module::loading::emit(microseconds(nanoseconds));
}

/// Databases were emptied.
pub fn flush(nanoseconds: u64) {
    valkey_module::flush::emit(microseconds(nanoseconds));
}

/// Whether a session wants to know which server it is.
#[inline]
pub fn wants_server() -> bool {
    valkey_module::server::enabled()
}

/// Which server is traced, and what can be known of it.
pub fn server(name: &str, version: &str, clients: bool, preloaded: bool) {
    valkey_module::server::emit(name, version, clients, preloaded);
}

/// What a call through libc was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A write to the append-only file, and what else went on.
    AppendOnlyWrite(Meanwhile),
    /// `fdatasync` of it, by the thread that serves clients.
    AppendOnlySync,
    /// Asking for its size.
    AppendOnlyStatus,
    /// Renaming it.
    AppendOnlyRename,
    /// Removing a snapshot whose child was killed.
    SnapshotUnlink,
    /// A step of saving a cluster's configuration.
    ClusterOpen,
    /// Writing it.
    ClusterWrite,
    /// `fsync` of it.
    ClusterSync,
    /// `fsync` of its folder.
    ClusterFolderSync,
    /// Renaming it.
    ClusterRename,
    /// Closing it.
    ClusterClose,
    /// Removing it, after a step has failed.
    ClusterUnlink,
}

/// What went on during a write to the append-only file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// Another thread waited for the disk.
    PendingSync,
    /// A child was at work.
    Child,
    /// Nothing.
    Alone,
}

impl Call {
    /// Whether an event of it is recorded.
    pub fn is_wanted(self) -> bool {
        match self {
            Call::AppendOnlyWrite(_) => {
                valkey_aof::aof_write::enabled()
                    || valkey_aof::aof_write_pending_fsync::enabled()
                    || valkey_aof::aof_write_active_child::enabled()
                    || valkey_aof::aof_write_alone::enabled()
            }
            Call::AppendOnlySync => valkey_aof::aof_fsync_always::enabled(),
            Call::AppendOnlyStatus => valkey_aof::aof_fstat::enabled(),
            Call::AppendOnlyRename => valkey_aof::aof_rename::enabled(),
            Call::SnapshotUnlink => valkey_rdb::rdb_unlink_temp_file::enabled(),
            Call::ClusterOpen => valkey_cluster::cluster_config_open::enabled(),
            Call::ClusterWrite => valkey_cluster::cluster_config_write::enabled(),
            Call::ClusterSync => valkey_cluster::cluster_config_fsync::enabled(),
            Call::ClusterFolderSync => valkey_cluster::cluster_config_dir_fsync::enabled(),
            Call::ClusterRename => valkey_cluster::cluster_config_rename::enabled(),
            Call::ClusterClose => valkey_cluster::cluster_config_close::enabled(),
            Call::ClusterUnlink => valkey_cluster::cluster_config_unlink::enabled(),
        }
    }

    /// Records it.
    pub fn record(self, nanoseconds: u64) {
        let duration = microseconds(nanoseconds);
        match self {
            Call::AppendOnlyWrite(meanwhile) => {
                valkey_aof::aof_write::emit(duration);
                match meanwhile {
                    Meanwhile::PendingSync => valkey_aof::aof_write_pending_fsync::emit(duration),
                    Meanwhile::Child => valkey_aof::aof_write_active_child::emit(duration),
                    Meanwhile::Alone => valkey_aof::aof_write_alone::emit(duration),
                }
            }
            Call::AppendOnlySync => valkey_aof::aof_fsync_always::emit(duration),
            Call::AppendOnlyStatus => valkey_aof::aof_fstat::emit(duration),
            Call::AppendOnlyRename => valkey_aof::aof_rename::emit(duration),
            Call::SnapshotUnlink => valkey_rdb::rdb_unlink_temp_file::emit(duration),
            Call::ClusterOpen => valkey_cluster::cluster_config_open::emit(duration),
            Call::ClusterWrite => valkey_cluster::cluster_config_write::emit(duration),
            Call::ClusterSync => valkey_cluster::cluster_config_fsync::emit(duration),
            Call::ClusterFolderSync => valkey_cluster::cluster_config_dir_fsync::emit(duration),
            Call::ClusterRename => valkey_cluster::cluster_config_rename::emit(duration),
            Call::ClusterClose => valkey_cluster::cluster_config_close::emit(duration),
            Call::ClusterUnlink => valkey_cluster::cluster_config_unlink::emit(duration),
        }
    }
}

fn microseconds(nanoseconds: u64) -> u64 {
    nanoseconds / 1000
}
