//! `ltt-top record`, `ltt-top list`, and the session that `ltt-top live -e` records: everything that `lttng` needs.
//!
//! Everything created here is destroyed when it is dropped, in the necessary order: first the session, then, by the keeper
//! of the run, the relay and the session daemon if they were started here and nobody else uses them.

mod buffers;
mod command;
mod daemon;
mod disk;
mod identity;
mod keeper;
mod list;
mod lttng;
mod offering;
mod owned_process;
mod proc;
mod recording;
mod registration;
mod relay;
mod run;
mod run_folder;
mod sampler;
mod session;
mod usage;

pub use command::{Recorded, run};
pub use daemon::LocalDaemon;
pub use keeper::{KEEPER, run as keep};
pub use list::run as list;
pub use recording::LiveRecording;
