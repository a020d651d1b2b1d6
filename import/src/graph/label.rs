//! Reads the label of an edge: `event(parameters) [guard] / actions`, and GraphWalker's words after it.
//! Comments may be anywhere: `/* */`, and after white space `//` up to the end of the line.
//!
//! ```text
//! edge      = [ event ] [ "[" guard "]" ] [ "/" actions ] { word }
//! event     = [ "?" | "!" ] name [ "(" parameter { "," parameter } ")" ] [ "?" | "!" ]
//! parameter = name [ ":" type ]
//! word      = "BLOCKED" | "BACKTRACK" | "REQTAG" ... | ( "weight" | "dependency" ) "=" number
//! vertex    = name { "BLOCKED" | "SHARED:" name | "INIT:" actions | "REQTAG" ... }
//! ```

use std::ops::Range;

use coreach_model::ActionKind;

use crate::directions::direction_of_sign;
use crate::piece::Piece;

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Label {
    /// The event without sign and parameters. An internal step has none.
    pub event: Option<Piece>,
    pub sign: Option<ActionKind>,
    pub parameters: Vec<(Piece, Option<Piece>)>,
    pub guard: Option<Piece>,
    /// The text of a label has at most one piece. Some files have a list.
    pub actions: Vec<Piece>,
    pub blocked: bool,
    /// GraphWalker's words that mean nothing here.
    pub ignored: Vec<Piece>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct VertexLabel {
    pub name: Piece,
    /// The name under which it is shared.
    pub shared: Option<String>,
    /// Statements that are done before the graph begins.
    pub initial_statements: Option<Piece>,
    pub blocked: bool,
    pub ignored: Vec<Piece>,
}

pub type LabelMistake = (String, Range<usize>);

/// Words that are written in exactly these letters.
const WORDS: [&str; 6] = ["BLOCKED", "BACKTRACK", "BACKTRACKING", "SHARED:", "INIT:", "REQTAG"];

/// Words with a number, in small or capital letters: `weight=0.3`, `Dependency = 50`.
const NUMBERED: [&str; 2] = ["weight", "dependency"];

/// Finds the first of GraphWalker's words from this byte on. `None` if none follows.
fn find_word(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let mut bytes = text[from..].char_indices().map(|(offset, _)| from + offset);
    bytes.find_map(|start| Some((start, word_at(text, start)?)))
}

/// Returns the word of GraphWalker's that begins at this byte, if white space or `;` comes before it.
fn word_at(text: &str, byte: usize) -> Option<&'static str> {
    let (head, tail) = text.split_at(byte);
    if !head.is_empty() && !head.ends_with(|c: char| c.is_whitespace() || c == ';') {
        return None;
    }
    let goes_on = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_plain =
        |word: &&&str| tail.strip_prefix(**word).is_some_and(|after| word.ends_with(':') || !goes_on(after));
    let is_numbered = |word: &&&str| {
        let Some((start, after)) = tail.split_at_checked(word.len()) else { return false };
        let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start) else { return false };
        let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
        // `/ weight = 5;` assigns to a variable of that name.
        let is_assigned = value[digits..].trim_start().starts_with(';') || head.trim_end().ends_with('/');
        start.eq_ignore_ascii_case(word) && digits > 0 && !goes_on(&value[digits..]) && !is_assigned
    };
    WORDS.iter().find(is_plain).or_else(|| NUMBERED.iter().find(is_numbered)).copied()
}

/// Splits a label from this byte on into words, each with the text up to the next one.
fn split_words(piece: &Piece, from: usize) -> Vec<(&'static str, Piece)> {
    let mut words = Vec::new();
    let mut next = find_word(&piece.text, from);
    while let Some((start, word)) = next {
        next = find_word(&piece.text, start + word.len());
        let end = next.map_or(piece.text.len(), |(start, _)| start);
        words.push((word, piece.part(start..end).trimmed()));
    }
    words
}

fn text_after(word: &str, piece: &Piece) -> Piece {
    piece.part(word.len()..piece.text.len()).trimmed()
}

/// Removes comments. A comment that does not end stays, so that the parser refuses it.
fn without_comments(piece: &Piece) -> Piece {
    let text = &piece.text;
    let mut kept = Piece::default();
    let mut from = 0;
    while let Some(start) = find_comment(&text[from..]) {
        let start = from + start;
        let comment = &text[start..];
        let length = match comment.strip_prefix("/*") {
            // The two signs at each end belong to the comment.
            Some(inner) => inner.find("*/").map(|end| end + 4),
            None => Some(comment.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(comment.len())),
        };
        let Some(length) = length else { break };
        kept.append(&piece.part(from..start));
        from = start + length;
        kept.push(" ", piece.locate(&(start..from)));
    }
    kept.append(&piece.part(from..text.len()));
    kept
}

