//! Reads a path as users write it: names of transitions, with repetitions.
//!
//! ```text
//! path  := item*              items follow each other, with or without commas between them
//! item  := name | "(" path ")" [ "*" number ]
//! ```

use coreach_model::TransitionId;
use coreach_model::limits::DEEPEST;
use coreach_model::timed::Timed;

use super::PathStop;

/// Longer paths are a mistake.
pub const MOST_STEPS: usize = 1_000_000;

/// Finds the transitions of a path that is given by their names, or by their numbers in the file.
pub fn resolve(timed: &Timed, text: &str) -> Result<Vec<TransitionId>, PathStop> {
    let mut words = split_words(text);
    // The reader pops its words, so the first one comes last. It begins outside all brackets.
    words.reverse();
    let path = read_items(timed, &mut words, 0)?;
    words.pop().map_or_else(|| Ok(path), |word| Err(text_error(format!("expected a name, found `{word}`"))))
}

fn text_error(why: impl Into<String>) -> PathStop {
    PathStop::Text { why: why.into() }
}

/// Splits the text into names, numbers and single signs. Commas and spaces separate them.
fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let is_sign = matches!(c, '(' | ')' | '*');
        if (is_sign || c == ',' || c.is_whitespace()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_sign {
            words.push(c.to_string());
        } else if c != ',' && !c.is_whitespace() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Reads items up to a closing bracket, which it leaves, or up to the end. `words` are those that are not
/// read yet, the next one last.
fn read_items(timed: &Timed, words: &mut Vec<String>, depth: usize) -> Result<Vec<TransitionId>, PathStop> {
    if depth > DEEPEST {
        return Err(text_error(format!("brackets are nested more than {DEEPEST} deep")));
    }
    let mut path: Vec<TransitionId> = Vec::new();
    while let Some(word) = words.pop() {
        match word.as_str() {
            "(" => {
                let inner = read_items(timed, words, depth + 1)?;
                if words.pop().as_deref() != Some(")") {
                    return Err(text_error("a bracket is not closed"));
                }
                let times = if words.last().is_some_and(|word| word == "*") {
                    words.pop();
                    let number = words.pop().unwrap_or_default();
                    let times = number.parse::<usize>().ok().filter(|times| *times > 0);
                    times.ok_or_else(|| text_error("expected a number of repetitions after `*`"))?
                } else {
                    1
                };
                let steps = inner.len().saturating_mul(times).saturating_add(path.len());
                if steps > MOST_STEPS {
                    return Err(text_error(format!("it has more than {MOST_STEPS} steps")));
                }
                for _ in 0..times {
                    path.extend(&inner);
                }
            }
            ")" if depth > 0 => {
                words.push(word);
                return Ok(path);
            }
            ")" | "*" => return Err(text_error(format!("expected a name, found `{word}`"))),
            name => {
                let found = timed.transition(name);
                path.push(found.map_err(|known| PathStop::NoTransition { called: name.to_owned(), known })?);
            }
        }
    }
    Ok(path)
}
