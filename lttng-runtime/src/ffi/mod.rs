//! All `unsafe` code: LTTng-UST's data, memory that tracers share, and the interface for C.

#[allow(clippy::all, clippy::undocumented_unsafe_blocks)]
mod bindings;
mod c;
mod describe;
mod fork;
mod library;
mod record;
mod slots;
// A link to the definition in lttng-provider, which the package follows.
#[rustfmt::skip]
mod tracepoint;

pub use crate::usdt::EVENTS_MAX;
pub use fork::follow_forks;
pub use record::{TEXT_MAX, Value};

pub(crate) use c::record;
pub(crate) use describe::{Registration, load};
pub(crate) use fork::{install as install_fork_handlers, is_orphaned};
pub(crate) use slots::{SlotPointer, Slots};
