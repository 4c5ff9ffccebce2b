//! What the server calls: the command filter and the handlers of server events.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use valkey_trace::valkey_commands::Protocol;

use super::api::{
    Api, ClientInfo, Context, Event, EventCallback, Filter, FilterContext, NOT_SELF, OK,
    SCRIPT_OR_TRANSACTION, Text, log,
};
use super::commands;
use super::held::Holders;
use super::process::{self, HAS_CHILD, TURNS, now, now_if};
use crate::clients::{Client, Clients};
use crate::commands::{Commands, Number};
use crate::record::{self, ChildKind};
use crate::sequence::{Caller, Ended, Runs, Sequence};

/// How often a session is told which server it traces, in nanoseconds.
const TELL_SERVER: u64 = 1_000_000_000;

/// The largest number of commands that are put off and remembered, one for each client.
const MOST_PUT_OFF: usize = 1 << 14;

/// What is traced, and how far it is.
pub struct State {
    pub api: Api,
    pub commands: Commands,
    pub server: String,
    pub version: String,
    pub preloaded: bool,
    pub holders: Option<Holders>,
    clients: Option<Clients>,
    /// Registered only while a session records commands.
    filter: *mut Filter,
    sequence: Sequence<Called>,
    /// Whether commands may be queued, and are held for that reason.
    holds: bool,
    held: *mut Text,
    /// Commands that the server has put off, as CLIENT PAUSE makes it do, with their clients.
    put_off: Vec<(Client, Number)>,
    server_told: Option<u64>,
    child: Option<ChildKind>,
    /// When the cron was seen to begin, until it ends.
    cron_since: Option<u64>,
    loading_since: Option<u64>,
    flushing_since: u64,
}

/// What is recorded of a running command.
#[derive(Clone, Copy, Debug)]
struct Called {
    command: Number,
    /// The place of its client, if the server can tell.
    client: Option<usize>,
}

/// The state: of whoever holds the server's lock of modules.
struct Global(UnsafeCell<Option<State>>);

// SAFETY: the server calls modules in one thread at a time, and `guarded` keeps calls from nesting.
unsafe impl Sync for Global {}

static STATE: Global = Global(UnsafeCell::new(None));
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Does something with the state unless the module is not loaded or is in use already, and keeps panics from the server: after
/// one, nothing is recorded any more.
#[inline]
fn guarded(context: *mut Context, work: impl FnOnce(&mut State)) {
    // Not an atomic exchange, which would take longer than all the rest: the server's lock keeps other threads out.
    if !process::is_loaded() || IN_USE.load(Ordering::Relaxed) {
        return;
    }
    IN_USE.store(true, Ordering::Relaxed);
    // SAFETY: the server's lock and the flag give this call the only access.
    let state = unsafe { &mut *STATE.0.get() };
    let result = catch_unwind(AssertUnwindSafe(|| state.as_mut().map(work)));
    IN_USE.store(false, Ordering::Relaxed);
    if result.is_err() {
        process::give_up();
        let message = "a defect of this module: the server goes on, and nothing is recorded any more";
        // SAFETY: the context is the server's, or null, for which it takes another function.
        unsafe { complain(context, message) };
    }
}

/// # Safety
/// The context is null or the server's.
unsafe fn complain(context: *mut Context, message: &str) {
    if !context.is_null() {
        // SAFETY: it is the server's.
        unsafe { log(context, c"warning", message) };
    }
}

/// A handler of server events.
macro_rules! handler {
    ($name:ident, |$state:ident, $context:ident, $which:ident| $body:expr) => {
        unsafe extern "C" fn $name($context: *mut Context, _event: Event, $which: u64, _data: *mut c_void) {
            guarded($context, |$state| $body);
        }
    };
}

handler!(on_loop, |state, context, which| match which {
    0 => state.before_sleep(context),
    _ => state.after_sleep(context),
});
handler!(on_fork, |state, context, which| match which {
    0 => state.child_born(context),
    _ => state.child_died(),
});
handler!(on_loading, |state, _context, which| match which {
    0..=2 => state.loading_since = Some(now()),
    _ => state.loaded(which == 3),
});
handler!(on_cron, |state, _context, _which| state.cron_ends());
handler!(on_flush, |state, _context, which| match which {
    0 => state.flushing_since = now(),
    _ => record::flush(now() - state.flushing_since),
});
handler!(on_modules, |state, context, _which| state.read_commands(context));

/// The events of a server that are listened to, by their identifiers.
const EVENTS: [(u64, EventCallback); 6] =
    [(15, on_loop), (13, on_fork), (3, on_loading), (2, on_flush), (8, on_cron), (9, on_modules)];

unsafe extern "C" fn on_command(context: *mut FilterContext) {
    guarded(null_mut(), |state| state.command(context));
}

/// The server's cron begins, as the thread that serves clients can tell where the library is preloaded.
#[cfg_attr(test, allow(dead_code, reason = "tests of the crate do not call libc through it"))]
pub fn cron_begins() {
    guarded(null_mut(), State::cron_begins);
}

