//! Long values in explanations: the elements that the other values of the explanation mention come first.
//!
//! A list of thirty messages does not fit a line. If the guard asks about the message with number 17, you
//! want to see that one. So the text of a collection is split into its elements. Those that the condition
//! reads by an index come first. Then come those at the positions that another list names, those that contain
//! one of the other values, and the first ones, as many as fit.

/// Cuts a text to at most `most` characters.
pub(crate) fn cut_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
        None => text.to_owned(),
    }
}

/// Is a condition quoted as a whole, also if a part of it is? A longer one fills more than a line.
pub(super) fn is_quoted(condition: &str) -> bool {
    condition.chars().count() <= 100
}

/// Lists the places at which the other values read a collection: 3 and `.x` for `name[i].x` if `i = 3`. They
/// may stand within a call.
pub(super) fn list_places_read<'t>(name: &str, values: &[(&'t str, &'t str)]) -> Vec<(&'t str, &'t str)> {
    let find_value = |text: &str| values.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let evaluate = |index: &'t str| {
        // The index may be an element of a list.
        let element = |list: &str, position: &str| {
            let elements = split_collection(split_reason(find_value(list)?).0)?;
            elements.get(position.strip_suffix(']')?.parse::<usize>().ok()?).copied()
        };
        let known = find_value(index).map(|value| split_reason(value).0);
        known
            .or_else(|| index.rsplit_once('[').and_then(|(list, position)| element(list, position)))
            .unwrap_or(index)
    };
    let start = format!("{name}[");
    let places = values.iter().flat_map(|(path, _)| {
        path.match_indices(&start).filter_map(|(at, _)| {
            let inner = &path[at + start.len()..];
            let index = text_before(inner, ']').filter(|_| !path[..at].ends_with(is_of_word))?;
            Some((evaluate(index), &inner[index.len() + 1..]))
        })
    });
    places.collect()
}

