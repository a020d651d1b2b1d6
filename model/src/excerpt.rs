//! Excerpts of outside texts for messages, and lists in a sentence.

use crate::limits::LONGEST_TEXT;

/// Cuts a text to the length that fits a message. Tabs, and invisible signs outside of ASCII, are escaped.
pub fn shortened(text: &str) -> String {
    let (text, end) = match text.char_indices().nth(LONGEST_TEXT) {
        Some((at, _)) => (&text[..at], "..."),
        None => (text, ""),
    };
    let mut shown = String::new();
    for sign in text.chars() {
        match sign.is_ascii() && sign != '\t' {
            true => shown.push(sign),
            // A mark that belongs to a letter is not invisible, but would be without the letter.
            false => shown.extend(String::from_iter(['a', sign]).escape_debug().skip(1)),
        }
    }
    shown + end
}

/// Lists texts in a sentence: `a, b or c` with the last word `or`.
pub fn join_words(texts: &[String], last_word: &str) -> String {
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {last_word} {last}", others.join(", ")),
        _ => texts.concat(),
    }
}

/// Describes a sign that only looks like a sign of ASCII: "`−` (U+2212) only looks like `-`".
pub fn describe_look_alike(sign: char) -> Option<String> {
    const SIGNS: [(&str, char); 6] = [
        ("\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}\u{ff0d}", '-'),
        ("\u{2018}\u{2019}\u{2032}", '\''),
        ("\u{201c}\u{201d}\u{201e}\u{2033}", '"'),
        ("\u{ff1a}\u{2236}", ':'),
        ("\u{ff0c}\u{201a}", ','),
        ("\u{2024}\u{ff0e}", '.'),
    ];
    let (_, ascii) = SIGNS.iter().find(|(signs, _)| signs.contains(sign))?;
    Some(format!("`{sign}` (U+{:04X}) only looks like `{ascii}`", u32::from(sign)))
}
