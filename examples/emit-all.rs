//! Emits each of Valkey's 35 events, with values that are easy to recognise in a trace.
//!
//! ```text
//! USE_LTTNG=yes cargo run --example emit-all [COUNT]
//! ```
//!
//! COUNT (1 if it is not given) is how often. The n-th event of a round has the duration n; round r adds
//! 1000 · r, so that a trace shows which rounds it has.

use std::process::ExitCode;

use lttng_provider::TRACING;
use valkey_trace::valkey_commands::{self, Protocol};
use valkey_trace::{valkey_aof, valkey_cluster, valkey_db, valkey_rdb, valkey_server};

fn main() -> ExitCode {
    let count = match count(std::env::args().skip(1)) {
        Ok(count) => count,
        Err(message) => {
            eprintln!("emit-all: {message}");
            return ExitCode::FAILURE;
        }
    };
    if !TRACING {
        eprintln!(
            "emit-all: tracing is off, so nothing is recorded; build with USE_LTTNG=yes or USE_USDT=yes"
        );
    }
    for round in 0..count {
        emit_round(1000 * round);
    }
    ExitCode::SUCCESS
}

fn count(mut arguments: impl Iterator<Item = String>) -> Result<u64, String> {
    let Some(count) = arguments.next() else { return Ok(1) };
    if arguments.next().is_some() {
        return Err("too many arguments; usage: emit-all [COUNT]".to_owned());
    }
    count
        .parse()
        .map_err(|_| format!("`{count}` is not a count; usage: emit-all [COUNT], with a whole number"))
}

fn emit_round(base: u64) {
    /// Emits the events that have nothing but a duration, one after the other.
    macro_rules! emit_durations {
        ($duration:ident: $($provider:ident { $($event:ident)+ })+) => {
            $($(
                $duration += 1;
                $provider::$event::emit($duration);
            )+)+
        };
    }

    let mut duration = base + 1;
    valkey_commands::command_call::emit(Protocol::Unix, "client:1", "server:2", "get", duration);
    emit_durations!(duration:
        valkey_server {
            command_unblocking while_blocked_cron eventloop eventloop_cron module_acquire_gil command fast_command
        }
        valkey_db {
            expire_del active_defrag_cycle eviction_del eviction_lazyfree eviction_cycle
            expire_cycle expire_cycle_keys expire_cycle_fields
        }
        valkey_cluster {
            cluster_config_open cluster_config_write cluster_config_fsync cluster_config_rename
            cluster_config_dir_fsync cluster_config_close cluster_config_unlink fork
        }
        valkey_rdb { fork rdb_unlink_temp_file }
        valkey_aof {
            fork aof_write_pending_fsync aof_write_active_child aof_write_alone aof_write
            aof_fsync_always aof_fstat aof_rename aof_flush
        }
    );
}
