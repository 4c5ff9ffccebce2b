//! When each client of a process was answered, and how long it usually pauses before it asks again.
//!
//! A request's arrival is in no event. A client that was answered and is served again asked in between: not before its
//! answer, and usually after as long a pause as the last times.

use hashbrown::HashMap;

use crate::finding::Span;

/// The number of pauses that are remembered for each client, and the number that tell what is usual.
const RECENT: usize = 8;
const ENOUGH: u8 = 4;

/// Of a process that has been silent for long, only the clients are remembered that it answered this long before; nanoseconds.
const LAST: i64 = 60_000_000_000;

/// The number of places for clients that are found without a search.
const FOUND: usize = 256;

/// The clients of a process, by their numbers, which those of all processes share.
#[derive(Debug)]
pub struct Clients {
    rhythms: Vec<Rhythm>,
    /// Where the rhythm of each client is.
    places: HashMap<u32, u32>,
    /// Where that of the last client probably is whose number ends like this.
    found: [u32; FOUND],
    /// Answers may be missing up to this time: who was last seen before it may have been answered since.
    complete_since: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Rhythm {
    client: u32,
    /// When it was last answered; nanoseconds.
    answered: i64,
    /// The last pauses from an answer to the turn that served the next request, in microseconds, and to when the loop looked for
    /// requests before that and it had not asked.
    pauses: [u32; RECENT],
    shortest: [u32; RECENT],
    count: u8,
    next: u8,
}

/// When a client was answered, and when it was to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub answered: i64,
    /// At the earliest and probably, by its last pauses; none if it is not known well.
    pub at_earliest: Option<i64>,
    pub probably: Option<i64>,
    /// By the median of its last pauses, and by the longest but one.
    pub usually: Option<i64>,
    pub at_latest: Option<i64>,
}

impl Default for Clients {
    fn default() -> Self {
        Clients { rhythms: Vec::new(), places: HashMap::new(), found: [0; FOUND], complete_since: None }
    }
}

impl Rhythm {
    fn new(client: u32) -> Self {
        Rhythm { client, answered: i64::MIN, pauses: [0; RECENT], shortest: [0; RECENT], count: 0, next: 0 }
    }

    /// The shortest pause that is possible, and the probable one. A client that always pauses for the same time does so for longer
    /// than any pause after which it had not asked, and for less than any after which it had: that includes its wait for a turn to
    /// end, as do the `longest` pauses in order. If there is no such time, its pauses differ.
    fn pause(&self, longest: &[u32]) -> Option<(u32, u32)> {
        let shortest = &self.shortest[..longest.len()];
        // One may be wrong: a loop without a CPU seems to sleep. So it is the largest but one.
        let (mut largest, mut least) = (0, 0);
        for &shortest in shortest {
            least = shortest.min(largest).max(least);
            largest = shortest.max(largest);
        }
        let mut most = *longest.first().filter(|_| longest.len() > 1)?;
        if least > most {
            (least, most) = (*shortest.iter().min()?, longest[longest.len() / 2]);
        }
        Some((least, least.midpoint(most)))
    }
}

impl Clients {
    /// Records that a client was served in a turn, at whose end it is answered; when the loop had looked for requests before, it had
    /// not asked.
    #[inline]
    pub fn answered(&mut self, client: u32, turn: Span, looked: i64) {
        let place = match self.recent(client) {
            Some(place) => place,
            None => self.find(client),
        };
        let rhythm = &mut self.rhythms[place];
        if rhythm.answered == turn.end_ns {
            return;
        }
        if rhythm.answered != i64::MIN {
            // Times are never so far from 1970 that this could overflow.
            let pause = |until: i64| microseconds(until - rhythm.answered);
            let (longest, shortest) = (pause(turn.begin_ns), pause(looked.min(turn.begin_ns)));
            let next = usize::from(rhythm.next) % RECENT;
            (rhythm.pauses[next], rhythm.shortest[next]) = (longest, shortest);
            rhythm.next = (rhythm.next + 1) % RECENT as u8;
            rhythm.count = (rhythm.count + 1).min(RECENT as u8);
        }
        rhythm.answered = turn.end_ns;
    }