/// Finds the first comment outside of strings, if any. One to the end of the line begins after a space.
fn find_comment(text: &str) -> Option<usize> {
    let is_after_space = |start: usize| text[..start].chars().next_back().is_none_or(char::is_whitespace);
    // A string ends in its line. Otherwise its quote is an apostrophe.
    let is_in_string = |start: usize| {
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let mut outside = chars_outside_strings(&text[line_start..]).map(|(offset, _)| line_start + offset);
        let rest = text[start..].lines().next().unwrap_or_default();
        rest.contains(['"', '\'']) && !outside.any(|byte| byte == start)
    };
    let line_comments = text.match_indices("//").filter(|(start, _)| is_after_space(*start));
    let comments = line_comments.chain(text.match_indices("/*")).map(|(start, _)| start);
    comments.filter(|start| !is_in_string(*start)).min()
}

/// Reads the label of a vertex: its name, and GraphWalker's words.
pub fn read_vertex_label(piece: &Piece) -> VertexLabel {
    let piece = &without_comments(piece);
    let end = find_word(&piece.text, 0).map_or(piece.text.len(), |(start, _)| start);
    let text = piece.part(0..end).trimmed();
    // The first line is the name. More lines are for people.
    let line = text.text.find('\n').unwrap_or(text.text.len());
    let mut label = VertexLabel { name: text.part(0..line).trimmed(), ..VertexLabel::default() };
    let other_lines = text.part(line..text.text.len()).trimmed();
    if !other_lines.is_empty() {
        label.ignored.push(other_lines);
    }
    for (word, piece) in split_words(piece, end) {
        match word {
            "BLOCKED" => label.blocked = true,
            "SHARED:" => label.shared = Some(text_after(word, &piece).text),
            "INIT:" => label.initial_statements = Some(text_after(word, &piece)),
            _ => label.ignored.push(piece),
        }
    }
    label
}

/// Reads the label of an edge.
pub fn read_edge_label(piece: &Piece) -> Result<Label, LabelMistake> {
    let mut label = Label::default();
    let piece = &without_comments(piece);
    let text = &piece.text;
    // The event ends before a guard, the actions, another line or a word.
    let mut next = text.find(['[', '/', '\n']).unwrap_or(text.len());
    if let Some((word_start, _)) = find_word(text, 0) {
        next = next.min(word_start);
    }
    read_event(&mut label, &piece.part(0..next).trimmed())?;
    let skip_space = |start: usize| start + (text[start..].len() - text[start..].trim_start().len());
    next = skip_space(next);
    if text[next..].starts_with('[') {
        let Some(length) = find_closing(&text[next..]) else {
            let message = "the guard does not end: `]` is missing".to_owned();
            return Err((message, piece.locate(&(next..next + 1))));
        };
        let guard_end = next + length;
        label.guard = Some(piece.part(next + 1..guard_end).trimmed());
        next = skip_space(guard_end + 1);
    }
    // A string in the actions may contain one of the words.
    let mut bytes = chars_outside_strings(&text[next..]).map(|(offset, _)| next + offset);
    let words_start = bytes.find(|byte| word_at(text, *byte).is_some()).unwrap_or(text.len());
    if text[next..].starts_with('/') {
        let mut actions = piece.part(next + 1..words_start).trimmed();
        if label.guard.is_none() {
            label.guard = take_guard_behind(&mut actions);
        }
        label.actions.extend(Some(actions).filter(|actions| !actions.is_empty()));
    } else if !text[next..words_start].trim().is_empty() {
        let unexpected = piece.part(next..words_start).trimmed();
        let message =
            format!("expected `[guard]` or `/ actions` after the event, found `{}`", unexpected.text);
        return Err((message, unexpected.full_range()));
    }
    label.guard = label.guard.filter(|guard| !guard.is_empty());
    for (word, piece) in split_words(piece, words_start) {
        match word {
            "BLOCKED" => label.blocked = true,
            _ => label.ignored.push(piece),
        }
    }
    Ok(label)
}

/// Cuts a guard off the end of actions, if one is there. GraphWalker accepts the parts in any order.
fn take_guard_behind(actions: &mut Piece) -> Option<Piece> {
    let statement_start = actions.text.rfind(';').map_or(0, |semicolon| semicolon + 1);
    let last_statement = actions.part(statement_start..actions.text.len()).trimmed();
    let end = last_statement.text.len().checked_sub(1)?;
    let is_guard = last_statement.text.starts_with('[') && find_closing(&last_statement.text) == Some(end);
    is_guard.then(|| {
        *actions = actions.part(0..statement_start);
        last_statement.part(1..end).trimmed()
    })
}

