//! "Did you mean".

/// The known name that is nearest to a mistyped one, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &str| strsim::damerau_levenshtein(name, known);
    let known = known.into_iter().map(|known| (distance(known), known));
    known.filter(|(distance, _)| *distance <= 2.max(name.len() / 3)).min().map(|(_, known)| known)
}
