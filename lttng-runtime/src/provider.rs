//! Providers and events, and the registry of those of the process.
//!
//! LTTng-UST is never called with the registry locked: a thread of its own forks while it has a lock, and the handlers of
//! `fork` lock the registry.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::declaration::{Error, check_provider, parse};
use crate::ffi::{self, Registration, SlotPointer, Slots, Value};

/// A provider, whose events can be recorded until it is closed.
///
/// It is closed when it and all its events are dropped, or by [`close`](Provider::close).
#[derive(Clone, Debug)]
pub struct Provider(Arc<Handle>);

/// An event, to be emitted from any thread.
#[derive(Clone, Debug)]
pub struct Event {
    slot: SlotPointer,
    _provider: Arc<Handle>,
}

impl Provider {
    /// Opens a provider without events.
    pub fn new(name: &str) -> Result<Provider, Error> {
        check_provider(name)?;
        ffi::install_fork_handlers();
        ffi::load();
        let mut registry = lock();
        let names = &mut registry.get().names;
        if !names.insert(name.to_owned()) {
            return Err(Error(format!("provider `{name}` is open already; close it first")));
        }
        let id = registry.get().next;
        registry.get().next += 1;
        let entry = Entry { name: name.to_owned(), is_open: true, ..Entry::default() };
        registry.get().providers.insert(id, entry);
        Ok(Provider(Arc::new(Handle(id))))
    }

    /// Declares and registers events, all of them or, if one is wrong, none:
    /// `sale(article: string group, took: u64 us)`.
    ///
    /// Sessions that record already record them from now on.
    pub fn add(&self, events: &str) -> Result<(), Error> {
        ffi::load();
        let Some(mut registration) = lock().get().declare(self.0.0, events)? else { return Ok(()) };
        let result = registration.register();
        let mut registry = lock();
        match registry.get().open(self.0.0) {
            Ok(entry) if result.is_ok() => entry.registrations.push(registration),
            // Rejected, or another thread has closed the provider meanwhile.
            _ => {
                drop(registry);
                registration.unregister();
                lock().get().withdraw(self.0.0, registration);
            }
        }
        result
    }

    /// The event of this name.
    pub fn event(&self, name: &str) -> Result<Event, Error> {
        let mut registry = lock();
        let entry = registry.get().providers.get(&self.0.0);
        let entry = entry.ok_or_else(|| Error("the provider is closed".to_owned()))?;
        let unknown = || Error(format!("{}:{name}: not declared; add it first", entry.name));
        let slot = *entry.events.get(name).ok_or_else(unknown)?;
        Ok(Event { slot, _provider: self.0.clone() })
    }

    /// Unregisters all events: sessions and tracers see them no more, and emitting one does nothing from now on.
    ///
    /// Other threads may be emitting them; this waits for those within LTTng-UST.
    pub fn close(&self) {
        close(self.0.0);
    }
}

impl Event {
    /// Whether a session or a tracer wants the event: a load and a comparison.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.slot.is_enabled()
    }

    /// Records the event if it is enabled; false if the values do not fit the fields.
    #[inline(always)]
    pub fn emit(&self, values: &[Value<'_>]) -> bool {
        !self.is_enabled() || ffi::record(self, values)
    }

    pub(crate) fn slot(&self) -> SlotPointer {
        self.slot
    }
}

/// Keeps a provider's events in memory.
#[derive(Debug)]
struct Handle(u64);

impl Drop for Handle {
    fn drop(&mut self) {
        close(self.0);
        lock().get().free(self.0);
    }
}

/// All providers of the process.
#[derive(Default)]
pub(crate) struct Registry {
    providers: HashMap<u64, Entry>,
    /// The names of those that are open.
    names: HashSet<String>,
    next: u64,
    slots: Option<Slots>,
}

#[derive(Default)]
struct Entry {
    name: String,
    is_open: bool,
    events: HashMap<String, SlotPointer>,
    registrations: Vec<Registration>,
}

impl Registry {
    fn open(&mut self, id: u64) -> Result<&mut Entry, Error> {
        open(&mut self.providers, id)
    }

    /// Makes all that events need, but registers nothing; `None` if there are no events.
    fn declare(&mut self, id: u64, events: &str) -> Result<Option<Registration>, Error> {
        let entry = open(&mut self.providers, id)?;
        let events = parse(&entry.name, events)?;
        if let Some(event) = events.iter().find(|event| entry.events.contains_key(&event.name)) {
            return Err(Error(format!(
                "{}:{}: declared already; choose another name",
                entry.name, event.name
            )));
        }
        if events.is_empty() {
            return Ok(None);
        }
        let slots = match &mut self.slots {
            Some(slots) => slots,
            none => none.insert(Slots::new()?),
        };
        let registration = Registration::new(slots, &entry.name, &events)?;
        entry.events.extend(events.into_iter().map(|event| event.name).zip(registration.events()));
        Ok(Some(registration))
    }

    /// Keeps the memory of events that could not be registered, because somebody may have found them already.
    fn withdraw(&mut self, id: u64, registration: Registration) {
        if let (Some(entry), Some(slots)) = (self.providers.get_mut(&id), &mut self.slots) {
            registration.hide(slots);
            entry.events.retain(|_, slot| !registration.events().any(|own| own == *slot));
            entry.registrations.push(registration);
        }
    }

    /// Closes a provider, and hands out what is registered for it.
    fn close(&mut self, id: u64) -> Vec<Registration> {
        let Ok(entry) = open(&mut self.providers, id) else { return Vec::new() };
        entry.is_open = false;
        self.names.remove(&entry.name);
        let registrations = std::mem::take(&mut entry.registrations);
        if let Some(slots) = &mut self.slots {
            registrations.iter().for_each(|registration| registration.hide(slots));
        }
        registrations
    }

    fn free(&mut self, id: u64) {
        if let (Some(entry), Some(slots)) = (self.providers.remove(&id), &mut self.slots) {
            entry.registrations.into_iter().for_each(|registration| registration.free(slots));
        }
    }
}

fn open(providers: &mut HashMap<u64, Entry>, id: u64) -> Result<&mut Entry, Error> {
    let entry = providers.get_mut(&id).filter(|entry| entry.is_open);
    entry.ok_or_else(|| Error("the provider is closed".to_owned()))
}

/// Unregisters a provider's events, and keeps their memory.
fn close(id: u64) {
    let mut registrations = lock().get().close(id);
    registrations.iter_mut().for_each(Registration::unregister);
    if let Some(entry) = lock().get().providers.get_mut(&id) {
        entry.registrations.extend(registrations);
    }
}

/// The registry, locked.
pub(crate) struct Locked(MutexGuard<'static, Option<Registry>>);

impl Locked {
    fn get(&mut self) -> &mut Registry {
        self.0.get_or_insert_default()
    }
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

pub(crate) fn lock() -> Locked {
    Locked(REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Unregisters what is left when this library is unloaded. Memory that somebody may still use at the end of a program
/// stays.
pub(crate) fn unload() {
    if ffi::is_orphaned() {
        return;
    }
    let registry = match REGISTRY.try_lock() {
        Ok(registry) => registry,
        Err(TryLockError::Poisoned(registry)) => registry.into_inner(),
        // A thread that the end of the program caught in the middle.
        Err(TryLockError::WouldBlock) => return,
    };
    let ids: Vec<u64> = registry.iter().flat_map(|registry| registry.providers.keys().copied()).collect();
    drop(registry);
    ids.into_iter().for_each(close);
    let mut registry = lock();
    if registry.get().providers.is_empty() {
        registry.get().slots = None;
    }
}
