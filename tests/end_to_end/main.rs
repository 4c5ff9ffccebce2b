//! From a program through real session daemons to what a reader says, and what holds for the repository as a whole.
//!
//! Tests that need a build or a tool of their own are marked `#[ignore = "make check: …"]`.

mod c_builds;
mod c_programs;
mod dependencies;
mod field_types;
mod frames;
mod fresh_crate;
mod harmless;
mod linking;
mod links;
mod off;
mod outside;
mod processes;
mod provider_readme;
mod readme;
mod sessions;
mod stacks;
mod support;
mod surroundings;
mod switches;
mod twins;
mod usdt;
mod valkey_events;
