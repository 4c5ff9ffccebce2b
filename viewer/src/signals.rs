//! Signals to stop: Ctrl-C, SIGTERM and SIGHUP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A flag that a signal sets.
#[derive(Clone, Debug)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Listens to signals from now on. A second one ends the process at once.
    pub fn listen() -> std::io::Result<StopSignal> {
        StopSignal::register(true)
    }

    /// Listens to signals from now on. None ends the process, as there is something to clean up.
    pub fn listen_patiently() -> std::io::Result<StopSignal> {
        StopSignal::register(false)
    }

    fn register(ends_at_once: bool) -> std::io::Result<StopSignal> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if ends_at_once {
                signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
            }
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(StopSignal(flag))
    }

    /// Whether a signal has arrived.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
