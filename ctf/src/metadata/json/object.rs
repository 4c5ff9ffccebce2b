//! The properties of a JSON object, each with its type checked.

use serde_json::{Map, Value};

/// An object of metadata.
#[derive(Clone, Copy)]
pub struct Object<'j>(&'j Map<String, Value>);

impl<'j> Object<'j> {
    /// An object, which may not have extensions: those that the preamble declares are refused there.
    pub fn of(value: &'j Value) -> Result<Object<'j>, String> {
        let object = Object(value.as_object().ok_or("not a JSON object")?);
        match object.extension()? {
            Some(name) => Err(format!("it has the extension {name}, which the preamble does not declare")),
            None => Ok(object),
        }
    }

    /// The preamble, which may declare extensions.
    pub fn preamble(value: &'j Value) -> Result<Object<'j>, String> {
        value.as_object().map(Object).ok_or("not a JSON object".into())
    }

    /// The first of its extensions.
    pub fn extension(self) -> Result<Option<String>, String> {
        for (namespace, names) in self.map("extensions")?.into_iter().flatten() {
            let names = names.as_object().ok_or("`extensions` must hold objects")?;
            if let Some((name, _)) = names.iter().next() {
                return Ok(Some(format!("`{name}` of `{namespace}`")));
            }
        }
        Ok(None)
    }

    /// A property of any type.
    pub fn get(self, name: &str) -> Option<&'j Value> {
        self.0.get(name)
    }

    /// A property that must be there.
    pub fn required(self, name: &str) -> Result<&'j Value, String> {
        self.get(name).ok_or_else(|| missing(name))
    }

    pub fn map(self, name: &str) -> Result<Option<&'j Map<String, Value>>, String> {
        self.typed(name, "an object", Value::as_object)
    }

    pub fn list(self, name: &str) -> Result<Option<&'j Vec<Value>>, String> {
        self.typed(name, "an array", Value::as_array)
    }

    pub fn text(self, name: &str) -> Result<Option<&'j str>, String> {
        self.typed(name, "a string", Value::as_str)
    }

    pub fn integer(self, name: &str) -> Result<Option<i128>, String> {
        self.typed(name, "an integer of 64 bits", integer)
    }

    /// An integer that is not negative.
    pub fn unsigned(self, name: &str) -> Result<Option<u64>, String> {
        self.typed(name, "an integer of 64 bits from 0 on", Value::as_u64)
    }

    fn typed<T>(
        self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'j Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| format!("`{name}` must be {what}"))
    }
}

/// An integer of 64 bits, signed or not.
pub fn integer(value: &Value) -> Option<i128> {
    value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from))
}

/// What to say of a property that is not there.
pub fn missing(name: &str) -> String {
    format!("`{name}` is missing")
}