impl State {
    pub fn new(api: Api) -> State {
        State {
            api,
            commands: Commands::default(),
            server: String::new(),
            version: String::new(),
            preloaded: false,
            holders: None,
            clients: api.client_of_filter.is_some().then(Clients::new),
            filter: null_mut(),
            sequence: Sequence::new(),
            holds: false,
            held: null_mut(),
            put_off: Vec::new(),
            server_told: None,
            child: None,
            cron_since: None,
            loading_since: None,
            flushing_since: 0,
        }
    }

    /// Whether the server can tell which client sent a command.
    pub fn knows_clients(&self) -> bool {
        self.clients.is_some()
    }

    /// Takes its place, and listens to the server; false if the server does not have all events.
    ///
    /// # Safety
    /// The context is one that the server gave to `OnLoad`, which is called once.
    pub unsafe fn install(self, context: *mut Context) -> bool {
        let subscribe = self.api.subscribe;
        // SAFETY: nothing uses it before the module is loaded.
        unsafe { *STATE.0.get() = Some(self) };
        // SAFETY: the handlers stay valid, as the library is never unloaded.
        EVENTS
            .iter()
            .all(|&(id, handler)| unsafe { subscribe(context, Event { id, data_version: 1 }, handler) == OK })
    }

    /// Asks again which commands there are, because a module was loaded or unloaded.
    fn read_commands(&mut self, context: *mut Context) {
        // SAFETY: the context is the server's for this call.
        if let Some(commands) = unsafe { commands::ask(&self.api, context) } {
            self.finish(None);
            self.sequence.reset();
            self.commands = commands;
        }
    }

    /// Commands pass the filter only while a session records them, so that they cost nothing otherwise.
    fn follow_sessions(&mut self, context: *mut Context) {
        if record::wants_commands() != self.filter.is_null() {
            return;
        }
        // SAFETY: the context is the server's for this call; the filter is one that it has registered.
        unsafe {
            if self.filter.is_null() {
                self.filter = (self.api.register_filter)(context, on_command, NOT_SELF);
            } else if (self.api.unregister_filter)(context, self.filter) == OK {
                self.filter = null_mut();
            }
        }
        self.finish(None);
        self.put_off.clear();
        self.sequence.reset();
    }

    fn after_sleep(&mut self, context: *mut Context) {
        self.follow_sessions(context);
        let (wants_turns, wants_server) = (record::wants_turns(), record::wants_server());
        let now = now_if(wants_turns || wants_server);
        if let Some(lock) = TURNS.after_sleep(if wants_turns { now } else { 0 }) {
            record::lock(lock);
        }
        if !wants_server {
            self.server_told = None;
        } else if self.server_told.is_none_or(|told| now - told >= TELL_SERVER) {
            self.server_told = Some(now);
            record::server(&self.server, &self.version, self.clients.is_some(), self.preloaded);
        }
    }

    fn before_sleep(&mut self, context: *mut Context) {
        let wants_turns = record::wants_turns();
        let now = now_if(wants_turns || !self.filter.is_null());
        let ended = self.sequence.sleep(now);
        self.finish(ended);
        self.record_put_off();
        if let Some(turn) = TURNS.before_sleep(now)
            && wants_turns
        {
            record::turn(turn);
        }
        self.follow_sessions(context);
    }

    /// Without this, the last command of a turn would have the time of the cron, which comes after it.
    fn cron_begins(&mut self) {
        // While data are loaded, perhaps by a command, the server does the same in between.
        if self.loading_since.is_none() {
            let now = now();
            self.cron_since = Some(now);
            let ended = self.sequence.interrupt(now);
            self.finish(ended);
        }
    }

    fn cron_ends(&mut self) {
        if let Some(since) = self.cron_since.take() {
            record::cron(now() - since);
        }
    }

    fn loaded(&mut self, is_success: bool) {
        if let Some(since) = self.loading_since.take().filter(|_| is_success) {
            record::loading(now() - since);
        }
    }

    #[inline]
    fn command(&mut self, context: *mut FilterContext) {
        let now = now();
        let (caller, client) = self.caller(context);
        if caller == Caller::Nested {
            return;
        }
        let api = &self.api;
        // SAFETY: the context is the server's for this call, and has as many arguments as it says; 0 is the name.
        let (count, name, number) = unsafe {
            let argument = |index: c_int| (api.filter_argument)(context, index);
            let count = (api.filter_count)(context);
            let name = argument(0);
            let number = self.commands.find(count as usize, api.bytes(name), || api.bytes(argument(1)));
            (count, name, number)
        };
        let next = number
            .filter(|_| count > 0)
            .map(|command| (Called { command, client }, self.commands.get(command).runs));
        let ended = self.sequence.begin(now, caller, next);
        self.finish(ended);
        let Some(number) = number else { return };
        self.holds |= self.commands.get(number).delays_others;
        if self.holds && self.holders.is_some() {
            // SAFETY: the name is a valid text, and the server takes a null context.
            self.held = unsafe { (self.api.hold_text)(null_mut(), name) };
        }
    }

