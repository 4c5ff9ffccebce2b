//! `ltt-top record`, `ltt-top list`, and the session that `ltt-top live -e` records: everything that `lttng` needs.
//!
//! Everything created here is destroyed when it is dropped, in the necessary order: first the session, then the relay
//! and the session daemon if they were started here.

mod buffers;
mod command;
mod daemon;
mod list;
mod lttng;
mod proc;
mod process;
mod processes;
mod recording;
mod registration;
mod relay;
mod run_folder;
mod sampler;
mod session;

pub use command::run;
pub use daemon::LocalDaemon;
pub use list::run as list;
pub use recording::LiveRecording;
