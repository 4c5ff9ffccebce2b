//! CSV that a spreadsheet can be trusted with.

use super::handwritten::requests;
use super::run::{ltt_top, said};

#[test]
fn a_header_is_written_also_without_rows() {
    let trace = requests("alpha", &[("get", 10)]).write();
    for (command, header) in [
        (&["top"][..], "event,count,implausible,total_us,mean_us,p50_us,p90_us,p99_us,p999_us,min_us,max_us"),
        (&["slow"], "timestamp_ns,begin_ns,end_ns,event,duration_us,reason,unit_is_guess"),
        (
            &["outliers"],
            "finding,count,lost_us,timestamp_ns,begin_ns,end_ns,event,duration_us,reason,rule,limit_us,unit_is_guess",
        ),
        (&["hist"], "event,count,implausible,buckets"),
        (&["hist", "--over-time"], "event,rows_from_us,counts"),
        (&["info"], "event,count"),
    ] {
        let said = said(ltt_top(command).args(["--format", "csv", "--where", "name=none"]).arg(trace.path()));
        assert_eq!((said.status, said.out.lines().count()), (0, 1), "{said:?}");
        assert!(said.out.starts_with(header), "{said:?}");
    }
}

#[test]
fn control_characters_are_escaped_and_no_text_is_a_formula() {
    let names = ["=HYPERLINK(1)", "+1", "-1", "@SUM", "\t=1", "\r=1", "two\nlines\u{1b}[31m", "a,\"b\""];
    let calls: Vec<(&str, u64)> = names.iter().map(|name| (*name, 10)).collect();
    let trace = requests("alpha", &calls).write();
    for arguments in [&["top", "--by", "name"][..], &["slow"]] {
        let said = said(ltt_top(arguments).args(["--format", "csv"]).arg(trace.path()));
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(said.out.lines().count(), names.len() + 1, "no cell has a line break: {said:?}");
        assert!(!said.out.contains(['\x1b', '\r', '\t']), "{said:?}");
        for safe in ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM", r"'\t=1", r"'\r=1", r"two\nlines\u{1b}[31m"] {
            assert!(said.out.contains(&format!(",{safe},")), "{safe}: {said:?}");
        }
        assert!(said.out.contains(r#","a,""b""","#), "{said:?}");
    }
}

#[test]
fn negative_numbers_stay_numbers() {
    let mut trace = super::handwritten::Handwritten::new("alpha");
    let class = trace.class("app:request", "i64 _offset; u64 _latency_us;");
    trace.event(class, &[&(-5_i64).to_le_bytes(), &1_u64.to_le_bytes()]);
    let trace = trace.write();
    let said = said(ltt_top(["top", "--by", "offset", "--format", "csv"]).arg(trace.path()));
    assert!(said.out.lines().nth(1).unwrap().starts_with("app:request,-5,1,"), "{said:?}");
}
