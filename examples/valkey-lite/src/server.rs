//! The server's state beside the data.

use std::io;

use slab::Slab;

use crate::append_only::AppendOnly;
use crate::child::Child;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::cron::{Defrag, ExpireCycle};
use crate::execute::Waiting;

/// Everything but the data, which the sampler shares.
pub struct Server {
    pub config: Config,
    /// By slot, which is also a client's token at the poll; empty while the client is served.
    pub clients: Slab<Option<Box<Client>>>,
    pub waiting: Waiting,
    /// Slots of clients with replies to write before the loop sleeps.
    pub answered: Vec<usize>,
    pub append_only: AppendOnly,
    /// Whether BGREWRITEAOF was asked for; the cron starts it when no child runs.
    pub rewrite_wanted: bool,
    /// The forked child; there is one at a time.
    pub child: Option<Child>,
    /// For each purpose of a child, whether the last one failed.
    pub has_failed: [bool; 3],
    pub cluster: Cluster,
    pub expire: ExpireCycle,
    /// Whether expired keys are looked for; DEBUG SET-ACTIVE-EXPIRE turns it off.
    pub active_expire: bool,
    pub defrag: Defrag,
    pub peak_memory: u64,
    pub stopping: bool,
}

impl Server {
    pub fn new(config: Config) -> io::Result<Self> {
        Ok(Self {
            clients: Slab::new(),
            waiting: Waiting::default(),
            answered: Vec::new(),
            append_only: AppendOnly::new(config.path("appendonly.aof"))?,
            rewrite_wanted: false,
            child: None,
            has_failed: [false; 3],
            cluster: Cluster::load(config.path("nodes.conf"))?,
            expire: ExpireCycle::default(),
            active_expire: true,
            defrag: Defrag::default(),
            peak_memory: 0,
            stopping: false,
            config,
        })
    }

    /// Takes a client out of its slot, to serve it while others can be reached.
    pub fn take_client(&mut self, slot: usize) -> Option<Box<Client>> {
        self.clients.get_mut(slot)?.take()
    }

    /// Puts a client into its slot.
    pub fn put_back(&mut self, client: Box<Client>) {
        let slot = client.slot;
        self.clients[slot] = Some(client);
    }
}
