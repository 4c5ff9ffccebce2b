//! A stall: a time in which a thread was held up, and by what.

use super::finding::{Evidence, IncidentKind, Side, WaitedFinding};
use super::meanwhile::Meanwhile;
use crate::finding::Span;
use crate::intervals::{Interval, IntervalName, Link, Neighbour, Tree, chain, total};
use crate::scheduling::{Account, Extent, SystemCause};

/// The cause of a turn took at least one part in this number of it.
const LEAST_SHARE: i64 = 10;

/// What lies in no event is blamed on the request beside it if it is more than one part in this number of a turn.
const BESIDE: i64 = 4;

/// The number of times without an event in a turn whose reason is looked for.
const MOST_GAPS: usize = 32;

/// A stall.
#[derive(Clone, Debug, Default)]
pub struct Stall {
    pub thread: usize,
    pub span: Span,
    pub kind: IncidentKind,
    /// From the outermost interval to the one within it that took the most, and so on.
    pub chain: Vec<Link>,
    /// Which link is the cause; none if no event explains it.
    pub cause: Option<usize>,
    /// The largest parts of a turn.
    pub parts: Vec<Link>,
    /// How much of it no event explains; nanoseconds.
    pub unexplained: i64,
    /// The longest times in it that no event explains, and the request next to the longest, if it may be to blame.
    pub gaps: Vec<Span>,
    pub neighbour: Option<Neighbour>,
    /// Where most of it lies, if no event explains it: beside the request that is the cause.
    pub beside: Option<(Side, i64)>,
    /// What shows that a loop was kept from serving anybody, if no event does.
    pub evidence: Option<Evidence>,
    /// Since when it was surely kept from running, if it is a silence that the scheduler proves.
    pub kept_since: Option<i64>,
    /// What the scheduler did with its thread, in all of it and in the gaps; none where that is not known.
    pub account: Option<Box<Account>>,
    pub in_gaps: Option<Box<Account>>,
    /// What kept its thread from running for most of it, whatever events say of that time.
    pub kept: Option<(SystemCause, Extent)>,
    /// The total of pieces of it, as reported by an event.
    pub sum: Option<(IntervalName, i64)>,
    pub waited: WaitedFinding,
    pub not_served: u64,
    pub meanwhile: Vec<Meanwhile>,
    /// Whether events of it may be missing.
    pub is_incomplete: bool,
    /// Its number, in the order in which incidents were settled.
    pub number: u64,
    /// Whether it is a span that nests by its number, so that it may overlap others of its thread.
    pub is_span: bool,
    /// Whether an event that explains it passes the filters.
    pub is_selected: bool,
}

impl Stall {
    /// A turn, or another interval, that took long.
    pub fn new(thread: usize, kind: IncidentKind, tree: Tree<'_>) -> Self {
        let root = tree.root().interval;
        // For a turn, even a partial explanation helps.
        let share = if kind == IncidentKind::Turn { LEAST_SHARE } else { 2 };
        let (chain, parts) = chain(tree, share);
        let unexplained = if kind == IncidentKind::Turn { chain[0].own } else { 0 };
        let first = usize::from(kind == IncidentKind::Turn);
        let has_client = |link: &Link| link.client.is_some();
        let cause = chain[first..].iter().position(has_client).map(|place| place + first);
        let cause = cause.or_else(|| (chain.len() > first).then(|| chain.len() - 1));
        let span = Span { begin_ns: root.begin, end_ns: root.end };
        let is_large = |part: &&Link| part.spent.saturating_mul(LEAST_SHARE) >= root.length();
        let is_selected = chain.iter().chain(parts.iter().filter(is_large)).any(|link| link.is_selected);
        let gaps = if kind == IncidentKind::Turn { tree.gaps(MOST_GAPS) } else { Vec::new() };
        // To look for it takes long, and what an event explains has none.
        let top = chain.get(first).map_or(0, |link| link.spent);
        let is_beside = cause.is_none() || (unexplained > top && unexplained > root.length() / BESIDE);
        let neighbour = gaps.first().filter(|_| is_beside).and_then(|gap| tree.neighbour(*gap));
        Stall {
            kind,
            chain,
            cause,
            parts,
            unexplained,
            gaps,
            neighbour,
            is_selected,
            ..Stall::silence(thread, span)
        }
    }

    /// A sleep that was too long.
    pub fn silence(thread: usize, span: Span) -> Self {
        Stall {
            thread,
            span,
            kind: IncidentKind::Silence,
            unexplained: span.length_ns(),
            gaps: vec![span],
            is_selected: true,
            ..Stall::default()
        }
    }

