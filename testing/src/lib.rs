//! What the tests of this workspace share: private LTTng session daemons and relays, sessions and read-back, golden
//! files, and the list of tests that could not run.
//!
//! Daemons, sessions and readers are the real ones: `lttng-sessiond`, `lttng` and Babeltrace 1, which is the oracle for
//! strings. A test that finds one of these missing fails and says what to install; a test that needs another tool
//! asks [`need`] first. Whatever goes wrong panics with what the tool said, because the caller is a test. Every process
//! has a deadline ([`CommandInTime`]): one that is stuck fails its test and is killed.
//!
//! ```
//! use lttng_testing::Daemon;
//!
//! let daemon = Daemon::start();
//! let trace = daemon.record(&["valkey_*"], "echo", ["a traced program, in place of echo"]);
//! assert!(trace.events().is_empty());
//! ```

mod allocations;
mod archive;
mod arrivals;
mod bpftrace;
mod cases;
mod daemon;
mod deadline;
mod golden;
mod instructions;
mod need;
mod not_run;
mod outside;
mod private;
mod processes;
mod program;
mod python;
mod random;
mod relay;
mod session;
mod stock_server;
mod table;
mod trace;
mod wait;

pub use allocations::CountingAllocator;
pub use archive::unpack;
pub use arrivals::{note_arrivals, receive};
pub use bpftrace::bpftrace;
pub use cases::{Case, assert_cases, cases};
pub use daemon::Daemon;
pub use deadline::{BUILD_DEADLINE, ChildInTime, CommandInTime, DEADLINE, patience};
pub use golden::{assert_golden, check_golden, difference, overwrites};
pub use instructions::{instructions, instructions_each};
pub use need::{need, need_bpftrace, need_namespaces, need_no_other_daemon};
pub use not_run::{missing_tool, not_allowed, workspace};
pub use outside::build_outside;
pub use processes::{kill_descendants, kill_tree, reap_orphans, start_with_default_signals};
pub use program::{Program, cargo};
pub use python::python;
pub use random::Random;
pub use relay::Relay;
pub use session::Session;
pub use stock_server::{Connection, StockServer};
pub use table::Table;
pub use trace::{Event, Trace, declarations};
pub use wait::{must_end, wait_until};