    /// The place of a client's rhythm, if it is found without a search.
    #[inline]
    fn recent(&self, client: u32) -> Option<usize> {
        let place = self.found[client as usize % FOUND] as usize;
        self.rhythms.get(place).filter(|rhythm| rhythm.client == client).map(|_| place)
    }

    /// The place of a client's rhythm, which it gets if it has none.
    #[inline(never)]
    fn find(&mut self, client: u32) -> usize {
        let place = *self.places.entry(client).or_insert_with(|| {
            self.rhythms.push(Rhythm::new(client));
            self.rhythms.len() as u32 - 1
        });
        self.found[client as usize % FOUND] = place;
        place as usize
    }

    /// The rhythm of a client, if it was ever answered.
    #[inline]
    fn rhythm(&self, client: u32) -> Option<&Rhythm> {
        let place = self.recent(client).or_else(|| self.places.get(&client).map(|place| *place as usize))?;
        Some(&self.rhythms[place])
    }

    /// When a client was last answered, if it ever was.
    #[inline]
    pub fn last_answered(&self, client: u32) -> Option<i64> {
        self.rhythm(client).map(|rhythm| rhythm.answered)
    }

    /// Records that up to this time answers may be missing.
    pub fn lose(&mut self, until: i64) {
        self.complete_since = self.complete_since.max(Some(until));
    }

    /// When a client was last answered and is to ask again; none if it was never answered.
    pub fn due(&self, client: u32) -> Option<Due> {
        let rhythm = self.rhythm(client)?;
        let is_regular = rhythm.count >= ENOUGH && Some(rhythm.answered) > self.complete_since;
        let count = usize::from(rhythm.count);
        let pauses = sorted(rhythm.pauses, count);
        let pauses = &pauses[..count];
        let after = |place: usize| {
            let pause = *pauses.get(place).filter(|_| is_regular)?;
            Some(rhythm.answered.saturating_add(i64::from(pause) * 1000))
        };
        let pause = rhythm.pause(pauses).filter(|_| is_regular);
        let after_pause = |pause: u32| rhythm.answered.saturating_add(i64::from(pause) * 1000);
        Some(Due {
            answered: rhythm.answered,
            at_earliest: pause.map(|(least, _)| after_pause(least)),
            probably: pause.map(|(_, probable)| after_pause(probable)),
            usually: after(pauses.len() / 2),
            at_latest: after(pauses.len().saturating_sub(2)),
        })
    }

    /// The number of clients that were answered in a span, or before its end and again since.
    pub fn active_in(&self, span: Span) -> u64 {
        let is_active = |rhythm: &&Rhythm| {
            rhythm.answered >= span.begin_ns && (rhythm.answered <= span.end_ns || rhythm.count > 0)
        };
        self.rhythms.iter().filter(is_active).count() as u64
    }

    /// Forgets the clients of a process that has been silent for long, but for the last ones.
    pub fn rest(&mut self) {
        let last = self.rhythms.iter().map(|rhythm| rhythm.answered).max().unwrap_or(0);
        self.rhythms.retain(|rhythm| rhythm.answered >= last.saturating_sub(LAST));
        self.rhythms.shrink_to_fit();
        self.places = self.rhythms.iter().map(|rhythm| rhythm.client).zip(0..).collect();
    }
}

/// The first pauses in order, and after them the largest number: without a branch, as no two clients pause alike.
fn sorted(mut pauses: [u32; RECENT], count: usize) -> [u32; RECENT] {
    /// The pairs of places that are compared one after the other: a sorting network.
    const PAIRS: [(usize, usize); 19] = [
        (0, 2),
        (1, 3),
        (4, 6),
        (5, 7),
        (0, 4),
        (1, 5),
        (2, 6),
        (3, 7),
        (0, 1),
        (2, 3),
        (4, 5),
        (6, 7),
        (2, 4),
        (3, 5),
        (1, 4),
        (3, 6),
        (1, 2),
        (3, 4),
        (5, 6),
    ];
    pauses[count..].fill(u32::MAX);
    for (one, other) in PAIRS {
        let pair = (pauses[one], pauses[other]);
        (pauses[one], pauses[other]) = (pair.0.min(pair.1), pair.0.max(pair.1));
    }
    pauses
}

