//! Spans as programs have them: in modules, nested, entered twice, on several threads, closed elsewhere; a thousand names.

use std::sync::Barrier;
use std::thread;

use tracing::{Span, info_span};
use tracing_subscriber::prelude::*;

fn main() {
    let subscriber = bridged_service::subscriber();
    tracing::subscriber::with_default(subscriber, || {
        first();
        nested();
        entered_twice();
        on_two_threads_at_once();
        // It is closed by the thread, while no subscriber is the default there.
        let span = info_span!(target: "modules::first", "apply", order = 5);
        thread::spawn(move || drop(span)).join().expect("the thread ends");
        for order in 6..8 {
            second(order);
        }
    });
    // The last handle keeps the subscriber of its span alive.
    let orphan = tracing::subscriber::with_default(
        bridged_service::subscriber(),
        || info_span!(target: "modules::first", "apply", order = 8),
    );
    drop(orphan);
    // With no subscriber at all, nothing is recorded.
    second(9);
    bridged_service::subscriber().init();
    many_threads();
    thousand::names();
}

fn first() {
    info_span!(target: "modules::first", "apply", order = 1).in_scope(|| ());
    // Not a module inside `modules::first`.
    info_span!(target: "modules::first_of_all", "apply", order = 1).in_scope(|| ());
    info_span!("apply", order = 1).in_scope(|| ());
}

fn second(order: u64) {
    info_span!(target: "modules::second::inner", "apply", order).in_scope(|| ());
}

fn nested() {
    let _outer = info_span!(target: "modules::first", "apply", order = 2).entered();
    let _inner = info_span!(target: "modules::first", "apply", order = 3).entered();
    // Its parent is not the current span, and is closed before it.
    let root = info_span!(parent: None, "unnamed");
    let _child = info_span!(target: "modules::first", parent: &root, "apply", order = 4).entered();
}

fn entered_twice() {
    let span = info_span!("wait", order = 1);
    let again = span.clone();
    let _first = span.enter();
    let _second = again.enter();
}

fn on_two_threads_at_once() {
    let span = info_span!("wait", order = 2);
    let barrier = Barrier::new(2);
    let both = |span: Span| {
        span.in_scope(|| {
            barrier.wait();
            barrier.wait();
        });
    };
    thread::scope(|scope| {
        scope.spawn(|| both(span.clone()));
        scope.spawn(|| both(span.clone()));
    });
}

/// Eight threads make spans, and hand each to the next thread to be closed.
fn many_threads() {
    thread::scope(|scope| {
        for number in 0..8_u64 {
            scope.spawn(move || {
                for order in 0..500 {
                    let span = info_span!("wait", order = 1_000 * (number + 1) + order);
                    let other = span.clone();
                    span.in_scope(|| second(1_000 * (number + 1) + order));
                    if order % 100 == 0 {
                        thread::scope(|inner| inner.spawn(move || other.in_scope(|| ())).join().unwrap());
                    }
                }
            });
        }
    });
}

/// A thousand call sites.
mod thousand {
    macro_rules! ten {
        ($macro:ident $($number:tt)*) => {
            $macro!($($number)* 0); $macro!($($number)* 1); $macro!($($number)* 2); $macro!($($number)* 3);
            $macro!($($number)* 4); $macro!($($number)* 5); $macro!($($number)* 6); $macro!($($number)* 7);
            $macro!($($number)* 8); $macro!($($number)* 9);
        };
    }
    macro_rules! hundred {
        ($first:tt) => { ten!(tens $first); };
    }
    macro_rules! tens {
        ($first:tt $second:tt) => { ten!(one $first $second); };
    }
    macro_rules! one {
        ($first:tt $second:tt $third:tt) => {
            tracing::info_span!(target: "modules::thousand", concat!("span ", $first, $second, $third)).in_scope(|| ());
        };
    }

    pub fn names() {
        ten!(hundred);
    }
}
