//! Clients that note when they asked and when they were answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lttng_testing::{note_arrivals, receive};

use super::log::{Log, Request};

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
    /// Each client in one of the ways above.
    Mixed,
    /// One client as soon as it is answered, and all others after such a pause.
    Uneven(Duration),
    /// Each client after such a pause, with a new connection after every few requests.
    Reconnecting(Duration),
    /// Each client after such a pause, with transactions, scripts, for something that others do, or for what others publish: only
    /// real servers know all of it.
    Others(Duration),
}

/// What a client sends at once: its text, the lines of its answers, and the number of calls that these are for. Some
/// wait for others, or for their time to be over.
struct Batch {
    text: String,
    lines: usize,
    calls: usize,
    is_blocking: bool,
}

impl Batch {
    fn new(shape: Shape, kind: u8, random: &mut fastrand::Rng) -> Batch {
        let key = random.u32(..1000);
        let one = |text: String| Batch { text, lines: 1, calls: 1, is_blocking: false };
        // Commands that any server has: one that it refuses is in no event.
        let simple = if key.is_multiple_of(2) {
            format!("SET key-{key} 1\r\n")
        } else {
            format!("INCR key-{key}\r\n")
        };
        match (shape, kind) {
            (Shape::Pipeline(count, _), _) => {
                Batch { text: simple.repeat(count), lines: count, calls: count, is_blocking: false }
            }
            // The two calls that are queued are parts of EXEC.
            (Shape::Others(_), 0) => {
                Batch { lines: 6, calls: 2, ..one("MULTI\r\nINCR a\r\nINCR b\r\nEXEC\r\n".to_owned()) }
            }
            (Shape::Others(_), 1) => {
                one(format!("EVAL \"return redis.call('incr', KEYS[1])\" 1 number-{key}\r\n"))
            }
            (Shape::Others(_), 2) => one("RPUSH queue 1\r\n".to_owned()),
            (Shape::Others(_), 3) => Batch { is_blocking: true, ..one("BLPOP queue 0.1\r\n".to_owned()) },
            (Shape::Others(_), 4) => Batch { is_blocking: true, ..one("WAIT 1 30\r\n".to_owned()) },
            (Shape::Others(_), 5) => one("PUBLISH chat 1\r\n".to_owned()),
            _ => one(simple),
        }
    }
}

/// Clients at work; they end when this is ended.
pub struct Load {
    is_over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Request>>>,
}

/// Nanoseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    i64::try_from(since.as_nanos()).expect("it is before 2262")
}

/// A connection to a server.
pub struct Client {
    pub stream: TcpStream,
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

    /// Sends a command and waits for its answer.
    pub fn ask(&mut self, command: &str) -> std::io::Result<String> {
        self.stream.write_all(format!("{command}\r\n").as_bytes())?;
        self.answer()
    }

    /// Reads an answer, whatever it is; returns its text, or its first line.
    pub fn answer(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let number = || line[1..].trim().parse::<i64>().unwrap_or(0);
        match line.as_bytes()[0] {
            b'$' if number() >= 0 => {
                let mut rest = vec![0; number() as usize + 2];
                self.answers.read_exact(&mut rest)?;
                Ok(String::from_utf8_lossy(&rest).into_owned())
            }
            b'*' => {
                (0..number()).try_for_each(|_| self.answer().map(drop))?;
                Ok(line)
            }
            _ => Ok(line),
        }
    }
}

impl Load {
    /// Starts this number of clients.
    pub fn start(port: u16, clients: usize, shape: Shape, seed: u64) -> Load {
        let (is_over, begin) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let start = |client| {
            let (is_over, random) = (Arc::clone(&is_over), fastrand::Rng::with_seed(seed ^ client as u64));
            let shape = match shape {
                Shape::Uneven(_) if client == 0 => Shape::Saturating,
                Shape::Uneven(pause) => Shape::Steady(pause),
                shape => shape,
            };
            let work = move || run(port, shape, begin, random, &is_over);
            thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread")
        };
        let clients = (0..clients).map(start).collect();
        Load { is_over, clients }
    }

