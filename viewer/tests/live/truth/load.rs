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
    /// Each client after such a pause, with a new connection after every few requests.
    Reconnecting(Duration),
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
            Shape::Steady(mean) | Shape::Reconnecting(mean) => mean.mul_f64(0.5 + random.f64()),
            Shape::Mixed => unreachable!("each client has one of the others"),
        };
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        if matches!(shape, Shape::Reconnecting(_)) && random.u8(..5) == 0 {
            (stream, client) = connect();
            is_first = true;
        }
        let key = random.u32(..1000);
        // Commands that any server has: one that it refuses is in no event.
        let command =
            if key.is_multiple_of(2) { format!("SET key-{key} 1") } else { format!("INCR key-{key}") };
        let command = (command + "\r\n").repeat(count);
        let sent = now();
        if stream.write_all(command.as_bytes()).is_err() {
            break;
        }
        let sent = (sent, now());
        let mut left = count as u64;
        while left > 0 {
            let Ok((length @ 1.., arrived)) = receive(&stream, &mut buffer) else { return requests };
            // Each answer is a line.
            let count = buffer[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
            requests.push(Request { client, sent, answered: arrived.unwrap_or_else(now), count, is_first });
            left -= count;
        }
        is_first = false;
    }
    requests
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