    /// Who sends a command that begins, as far as the server tells.
    #[inline]
    fn caller(&mut self, context: *mut FilterContext) -> (Caller, Option<usize>) {
        let api = &self.api;
        let runs = self.sequence.runs();
        // A real client, too, may send a command while a long script looks after others.
        // SAFETY: the server takes a null context.
        if runs == Runs::Script && unsafe { (api.context_flags)(null_mut()) } & SCRIPT_OR_TRANSACTION != 0 {
            return (Caller::Nested, None);
        }
        let (Some(clients), Some(client_of_filter)) = (&mut self.clients, api.client_of_filter) else {
            return (if runs == Runs::Module { Caller::Unclear } else { Caller::Client }, None);
        };
        // SAFETY: the context is the server's for this call.
        let id = unsafe { client_of_filter(context) };
        match clients.find(id, || client(api, id)) {
            Some(place) => (Caller::Client, Some(place)),
            None => (Caller::Nested, None),
        }
    }

    /// Records commands that were put off and have been called since. The server does not pass them to filters again, so how
    /// long they took is not known: it calls them right before it goes to sleep.
    fn record_put_off(&mut self) {
        let State { api, commands, put_off, .. } = self;
        put_off.retain(|(client, number)| {
            let is_waiting = is_blocked(api, client);
            if is_waiting == Some(false) {
                record::command(client, commands.get(*number), 0);
            }
            is_waiting == Some(true)
        });
    }

    /// Records a command that has ended, unless it was only queued or put off.
    #[inline]
    fn finish(&mut self, ended: Option<Ended<Called>>) {
        let is_kept = self.release();
        let Some(Ended { command: called, duration }) = ended else { return };
        let client = match (&self.clients, called.client) {
            (Some(clients), Some(place)) => clients.get(place),
            _ => &Client::UNKNOWN,
        };
        let command = self.commands.get(called.command);
        if !is_kept {
            record::command(client, command, duration);
        } else if is_blocked(&self.api, client) == Some(true) {
            match command.may_wait || self.put_off.len() == MOST_PUT_OFF {
                true => record::command(client, command, duration),
                false => self.put_off.push((*client, called.command)),
            }
        }
    }

    /// Lets go of the name of the last command, and says whether the server keeps it.
    #[inline]
    fn release(&mut self) -> bool {
        let held = std::mem::replace(&mut self.held, null_mut());
        let (false, Some(holders)) = (held.is_null(), self.holders) else { return false };
        // SAFETY: it is held since the command began, and let go of once.
        unsafe {
            let is_kept = !holders.is_last(held);
            (self.api.free_text)(null_mut(), held);
            is_kept
        }
    }

    fn child_born(&mut self, context: *mut Context) {
        let Some(took) = process::take_fork() else { return };
        let is_on = |name: &CStr| {
            // SAFETY: the context is the server's for this call.
            unsafe { self.api.info_line(context, c"persistence", name) == "1" }
        };
        self.child = if is_on(c"rdb_bgsave_in_progress") {
            Some(ChildKind::Rdb)
        } else if is_on(c"aof_rewrite_in_progress") {
            Some(ChildKind::Aof)
        } else {
            None
        };
        HAS_CHILD.store(true, Ordering::Relaxed);
        if let Some(kind) = self.child {
            record::fork(kind, took);
        }
    }

    fn child_died(&mut self) {
        HAS_CHILD.store(false, Ordering::Relaxed);
        if let Some(kind) = self.child.take() {
            record::child_end(kind);
        }
    }
}

/// What the server says about a client; `None` if it has no connection.
fn client(api: &Api, id: u64) -> Option<Client> {
    let info = client_info(api, id)?;
    let protocol = match info.flags {
        flags if flags & ClientInfo::UNIX != 0 => Protocol::Unix,
        flags if flags & ClientInfo::TLS != 0 => Protocol::Tls,
        _ => Protocol::Socket,
    };
    let length = info.address.iter().position(|byte| *byte == 0).unwrap_or(info.address.len());
    Some(Client::new(id, protocol, &info.address[..length], info.port))
}

/// Whether a client waits outside of a transaction, so that a command that the server keeps is not queued; `None` if the
/// client is not known or not connected any more.
fn is_blocked(api: &Api, client: &Client) -> Option<bool> {
    let info = client_info(api, client.id()?)?;
    Some(info.flags & ClientInfo::BLOCKED != 0 && info.flags & ClientInfo::MULTI == 0)
}

fn client_info(api: &Api, id: u64) -> Option<ClientInfo> {
    let mut info = ClientInfo::EMPTY;
    // SAFETY: it is filled according to the version that it has.
    (unsafe { (api.client_info)(&raw mut info, id) } == OK).then_some(info)
}
