//! Z3's answers as trees of parentheses, with every name that `let` binds replaced by its value.
//!
//! A value that is used twice is shared: a proof is as long as the run, and without sharing it would be a
//! tree of exponential size. An expression that nests deeper than [`DEEPEST`] is not read, because a walk
//! through it would need a stack as deep.

use std::collections::HashMap;
use std::rc::Rc;

const DEEPEST: usize = 2000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SExpression {
    /// A word, without the bars of a quoted one.
    Word(Rc<str>),
    /// The expressions between two parentheses.
    List(Rc<[SExpression]>),
}

impl SExpression {
    pub fn word(&self) -> Option<&str> {
        match self {
            SExpression::Word(word) => Some(word),
            SExpression::List(_) => None,
        }
    }

    pub fn list(&self) -> Option<&[SExpression]> {
        match self {
            SExpression::Word(_) => None,
            SExpression::List(parts) => Some(parts),
        }
    }

    /// The first word of a list and the expressions after it, if the list begins with a word.
    pub fn applied(&self) -> Option<(&str, &[SExpression])> {
        let (head, rest) = self.list()?.split_first()?;
        Some((head.word()?, rest))
    }

    pub fn is(&self, word: &str) -> bool {
        self.word() == Some(word)
    }
}

/// Reads one expression, and replaces bound names.
pub(super) fn read_expression(text: &str) -> Option<SExpression> {
    resolve_names(&parse_tree(text)?, &mut HashMap::new())
}

/// Parses the parentheses of one expression. `None` for other text, or too deep parentheses.
fn parse_tree(text: &str) -> Option<SExpression> {
    // The lists that are not closed yet, around the expression itself.
    let mut open: Vec<Vec<SExpression>> = vec![Vec::new()];
    let mut unread = text.trim_start();
    while let Some(first) = unread.chars().next() {
        match first {
            '(' => {
                open.push(Vec::new());
                if open.len() > DEEPEST {
                    return None;
                }
                unread = &unread[1..];
            }
            ')' => {
                let list = open.pop()?;
                open.last_mut()?.push(SExpression::List(list.into()));
                unread = &unread[1..];
            }
            '|' => {
                let (word, unread_after) = unread[1..].split_once('|')?;
                open.last_mut()?.push(SExpression::Word(word.into()));
                unread = unread_after;
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || c == '(' || c == ')';
                let (word, unread_after) = unread.split_at(unread.find(ends).unwrap_or(unread.len()));
                open.last_mut()?.push(SExpression::Word(word.into()));
                unread = unread_after;
            }
        }
        unread = unread.trim_start();
    }
    let mut whole = open.pop()?;
    if open.is_empty() && whole.len() == 1 { whole.pop() } else { None }
}

/// Names that are bound, each with the values of the bindings around it, the innermost last.
type LetValues = HashMap<Rc<str>, Vec<SExpression>>;

/// Replaces the names that `let` binds by their values. `None` for a `let` of another form.
fn resolve_names(expression: &SExpression, bound: &mut LetValues) -> Option<SExpression> {
    let parts = match expression {
        SExpression::Word(word) => {
            let value = bound.get(word).and_then(|values| values.last());
            return Some(value.unwrap_or(expression).clone());
        }
        SExpression::List(parts) => parts,
    };
    if parts.first().is_some_and(|head| head.is("let")) {
        let [_, bindings, body] = &parts[..] else { return None };
        let mut values = Vec::new();
        for binding in bindings.list()? {
            let [SExpression::Word(name), value] = binding.list()? else { return None };
            values.push((name.clone(), resolve_names(value, bound)?));
        }
        let names: Vec<Rc<str>> = values.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in values {
            bound.entry(name).or_default().push(value);
        }
        let body = resolve_names(body, bound);
        for name in names {
            bound.get_mut(&name).and_then(Vec::pop);
        }
        return body;
    }
    let parts: Option<Vec<SExpression>> = parts.iter().map(|part| resolve_names(part, bound)).collect();
    Some(SExpression::List(parts?.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

    use super::*;

    #[test]
    fn names_are_replaced_by_the_nearest_binding() {
        let text = "(let ((a (f x))) (and a (let ((a y) (b a)) (g a b)) |a b|))";
        assert_eq!(read_expression(text), read_expression("(and (f x) (g y (f x)) |a b|)"));
        assert_eq!(read_expression(text).unwrap().list().unwrap()[3].word(), Some("a b"));
    }

    #[test]
    fn what_is_no_expression_is_not_read() {
        for text in ["", "(", ")", "a b", "(let (a) a)", "|a", &"(".repeat(5000)] {
            assert_eq!(read_expression(text), None, "{text}");
        }
    }
}
