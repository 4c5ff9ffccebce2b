//! `ltt-top TRACE`: what matters, on one screen.

use super::run::{ltt_top, said, small_trace};
use super::shared_trace::SharedTrace;

#[test]
fn report_fits_on_a_screen_unless_more_is_asked_for() {
    let busy = SharedTrace::unpack_named("valkey-lite-busy");
    for (trace, columns) in [(busy.folder(), "100"), (busy.folder(), "60"), (small_trace(), "100")] {
        let brief = said(ltt_top([trace]).env("COLUMNS", columns));
        let is_wide = |line: &&str| line.chars().count() > columns.parse().unwrap();
        assert_eq!((brief.status, brief.out.lines().find(is_wide)), (0, None), "{}", brief.out);
        assert!(brief.out.lines().count() <= 40, "{}", brief.out);
        assert!(brief.out.contains("no incidents: ") || brief.out.contains("LONGEST"), "{}", brief.out);
        assert!(brief.out.contains("EVENT"), "{}", brief.out);
    }
    let brief = said(&mut ltt_top([busy.folder()])).out;
    assert!(brief.contains("shown: ") && brief.contains("(ltt-top incidents)"), "{brief}");
    assert!(!brief.contains("not the cause") && !brief.contains("no events recorded"), "{brief}");
    let full = said(ltt_top(["-n", "20"]).arg(busy.folder()).env("COLUMNS", "100")).out;
    assert!(full.lines().count() > 60 && full.contains("not the cause"), "{full}");
}
