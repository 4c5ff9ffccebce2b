//! All catalogs of a program, lowered together.

use crate::{Catalog, Errors, check};

use super::clash;
use super::error::LowerError;
use super::event::Event;
use super::provider::Provider;

/// All events of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<'c> {
    /// The providers of all catalogs, in order.
    pub providers: Vec<Provider<'c>>,
}

impl<'c> Program<'c> {
    /// Lowers all catalogs of a program together. The prefix comes before each provider's name as tracers see it.
    /// Catalogs are checked first, because a program can change one after it was read.
    pub fn lower(catalogs: &'c [Catalog], prefix: &str) -> Result<Program<'c>, LowerError> {
        for catalog in catalogs {
            let errors = check(catalog);
            if !errors.is_empty() {
                return Err(LowerError::Catalog(Errors { file: catalog.name.clone(), errors }));
            }
        }
        let all = catalogs.iter().flat_map(|catalog| catalog.providers.iter().map(move |p| (catalog, p)));
        let providers: Vec<_> =
            all.map(|(catalog, source)| Provider::lower(catalog, source, prefix)).collect();
        clash::check(&providers)?;
        Ok(Program { providers })
    }

    /// Checks the names that applications in C have for events, which only they need to differ.
    pub fn check_c_names(&self) -> Result<(), LowerError> {
        clash::check_c_names(&self.providers)
    }

    /// The event with this name as tracers see it.
    pub fn event(&self, provider: &str, event: &str) -> Option<&Event<'c>> {
        let provider = self.providers.iter().find(|candidate| candidate.name == provider)?;
        provider.events.iter().find(|candidate| candidate.source.name == event)
    }
}
