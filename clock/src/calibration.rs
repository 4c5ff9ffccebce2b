//! The counter's frequency, for the metadata of a trace.

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use lttng_provider::__private::ClockPair;

/// The shortest time for which the counter is compared with the monotonic clock.
const SHORTEST: Duration = Duration::from_millis(200);

static START: OnceLock<ClockPair> = OnceLock::new();
static FREQUENCY: OnceLock<u64> = OnceLock::new();

/// Begins to compare the clocks.
pub(crate) fn begin() {
    START.get_or_init(ClockPair::now);
}

/// The counter's frequency in hertz: the same at every call, since a trace has one.
pub(crate) fn frequency() -> u64 {
    *FREQUENCY.get_or_init(|| {
        let start = START.get_or_init(ClockPair::now);
        sleep(SHORTEST.saturating_sub(start.monotonic().elapsed()));
        start.frequency_until(&ClockPair::now())
    })
}