    /// The same, held back by a command that was over long before.
    pub fn held_by_command(self, by: &Interval) -> Self {
        let length = self.span.length_ns();
        let link = Link { length, spent: length, own: length, ..Link::of(by) };
        Stall {
            chain: vec![link],
            cause: Some(0),
            unexplained: 0,
            gaps: Vec::new(),
            is_selected: link.is_selected,
            ..self
        }
    }

    /// Adds the total of pieces of a turn that are not intervals. What it exceeds the events without a client by, which
    /// may be such pieces themselves, explains time that no event covers.
    pub fn add_sum(&mut self, sum: &Interval) {
        if self.sum.is_some() {
            return;
        }
        self.sum = Some((sum.name, sum.length()));
        let pieces = self.parts.iter().filter(|part| part.clients == 0);
        let explained = (sum.length() - total(pieces.map(|part| part.spent))).clamp(0, self.unexplained);
        if explained.saturating_mul(LEAST_SHARE) < self.span.length_ns() {
            return;
        }
        self.unexplained -= explained;
        let link = Link {
            name: sum.name,
            client: None,
            clients: 0,
            begin: self.span.begin_ns,
            end: self.span.end_ns,
            length: explained,
            spent: explained,
            own: explained,
            count: 1,
            is_selected: sum.passes.all(),
        };
        self.is_selected |= link.is_selected;
        let place = self.parts.partition_point(|part| part.spent >= explained);
        self.parts.insert(place, link);
        if place == 0 {
            self.chain.truncate(1);
            self.chain.push(link);
            self.cause = Some(1);
        }
    }

    /// The link that is the cause.
    pub fn cause(&self) -> Option<&Link> {
        self.cause.map(|place| &self.chain[place])
    }

    /// Chooses the largest part that is sure as the cause, when it is known what the scheduler did. What lies in no event and
    /// beside a request is that request's: it was read before, or its answers were written after.
    pub fn choose_cause(&mut self) {
        let is_turn = self.kind == IncidentKind::Turn;
        if !is_turn && self.kind != IncidentKind::Interval {
            return;
        }
        let top = self.chain.get(usize::from(is_turn)).map_or(0, |link| link.spent);
        let systems = self.system_parts();
        let kept =
            systems.iter().filter(|(cause, _)| cause.keeps_from_running()).map(|(_, time)| *time).max();
        let rest = self.unexplained
            - total(systems.iter().filter(|(cause, _)| cause.keeps_from_running()).map(|(_, time)| *time));
        if kept.is_some_and(|kept| kept > top && kept >= rest) {
            self.cause = None;
        } else if let Some(kept) = self.kept_for_longer_than(top, rest) {
            (self.cause, self.kept) = (None, Some(kept));
        } else if rest > top && rest > self.span.length_ns() / BESIDE {
            self.cause = None;
            if let Some(Neighbour { link, is_before }) = self.neighbour.filter(|_| !self.is_incomplete) {
                if self.chain.get(1).is_none_or(|top| top.name != link.name) {
                    self.chain.truncate(1);
                    self.chain.push(link);
                }
                self.cause = Some(1);
                self.beside = Some((if is_before { Side::After } else { Side::Before }, rest));
            }
        }
    }

    /// What kept its thread from running for longer than an event can have run that took `top`, and than the `rest`, which lies in
    /// no event. What a thread waits for by itself, such as a device, is the event's.
    fn kept_for_longer_than(&self, top: i64, rest: i64) -> Option<(SystemCause, Extent)> {
        let parts = self.account.as_ref()?.parts().into_iter().filter(|(cause, _)| cause.is_by_others());
        let all = total(parts.clone().map(|(_, time)| time.least));
        let inside = (all - (self.span.length_ns() - top)).clamp(0, top);
        let kept = parts.max_by_key(|(_, time)| time.least)?;
        (kept.1.least > top - inside && kept.1.least >= rest).then_some(kept)
    }

    /// Blames the loading of data, which has no event, if events show it that occur only while something blocks the loop, and that
    /// are not part of a command. Valkey counts it as housekeeping.
    pub fn blame_loading(&mut self, is_while_blocked: impl Fn(IntervalName) -> bool) {
        let shown = self.parts.iter().position(|part| is_while_blocked(part.name));
        let Some(shown) = shown.filter(|_| self.kept.is_none()) else { return };
        let shown = self.parts.remove(shown);
        let summed = self.sum.and_then(|(name, _)| self.parts.iter().position(|part| part.name == name));
        let summed = summed.map(|place| self.parts.remove(place));
        let time = shown.spent + self.unexplained + summed.map_or(0, |part| part.spent);
        if time.saturating_mul(2) < self.span.length_ns() {
            self.parts.extend(summed);
            self.parts.push(shown);
            self.parts.sort_by_key(|part| std::cmp::Reverse(part.spent));
            return;
        }
        self.unexplained = 0;
        let link = Link { length: time, spent: time, own: time, ..shown };
        self.parts.insert(0, link);
        self.chain.truncate(1);
        self.chain.push(link);
        (self.cause, self.beside) = (Some(1), Some((Side::Around, time)));
    }

