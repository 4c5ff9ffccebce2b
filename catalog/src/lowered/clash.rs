//! Names that differ in catalogs and become the same for LTTng, a linker or a compiler.
//!
//! A catalog is checked alone; here all catalogs of a program are checked together, with the prefix.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::error::LowerError;
use super::provider::Provider;

/// No two parts have the same name, and no name is too long.
pub(crate) fn check(providers: &[Provider<'_>]) -> Result<(), LowerError> {
    let mut names = Names::default();
    for provider in providers {
        names.claim_provider(provider)?;
        for event in &provider.events {
            let full = format!("{}:{}", provider.name, event.source.name);
            if full.len() > 255 {
                return Err(LowerError::Clash(format!(
                    "`{full}` is longer than LTTng's limit of 255 bytes: choose a shorter prefix"
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

/// No two events have the same name in C, where `a_b` and `c` read as `a` and `b_c`.
pub(crate) fn check_c_names(providers: &[Provider<'_>]) -> Result<(), LowerError> {
    let mut names = Names::default();
    for provider in providers {
        for event in &provider.events {
            for name in event.source.c_names(&provider.name) {
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
    fn claim_provider(&mut self, provider: &Provider<'_>) -> Result<(), LowerError> {
        let name = &provider.source.name;
        // A module of Rust, and files: `.c` and `-tp.h` after the name.
        for taken in [format!("mod {}", provider.module), format!("provider {}", provider.name)] {
            if self.owners.insert(taken, String::new()).is_some() {
                return Err(LowerError::Clash(format!(
                    "two catalogs have a provider `{name}`: rename one of them"
                )));
            }
        }
        Ok(())
    }

    fn claim(&mut self, symbol: String, owner: String) -> Result<(), LowerError> {
        match self.owners.entry(symbol) {
            Entry::Vacant(free) => {
                free.insert(owner);
                Ok(())
            }
            Entry::Occupied(taken) => Err(LowerError::Clash(format!(
                "{owner} and {} have the same C symbol `{}`: rename one of them",
                taken.get(),
                taken.key()
            ))),
        }
    }
}
