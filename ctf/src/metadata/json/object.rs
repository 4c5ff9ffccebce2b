//! The properties of a JSON object, each with its type checked.

use super::value::{self, Json, Properties};

/// An object of metadata.
#[derive(Clone, Copy)]
pub struct Object<'j>(&'j Properties<'j>);

impl<'j> Object<'j> {
    /// An object, which may not have extensions: those that the preamble declares are refused there.
    pub fn of(value: &'j Json<'j>) -> Result<Object<'j>, String> {
        let object = Object(value.as_map().ok_or("not a JSON object")?);
        match object.extension()? {
            Some(name) => Err(format!("it has the extension {name}, which the preamble does not declare")),
            None => Ok(object),
        }
    }

    /// The preamble, which may declare extensions.
    pub fn preamble(value: &'j Json<'j>) -> Result<Object<'j>, String> {
        value.as_map().map(Object).ok_or("not a JSON object".into())
    }

    /// The first of its extensions.
    pub fn extension(self) -> Result<Option<String>, String> {
        for (namespace, names) in self.map("extensions")?.into_iter().flatten() {
            let names = names.as_map().ok_or("`extensions` must hold objects")?;
            if let Some((name, _)) = names.first() {
                return Ok(Some(format!("`{name}` of `{namespace}`")));
            }
        }
        Ok(None)
    }

    /// A property of any type.
    pub fn get(self, name: &str) -> Option<&'j Json<'j>> {
        value::get(self.0, name)
    }

    /// A property that must be there.
    pub fn required(self, name: &str) -> Result<&'j Json<'j>, String> {
        self.get(name).ok_or_else(|| missing(name))
    }

    pub fn map(self, name: &str) -> Result<Option<&'j Properties<'j>>, String> {
        self.typed(name, "an object", Json::as_map)
    }

    pub fn list(self, name: &str) -> Result<Option<&'j [Json<'j>]>, String> {
        self.typed(name, "an array", Json::as_list)
    }

    pub fn text(self, name: &str) -> Result<Option<&'j str>, String> {
        self.typed(name, "a string", Json::as_str)
    }

    pub fn integer(self, name: &str) -> Result<Option<i128>, String> {
        self.typed(name, "an integer of 64 bits", Json::as_integer)
    }

    /// An integer that is not negative.
    pub fn unsigned(self, name: &str) -> Result<Option<u64>, String> {
        self.typed(name, "an integer of 64 bits from 0 on", Json::as_u64)
    }

    fn typed<T>(
        self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'j Json<'j>) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| format!("`{name}` must be {what}"))
    }
}

/// What to say of a property that is not there.
pub fn missing(name: &str) -> String {
    format!("`{name}` is missing")
}
