//! Values that may be more frequent among slow events than among the others.

use super::chance::ln_chance;
use super::{Counts, FEWEST_SLOW, LEAST_SHARE, SLOWER, Shared, SlowSet, Subject, TIMES};
use crate::datum::Datum;
use crate::text::amount::{counted, share};
use crate::text::escape;

/// A value that may be more frequent among slow events.
pub(super) struct Candidate<'a> {
    pub subject: &'a Subject,
    pub slow: SlowSet,
    pub begin_ns: Option<i64>,
    pub order: usize,
    pub field: &'a str,
    pub value: Option<Datum>,
    pub with: Counts,
    pub ln_probability: f64,
    /// The slow events with the value, all slow ones, the others with the value, all others.
    pub table: [u64; 4],
    pub factor: f64,
}

/// Compares a value in each set of slow events. Only those with enough slow events count.
pub(super) fn candidates<'a>(
    subject: &'a Subject,
    total: &Counts,
    (order, field): (usize, &'a str),
    value: &dyn Fn() -> Option<Datum>,
    counts: &Counts,
    into: &mut Vec<Candidate<'a>>,
) {
    let without = total.all - counts.all;
    if without == 0 && total.usual == counts.usual {
        return;
    }
    let level = |counts: &Counts| counts.level as f64 / 1000.0 / counts.all.max(1) as f64;
    let rest = Counts { all: without, level: total.level - counts.level, ..Counts::default() };
    let factor = if counts.all == 0 { 1.0 } else { (level(counts) - level(&rest)).exp() };
    let of_all = |slow: u64, of: u64| [slow, of, counts.all - slow, total.all - of];
    let mut sets = vec![(SlowSet::Slow, None, [counts.slow, total.slow, counts.usual, total.usual])];
    sets.push((SlowSet::Tenth, None, of_all(counts.tenth, total.tenth)));
    for (place, spans) in subject.periods.iter().enumerate() {
        let begin = spans.first().map(|span| span.begin_ns);
        sets.push((SlowSet::Period, begin, of_all(counts.periods[place], total.periods[place])));
    }
    for (slow, begin_ns, table) in sets {
        if table[0] >= FEWEST_SLOW {
            let ln_probability = ln_chance(table);
            let value = if ln_probability < -5.0 { value() } else { None };
            let with = *counts;
            into.push(Candidate {
                subject,
                slow,
                begin_ns,
                order,
                field,
                value,
                with,
                ln_probability,
                table,
                factor,
            });
        }
    }
}

impl Candidate<'_> {
    pub(super) fn shares(&self) -> [f64; 2] {
        let [slow, all_slow, others, all_others] = self.table.map(|count| count as f64);
        [slow / all_slow.max(1.0), others / all_others.max(1.0)]
    }

    pub(super) fn is_telling(&self) -> bool {
        let [of_slow, of_others] = self.shares();
        let is_slower = self.slow != SlowSet::Tenth || self.factor >= SLOWER;
        of_slow >= LEAST_SHARE && of_slow >= TIMES * of_others && is_slower
    }

    pub(super) fn finding(&self) -> Option<Shared> {
        let [share_of_slow, share_of_others] = self.shares();
        let value = self.value.clone()?;
        let shown = format!("{}={}", escape::text(self.field), escape::datum(&value));
        let set = match self.slow {
            SlowSet::Slow => "slow events",
            SlowSet::Period => "events of the slow period",
            SlowSet::Tenth => "slowest tenth",
        };
        let slower = match self.factor >= SLOWER {
            true => format!(", {:.1} times slower than the others", self.factor),
            false => String::new(),
        };
        let reason = format!(
            "{shown}: {} of the {set}, {} of the others ({}{slower})",
            share(share_of_slow),
            share(share_of_others),
            counted(self.table[0], "event"),
        );
        Some(Shared {
            name: self.subject.name.clone(),
            slow: self.slow,
            field: self.field.to_owned(),
            value,
            count: self.table[0],
            share_of_slow,
            share_of_others,
            factor: self.factor,
            begin_ns: self.begin_ns,
            reason,
        })
    }
}
