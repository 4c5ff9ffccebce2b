//! A malicious relay: wrong lengths, endless streams and metadata, replies that are cut, slow or garbled. Nothing may
//! panic, hang or fill the memory.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use lttng_live::{Options, State};
use lttng_testing::{CountingAllocator, must_end, wait_until};

use crate::honest_relay::{METADATA, honest, request, stream, words};
use crate::support::Viewer;

/// What a relay answers to a command with this body, in parts with pauses between them; no parts close the connection.
type Answer = dyn Fn(u32, &[u8]) -> Vec<Vec<u8>> + Send + Sync;

/// The pause between two parts of an answer.
const PAUSE: Duration = Duration::from_millis(500);

/// A relay that gives the answers of a test.
struct Liar {
    url: String,
    is_over: Arc<AtomicBool>,
}

impl Liar {
    /// A relay that gives these answers; `None` closes the connection.
    fn start(answer: impl Fn(u32, &[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Liar {
        Liar::start_slow(move |command, body| Vec::from_iter(answer(command, body)))
    }

    fn start_slow(answer: impl Fn(u32, &[u8]) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Liar {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("net://{}/demo", listener.local_addr().expect("it is bound"));
        let (is_over, answer): (Arc<AtomicBool>, Arc<Answer>) = (Arc::default(), Arc::new(answer));
        let ended = Arc::clone(&is_over);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let answer = Arc::clone(&answer);
                thread::spawn(move || serve(connection, &*answer));
            }
        });
        Liar { url, is_over }
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It waits for a connection before it looks.
        _ = TcpStream::connect(self.url.trim_start_matches("net://").trim_end_matches("/demo"));
    }
}

fn serve(mut connection: TcpStream, answer: &Answer) {
    while let Some((command, body)) = request(&mut connection) {
        let reply = answer(command, &body);
        for (number, part) in reply.iter().enumerate() {
            if number > 0 {
                thread::sleep(PAUSE);
            }
            if connection.write_all(part).is_err() {
                return;
            }
        }
        if reply.is_empty() {
            return;
        }
    }
}

/// Waits for replies longer than any machine takes for one.
fn patient() -> Options {
    Options::default().with_timeout(Duration::from_secs(60))
}

/// Gives up on replies soon.
fn impatient() -> Options {
    let (timeout, patience) = (Duration::from_millis(100), Duration::from_millis(50));
    Options::default().with_timeout(timeout).with_patience(patience)
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The memory that all tests together have allocated, in MiB.
fn memory() -> usize {
    ALLOCATOR.used() >> 20
}

/// Why the viewer has lost the relay, or cannot receive from it.
fn trouble(viewer: &Viewer) -> String {
    let mut said = String::new();
    // Nothing is merged meanwhile: reading endless metadata again and again would take most of the time.
    wait_until("it complains", || {
        viewer.live.wait(Duration::from_millis(20));
        match viewer.status().state {
            State::Lost(why) | State::Failed(why) => {
                said = why;
                true
            }
            _ => false,
        }
    });
    said
}

#[test]
fn honest_relay_of_the_test_is_understood() {
    let counter = AtomicU64::new(0);
    let relay = Liar::start(move |command, _| Some(honest(command, &counter)));
    let mut viewer = Viewer::start(&[&relay.url], &patient());
    viewer.until("events arrive", |viewer| viewer.seen.len() > 100);
    assert!(viewer.report().damage.is_empty(), "{:?}", viewer.report().damage);
}

/// A stream is announced before its metadata comes. Until it can be read, other sessions do not get ahead of its events.
#[test]
fn stream_without_metadata_yet_is_waited_for() {
    let [is_announced, is_released] = [(), ()].map(|()| Arc::new(AtomicBool::new(false)));
    let (counter, announced) = (AtomicU64::new(0), Arc::clone(&is_announced));
    let prompt = Liar::start(move |command, _| {
        Some(match command {
            4 if !announced.load(Ordering::Relaxed) => [vec![0; 56], words(&[2, 0])].concat(),
            _ => honest(command, &counter),
        })
    });
    let (counter, asked) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let (announced, released, asked_for) =
        (Arc::clone(&is_announced), Arc::clone(&is_released), Arc::clone(&asked));
    let late = Liar::start(move |command, _| {
        Some(match command {
            3 => words(&[1, 0]),
            4 if counter.swap(2, Ordering::Relaxed) == 1 => {
                let index = [0_u64, 54 * 8, 54 * 8, 0, 1, 0, 0];
                [index.iter().flat_map(|field| field.to_be_bytes()).collect(), words(&[1, 0])].concat()
            }
            4 => [vec![0; 56], words(&[3, 0])].concat(),
            5 => honest(5, &AtomicU64::new(0)),
            6 if !released.load(Ordering::Relaxed) => {
                asked_for.fetch_add(1, Ordering::Relaxed);
                [0_u64.to_be_bytes().to_vec(), words(&[2])].concat()
            }
            7 if !announced.swap(true, Ordering::Relaxed) => {
                [words(&[1, 2]), stream(1, true), stream(2, false)].concat()
            }
            _ => honest(command, &counter),
        })
    });
    let options = patient().with_patience(Duration::from_secs(60));
    let mut viewer = Viewer::start(&[&prompt.url, &late.url], &options);
    viewer.until("metadata is asked for again and again", |_| asked.load(Ordering::Relaxed) > 20);
    assert!(viewer.seen.is_empty(), "{:?}", viewer.seen);
    is_released.store(true, Ordering::Relaxed);
    viewer.until("events arrive", |viewer| viewer.seen.len() > 10);
    assert!(viewer.seen[0].1 == 0 && viewer.seen.is_sorted(), "{:?}", viewer.seen);
}

#[test]
fn session_whose_streams_were_not_flushed_together_was_interrupted() {
    // When the last packets of two streams end, in nanoseconds; the live timer is 1 ms.
    for (ends, expected) in [
        ([5_000_000_000, 5_000_400_000], State::Ended),
        ([5_000_000_000, 7_600_000_000], State::Interrupted),
        ([7_600_000_000, 5_000_000_000], State::Interrupted),
    ] {
        let (counter, given) = (AtomicU64::new(0), Mutex::new([false; 2]));
        let relay = Liar::start(move |command, body| {
            Some(match command {
                3 => [words(&[1, 3]), stream(1, true), stream(2, false), stream(3, false)].concat(),
                4 => {
                    let place = usize::from(body[7]) - 2;
                    let is_given = std::mem::replace(&mut given.lock().unwrap()[place], true);
                    let index = [0, 54 * 8, 54 * 8, 1, ends[place], 0, 0];
                    let index = index.iter().flat_map(|field| u64::to_be_bytes(*field));
                    [index.collect(), words(&[if is_given { 3 } else { 1 }, 0])].concat()
                }
                7 => words(&[4, 0]),
                _ => honest(command, &counter),
            })
        });
        let mut viewer = Viewer::start(&[&relay.url], &patient());
        viewer.until("it ends", |viewer| viewer.has_ended);
        assert_eq!((viewer.status().state, viewer.seen.len()), (expected, 2), "{ends:?}");
    }
}

#[test]
fn lengths_and_counts_beyond_their_limits_are_refused() {
    type Lie = (u32, Vec<u8>, &'static str);
    let index = |packet_size: u64, status: u32| {
        let fields_of = [0, packet_size, packet_size, 1, 2, 0, 0_u64];
        let index: Vec<u8> = fields_of.iter().flat_map(|field| field.to_be_bytes()).collect();
        [index, words(&[status, 0])].concat()
    };
    let lies: Vec<Lie> = vec![
        (1, [0_u64.to_be_bytes().to_vec(), words(&[3, 0, 1])].concat(), "version 3.0"),
        (2, words(&[u32::MAX]), "4294967295 sessions"),
        (3, words(&[1, u32::MAX]), "4294967295 streams"),
        (3, words(&[4, 0]), "is not live"),
        (3, words(&[77, 0]), "status 77"),
        (4, index(u64::MAX, 1), "a packet of 2305843009213693951 bytes"),
        (4, index(0, 1), "a packet of 0 bytes"),
        (4, index(0, 99), "status 99"),
        (5, words(&[1, u32::MAX, 0]), "4294967295 bytes of a packet instead of 54"),
        (6, [u64::MAX.to_be_bytes().to_vec(), words(&[1])].concat(), "larger than 32 MiB"),
        (7, words(&[1, u32::MAX]), "4294967295 streams"),
        (8, words(&[2]), "refuses a viewer"),
    ];
    for (command, lie, expected) in lies {
        let counter = AtomicU64::new(0);
        let relay = Liar::start(move |asked, _| {
            Some(if asked == command { lie.clone() } else { honest(asked, &counter) })
        });
        let said = trouble(&Viewer::start(&[&relay.url], &patient()));
        assert!(said.contains(expected), "command {command}: {said}");
    }
}

#[test]
fn streams_without_end_are_refused() {
    let next = AtomicU64::new(10);
    let counter = AtomicU64::new(0);
    let relay = Liar::start(move |command, _| match command {
        7 => {
            let streams = (0..10_000).map(|_| stream(next.fetch_add(1, Ordering::Relaxed), false));
            Some([words(&[1, 10_000]), streams.collect::<Vec<_>>().concat()].concat())
        }
        4 => Some([vec![0; 56], words(&[2, 0])].concat()),
        _ => Some(honest(command, &counter)),
    });
    let viewer = Viewer::start(&[&relay.url], &patient());
    let said = trouble(&viewer);
    assert!(said.contains("too many streams"), "{said}");
    assert!(memory() < 500, "{} MiB", memory());
}

#[test]
fn metadata_without_end_is_refused() {
    let counter = AtomicU64::new(0);
    let relay = Liar::start(move |command, _| match command {
        6 => {
            let bytes = vec![b' '; 1 << 20];
            Some([(bytes.len() as u64).to_be_bytes().to_vec(), words(&[1]), bytes].concat())
        }
        _ => Some(honest(command, &counter)),
    });
    let viewer = Viewer::start(&[&relay.url], &patient());
    assert!(trouble(&viewer).contains("larger than 32 MiB"));
    assert!(memory() < 500, "{} MiB", memory());
}

#[test]
fn metadata_of_the_limit_after_a_beginning_too_short_to_identify_the_trace_is_refused() {
    let (counter, asked) = (AtomicU64::new(0), AtomicU64::new(0));
    let relay = Liar::start(move |command, _| match command {
        6 => {
            let bytes = match asked.fetch_add(1, Ordering::Relaxed) {
                0 => vec![b' '; 10],
                _ => vec![b' '; 32 << 20],
            };
            Some([(bytes.len() as u64).to_be_bytes().to_vec(), words(&[1]), bytes].concat())
        }
        _ => Some(honest(command, &counter)),
    });
    assert!(trouble(&Viewer::start(&[&relay.url], &patient())).contains("larger than 32 MiB"));
}

#[test]
fn long_metadata_may_take_a_second_longer_for_each_mebibyte() {
    const SIZE: usize = 12 << 20;
    let (counter, is_sent) = (AtomicU64::new(1), AtomicBool::new(false));
    let relay = Liar::start_slow(move |command, _| match command {
        6 if is_sent.swap(true, Ordering::Relaxed) => {
            vec![[0_u64.to_be_bytes().to_vec(), words(&[2])].concat()]
        }
        6 => {
            let header = [(SIZE as u64).to_be_bytes().to_vec(), words(&[1])].concat();
            let mut metadata = METADATA.as_bytes().to_vec();
            metadata.resize(SIZE, b' ');
            [vec![header], metadata.chunks(SIZE / 4).map(<[u8]>::to_vec).collect()].concat()
        }
        _ => {
            // A viewer that gave up gets it again, and would give up again.
            is_sent.fetch_and(command != 1, Ordering::Relaxed);
            vec![honest(command, &counter)]
        }
    });
    // All of it takes longer than the timeout.
    let options = Options::default().with_timeout(PAUSE * 3);
    Viewer::start(&[&relay.url], &options).until("events arrive", |viewer| !viewer.seen.is_empty());
}

#[test]
fn packets_that_nobody_takes_are_not_asked_for() {
    let counter = AtomicU64::new(0);
    let asked: Arc<[AtomicU64; 2]> = Arc::default();
    let [packets, rounds] = [0, 1];
    let counts = Arc::clone(&asked);
    let relay = Liar::start(move |command, _| {
        counts[packets].fetch_add(u64::from(command == 5), Ordering::Relaxed);
        // New streams are asked for in each round.
        counts[rounds].fetch_add(u64::from(command == 7), Ordering::Relaxed);
        Some(honest(command, &counter))
    });
    let _viewer = Viewer::start(&[&relay.url], &patient());
    let count = |what: usize| asked[what].load(Ordering::Relaxed);
    wait_until("the inbox is full", || count(packets) == 4);
    let before = count(rounds);
    wait_until("more rounds have passed", || count(rounds) >= before + 5);
    assert_eq!(count(packets), 4);
}

#[test]
fn answer_that_comes_too_late_is_not_waited_for() {
    let counter = AtomicU64::new(0);
    let given_up = Arc::new(AtomicBool::new(false));
    let may_answer = Arc::clone(&given_up);
    let relay = Liar::start(move |command, _| {
        while command == 2 && !may_answer.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        Some(honest(command, &counter))
    });
    let said = trouble(&Viewer::start(&[&relay.url], &impatient()));
    given_up.store(true, Ordering::Relaxed);
    assert_eq!(said, "no answer in time");
}

/// Watches a relay whose replies are garbled, for a while.
fn watch_garbled(seed: u64) {
    let random = Mutex::new(Rng::with_seed(seed));
    let below = move |limit: u64| random.lock().expect("nobody panics with it").u64(..limit);
    let counter = AtomicU64::new(0);
    let relay = Liar::start(move |command, _| {
        let mut reply = honest(command, &counter);
        // The first replies must be right for the others to be asked for.
        if command < 3 && below(4) > 0 {
            return Some(reply);
        }
        match below(12) {
            0 => return None,
            1 => reply.truncate(below(reply.len() as u64 + 1) as usize),
            2 => reply.extend(vec![0xFF; below(100) as usize]),
            3..=6 => {
                for _ in 0..1 + below(4) {
                    let place = below(reply.len() as u64) as usize;
                    reply[place] = below(256) as u8;
                }
            }
            // Status, flags and lengths are where words begin.
            7 | 8 => {
                let place = 4 * below(reply.len() as u64 / 4) as usize;
                let word = [0_u32, 1, 2, 3, 4, 5, 6, u32::MAX][below(8) as usize];
                reply[place..place + 4].copy_from_slice(&word.to_be_bytes());
            }
            _ => {}
        }
        Some(reply)
    });
    let mut viewer = Viewer::start(&[&relay.url], &impatient());
    for _ in 0..3 {
        viewer.take();
    }
}

#[test]
fn garbled_replies_are_survived() {
    static PANICS: AtomicU64 = AtomicU64::new(0);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
    for seed in 1..=150 {
        must_end(&format!("seed {seed}"), move || watch_garbled(seed));
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
    assert!(memory() < 500, "{} MiB", memory());
}