/// Reads an event: its sign, its name, its parameters.
pub fn read_event(label: &mut Label, piece: &Piece) -> Result<(), LabelMistake> {
    let mut piece = piece.clone();
    if piece.is_empty() {
        return Ok(());
    }
    let first_sign = piece.text.chars().next().and_then(direction_of_sign);
    if first_sign.is_some() {
        piece = piece.part(1..piece.text.len()).trimmed();
    }
    let last_sign = piece.text.chars().next_back().and_then(direction_of_sign);
    if last_sign.is_some() {
        piece = piece.part(0..piece.text.len() - 1).trimmed();
    }
    if first_sign.is_some() && last_sign.is_some() && first_sign != last_sign {
        return Err(("an event with two directions".to_owned(), piece.full_range()));
    }
    label.sign = first_sign.or(last_sign);
    if let Some(open) = piece.text.find('(') {
        if !piece.text.ends_with(')') {
            let message = "the parameters do not end: `)` is missing".to_owned();
            return Err((message, piece.locate(&(open..open + 1))));
        }
        let mut start = open + 1;
        let inner = &piece.text[start..piece.text.len() - 1];
        for part in inner.split(',').filter(|_| !inner.trim().is_empty()) {
            let parameter = piece.part(start..start + part.len()).trimmed();
            start += part.len() + 1;
            let (name, ty) = match parameter.text.find(':') {
                Some(colon) => {
                    let ty = parameter.part(colon + 1..parameter.text.len()).trimmed();
                    (parameter.part(0..colon).trimmed(), Some(ty))
                }
                None => (parameter, None),
            };
            if name.is_empty() {
                return Err(("a parameter without a name".to_owned(), piece.full_range()));
            }
            label.parameters.push((name, ty));
        }
        piece = piece.part(0..open).trimmed();
    }
    if piece.is_empty() {
        return Err(("a sign or parameters without an event".to_owned(), piece.full_range()));
    }
    label.event = Some(piece);
    Ok(())
}

/// Finds the bracket that closes the one with which the text begins. `None` if none does.
fn find_closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, c) in chars_outside_strings(text) {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(offset);
        }
    }
    None
}

/// The characters that are in no string, with their bytes.
fn chars_outside_strings(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut is_escaped) = (None, false);
    text.char_indices().filter(move |(_, c)| {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if *c == '\\' => is_escaped = true,
            Some(opening) => quote = Some(opening).filter(|opening| c != opening),
            None if matches!(c, '"' | '\'') => quote = Some(*c),
            None => return true,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Label {
        read_edge_label(&Piece::plain(text, 0)).unwrap()
    }

    #[test]
    fn labels_are_taken_apart() {
        let label =
            read("?Coin(n: int, kind) [n > 0 && a[1] == 2] / x = x + n; y++\nREQTAG=UC1 weight=0.3 BLOCKED");
        assert_eq!(label.event.unwrap().text, "Coin");
        assert_eq!(label.sign, Some(ActionKind::Input));
        assert_eq!(label.parameters.len(), 2);
        assert_eq!(label.guard.unwrap().text, "n > 0 && a[1] == 2");
        assert_eq!(label.actions[0].text, "x = x + n; y++");
        let ignored = label.ignored.iter().map(|piece| piece.text.as_str());
        assert!(ignored.eq(["REQTAG=UC1", "weight=0.3"]));
        assert!(label.blocked);
        assert_eq!(read("  [x > 0]").event, None);
        assert_eq!(read("/x=1").actions.len(), 1);
        assert_eq!(read("/ x = 1; []").guard, None);
        assert_eq!(read("/ s = \"now BLOCKED\";").actions[0].text, "s = \"now BLOCKED\";");
        assert_eq!(read("[s == ']'] BLOCKED").guard.unwrap().text, "s == ']'");
        assert_eq!(read("/ s = \"a // b\"; // c").actions[0].text, "s = \"a // b\";");
        assert_eq!(read_vertex_label(&Piece::plain("user's /* c */", 0)).name.text, "user's");
        assert_eq!(read(""), Label::default());
        assert!(["a [x", "a(b"].iter().all(|text| read_edge_label(&Piece::plain(text, 0)).is_err()));
        let label = read_vertex_label(&Piece::plain("v_Home\nSHARED:HOME INIT: x=0; y=1;\nand more", 0));
        assert_eq!((label.name.text.as_str(), label.shared.as_deref()), ("v_Home", Some("HOME")));
    }
}