    /// Ends all clients, and returns what they saw.
    pub fn end(self) -> Log {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.clients.into_iter().flat_map(|client| client.join().expect("a client ended well"));
        Log::new(ended)
    }
}

fn run(
    port: u16,
    shape: Shape,
    begin: Instant,
    mut random: fastrand::Rng,
    is_over: &AtomicBool,
) -> Vec<Request> {
    let ms = |random: &mut fastrand::Rng, range| Duration::from_millis(random.u64(range));
    let shape = match shape {
        Shape::Mixed => match random.u8(..4) {
            0 => Shape::Saturating,
            1 => Shape::Bursts(Duration::from_millis(20)),
            2 => Shape::Steady(ms(&mut random, 2..40)),
            _ => Shape::Pipeline(random.usize(2..100), ms(&mut random, 1..20)),
        },
        shape => shape,
    };
    let connect = || {
        let stream = Client::new(port).stream;
        note_arrivals(&stream).expect("Linux notes when bytes arrive");
        let client = stream.local_addr().expect("it is connected").port();
        (stream, client)
    };
    let (mut stream, mut client) = connect();
    let mut is_first = true;
    let mut requests = Vec::new();
    let mut buffer = [0; 1 << 14];
    let kind = random.u8(..8);
    if let (Shape::Others(_), 7) = (shape, kind) {
        listen(&mut stream, is_over);
        return requests;
    }
    while !is_over.load(Ordering::Relaxed) {
        let pause = match shape {
            Shape::Saturating => Duration::ZERO,
            Shape::Pipeline(_, pause) => pause,
            Shape::Bursts(period) => {
                let since = begin.elapsed().as_nanos() as u64;
                let period = period.as_nanos() as u64;
                Duration::from_nanos(period - since % period)
            }
            Shape::Steady(mean) | Shape::Reconnecting(mean) | Shape::Others(mean) => {
                mean.mul_f64(0.5 + random.f64())
            }
            Shape::Mixed | Shape::Uneven(_) => unreachable!("each client has one of the others"),
        };
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        if matches!(shape, Shape::Reconnecting(_)) && random.u8(..5) == 0 {
            (stream, client) = connect();
            is_first = true;
        }
        let batch = Batch::new(shape, kind, &mut random);
        let sent = now();
        if stream.write_all(batch.text.as_bytes()).is_err() {
            break;
        }
        let sent = (sent, now());
        let is_unsure = is_first || batch.is_blocking;
        let mut left = batch.lines;
        while left > 0 {
            let Ok((length @ 1.., arrived)) = receive(&stream, &mut buffer) else { return requests };
            // Each answer is a line.
            let lines = buffer[..length].iter().filter(|byte| **byte == b'\n').count();
            left = left.saturating_sub(lines);
            let count =
                if batch.is_blocking { 1 } else { (lines * batch.calls).div_ceil(batch.lines) } as u64;
            requests.push(Request { client, sent, answered: arrived.unwrap_or_else(now), count, is_unsure });
        }
        is_first = false;
    }
    requests
}

/// Receives what others publish.
fn listen(stream: &mut TcpStream, is_over: &AtomicBool) {
    stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a socket");
    stream.write_all(b"SUBSCRIBE chat\r\n").expect("it reads");
    while !is_over.load(Ordering::Relaxed) {
        _ = stream.read(&mut [0; 1 << 12]);
    }
}

/// Calls a function, and returns the times in which a thread that sleeps for a millisecond meanwhile wakes up late: the machine had
/// something else to do.
pub fn watching(meanwhile: impl FnOnce()) -> Vec<(i64, i64)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut late = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let before = now();
                thread::sleep(Duration::from_millis(1));
                let after = now();
                if after - before > 3_000_000 {
                    late.push((before, after));
                }
            }
            late
        });
        meanwhile();
        is_over.store(true, Ordering::Relaxed);
        watch.join().expect("it ended well")
    })
}
