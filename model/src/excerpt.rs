//! Excerpts of outside texts for messages.

/// Cuts a text to the length that fits a message.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    text.char_indices().nth(MOST).map_or_else(|| text.to_owned(), |(at, _)| format!("{}...", &text[..at]))
}
