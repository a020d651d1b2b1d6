//! Excerpts of outside texts for messages.

/// Cuts a text to the length that fits a message. Tabs, and invisible signs outside of ASCII, are escaped.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    let (text, end) = match text.char_indices().nth(MOST) {
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