/// Whole microseconds of some nanoseconds, as many as can be told.
#[inline]
fn microseconds(time: i64) -> u32 {
    (time.max(0) as u64 / 1000).min(u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn span(begin: i64, end: i64) -> Span {
        Span { begin_ns: begin * MS, end_ns: end * MS }
    }

    #[test]
    fn one_long_pause_among_others_says_nothing() {
        let mut clients = Clients::default();
        for turn in [0, 10, 20, 30, 90, 100, 110, 120, 130] {
            clients.answered(1, span(turn, turn), i64::MAX);
        }
        let due = clients.due(1).unwrap();
        assert_eq!((due.usually, due.at_latest), (Some(140 * MS), Some(140 * MS)));
        assert_eq!((clients.active_in(span(130, 140)), clients.active_in(span(131, 140))), (1, 0));
    }

    #[test]
    fn a_client_that_waits_for_turns_to_end_asks_before_they_do() {
        let mut clients = Clients::default();
        // It is answered as a turn of another client begins, which lasts for 12 or 20 ms; it is served after that.
        let mut end = 0;
        for other in [20, 12, 20, 12, 20] {
            let turn = span(end + other, end + other + 1);
            clients.answered(1, turn, end * MS);
            end += other + 1;
        }
        let due = clients.due(1).unwrap();
        assert_eq!((due.at_earliest, due.probably), (Some(end * MS), Some((end + 6) * MS)));
        // A loop that slept is woken up when it asks; but it may only have lost its CPU, if that is seen once.
        clients.answered(1, span(end + 4, end + 5), i64::MAX);
        assert_eq!(clients.due(1).unwrap().at_earliest, Some((end + 5) * MS));
        clients.answered(1, span(end + 9, end + 10), i64::MAX);
        let due = clients.due(1).unwrap();
        assert_eq!((due.at_earliest, due.probably), (Some((end + 14) * MS), Some((end + 14) * MS)));
    }

    #[test]
    fn who_was_last_answered_before_a_gap_is_not_late_after_it() {
        let mut clients = Clients::default();
        (0..9).for_each(|turn| clients.answered(1, span(turn * 10, turn * 10), i64::MAX));
        clients.lose(5000 * MS);
        assert_eq!(clients.due(1).unwrap().usually, None);
        clients.answered(1, span(5001, 5001), i64::MAX);
        assert_eq!(clients.due(1).unwrap().usually, Some(5011 * MS));
    }

    #[test]
    fn any_pauses_are_sorted() {
        // A network that sorts all zeros and ones sorts everything.
        for bits in 0..1_u32 << RECENT {
            let pauses = std::array::from_fn(|place| bits >> place & 1);
            for count in 0..=RECENT {
                let mut expected: Vec<u32> = pauses[..count].to_vec();
                expected.sort_unstable();
                assert_eq!(sorted(pauses, count)[..count], expected, "{pauses:?}");
            }
        }
    }

    #[test]
    fn a_client_served_twice_in_a_turn_is_answered_once() {
        let mut clients = Clients::default();
        (0..9).for_each(|_| clients.answered(3, span(0, 5), i64::MAX));
        assert_eq!(
            clients.due(3),
            Some(Due { answered: 5 * MS, at_earliest: None, probably: None, usually: None, at_latest: None })
        );
    }

    #[test]
    fn clients_whose_numbers_end_alike_are_told_apart() {
        let mut clients = Clients::default();
        let number = |client: u32| 7 + client * FOUND as u32;
        for turn in 0..1000 {
            let client = turn % 10;
            let at = i64::from(turn) + if client < 5 { 0 } else { 2 * LAST / MS };
            clients.answered(number(client), span(at, at), i64::MAX);
        }
        let last = |client: u32| i64::from(990 + client) * MS + if client < 5 { 0 } else { 2 * LAST };
        assert!((0..10).all(|client| clients.last_answered(number(client)) == Some(last(client))));
        assert_eq!(clients.last_answered(number(10)), None);
        clients.rest();
        assert!((0..5).all(|client| clients.due(number(client)).is_none()), "they are forgotten");
        assert!((5..10).all(|client| clients.last_answered(number(client)) == Some(last(client))));
        clients.answered(number(0), span(1, 2), i64::MAX);
        assert_eq!(clients.last_answered(number(0)), Some(2 * MS));
        assert_eq!(clients.last_answered(number(9)), Some(last(9)));
    }
}