/// Splits the text of a value from the reason behind it: `1` and ` (as `p` holds)`.
pub(super) fn split_reason(text: &str) -> (&str, &str) {
    let is_before_reason = |(at, sign): &(usize, char)| *sign == ' ' && text[*at..].starts_with(" (");
    let at = outer_signs(text).into_iter().find(is_before_reason).map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

/// Shortens the text of a collection to about `most` characters. Elements at the positions or keys that are
/// `read` come first, then those that one of the values names. These may take three times as much.
pub(crate) fn shorten_collection(text: &str, read: &[&str], values: &[(&str, &str)], most: usize) -> String {
    let length = |text: &str| text.chars().count();
    if length(text) <= most {
        return text.to_owned();
    }
    let Some(elements) = split_collection(text) else { return cut_text(text, most) };
    // To leave out less is not worth it.
    if length(text) <= 2 * most {
        return text.to_owned();
    }
    // A short list may name its elements one by one, or their positions.
    let short = values.iter().map(|(_, text)| *text).filter(|text| length(text) <= most);
    let named: Vec<&str> = short.filter_map(split_collection).flatten().collect();
    // So may a string within another value.
    let others = values.iter().map(|(_, other)| *other).filter(|other| *other != text);
    let quoted = others.flat_map(|other| other.split('"').skip(1).step_by(2)).filter(|word| !word.is_empty());
    let words = values.iter().map(|(_, text)| *text).chain(named.iter().copied()).chain(quoted);
    // A number or a truth value is in many elements by chance.
    let (common, rare): (Vec<&str>, Vec<&str>) =
        words.partition(|word| word.parse::<bool>().is_ok() || word.parse::<f64>().is_ok());
    let says_one_of = |element: &str, words: &[&str]| words.iter().any(|word| contains_word(element, word));
    // How early an element is shown: 0 first.
    let rank = |(at, element): (usize, &&str)| {
        let position = at.to_string();
        match text_before(element, ':').unwrap_or(&position) {
            key if read.contains(&key) => 0,
            _ if named.contains(&position.as_str()) => 1,
            _ if says_one_of(element, &rare) => 2,
            _ if says_one_of(element, &common) => 3,
            _ => 4,
        }
    };
    let ranks: Vec<u8> = elements.iter().enumerate().map(rank).collect();
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by_key(|at| ranks[*at]);
    let (mut shown, mut used) = (vec![false; elements.len()], 0);
    for at in order {
        let limit = if ranks[at] < 3 { 3 * most } else { most };
        let longer = used + length(elements[at]) + 2;
        if longer <= limit {
            (shown[at], used) = (true, longer);
        } else if ranks[at] > 2 {
            break;
        }
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
    let hidden = shown.iter().filter(|is_shown| !**is_shown).count();
    let shortened = format!("{open}{}{close} ({hidden} of {} left out)", parts.join(", "), elements.len());
    // A cut that saves less than a third is not worth it, unless the text is very long.
    if length(text) <= 3 * most && 3 * length(&shortened) > 2 * length(text) {
        text.to_owned()
    } else {
        shortened
    }
}

/// Writes the ids in a text without their types: `("7": Job)` as `"7"`.
pub(super) fn drop_id_types(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("(\"") {
        let (before, after) = rest.split_at(start + 1);
        let is_name = |name: &str| name.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
        let id = text_before(after, ')').and_then(|inner| inner.rsplit_once(": "));
        match id.filter(|(id, ty)| is_name(ty) && id.ends_with('"') && outer_signs(id).is_empty()) {
            Some((id, ty)) => {
                shown.push_str(&rest[..start]);
                shown.push_str(id);
                rest = &after[id.len() + ": ".len() + ty.len() + ")".len()..];
            }
            None => {
                shown.push_str(before);
                rest = after;
            }
        }
    }
    shown + rest
}

/// Splits the text of a list, set or map into its elements. `None` for other text.
fn split_collection(text: &str) -> Option<Vec<&str>> {
    let in_brackets = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inner = in_brackets('[', ']').or_else(|| in_brackets('{', '}'))?;
    let (mut elements, mut from) = (Vec::new(), 0);
    for (at, sign) in outer_signs(inner) {
        match sign {
            ']' | '}' | ')' => return None,
            ',' => {
                elements.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    elements.push(inner[from..].trim());
    Some(elements)
}

/// Returns the text before the first of these signs outside of strings and brackets.
fn text_before(text: &str, wanted: char) -> Option<&str> {
    outer_signs(text).into_iter().find(|(_, sign)| *sign == wanted).map(|(at, _)| &text[..at])
}

/// Lists the signs outside of strings and brackets. A bracket that was not opened is the last one.
fn outer_signs(text: &str) -> Vec<(usize, char)> {
    let (mut signs, mut depth, mut quoted, mut escaped) = (Vec::new(), 0_usize, false, false);
    for (at, sign) in text.char_indices() {
        if quoted {
            quoted = escaped || sign != '"';
            escaped = !escaped && sign == '\\';
            continue;
        }
        match sign {
            '"' => quoted = true,
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => signs.push((at, sign)),
            _ => {}
        }
        if depth == 0 && matches!(signs.last(), Some((_, ']' | '}' | ')'))) {
            break;
        }
    }
    signs
}

/// Does the text contain the word, and neither letters nor digits next to it?
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word)
        })
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '.'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_with_the_other_values_are_shown() {
        let all: Vec<String> = (1..=30).map(|uid| format!("{{uid: {uid}, text: \"a, {uid}0\"}}")).collect();
        let text = format!("[{}]", all.join(", "));
        let other = |value| [("x", value)];
        assert_eq!(
            shorten_collection(&text, &[], &other("17"), 60),
            "[{uid: 1, text: \"a, 10\"}, ..., {uid: 17, text: \"a, 170\"}, ...] (28 of 30 left out)"
        );
        let at_position = "[..., {uid: 4, text: \"a, 40\"}, ...] (29 of 30 left out)";
        assert_eq!(shorten_collection(&text, &[], &other("[3]"), 40), at_position);
        assert_eq!(shorten_collection(&text, &["3"], &other("17"), 40), at_position);
        assert_eq!(
            shorten_collection(&text, &[], &[], 30),
            "[{uid: 1, text: \"a, 10\"}, ...] (29 of 30 left out)"
        );
        assert_eq!(shorten_collection("[1, 2]", &[], &[], 30), "[1, 2]");
        assert_eq!(shorten_collection(&"x".repeat(40), &[], &[], 10), "xxxxxxx...");
        assert_eq!(shorten_collection(&format!("[{}]", "x".repeat(40)), &[], &[], 10), "[xxxxxx...");
    }

    /// All elements that matter are shown, and an excerpt that saves little is not made.
    #[test]
    fn what_a_condition_reads_is_not_left_out() {
        let page = |name: &str, author: &str| format!("\"{name}\": {{text: \"bye\", author: {author}}}");
        let text = format!("[{}]", ["a", "b", "c", "d"].map(|name| page(name, "EVE")).join(", "));
        let values = [("vPages[vTitle].author", "EVE"), ("vTitle", "\"d\"")];
        let places = list_places_read("vPages", &values);
        assert_eq!(places, [("\"d\"", ".author")]);
        let values = [("vPages[last()].author", "EVE"), ("last()", "\"d (e)\" (as `p` holds)")];
        assert_eq!(list_places_read("vPages", &values), [("\"d (e)\"", ".author")]);
        let values = [("size(vPages[all()[1]])", "3"), ("all()", "[\"a\", \"d\"] (as `p` holds)")];
        assert_eq!(list_places_read("vPages", &values), [("\"d\"", ")")]);
        let read = ["\"d\""];
        let shown = format!("[..., {}] (3 of 4 left out)", page("d", "EVE"));
        assert_eq!(shorten_collection(&text, &read, &[], 35), shown);
        assert_eq!(shorten_collection(&text, &[], &[("v", "EVE")], 50), text);
        assert_eq!(shorten_collection(&text, &[], &[], 100), text);
    }

    #[test]
    fn ids_have_no_types() {
        for (text, shown) in [
            (r#"("a": Job) in vAll && late[("b": Job)] == 1"#, r#""a" in vAll && late["b"] == 1"#),
            (r#"f("a", ("b c": Job)) == ["x": y]"#, r#"f("a", "b c") == ["x": y]"#),
        ] {
            assert_eq!(drop_id_types(text), shown);
        }
    }
}
