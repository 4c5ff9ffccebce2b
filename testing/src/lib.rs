//! What the tests of this workspace share: private LTTng session daemons and relays, sessions and read-back, golden
//! files, and the list of tests that could not run.
//!
//! Daemons, sessions and readers are the real ones: `lttng-sessiond`, `lttng` and Babeltrace 1, which is the oracle for
//! strings. A test that finds one of these missing fails and says what to install; a test that needs another tool
//! asks [`need`] first. Whatever goes wrong panics with what the tool said, because the caller is a test.
//!
//! ```
//! use lttng_testing::Daemon;
//!
//! let daemon = Daemon::start();
//! let trace = daemon.record(&["valkey_*"], "echo", ["a traced program, in place of echo"]);
//! assert!(trace.events().is_empty());
//! ```

mod allocations;
mod cases;
mod daemon;
mod golden;
mod need;
mod process;
mod program;
mod random;
mod relay;
mod session;
mod table;
mod trace;
mod wait;

pub use allocations::CountingAllocator;
pub use cases::{Case, assert_cases, cases};
pub use daemon::Daemon;
pub use golden::{assert_golden, check_golden, difference, overwrites};
pub use need::{missing_tool, need, need_bpftrace, need_namespaces, not_allowed};
pub use program::{Program, cargo, workspace};
pub use random::Random;
pub use relay::Relay;
pub use session::Session;
pub use table::Table;
pub use trace::{Event, Trace, declarations};
pub use wait::{must_end, wait_until};
