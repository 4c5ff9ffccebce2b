//! The reason why a call failed, as text.

use super::bindings::*;
use super::text;

/// Takes the current thread's error after a call that failed.
pub fn take_error() -> String {
    take_pending_error().unwrap_or_else(|| "Babeltrace 2 gives no reason".to_owned())
}

/// Takes the current thread's error, if it has one, and returns its causes as one line, from what failed to
/// why.
///
/// The library's own causes are left out where a component gave one: they say that a component failed.
pub fn take_pending_error() -> Option<String> {
    // SAFETY: takes over the thread's error, if there is one; it is released below.
    let error = unsafe { bt_current_thread_take_error() };
    if error.is_null() {
        return None;
    }
    let mut of_components = Vec::new();
    let mut of_library = Vec::new();
    // SAFETY: the error is not null, the indexes are below its count, and its causes live until its release.
    unsafe {
        for index in (0..bt_error_get_cause_count(error)).rev() {
            let cause = bt_error_borrow_cause_by_index(error, index);
            let message = text(bt_error_cause_get_message(cause));
            let causes = match bt_error_cause_get_actor_type(cause) {
                BT_ERROR_CAUSE_ACTOR_TYPE_UNKNOWN => &mut of_library,
                _ => &mut of_components,
            };
            causes.push(without_addresses(&message).trim_end_matches('.').to_owned());
        }
        bt_error_release(error);
    }
    let causes = if of_components.is_empty() { of_library } else { of_components };
    Some(format!("Babeltrace 2: {}", causes.join(": ").replace('\n', " ")))
}

/// A message without what follows its colon, where that is a dump of an object: `Cannot do: x-addr=0x7f, …`.
fn without_addresses(message: &str) -> &str {
    match message.split_once(": ") {
        Some((said, dump)) if dump.contains("-addr=0x") => said,
        _ => message,
    }
}
