//! A span over a fork is recorded by both processes, and each records its own.

use lttng_provider::{Fork, fork};
use tracing::info_span;
use tracing_subscriber::prelude::*;

fn main() {
    bridged_service::subscriber().init();
    info_span!("wait", order = 1).in_scope(|| ());
    let span = info_span!("wait", order = 2).entered();
    // SAFETY: the program has no other thread but LTTng's.
    let child = match unsafe { fork() }.expect("a process more") {
        Fork::Child => {
            info_span!("wait", order = 3).in_scope(|| ());
            None
        }
        Fork::Parent { child } => {
            info_span!("wait", order = 4).in_scope(|| ());
            Some(child)
        }
    };
    drop(span);
    if let Some(child) = child {
        println!("{child}");
        wait_for(child);
    }
}

fn wait_for(child: u32) {
    let pid = child.try_into().ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()).expect("it is our child");
}
