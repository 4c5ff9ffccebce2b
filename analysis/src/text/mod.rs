//! Amounts, names and untrusted texts in words, for every view and for the reasons that findings give.

pub mod amount;
pub mod escape;

/// What to say after a wrong name: `; did you mean …?`, or nothing if no known name is near.
pub fn suggestion(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// An event's name without its provider.
pub fn short_name(event: &str) -> &str {
    event.split_once(':').map_or(event, |(_, name)| name)
}
