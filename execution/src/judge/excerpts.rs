//! Long values in explanations: the elements that the other values of the explanation mention come first.
//!
//! A list of thirty messages does not fit a line. If the guard asks about the message with number 17, you
//! want to see that one. So the text of a collection is split into its elements. Those at the positions that
//! another list names are kept, then those that contain one of the other values, then the first ones, as many
//! as fit.

/// Cuts a text to at most `most` characters.
pub(crate) fn cut_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
        None => text.to_owned(),
    }
}

/// Shortens the text of a collection to about `most` characters. Elements that one of the values names come
/// first.
pub(super) fn shorten_collection(text: &str, values: &[&str], most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let Some(elements) = split_collection(text) else { return cut_text(text, most) };
    // A short list may name its elements one by one, or their positions.
    let short = values.iter().filter(|value| value.chars().count() <= most);
    let named: Vec<&str> = short.filter_map(|value| split_collection(value)).flatten().collect();
    let is_position = |at: &usize| named.contains(&at.to_string().as_str());
    let mentions = |at: &usize| values.iter().chain(&named).any(|value| contains_word(elements[*at], value));
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by_key(|at| (!is_position(at), !mentions(at)));
    let mut shown = vec![false; elements.len()];
    let mut left = most;
    for at in order {
        let length = elements[at].chars().count() + 2;
        if length > left {
            break;
        }
        left -= length;
        shown[at] = true;
    }
    if !shown.contains(&true) {
        return cut_text(text, most);
    }
    let mut parts = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        if shown[at] {
            parts.push(*element);
        } else if parts.last() != Some(&"...") {
            parts.push("...");
        }
    }
    let (open, close) = if text.starts_with('{') { ('{', '}') } else { ('[', ']') };
    format!("{open}{}{close} with {} elements", parts.join(", "), elements.len())
}

/// Splits the text of a list, set or map into its elements. `None` for other text.
fn split_collection(text: &str) -> Option<Vec<&str>> {
    let in_brackets = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inner = in_brackets('[', ']').or_else(|| in_brackets('{', '}'))?;
    let (mut elements, mut from, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, 0_usize, false, false);
    for (at, sign) in inner.char_indices() {
        if quoted {
            quoted = escaped || sign != '"';
            escaped = !escaped && sign == '\\';
            continue;
        }
        match sign {
            '"' => quoted = true,
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                elements.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    elements.push(inner[from..].trim());
    Some(elements)
}

/// Does the text contain the word, and neither letters nor digits next to it?
fn contains_word(text: &str, word: &str) -> bool {
    let is_of_word = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '.';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_with_the_other_values_are_shown() {
        let all: Vec<String> = (1..=30).map(|uid| format!("{{uid: {uid}, text: \"a, {uid}0\"}}")).collect();
        let text = format!("[{}]", all.join(", "));
        assert_eq!(
            shorten_collection(&text, &["17"], 60),
            "[{uid: 1, text: \"a, 10\"}, ..., {uid: 17, text: \"a, 170\"}, ...] with 30 elements"
        );
        let at_position = "[..., {uid: 3, text: \"a, 30\"}, {uid: 4, text: \"a, 40\"}, ...] with 30 elements";
        assert_eq!(shorten_collection(&text, &["[3]"], 60), at_position);
        assert_eq!(shorten_collection(&text, &[], 30), "[{uid: 1, text: \"a, 10\"}, ...] with 30 elements");
        assert_eq!(shorten_collection("[1, 2]", &[], 30), "[1, 2]");
        assert_eq!(shorten_collection(&"x".repeat(40), &[], 10), "xxxxxxx...");
        assert_eq!(shorten_collection(&format!("[{}]", "x".repeat(40)), &[], 10), "[xxxxxx...");
    }
}
