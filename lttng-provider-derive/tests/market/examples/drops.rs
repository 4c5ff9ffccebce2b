//! Compares functions with their traced twins: in which order they drop what they own, at their end, by `return`, `?` and a
//! panic, and when a future or a stream is dropped after each of its polls; and how large their futures are.

#![allow(unused, clippy::all, reason = "most of it is generated")]

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use lttng_provider::traced;
use market::shop;

include!(concat!(env!("OUT_DIR"), "/drops.rs"));

thread_local! {
    static DROPPED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn log(what: &'static str) {
    DROPPED.with_borrow_mut(|dropped| dropped.push(what));
}

/// Tells when it is dropped.
#[derive(Debug)]
struct D(&'static str);

impl Drop for D {
    fn drop(&mut self) {
        log(self.0);
    }
}

impl fmt::Display for D {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Not `Drop`, so that its fields can be moved out of it.
struct Van {
    x: D,
    y: D,
}

impl Van {
    fn new() -> Van {
        Van { x: D("x"), y: D("y") }
    }
}

fn look(value: &D) {}

fn fails(fails: bool) -> Result<(), D> {
    if fails { Err(D("error")) } else { Ok(()) }
}

/// Is pending once.
fn pause() -> impl Future<Output = ()> {
    let mut is_second = false;
    std::future::poll_fn(move |_| match std::mem::replace(&mut is_second, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
}

struct Items(Vec<D>);

impl Stream for Items {
    type Item = D;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<D>> {
        log("poll");
        Poll::Ready(self.0.pop())
    }
}

/// The largest step of a body, and one more.
const STEPS: usize = 8;

#[derive(Default)]
struct Compare {
    compared: usize,
    /// By how much futures are larger, at most.
    growth: usize,
}

impl Compare {
    fn call<T>(&mut self, name: &str, plain: impl Fn(usize) -> T, traced: impl Fn(usize) -> T) {
        for how in 0..STEPS {
            self.same(&format!("{name}({how})"), || drop(plain(how)), || drop(traced(how)));
        }
    }

    fn future<P: Future, T: Future>(
        &mut self,
        name: &str,
        plain: impl Fn(usize) -> P,
        traced: impl Fn(usize) -> T,
    ) {
        self.growth = self.growth.max(size_of::<T>().saturating_sub(size_of::<P>()));
        for (how, polls) in (0..STEPS).flat_map(|how| (0..STEPS).map(move |polls| (how, polls))) {
            let name = format!("{name}({how}), {polls} polls");
            self.same(&name, || poll_future(plain(how), polls), || poll_future(traced(how), polls));
        }
    }

    fn stream<P: Stream, T: Stream>(
        &mut self,
        name: &str,
        plain: impl Fn(usize) -> P,
        traced: impl Fn(usize) -> T,
    ) {
        for (how, polls) in (0..STEPS).flat_map(|how| (0..4).map(move |polls| (how, polls))) {
            let name = format!("{name}({how}), {polls} polls");
            self.same(&name, || poll_stream(plain(how), polls), || poll_stream(traced(how), polls));
        }
    }

    fn same(&mut self, name: &str, plain: impl FnOnce(), traced: impl FnOnce()) {
        let [plain, traced] = [run(plain), run(traced)];
        assert_eq!(plain, traced, "plain and traced {name}");
        self.compared += 1;
    }
}

fn poll_future(future: impl Future, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        log("poll");
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return log("ready");
        }
    }
    log("cancelled");
}

fn poll_stream(stream: impl Stream, polls: usize) {
    let mut stream = pin!(stream);
    for _ in 0..polls {
        drop(stream.as_mut().poll_next(&mut Context::from_waker(Waker::noop())));
    }
}

/// What happens in a call, in order.
fn run(call: impl FnOnce()) -> Vec<&'static str> {
    let panicked = catch_unwind(AssertUnwindSafe(call)).is_err();
    let mut dropped = DROPPED.take();
    if panicked {
        dropped.push("panicked");
    }
    dropped
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut compare = Compare::default();
    let compared = catch_unwind(AssertUnwindSafe(|| compare_all(&mut compare)));
    let _ = std::panic::take_hook();
    if let Err(error) = compared {
        let message = error.downcast_ref::<String>().map_or("", |message| message);
        eprintln!("{message}");
        std::process::exit(1);
    }
    eprintln!("{} runs are the same, futures grow by up to {} bytes", compare.compared, compare.growth);
    // How far a measurement is, and a pointer to it.
    let most = if lttng_provider::TRACING { 16 } else { 0 };
    assert!(compare.growth <= most, "a future is larger by {} bytes", compare.growth);
}
