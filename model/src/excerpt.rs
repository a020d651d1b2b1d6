//! Excerpts of outside texts for messages.

/// Cuts a text to the length that fits a message.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
