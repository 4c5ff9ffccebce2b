//! "Did you mean".

/// What to say after a wrong name: `; did you mean …?`, or nothing if no known name is near.
pub fn suggestion(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}
