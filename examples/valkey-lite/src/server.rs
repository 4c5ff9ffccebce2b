//! The server's state beside the data.

use std::io;

use crate::append_only::AppendOnly;
use crate::child::Child;
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::defrag::Defrag;
use crate::expire::ExpireCycle;
use crate::waiting::Waiting;

/// Everything but the data, which the sampler shares.
pub struct Server {
    pub config: Config,
    pub clients: Clients,
    pub waiting: Waiting,
    /// Slots of clients with replies to write before the loop sleeps.
    pub answered: Vec<usize>,
    pub append_only: AppendOnly,
    /// Whether BGREWRITEAOF was asked for; the cron starts it when no child runs.
    pub rewrite_wanted: bool,
    /// The forked child; there is one at a time.
    pub child: Option<Child>,
    pub cluster: Cluster,
    pub expire: ExpireCycle,
    /// Whether expired keys are looked for; DEBUG SET-ACTIVE-EXPIRE turns it off.
    pub active_expire: bool,
    pub defrag: Defrag,
    pub last_snapshot_ok: bool,
    pub last_rewrite_ok: bool,
    pub peak_memory: u64,
    pub stopping: bool,
}

impl Server {
    pub fn new(config: Config) -> io::Result<Self> {
        Ok(Self {
            clients: Clients::default(),
            waiting: Waiting::default(),
            answered: Vec::new(),
            append_only: AppendOnly::new(config.path("appendonly.aof"))?,
            rewrite_wanted: false,
            child: None,
            cluster: Cluster::load(config.path("nodes.conf"))?,
            expire: ExpireCycle::default(),
            active_expire: true,
            defrag: Defrag::default(),
            last_snapshot_ok: true,
            last_rewrite_ok: true,
            peak_memory: 0,
            stopping: false,
            config,
        })
    }
}
