//! Why a call failed.

use super::bindings::*;
use super::{bt, text};

/// What the library made; where it could not, why.
pub fn made<T>(pointer: *mut T) -> Result<*mut T, String> {
    if pointer.is_null() { Err(take_error()) } else { Ok(pointer) }
}

/// Takes the current thread's error after a call that failed.
pub fn take_error() -> String {
    take_pending_error().unwrap_or_else(|| "Babeltrace 2 gives no reason".to_owned())
}

/// Takes the current thread's error, if it has one, as one line of its causes, from what failed to why.
///
/// The library's own causes are left out where a component gave one: they only say that a component failed.
pub fn take_pending_error() -> Option<String> {
    // SAFETY: takes over the thread's error, if it has one; it is released below.
    let error = unsafe { bt().bt_current_thread_take_error() };
    if error.is_null() {
        return None;
    }
    let (mut of_components, mut of_library) = (Vec::new(), Vec::new());
    // SAFETY: the error is not null, the indexes are below its count, and its causes live until its release.
    unsafe {
        for index in (0..bt().bt_error_get_cause_count(error)).rev() {
            let cause = bt().bt_error_borrow_cause_by_index(error, index);
            let message = text(bt().bt_error_cause_get_message(cause));
            let causes = match bt().bt_error_cause_get_actor_type(cause) {
                BT_ERROR_CAUSE_ACTOR_TYPE_UNKNOWN => &mut of_library,
                _ => &mut of_components,
            };
            causes.push(without_dump(&message).trim_end_matches('.').to_owned());
        }
        bt().bt_error_release(error);
    }
    let causes = if of_components.is_empty() { of_library } else { of_components };
    Some(format!("Babeltrace 2: {}", causes.join(": ").replace('\n', " ")))
}

/// A message without the dump of an object after it: `Cannot do: status=ERROR, x-addr=0x7f, …`.
fn without_dump(message: &str) -> &str {
    match message.split_once(": ") {
        Some((first, rest)) if rest.contains("-addr=0x") => first,
        _ => message,
    }
}
