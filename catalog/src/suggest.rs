//! "Did you mean …": the known name that a wrong one is nearest to.

/// `; did you mean …?` if a candidate is near enough, else an empty text.
pub(crate) fn did_you_mean<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(wrong, candidates) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// The candidate with the fewest edits from `wrong`, if those are at most a third of its length.
fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Beyond this no one mistyped a name, and the distance takes time that grows with the square.
    if wrong.len() > 256 {
        return None;
    }
    let allowed = (wrong.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edits(wrong, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != wrong)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two names,
/// with upper and lower case the same.
fn edits(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().replace('-', "_").chars().collect();
    let right: Vec<char> = right.to_lowercase().replace('-', "_").chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for i in 0..left.len() {
        let mut row = vec![i + 1];
        for j in 0..right.len() {
            let replaced = last[j] + usize::from(left[i] != right[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j] {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(edits("addr", "adrd"), 1);
    }

    #[test]
    fn case_and_dashes_are_no_edits() {
        assert_eq!(edits("Group_By", "group-by"), 0);
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        assert_eq!(did_you_mean("banana", ["duration", "addr"]), "");
    }

    #[test]
    fn the_nearest_name_wins() {
        assert_eq!(did_you_mean("adr", ["laddr", "addr"]), "; did you mean `addr`?");
    }
}
