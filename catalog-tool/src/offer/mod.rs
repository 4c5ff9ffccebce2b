//! What a program, or a running process with its libraries, offers to tracers.
//!
//! ```text
//! file ──> image (ELF) ──> stapsdt: USDT probes ─────────┐
//!   │                 └──> ust: LTTng-UST events, fields ┴──> model, explained by catalogs
//!   └─ libraries          process: what is mapped, and who is attached
//! ```

mod catalogs;
mod image;
mod libraries;
mod model;
mod process;
mod stapsdt;
mod untrusted_file;
mod ust;
mod ust_fields;

pub use catalogs::explain;
pub use model::*;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use image::Image;
use process::{Closed, Module, Process};
use untrusted_file::read;

/// More libraries than any program has.
const MOST_LIBRARIES: usize = 4096;

/// What the bytes of an ELF file offer, without its libraries.
///
/// ```
/// use lttng_catalog_cli::offer::of_bytes;
///
/// assert_eq!(of_bytes(b"#!/bin/sh").unwrap_err(), "not an ELF file");
/// ```
pub fn of_bytes(bytes: &[u8]) -> Result<FileOffer, String> {
    Ok(of_image(&Image::parse(bytes)?, None))
}

/// What a file offers, and the libraries that it would be started with.
pub fn of_file(path: &Path, with_libraries: bool) -> Result<Offer, String> {
    let mut offer = Offer { target: path.display().to_string(), ..Offer::default() };
    let bytes = read(path)?;
    let program = Image::parse(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    offer.add(path, of_image(&program, None));
    if !with_libraries {
        return Ok(offer);
    }
    let system = libraries::system_folders();
    let mut wanted: Vec<(String, PathBuf, Vec<String>)> = Vec::new();
    let want = |image: &Image<'_>, path: &Path| {
        let own = image.run_path.clone();
        image.needed.iter().map(move |name| (name.clone(), path.to_owned(), own.clone())).collect::<Vec<_>>()
    };
    wanted.extend(want(&program, path));
    let mut seen: HashSet<String> = HashSet::new();
    let mut next = 0;
    while next < wanted.len() && seen.len() < MOST_LIBRARIES {
        let (name, by, own) = wanted[next].clone();
        next += 1;
        if !seen.insert(name.clone()) {
            continue;
        }
        let found = libraries::candidates(&name, &by, &own, &system).into_iter().find_map(|candidate| {
            let bytes = read(&candidate).ok()?;
            let image = Image::parse(&bytes).ok().filter(|image| image.fits(&program))?;
            let more = want(&image, &candidate);
            Some((of_image(&image, None), more, candidate))
        });
        match found {
            Some((found, more, candidate)) => {
                offer.add(&candidate, found);
                wanted.extend(more);
            }
            None => offer.problems.push(format!("library {name}, which {} needs, not found", by.display())),
        }
    }
    Ok(offer)
}

/// What a process offers in its program and its loaded libraries, and which of it is in use by tracers.
pub fn of_process(pid: u32) -> Result<Offer, String> {
    let mut offer = Offer { target: format!("process {pid}"), pid: Some(pid), ..Offer::default() };
    let (process, modules, problem) = match Process::open(pid) {
        Ok(opened) => opened,
        Err(Closed { program: Some(program), why }) => return of_another_users(pid, &program, &why),
        Err(Closed { program: None, why }) => return Err(why),
    };
    if modules.is_empty() {
        return Err(format!(
            "process {pid} has no program mapped: it is a thread of the kernel, or has ended"
        ));
    }
    offer.problems.extend(problem);
    for module in &modules {
        let bytes = process.read_file(module);
        let parsed = bytes.as_deref().map_err(String::clone).and_then(Image::parse);
        match parsed {
            Ok(image) => offer.add(&module.path, of_image(&image, Some((&process, module)))),
            // Code that is not mapped from a file is not a library.
            Err(error) if error == "not an ELF file" => {}
            Err(error) => offer.problems.push(format!("{}: {error}", module.path.display())),
        }
    }
    Ok(offer)
}

/// What a process offers whose memory is closed to this user, by its program's file.
fn of_another_users(pid: u32, program: &Path, why: &str) -> Result<Offer, String> {
    let mut offer = of_file(program, true).map_err(|error| format!("{why}; {error}"))?;
    offer.target = format!("process {pid}");
    offer.pid = Some(pid);
    offer.problems.push(format!(
        "{why}; this is what {} offers, which its command line names, and whether a tracer is attached is unknown",
        program.display()
    ));
    Ok(offer)
}

impl Offer {
    fn add(&mut self, path: &Path, found: FileOffer) {
        self.searched += 1;
        if !found.events.is_empty() || !found.probes.is_empty() {
            self.files.push(FileOffer { path: path.display().to_string(), ..found });
        }
    }
}

fn of_image(image: &Image<'_>, running: Option<(&Process, &Module)>) -> FileOffer {
    let events = ust::events(image).into_iter().map(|ust::Found { mut event, state }| {
        event.enabled =
            running.and_then(|(process, module)| process.u32(module, image, state?)).map(|state| state != 0);
        event
    });
    let probes = stapsdt::probes(image).into_iter().map(|stapsdt::Found { mut probe, semaphore }| {
        probe.attached = running.and_then(|(process, module)| process.u16(module, image, semaphore?));
        probe
    });
    let mut offer = FileOffer { path: String::new(), events: events.collect(), probes: probes.collect() };
    // Linkers put them in any order.
    offer.events.sort_by(|one, other| (&one.provider, &one.name).cmp(&(&other.provider, &other.name)));
    offer.probes.sort_by(|one, other| (&one.provider, &one.name).cmp(&(&other.provider, &other.name)));
    offer
}
