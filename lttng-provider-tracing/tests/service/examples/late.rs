//! Makes spans while sessions come and go, and prints how long after the begin of each a span was first made for it, in
//! microseconds.

use std::thread::sleep;
use std::time::{Duration, Instant};

use bridged_service::service::waiting;
use tracing_subscriber::prelude::*;

fn main() {
    bridged_service::subscriber().init();
    let sessions: usize = std::env::args().nth(1).expect("the number of sessions").parse().expect("a number");
    println!("ready");
    for _ in 0..sessions {
        let is_made = || !tracing::info_span!("wait", order = 1).is_disabled();
        wait_for(waiting::enabled);
        let began = Instant::now();
        wait_for(is_made);
        println!("{}", began.elapsed().as_micros());
        wait_for(|| !waiting::enabled() && !is_made());
    }
}

fn wait_for(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "nothing changed for a minute");
        sleep(Duration::from_micros(100));
    }
}
