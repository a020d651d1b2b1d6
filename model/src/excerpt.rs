//! What messages show of a text that comes from outside: as much as fits.

/// At most so much of a text as fits a message.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
