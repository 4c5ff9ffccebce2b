//! Clients that note when they asked and when they were answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// When a client asks.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// As soon as it is answered.
    Saturating,
    /// All clients at the same time, after each of these periods.
    Bursts(Duration),
    /// Each client after such a pause, on average; clients are independent.
    Steady(Duration),
    /// This number of requests at once, after each of these pauses.
    Pipeline(usize, Duration),
}

/// A request, or several at once: when it was sent and when the last answer had arrived; nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub client: usize,
    pub sent: i64,
    pub answered: i64,
    pub count: u64,
}

/// Clients at work; they end when this is ended.
pub struct Load {
    is_over: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<Request>>>,
    late: Arc<Mutex<Vec<(i64, i64)>>>,
    threads: Vec<JoinHandle<()>>,
}

/// What clients saw.
pub struct Log {
    /// In the order of their answers.
    pub requests: Vec<Request>,
    /// Times, from when to when, in which this process had no CPU itself: what clients noted then is late.
    pub late: Vec<(i64, i64)>,
}

/// Nanoseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    i64::try_from(since.as_nanos()).expect("it is before 2262")
}

/// A connection to a server.
pub struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    pub fn new(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        let answers = BufReader::new(stream.try_clone().expect("a socket"));
        Client { stream, answers }
    }

    /// Sends a command, some times, and waits for all answers.
    pub fn ask(&mut self, command: &str, count: usize) -> std::io::Result<()> {
        self.stream.write_all(format!("{command}\r\n").repeat(count).as_bytes())?;
        (0..count).try_for_each(|_| self.answer())
    }

    /// Reads an answer, whatever it is.
    fn answer(&mut self) -> std::io::Result<()> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let number = || line[1..].trim().parse::<i64>().unwrap_or(0);
        match line.as_bytes()[0] {
            b'$' if number() >= 0 => {
                let mut rest = vec![0; number() as usize + 2];
                self.answers.read_exact(&mut rest)
            }
            b'*' => (0..number()).try_for_each(|_| self.answer()),
            _ => Ok(()),
        }
    }
}

impl Load {
    /// Starts this number of clients.
    pub fn start(port: u16, clients: usize, shape: Shape, seed: u64) -> Load {
        let mut load = Load {
            is_over: Arc::new(AtomicBool::new(false)),
            requests: Arc::default(),
            late: Arc::default(),
            threads: Vec::new(),
        };
        let begin = Instant::now();
        for client in 0..clients {
            let (is_over, all) = (Arc::clone(&load.is_over), Arc::clone(&load.requests));
            let random = fastrand::Rng::with_seed(seed ^ client as u64);
            let work = move || run(port, client, shape, begin, random, &is_over, &all);
            let thread = thread::Builder::new().stack_size(256 << 10).spawn(work);
            load.threads.push(thread.expect("a thread"));
        }
        let (is_over, late) = (Arc::clone(&load.is_over), Arc::clone(&load.late));
        load.threads.push(thread::spawn(move || watch_itself(&is_over, &late)));
        load
    }

    /// Ends all clients, and returns what they saw.
    pub fn end(mut self) -> Log {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("a client ended well"));
        let mut requests = std::mem::take(&mut *self.requests.lock().expect("no client panicked"));
        requests.sort_by_key(|request| request.answered);
        let late = std::mem::take(&mut *self.late.lock().expect("it did not panic"));
        Log { requests, late }
    }
}

fn run(
    port: u16,
    number: usize,
    shape: Shape,
    begin: Instant,
    mut random: fastrand::Rng,
    is_over: &AtomicBool,
    all: &Mutex<Vec<Request>>,
) {
    let mut client = Client::new(port);
    let mut requests = Vec::new();
    let count = if let Shape::Pipeline(count, _) = shape { count } else { 1 };
    while !is_over.load(Ordering::Relaxed) {
        let pause = match shape {
            Shape::Saturating => Duration::ZERO,
            Shape::Pipeline(_, pause) => pause,
            Shape::Bursts(period) => {
                let since = begin.elapsed().as_nanos() as u64;
                let period = period.as_nanos() as u64;
                Duration::from_nanos(period - since % period)
            }
            Shape::Steady(mean) => mean.mul_f64(0.5 + random.f64()),
        };
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        let sent = now();
        let key = random.u32(..1000);
        let asked = client
            .ask(&format!("{} key-{key} 1", if key.is_multiple_of(2) { "SET" } else { "APPEND" }), count);
        if asked.is_err() {
            break;
        }
        requests.push(Request { client: number, sent, answered: now(), count: count as u64 });
    }
    all.lock().expect("no client panicked").extend(requests);
}

/// Notes when a thread that sleeps for a millisecond wakes up late.
fn watch_itself(is_over: &AtomicBool, late: &Mutex<Vec<(i64, i64)>>) {
    while !is_over.load(Ordering::Relaxed) {
        let before = now();
        thread::sleep(Duration::from_millis(1));
        let after = now();
        if after - before > 4_000_000 {
            late.lock().expect("it did not panic").push((before, after));
        }
    }
}

impl Log {
    /// The longest wait of any request in a time, from its beginning or, if it was sent later, from then on; and the number of
    /// clients that had to wait for at least a part of it.
    pub fn waited(&self, begin: i64, end: i64, but: Option<usize>) -> (i64, usize) {
        let first = self.requests.partition_point(|request| request.answered < begin);
        let inside = self.requests[first..].iter();
        let inside = inside.filter(|request| request.sent < end && Some(request.client) != but);
        let mut clients = std::collections::HashSet::new();
        let mut longest = 0;
        for request in inside {
            if request.answered >= end - 1_000_000 || request.answered - request.sent > (end - begin) / 2 {
                clients.insert(request.client);
                longest = longest.max(request.answered - request.sent.max(begin));
            }
        }
        (longest, clients.len())
    }

    /// The number of requests answered in a time.
    pub fn answered(&self, begin: i64, end: i64) -> u64 {
        let inside = self.requests.iter().filter(|request| (begin..end).contains(&request.answered));
        inside.map(|request| request.count).sum()
    }

    /// The number of answers that a time would have had at the rate of half a second before and after it, but for those it had.
    pub fn not_served(&self, begin: i64, end: i64) -> f64 {
        let around = 500_000_000;
        let [first, last] = [self.requests.first(), self.requests.last()]
            .map(|request| request.map_or(0, |request| request.answered));
        let (from, to) = ((begin - around).max(first), (end + around).min(last));
        let count = self.answered(from, begin) + self.answered(end, to);
        let time = (begin - from).max(0) + (to - end).max(0);
        let expected = count as f64 * (end - begin) as f64 / time.max(1) as f64;
        (expected - self.answered(begin, end) as f64).max(0.0)
    }

    /// Whether what clients noted around a time is late, because they had no CPU.
    pub fn is_late(&self, begin: i64, end: i64) -> bool {
        self.late.iter().any(|(from, to)| *from < end && *to > begin)
    }
}
