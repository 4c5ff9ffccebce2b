//! Names that differ in catalogs and are the same to LTTng, a linker or a compiler.
//!
//! A catalog checks its own names. Here all catalogs of a build are checked together, with the prefix.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use crate::border::Provider;

/// Two things, each good in its own catalog, that cannot be in one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash(String);

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Clash {}

/// No two things have one name, and no name is too long.
pub(crate) fn check(providers: &[Provider<'_>]) -> Result<(), Clash> {
    let mut names = Names::default();
    for provider in providers {
        names.claim_provider(provider)?;
        for event in &provider.events {
            let full = format!("{}:{}", provider.name, event.source.name);
            if full.len() > 255 {
                return Err(Clash(format!(
                    "`{full}` is longer than LTTng's limit of 255 bytes; take a shorter prefix"
                )));
            }
            names.claim(event.tracepoint(), format!("the event `{full}`"))?;
        }
        for enumeration in &provider.source.enums {
            names.claim(
                format!("__enum_values__{}_{}", provider.name, enumeration.name),
                format!("the enum `{}` of the provider `{}`", enumeration.name, provider.name),
            )?;
        }
    }
    Ok(())
}

/// No two events have one name for an application in C, where `a_b` and `c` read as `a` and `b_c`.
pub(crate) fn check_c_names(providers: &[Provider<'_>]) -> Result<(), Clash> {
    let mut names = Names::default();
    for provider in providers {
        for event in &provider.events {
            for name in event.c_names() {
                names.claim(name, format!("the event `{}:{}`", provider.name, event.source.name))?;
            }
        }
    }
    Ok(())
}

/// The names that are taken, and by what.
#[derive(Default)]
struct Names {
    owners: HashMap<String, String>,
}

impl Names {
    fn claim_provider(&mut self, provider: &Provider<'_>) -> Result<(), Clash> {
        let name = &provider.source.name;
        // A module of Rust, and files: `.c` and `-tp.h` after the name.
        for taken in [format!("mod {}", provider.module), format!("provider {}", provider.name)] {
            if self.owners.insert(taken, String::new()).is_some() {
                return Err(Clash(format!("two catalogs have a provider `{name}`; rename one")));
            }
        }
        Ok(())
    }

    fn claim(&mut self, symbol: String, owner: String) -> Result<(), Clash> {
        match self.owners.entry(symbol) {
            Entry::Vacant(free) => {
                free.insert(owner);
                Ok(())
            }
            Entry::Occupied(taken) => Err(Clash(format!(
                "{owner} has the same C symbol as {}, `{}`; rename one",
                taken.get(),
                taken.key()
            ))),
        }
    }
}
