//! Methods of components: no panic and no error of ours is lost on the way to Babeltrace.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::bindings::*;
use super::error::take_error;
use super::{bt, c_text, load};

/// Runs a method: an error becomes a cause of Babeltrace's, a panic does, too.
pub fn guarded<T>(
    component: *mut bt_self_component,
    failed: T,
    method: impl FnOnce() -> Result<T, String>,
) -> T {
    let ended = catch_unwind(AssertUnwindSafe(method));
    let reason = match ended {
        Ok(Ok(status)) => return status,
        Ok(Err(reason)) => reason,
        Err(_) => "a fault of the plugin ltt-top".to_owned(),
    };
    let (reason, file) = (c_text(&reason), c_text(file!()));
    // SAFETY: the component is alive, and all texts are NUL-terminated; the format has one of them.
    unsafe {
        (bt().bt_current_thread_error_append_cause_from_component)(
            component,
            file.as_ptr(),
            u64::from(line!()),
            c"%s".as_ptr(),
            reason.as_ptr(),
        );
    }
    failed
}

/// Initialises a component: loads the library, has a port added and a state made, and leaves the state to the component.
pub fn initialized<T>(
    component: *mut bt_self_component,
    make: impl FnOnce() -> Result<(bt_self_component_add_port_status, T), String>,
) -> bt_component_class_initialize_method_status {
    if load().is_err() {
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
    guarded(component, BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR, || {
        let (BT_SELF_COMPONENT_ADD_PORT_STATUS_OK, state) = make()? else { return Err(take_error()) };
        // SAFETY: the component is being initialised; its finaliser takes the state back.
        unsafe { bt().bt_self_component_set_data(component, Box::into_raw(Box::new(state)).cast()) };
        Ok(BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
    })
}
