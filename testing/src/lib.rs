//! Private LTTng session daemons, relays, sessions and read-back for the tests of this workspace.
//!
//! Everything here is the real thing: `lttng-sessiond`, `lttng` and Babeltrace 1, which is the oracle
//! for strings. A test that finds one of them missing fails and says what to install. Whatever goes wrong
//! panics with what the tool said, because the caller is a test.
//!
//! ```
//! use lttng_testing::Daemon;
//!
//! let daemon = Daemon::start();
//! let trace = daemon.record(&["valkey_*"], "echo", ["a traced program, in place of echo"]);
//! assert!(trace.events().is_empty());
//! ```

mod daemon;
mod process;
mod program;
mod random;
mod relay;
mod session;
mod table;
mod trace;
mod wait;

pub use daemon::Daemon;
pub use program::{Program, cargo, workspace};
pub use random::Random;
pub use relay::Relay;
pub use session::Session;
pub use table::Table;
pub use trace::{Event, Trace, declarations};
pub use wait::wait_until;
