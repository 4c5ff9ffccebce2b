//! LTTng-UST events in a file: tracepoints, and the descriptions that providers register.
//!
//! Section `lttng_ust_tracepoints_ptrs` (`__tracepoints_ptrs` before 2.13) has a pointer to each tracepoint:
//!
//! ```text
//! tracepoint: struct_size · provider · event · state · probes · reference · signature     (each as wide as a pointer)
//! event desc: struct_size · event · → provider · → class · → log level · → URI
//! provider:   struct_size · provider · → event descs · number, major, minor
//! class:      struct_size · → fields · number of them · callback · signature · → provider
//! ```
//!
//! Nothing but code refers to the descriptions, and a stripped file has no symbols. So data sections are searched for
//! what looks like one and whose pointers all lead where they should.

use std::collections::HashMap;

use super::image::{Image, Section};
use super::model::UstEvent;
use super::ust_fields;

const LONGEST_NAME: usize = 256;
const LONGEST_SIGNATURE: usize = 4096;
/// More than any program has.
const MOST_EVENTS: usize = 65_536;

/// An event, and where the number is that is not 0 while a session records it.
pub struct Found {
    pub event: UstEvent,
    pub state: Option<u64>,
}

/// The events of a file.
pub fn events(image: &Image<'_>) -> Vec<Found> {
    let names = ["lttng_ust_tracepoints_ptrs", "__tracepoints_ptrs"];
    let pointers = names.iter().find_map(|name| image.section(name));
    let provides = image.needed.iter().any(|library| library.starts_with("liblttng-ust.so"))
        || image.sections.iter().any(|section| section.name.starts_with(b"lttng_ust_tracepoints"));
    let mut found: Vec<Found> = pointers.map(|section| tracepoints(image, section)).unwrap_or_default();
    if !provides && found.is_empty() {
        return found;
    }
    let mut by_name: HashMap<(String, String), usize> =
        found.iter().enumerate().map(|(index, known)| (key(&known.event), index)).collect();
    for description in descriptions(image) {
        let key = key(&description);
        match by_name.get(&key) {
            Some(index) => found[*index].event.fields = description.fields,
            None if found.len() < MOST_EVENTS => {
                by_name.insert(key, found.len());
                found.push(Found { event: description, state: None });
            }
            None => {}
        }
    }
    found
}

fn key(event: &UstEvent) -> (String, String) {
    (event.provider.clone(), event.name.clone())
}

fn tracepoints(image: &Image<'_>, section: &Section<'_>) -> Vec<Found> {
    let width = image.address_size;
    let count = (section.data.len() as u64 / width).min(MOST_EVENTS as u64);
    let pointers = (0..count).filter_map(|index| image.pointer(section.address.checked_add(index * width)?));
    let mut seen = HashMap::new();
    let read = |at: u64| {
        let member = |index: u64| image.pointer(at.checked_add(index * width)?);
        let event = UstEvent {
            provider: name(image, member(1)?)?,
            name: name(image, member(2)?)?,
            fields: None,
            signature: member(6).and_then(|at| image.text(at, LONGEST_SIGNATURE)),
            has_tracepoint: true,
            enabled: None,
            said: None,
        };
        Some(Found { event, state: at.checked_add(3 * width) })
    };
    pointers.filter_map(read).filter(|found| seen.insert(key(&found.event), ()).is_none()).collect()
}

/// The events that providers in this file describe.
fn descriptions(image: &Image<'_>) -> Vec<UstEvent> {
    let width = image.address_size;
    let mut budget = image.sections.iter().map(|section| section.data.len()).max().unwrap_or_default();
    budget = budget.saturating_mul(2);
    let mut found = Vec::new();
    for section in image.sections.iter().filter(|section| section.is_data) {
        if section.data.len() > budget {
            continue;
        }
        budget -= section.data.len();
        let end = section.address.checked_add(section.data.len() as u64);
        let Some((mut at, end)) = section.address.checked_next_multiple_of(width).zip(end) else { continue };
        while at.checked_add(6 * width).is_some_and(|last| last <= end) && found.len() < MOST_EVENTS {
            // The size of the description itself rules nearly everything out at once.
            let offset = (at - section.address) as usize;
            if section.data[offset..offset + 4].contains(&((6 * width) as u8))
                && image.u32(at) == Some((6 * width) as u32)
            {
                found.extend(description(image, at));
            }
            at += width;
        }
    }
    found
}

fn description(image: &Image<'_>, at: u64) -> Option<UstEvent> {
    let width = image.address_size;
    let member = |of: u64, index: u64| image.pointer(of.checked_add(index * width)?);
    let (provider, class) = (member(at, 2)?, member(at, 3)?);
    // Both know the same provider.
    if image.u32(class)? < (6 * width) as u32 || member(class, 5)? != provider {
        return None;
    }
    let fields = ust_fields::fields(
        image,
        member(class, 1),
        image.pointer(class.checked_add(2 * width)?).unwrap_or(0),
    );
    let provider = name(image, member(provider, 1)?)?;
    let mut fields = fields?;
    // The macros put the provider's name before an enum's.
    let prefix = format!("enum {provider}_");
    for field in &mut fields {
        if let Some(name) = field.kind.strip_prefix(&prefix) {
            field.kind = format!("enum {name}");
        }
    }
    Some(UstEvent {
        provider,
        name: name(image, member(at, 1)?)?,
        fields: Some(fields),
        signature: member(class, 4).and_then(|at| image.text(at, LONGEST_SIGNATURE)),
        has_tracepoint: false,
        enabled: None,
        said: None,
    })
}

/// A name that LTTng would take.
fn name(image: &Image<'_>, at: u64) -> Option<String> {
    let name = image.text(at, LONGEST_NAME)?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then_some(name)
}
