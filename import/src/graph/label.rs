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
    pub first: Option<Piece>,
    pub blocked: bool,
    pub ignored: Vec<Piece>,
}

pub type LabelMistake = (String, Range<usize>);

/// Words that are written in exactly these letters.
const WORDS: [&str; 6] = ["BLOCKED", "BACKTRACK", "BACKTRACKING", "SHARED:", "INIT:", "REQTAG"];

/// Words with a number, in small or capital letters: `weight=0.3`, `Dependency = 50`.
const NUMBERED: [&str; 2] = ["weight", "dependency"];

/// Finds the first of GraphWalker's words from this byte on.
fn find_word(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let is_start = |byte: usize| byte == 0 || text[..byte].ends_with(|c: char| c.is_whitespace() || c == ';');
    let mut starts =
        text[from..].char_indices().map(|(offset, _)| from + offset).filter(|byte| is_start(*byte));
    starts.find_map(|start| Some((start, word_at(text, start)?)))
}

/// The word of GraphWalker's that begins at this byte.
fn word_at(text: &str, byte: usize) -> Option<&'static str> {
    let tail = &text[byte..];
    let goes_on = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_plain =
        |word: &&&str| tail.strip_prefix(**word).is_some_and(|after| word.ends_with(':') || !goes_on(after));
    let is_numbered = |word: &&&str| {
        let Some((start, after)) = tail.split_at_checked(word.len()) else { return false };
        let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start) else { return false };
        let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
        // `/ weight = 5;` assigns to a variable of that name.
        let is_assigned =
            value[digits..].trim_start().starts_with(';') || text[..byte].trim_end().ends_with('/');
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
    while let Some(start) = text[from..].find("/*").into_iter().chain(find_line_comment(&text[from..])).min()
    {
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

fn find_line_comment(text: &str) -> Option<usize> {
    let is_after_space = |start: usize| text[..start].chars().next_back().is_none_or(char::is_whitespace);
    text.match_indices("//").map(|(start, _)| start).find(|start| is_after_space(*start))
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
            "INIT:" => label.first = Some(text_after(word, &piece)),
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
    if let Some((word, _)) = find_word(text, 0) {
        next = next.min(word);
    }
    read_event(&mut label, &piece.part(0..next).trimmed())?;
    let skip_space = |start: usize| start + (text[start..].len() - text[start..].trim_start().len());
    next = skip_space(next);
    if text[next..].starts_with('[') {
        let Some(length) = find_closing(&text[next..]) else {
            let message = "the guard does not end: `]` is missing".to_owned();
            return Err((message, piece.locate(&(next..next + 1))));
        };
        let end = next + length;
        label.guard = Some(piece.part(next + 1..end).trimmed()).filter(|guard| !guard.is_empty());
        next = skip_space(end + 1);
    }
    let end = find_word(text, next).map_or(text.len(), |(word, _)| word);
    if text[next..].starts_with('/') {
        let mut actions = piece.part(next + 1..end).trimmed();
        // GraphWalker's parser accepts the parts in any order, so a guard may be after the actions.
        let last = actions.text.rfind(';').map_or(0, |semicolon| semicolon + 1);
        let other_text = actions.part(last..actions.text.len()).trimmed();
        if label.guard.is_none()
            && other_text.text.starts_with('[')
            && find_closing(&other_text.text) == Some(other_text.text.len() - 1)
        {
            label.guard = Some(other_text.part(1..other_text.text.len() - 1).trimmed());
            actions = actions.part(0..last);
        }
        if !actions.is_empty() {
            label.actions.push(actions);
        }
    } else if !text[next..end].trim().is_empty() {
        let other_text = piece.part(next..end).trimmed();
        let message =
            format!("expected `[guard]` or `/ actions` after the event, found `{}`", other_text.text);
        return Err((message, other_text.full_range()));
    }
    for (word, piece) in split_words(piece, end) {
        match word {
            "BLOCKED" => label.blocked = true,
            _ => label.ignored.push(piece),
        }
    }
    Ok(label)
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

/// Finds the bracket that closes the one with which the text begins.
fn find_closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, c) in text.char_indices() {
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
        assert_eq!(
            label.ignored.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(),
            ["REQTAG=UC1", "weight=0.3"]
        );
        assert!(label.blocked);
        assert_eq!(read("  [x > 0]").event, None);
        assert_eq!(read("/x=1").actions.len(), 1);
        assert_eq!(read(""), Label::default());
        assert!(
            read_edge_label(&Piece::plain("a [x", 0)).is_err()
                && read_edge_label(&Piece::plain("a(b", 0)).is_err()
        );
        let label = read_vertex_label(&Piece::plain("v_Home\nSHARED:HOME INIT: x=0; y=1;\nand more", 0));
        assert_eq!((label.name.text.as_str(), label.shared.as_deref()), ("v_Home", Some("HOME")));
    }
}
