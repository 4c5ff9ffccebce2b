//! Why a call failed, in words.

use super::bindings::*;
use super::text;

/// Takes the current thread's error and returns its causes as one line, from what failed to why.
///
/// The library's own causes are left out where a component gave one: they consist of addresses.
pub fn take_error() -> String {
    // SAFETY: takes over the thread's error, if there is one; it is released below.
    let error = unsafe { bt_current_thread_take_error() };
    if error.is_null() {
        return "Babeltrace 2 gives no reason".to_owned();
    }
    let mut of_components = Vec::new();
    let mut of_library = Vec::new();
    // SAFETY: the error is not null, the indexes are below its count, and its causes live until its release.
    unsafe {
        for index in (0..bt_error_get_cause_count(error)).rev() {
            let cause = bt_error_borrow_cause_by_index(error, index);
            let message = text(bt_error_cause_get_message(cause));
            if bt_error_cause_get_actor_type(cause) == BT_ERROR_CAUSE_ACTOR_TYPE_UNKNOWN {
                // What follows the colon is a dump of the object.
                of_library.push(message.split(": ").next().unwrap_or_default().to_owned());
            } else {
                of_components.push(message.trim_end_matches('.').to_owned());
            }
        }
        bt_error_release(error);
    }
    let causes = if of_components.is_empty() { of_library } else { of_components };
    causes.join(": ").replace('\n', " ")
}
