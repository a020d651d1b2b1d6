//! The types of expressions on strings: functions, regular expressions, `s[i]`, `s[i..j]` and `s + t`.
//! Functions that lists have, too, are passed on if their argument is a list.

use std::ops::Range;

use crate::reader::syntax::{Call, Expression, ExpressionKind};
use crate::reader::typing::{Typing, explain_id};
use crate::regular::RegularExpression;
use crate::term::Term;
use crate::term::node::StringOperation;
use crate::types::Type;
use crate::value::Value;

impl Typing<'_, '_> {
    /// Types a function on strings. If its first argument is a list, a set or a map, the call is passed on.
    pub(super) fn type_string_function(
        &mut self,
        operation: StringOperation,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, _), arguments } = call;
        let sorts = operation.arguments();
        // A loop and no iterator: a function that recurses must need little of the stack.
        let mut given = Vec::new();
        for (position, argument) in arguments.iter().take(sorts.len()).enumerate() {
            let term = self.term(argument);
            if let Some(first) = term.as_ref().filter(|_| position == 0) {
                if first.sort().as_list().is_some() {
                    return self.type_list_function(operation, first, call, whole);
                }
                if first.sort().as_keyed().is_some() {
                    return self.type_keyed_function(operation, first, call, whole);
                }
            }
            given.push(term);
        }
        // The first argument, if it has no mistake, decides which types the others must have.
        if given.first().is_some_and(Option::is_none) || self.refuse_misplaced(operation, call, &given) {
            return None;
        }
        let mut terms = Vec::new();
        for ((term, argument), sort) in given.into_iter().zip(arguments).zip(sorts) {
            terms.push(self.fit_argument(term, argument, sort, name));
        }
        if !self.check_arity(name, arguments, sorts.len(), whole, None) {
            return None;
        }
        let mut terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        self.warn_of_texts(operation, call, whole);
        if operation == StringOperation::Matches {
            terms[1] = self.type_pattern(&terms[1], arguments)?;
        }
        Some(Term::on_strings(operation, &terms))
    }

    /// Does the first argument have a type without such a function, or are the arguments in the wrong order?
    /// Reports it.
    fn refuse_misplaced(&mut self, operation: StringOperation, call: &Call, given: &[Option<Term>]) -> bool {
        let Call { name: (name, _), arguments } = call;
        let text = |position: usize| self.text(&arguments[position].span);
        let (message, label, help) = match (operation, given) {
            (StringOperation::Length, [Some(only)]) if *only.sort() != Type::String => {
                let sort = only.sort();
                let message = format!("`len` needs a string, a list, a set or a map, but this is {sort}");
                let help = match sort {
                    Type::Array(_) => {
                        Some("an array always has an element for each value of its index".to_owned())
                    }
                    _ => explain_id(sort),
                };
                (message, format!("this is {sort}"), help)
            }
            (StringOperation::Contains | StringOperation::IndexOf, [Some(_), Some(second)])
                if second.sort().as_list().is_some() =>
            {
                let help = format!("write `{name}({}, {})`", text(1), text(0));
                (format!("`{name}` takes the list first"), "the list comes after this".to_owned(), Some(help))
            }
            (StringOperation::Contains, [Some(_), Some(second)]) if second.sort().as_keyed().is_some() => {
                let message = "`contains` works only on strings and lists".to_owned();
                let label = format!("{} comes after this", second.sort());
                (message, label, Some(format!("write `{} in {}`", text(0), text(1))))
            }
            _ => return false,
        };
        self.error("type-mismatch", message, &arguments[0].span, label, help);
        true
    }

    /// Warns of a whole text that is a literal, which most likely stands in the wrong place, and of a pattern
    /// that only one text matches.
    fn warn_of_texts(&mut self, operation: StringOperation, call: &Call, whole: &Range<usize>) {
        let Call { name: (name, _), arguments } = call;
        let [Expression { kind: first, .. }, Expression { kind: second, .. }] = arguments.as_slice() else {
            return;
        };
        let text = |position: usize| self.text(&arguments[position].span);
        match (operation, first, second) {
            (StringOperation::StartsWith | StringOperation::EndsWith, ExpressionKind::Text(_), other)
                if !matches!(other, ExpressionKind::Text(_)) =>
            {
                let message = format!("`{name}` takes the whole text first, but here that is a fixed one");
                let help =
                    format!("write `{name}({}, {})` to look for it in `{}`", text(1), text(0), text(1));
                self.warn_of_mistake("swapped-arguments", message, whole, "in this order?", help);
            }
            (StringOperation::Matches, _, ExpressionKind::Text(pattern))
                if !pattern.contains(|c: char| "\\.[](){}*+?|^$".contains(c)) =>
            {
                let message =
                    "the pattern matches only this one text: `matches` compares the whole text".to_owned();
                let (part, whole_text) = (text(1), text(0));
                let help = format!(
                    "write `contains({whole_text}, {part})` to look for it, or `{whole_text} == {part}` to compare"
                );
                self.warn_of_mistake("whole-text", message, &arguments[1].span, "without `.*`", help);
            }
            _ => {}
        }
    }

    /// Reads a regular expression, and writes its shorthands out.
    fn type_pattern(&mut self, term: &Term, arguments: &[Expression]) -> Option<Term> {
        let example =
            "write one such as `\"[a-z]+(?:-[0-9]{1,3})?\"`; it matches the whole string".to_owned();
        let (message, label, help) = match term.as_literal() {
            Some(Value::String(text)) => match RegularExpression::parse(text) {
                Ok(expression) => return Some(Term::literal(Value::string(&expression.to_string()))),
                Err(wrong) => {
                    // The whole string is matched anyway.
                    let inner = text.strip_prefix('^').unwrap_or(text);
                    let inner = inner.strip_suffix('$').unwrap_or(inner);
                    let is_cure = inner.len() < text.len() && RegularExpression::parse(inner).is_ok();
                    let help = if is_cure { format!("write `{}`", Value::string(inner)) } else { example };
                    ("this is not a regular expression".to_owned(), wrong, help)
                }
            },
            _ => {
                let message = "a regular expression must be a string in quotes".to_owned();
                let text = self.text(&arguments[0].span);
                let help = format!(
                    "for a text that a variable `v` holds, write `starts_with({text}, v)`, `ends_with({text}, v)` or `contains({text}, v)`"
                );
                (message, "not a string in quotes".to_owned(), help)
            }
        };
        self.error("regular-expression", message, &arguments[1].span, label, Some(help));
        None
    }

    /// Types `s[i]` of a string.
    pub(super) fn build_character(
        &mut self,
        string: &Term,
        index: &Term,
        span: &Range<usize>,
    ) -> Option<Term> {
        let index = self.fit(index, span, &Type::Int, "the index")?;
        Some(Term::on_strings(StringOperation::At, &[string.clone(), index]))
    }

    /// Types `s[i..j]` of a string, or of a list.
    pub(super) fn type_slice(
        &mut self,
        string: &Expression,
        from: &Expression,
        to: Option<&Expression>,
    ) -> Option<Term> {
        let whole = self.term(string);
        if let Some(list) = whole.as_ref().filter(|term| term.sort().as_list().is_some()) {
            return self.type_list_slice(list, from, to);
        }
        let whole = self.fit_argument(whole, string, &Type::String, "s[i..j]");
        let mut type_index = |tree: &Expression| {
            let index = self.term(tree);
            self.fit_argument(index, tree, &Type::Int, "s[i..j]")
        };
        let first = type_index(from);
        let end = to.map_or_else(|| whole.as_ref().map(Term::length), type_index);
        Some(Term::on_strings(StringOperation::Slice, &[whole?, first?, end?]))
    }

    fn fit_argument(
        &mut self,
        term: Option<Term>,
        tree: &Expression,
        sort: &Type,
        operation: &str,
    ) -> Option<Term> {
        self.fit(&term?, &tree.span, sort, &format!("an argument of `{operation}`"))
    }

    /// Types `s + t`. The caller knows that one of them is a string. If the other is none, reports it.
    pub(super) fn build_concatenation(
        &mut self,
        left: &Term,
        left_at: &Range<usize>,
        right: &Term,
        right_at: &Range<usize>,
    ) -> Option<Term> {
        for (term, at) in [(left, left_at), (right, right_at)] {
            if *term.sort() != Type::String {
                let message = format!("`+` joins two strings, but this is {}", term.sort());
                let help = (*term.sort() == Type::Int).then(|| "`to_string(n)` gives its digits".to_owned());
                let help = help.or_else(|| explain_id(term.sort()));
                self.error("type-mismatch", message, at, format!("this is {}", term.sort()), help);
                return None;
            }
        }
        Some(Term::on_strings(StringOperation::Concatenate, &[left.clone(), right.clone()]))
    }
}
