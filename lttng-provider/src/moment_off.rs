//! With tracing off no event is enabled, so no measurement begins: the type has no values, which the compiler knows.

use std::convert::Infallible;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Infallible);

impl Moment {
    #[cold]
    pub(crate) fn now() -> Moment {
        unreachable!("tracing is not built in")
    }

    pub(crate) fn elapsed(self) -> Duration {
        match self.0 {}
    }
}
