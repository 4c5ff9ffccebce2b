//! Whether the counter can be trusted.

use std::fs;

use crate::ffi::counter;

/// The file that names the kernel's clock source.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The kernel's name of the counter.
const COUNTER: &str = if cfg!(target_arch = "x86_64") { "tsc" } else { "arch_sys_counter" };

/// `Err` with the reason if the counter cannot be trusted.
pub fn check() -> Result<(), String> {
    if !counter::is_invariant() {
        return Err("the processor does not say that it runs at a constant rate".to_owned());
    }
    let source = fs::read_to_string(CLOCK_SOURCE)
        .map_err(|error| format!("{CLOCK_SOURCE}, which says whether the kernel trusts it: {error}"))?;
    judge(source.trim())
}

fn judge(source: &str) -> Result<(), String> {
    if source == COUNTER {
        return Ok(());
    }
    Err(format!("the kernel's clock is `{source}` and not `{COUNTER}`, so it may differ between processors"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_that_the_kernel_does_not_use_is_refused() {
        assert_eq!(judge(COUNTER), Ok(()));
        let reason = judge("kvm-clock").unwrap_err();
        assert!(reason.starts_with("the kernel's clock is `kvm-clock` and not"), "{reason}");
    }
}
