//! "Did you mean …": the known name that is nearest to a wrong one.

/// `; did you mean …?` if a candidate is near enough, else an empty string.
///
/// ```
/// use lttng_catalog::did_you_mean;
///
/// assert_eq!(did_you_mean("adrr", ["addr", "duration"]), "; did you mean `addr`?");
/// assert_eq!(did_you_mean("banana", ["addr", "duration"]), "");
/// ```
pub fn did_you_mean<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(wrong, candidates) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// As [`did_you_mean`], but lists all candidates if none is near.
///
/// ```
/// use lttng_catalog::did_you_mean_one_of;
///
/// let clocks = ["monotonic", "wall"];
/// assert_eq!(did_you_mean_one_of("mono", clocks.into_iter()), "; did you mean `monotonic`?");
/// assert_eq!(did_you_mean_one_of("tsc", clocks.into_iter()), "; expected one of `monotonic`, `wall`");
/// ```
pub fn did_you_mean_one_of<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = did_you_mean(wrong, candidates.clone());
    if !near.is_empty() {
        return near;
    }
    let all: Vec<String> = candidates.map(|name| format!("`{name}`")).collect();
    match all.len() {
        0 => "; none is declared".to_owned(),
        1 => format!("; the only one is {}", all[0]),
        _ => format!("; expected one of {}", all.join(", ")),
    }
}

/// The candidate with the smallest edit distance, if that is at most a third of the name; else the longest
/// one that begins or ends like it.
///
/// ```
/// use lttng_catalog::nearest;
///
/// assert_eq!(nearest("comand_call", ["command_call", "command_unblocking"]), Some("command_call"));
/// assert_eq!(nearest("banana", ["command_call"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(wrong, &candidates.into_iter().collect::<Vec<_>>())
}

fn nearest_of<'a>(wrong: &str, candidates: &[&'a str]) -> Option<&'a str> {
    // Longer texts are not typing errors, and the time for the distance is quadratic.
    if wrong.len() > 256 {
        return None;
    }
    let wrong = normal(wrong);
    let allowed = (wrong.chars().count() / 3).max(1);
    let candidates: Vec<(String, &str)> =
        candidates.iter().map(|candidate| (normal(candidate), *candidate)).collect();
    let spelled_alike = candidates
        .iter()
        .map(|(candidate, name)| (distance(&wrong, candidate), *name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, name)) = spelled_alike {
        return Some(name);
    }
    let share_an_end = |candidate: &str| {
        let (short, long) =
            if wrong.len() < candidate.len() { (&wrong[..], candidate) } else { (candidate, &wrong[..]) };
        short.len() >= 3 && (long.starts_with(short) || long.ends_with(short))
    };
    let longest = candidates
        .iter()
        .filter(|(candidate, _)| share_an_end(candidate))
        .max_by_key(|(candidate, _)| candidate.len());
    longest.map(|(_, name)| *name)
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbours to make one text the other (the
/// optimal string alignment).
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // From the first letters of one text, by their number, to those of the other.
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let swapped = match i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                true => rows[i - 1][j - 1] + 1,
                false => usize::MAX,
            };
            row.push(replaced.min(swapped).min(row[j] + 1).min(rows[i][j + 1] + 1));
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

/// A name without differences that rarely matter: case, `-` and `_`, `µ` and `u`.
fn normal(name: &str) -> String {
    name.to_lowercase().replace('-', "_").replace(['µ', 'μ'], "u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(nearest("ns", ["sn"]), Some("sn"));
    }

    #[test]
    fn case_dashes_and_the_greek_letter_are_not_edits() {
        assert_eq!(did_you_mean("Group_By", ["group-by"]), "; did you mean `group-by`?");
        assert_eq!(did_you_mean("µs", ["ns", "us"]), "; did you mean `us`?");
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        assert_eq!(did_you_mean("banana", ["duration", "addr"]), "");
    }

    #[test]
    fn the_nearest_name_wins() {
        assert_eq!(did_you_mean("adr", ["laddr", "addr"]), "; did you mean `addr`?");
    }

    #[test]
    fn the_longest_common_beginning_or_end_will_do() {
        assert_eq!(did_you_mean("mono", ["monotonic", "wall"]), "; did you mean `monotonic`?");
        assert_eq!(did_you_mean("TRACE_DEBUG_LINE", ["debug", "debug-line"]), "; did you mean `debug-line`?");
    }
}
