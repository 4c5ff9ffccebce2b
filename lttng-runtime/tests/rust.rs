//! Events that Rust declares are recorded, without an allocation.

use std::env::current_exe;

use lttng_runtime::Provider;
use lttng_testing::{CountingAllocator, Daemon};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

#[test]
fn events_are_recorded_without_an_allocation() {
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("shop:*");
    session.start();
    let arguments = ["--exact", "emits_in_another_process", "--ignored", "--nocapture"];
    daemon.run(current_exe().unwrap(), arguments);
    let events = session.stop().events();
    assert_eq!(events.len(), 1001);
    assert_eq!((events[0].field("article"), events[0].field("took")), ("\"book\"", "12"));
    assert_eq!(events[1000].field("article").len(), 2000 + 2);
}

#[test]
#[ignore = "run by the other test, where a daemon traces it"]
fn emits_in_another_process() {
    let shop = Provider::new("shop").unwrap();
    shop.add("sale(article: string, took: i32 us)").unwrap();
    let sale = shop.event("sale").unwrap();
    assert!(sale.is_enabled());
    let long = "x".repeat(2000);
    let ((), peak) = ALLOCATOR.peak_of(|| {
        for _ in 0..1000 {
            assert!(sale.emit(&["book".into(), 12.into()]));
        }
        assert!(sale.emit(&[long.as_str().into(), (-1_i8).into()]));
        assert!(!sale.emit(&[1.into(), 2.into()]), "a number is not a text");
    });
    assert_eq!(peak, 0);
    drop(shop);
    assert!(sale.is_enabled(), "the event keeps its provider");
    let again = Provider::new("shop").unwrap_err();
    assert_eq!(again.to_string(), "provider `shop` is open already; close it first");
}