    /// What surely held it up where no event explains it, and for how long.
    pub fn system_parts(&self) -> Vec<(SystemCause, i64)> {
        let Some(account) = &self.in_gaps else { return Vec::new() };
        let parts =
            account.parts().into_iter().filter(|(cause, time)| time.least > 0 && self.is_telling(*cause));
        parts.map(|(cause, time)| (cause, self.scaled(time.least))).collect()
    }

    /// How much of what is unexplained a part of the gaps is. They may be more than that, if an event reports pieces, or not
    /// all of it.
    fn scaled(&self, time: i64) -> i64 {
        let length = self.in_gaps.as_ref().map_or(1, |account| account.length.max(1));
        (i128::from(time) * i128::from(self.unexplained.min(length)) / i128::from(length)) as i64
    }

    /// How much of it nothing is known of: no event explains it, nor does what the scheduler did.
    pub fn unaccounted(&self) -> i64 {
        let rest = self.unexplained - total(self.system_parts().into_iter().map(|(_, time)| time));
        // Shares of times are rounded.
        if rest < 1000 { 0 } else { rest }
    }

    /// What held it up for most of its time, or of the time that no event explains, as far as that is sure.
    pub fn held_by(&self) -> Option<(SystemCause, Extent)> {
        if self.kept.is_some() {
            return self.kept;
        }
        let account = self.in_gaps.as_ref()?;
        let is_sure = |(cause, time): &(SystemCause, Extent)| {
            self.scaled(time.least).saturating_mul(2) >= self.unexplained && self.is_telling(*cause)
        };
        // Nothing else has that state.
        let stopped = || account.stopped_at.map(|_| (SystemCause::Stopped, account.stopped));
        account.cause().filter(is_sure).or_else(stopped)
    }

    /// Whether samples were taken too seldom to tell what held it up.
    pub fn is_sampled_too_seldom(&self) -> bool {
        let is_known = |account: &Account| {
            total(account.parts().into_iter().map(|(_, time)| time.least)).saturating_mul(2) >= account.length
        };
        self.in_gaps.as_ref().is_some_and(|account| account.length > 0 && !is_known(account))
    }

    /// Whether a cause says why. Between its turns a loop sleeps.
    fn is_telling(&self, cause: SystemCause) -> bool {
        match self.kind {
            IncidentKind::Turn | IncidentKind::Interval => true,
            IncidentKind::Silence => cause.keeps_from_running(),
            IncidentKind::Starved => false,
        }
    }

    /// Whether it can be told who waited: some client was served lately, or is named.
    pub fn knows_clients(&self) -> bool {
        let mut links = self.chain.iter().chain(&self.parts);
        self.waited.of > 0 || links.any(|link| link.client.is_some() || link.clients > 0)
    }

    /// The client that it was for: that of the cause, or of the request beside what no event explains.
    pub fn culprit(&self) -> Option<u32> {
        let beside = || self.neighbour.as_ref().and_then(|neighbour| neighbour.link.client);
        self.cause().map_or_else(beside, |cause| cause.client)
    }

    /// What within the cause took most of it, if that is another event: `fork` within BGSAVE.
    pub fn detail(&self) -> Option<&Link> {
        let cause = self.cause()?;
        self.chain.last().filter(|last| last.name.kind != cause.name.kind)
    }

    /// Joins an overlapping stall of the same thread. The longer one determines the cause, unless one is a turn, which
    /// contains the other.
    pub fn join(&mut self, other: Stall) {
        let begin = self.span.begin_ns.min(other.span.begin_ns);
        let union = Span { begin_ns: begin, end_ns: self.span.end_ns.max(other.span.end_ns) };
        let is_selected = self.is_selected || other.is_selected;
        let rank = |stall: &Stall| (stall.kind == IncidentKind::Turn, stall.span.length_ns());
        if rank(&other) > rank(self) {
            *self = other;
        }
        if self.kind != IncidentKind::Turn {
            self.span = union;
        }
        self.is_selected = is_selected;
    }
}

#[cfg(test)]
mod tests;
