//! Hidden signs, which a terminal must not get from a file: signs that draw nothing, but command.
//!
//! A message repeats text of the user, and so does the drawing of a line. An escape character in it would
//! move the cursor, set the title of the window or erase earlier output. A sign that turns the direction of
//! writing shows another text than the one that is read. A sign of no width makes two names look alike. Such
//! signs are shown by their numbers, as `\u{1b}`, also in pictures, which are text to be read too. Line feeds
//! and tabs stay, since they are layout. A document keeps its texts: there such a sign is written with the
//! escape of the format.

use std::borrow::Cow;

/// Shows every hidden sign of the text by its number.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for (start, sign) in text.char_indices() {
        if is_hidden(sign, &text[start + sign.len_utf8()..]) {
            visible.extend(sign.escape_unicode());
        } else {
            visible.push(sign);
        }
    }
    Cow::Owned(visible)
}

/// Like [`visible`], for a text that is one line, such as a message with the name of a file. Line feeds and
/// tabs do not belong to the layout there, and are shown by their escapes.
pub fn visible_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in visible(text).chars() {
        match sign {
            '\n' | '\r' | '\t' => shown.extend(sign.escape_default()),
            sign => shown.push(sign),
        }
    }
    shown
}

/// How many bytes [`visible`] makes of the first `end` bytes of the text.
pub fn visible_length(text: &str, end: usize) -> usize {
    let shown_length = |(start, sign): (usize, char)| match is_hidden(sign, &text[start + sign.len_utf8()..])
    {
        true => sign.escape_unicode().count(),
        false => sign.len_utf8(),
    };
    text.char_indices().take_while(|(start, _)| *start < end).map(shown_length).sum()
}

/// Writes every hidden sign of a JSON document with JSON's own escape: the document reads as the same. Such
/// signs are in its strings only.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for sign in text.chars() {
        if is_hidden(sign, "") {
            // JSON writes a sign above U+FFFF as two escapes.
            for unit in sign.encode_utf16(&mut [0; 2]) {
                visible.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            visible.push(sign);
        }
    }
    Cow::Owned(visible)
}

/// Is it a sign that commands and draws nothing?
pub fn is_hidden_sign(sign: char) -> bool {
    is_hidden(sign, "")
}

fn has_hidden(text: &str) -> bool {
    // Nearly every text has only these bytes, and that is checked quickly.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    !text.bytes().all(is_plain)
        && text.char_indices().any(|(start, sign)| is_hidden(sign, &text[start + sign.len_utf8()..]))
}

/// Is it a sign that is not drawn? `following` is the text after it.
fn is_hidden(sign: char, following: &str) -> bool {
    match sign {
        '\n' | '\t' => false,
        // The first half of a line's end, where files come from Windows.
        '\r' => !following.starts_with('\n'),
        // Soft hyphen, Arabic letter mark, Mongolian vowel separator, Hangul fillers.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // No width, and the two directions.
        '\u{200b}'..='\u{200f}' => true,
        // Line and paragraph separator; embeddings and overrides of the direction.
        '\u{2028}'..='\u{202e}' => true,
        // Joiners, invisible operators, isolates of the direction; the mark of the byte order.
        '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        // Interlinear annotations, tags.
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        // The last two numbers of each plane of Unicode are no characters.
        _ => sign.is_control() || u32::from(sign) & 0xfffe == 0xfffe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_the_terminal_are_shown_by_their_numbers() {
        let cases = [
            ("\u{1b}[2Jclean", "\\u{1b}[2Jclean"),
            ("bell\u{7} and delete\u{7f}", "bell\\u{7} and delete\\u{7f}"),
            ("one byte for two: \u{9b}31m", "one byte for two: \\u{9b}31m"),
            ("over\rwritten", "over\\u{d}written"),
            ("a\u{202e}b\u{2066}c\u{200b}d", "a\\u{202e}b\\u{2066}c\\u{200b}d"),
        ];
        for (written, shown) in cases {
            assert_eq!(visible(written), shown);
            assert_eq!(visible_length(written, written.len()), shown.len());
        }
    }

    #[test]
    fn a_line_stays_one() {
        assert_eq!(visible_line("a\nb\r\n\tc\u{1b}"), "a\\nb\\r\\n\\tc\\u{1b}");
    }

    #[test]
    fn a_document_keeps_its_texts() {
        let text = "{\"a\": \"x\u{202e}y\u{9b}z\u{e0041}\u{ffff}é\"}\n";
        let shown = visible_json(text);
        assert_eq!(shown, "{\"a\": \"x\\u202ey\\u009bz\\udb40\\udc41\\uffffé\"}\n");
        assert!(!has_hidden(&shown));
    }

    #[test]
    fn what_is_drawn_stays() {
        for text in ["", "vPaid >= 0\n\tnext", "from Windows\r\n", "Größe, 価格, ☕"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
            assert_eq!(visible_length(text, text.len()), text.len());
        }
    }

    #[test]
    fn a_place_moves_with_what_stands_before_it() {
        let text = "a\u{1b}bc";
        assert_eq!([0, 1, 2, 3].map(|at| visible_length(text, at)), [0, 1, 7, 8]);
        assert_eq!(&visible(text)[7..8], "b");
    }
}
