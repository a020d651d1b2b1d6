//! Operations on strings: their arguments, their results, and where they have a value.
//!
//! A string is a sequence of characters, that is, of Unicode scalar values. A position is counted in
//! characters, from 0. An operation has a value wherever its arguments have one. The exceptions are `s[i]`
//! and `s[i..j]`, which ask that the positions lie within the string.

use std::sync::Arc;

use dashu_int::IBig;

use crate::budget;
use crate::regular::{self, RegularExpression};
use crate::term::Term;
use crate::term::evaluate::is_too_long;
use crate::term::node::{Comparison, Node};
use crate::types::Type;
use crate::value::Value;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StringOperation {
    /// `len(s)`
    Length,
    /// `s + t`
    Concatenate,
    /// `s[i]`: the string of one character; undefined unless `0 <= i < len(s)`.
    At,
    /// `s[i..j]`: the characters from `i` on, before `j`; undefined unless `0 <= i <= j <= len(s)`.
    Slice,
    /// `starts_with(s, t)`
    StartsWith,
    /// `ends_with(s, t)`
    EndsWith,
    /// `contains(s, t)`
    Contains,
    /// `index_of(s, t)`: the first position of `t` in `s`, or -1 if it is not in `s`.
    IndexOf,
    /// `to_int(s)`: the number whose decimal digits are `s`, or -1 if `s` is empty or has another character.
    ToInteger,
    /// `to_string(n)`: the decimal digits of an integer, with its sign where it is negative.
    FromInteger,
    /// `matches(s, "...")`: the whole of `s` is a word of the [regular expression](crate::regular).
    Matches,
}

/// The operations that are written as functions, by their names.
pub const FUNCTIONS: [(&str, StringOperation); 8] = [
    ("len", StringOperation::Length),
    ("starts_with", StringOperation::StartsWith),
    ("ends_with", StringOperation::EndsWith),
    ("contains", StringOperation::Contains),
    ("index_of", StringOperation::IndexOf),
    ("to_int", StringOperation::ToInteger),
    ("to_string", StringOperation::FromInteger),
    ("matches", StringOperation::Matches),
];

impl StringOperation {
    /// Its name, if it is written as a function.
    pub fn function(self) -> Option<&'static str> {
        FUNCTIONS.into_iter().find(|(_, operation)| *operation == self).map(|(name, _)| name)
    }

    /// The sorts of its arguments, in order.
    pub fn arguments(self) -> &'static [Type] {
        match self {
            StringOperation::Length | StringOperation::ToInteger => &[Type::String],
            StringOperation::FromInteger => &[Type::Int],
            StringOperation::At => &[Type::String, Type::Int],
            StringOperation::Slice => &[Type::String, Type::Int, Type::Int],
            _ => &[Type::String, Type::String],
        }
    }

    pub fn result(self) -> Type {
        match self {
            StringOperation::Length | StringOperation::IndexOf | StringOperation::ToInteger => Type::Int,
            StringOperation::StartsWith
            | StringOperation::EndsWith
            | StringOperation::Contains
            | StringOperation::Matches => Type::Bool,
            _ => Type::String,
        }
    }
}

impl Term {
    /// Builds an operation on strings. Literals are folded, also those that a concatenation ends with.
    pub fn on_strings(operation: StringOperation, arguments: &[Term]) -> Term {
        assert!(arguments.iter().map(Term::sort).eq(operation.arguments()), "{operation:?} of {arguments:?}");
        let values: Option<Vec<Value>> =
            arguments.iter().map(|term| term.written_literal().cloned()).collect();
        if let Some(value) = values.and_then(|values| on_values(operation, &values))
            && !is_too_long(&value)
        {
            return Term::literal(value);
        }
        if let (StringOperation::Concatenate, [a, b]) = (operation, arguments) {
            let empty = Term::literal(Value::string(""));
            for (part, other) in [(a, b), (b, a)] {
                if *part == empty {
                    return other.clone();
                }
            }
            // `(s + "a") + "b"` is `s + "ab"`: an effect repeated around a loop stays small.
            if let Some(Node::OnStrings(StringOperation::Concatenate, inner)) = a.written()
                && inner[1].written_literal().is_some()
                && b.written_literal().is_some()
            {
                let end = Term::on_strings(operation, &[inner[1].clone(), b.clone()]);
                // Two literals stay apart only if together they are too long.
                if end.written_literal().is_some() {
                    return Term::on_strings(operation, &[inner[0].clone(), end]);
                }
            }
        }
        Term::make(Node::OnStrings(operation, arguments.to_vec()), operation.result())
    }

    /// `len(s)`
    #[must_use]
    pub fn length(&self) -> Term {
        Term::on_strings(StringOperation::Length, std::slice::from_ref(self))
    }
}

/// The expression of a `matches`, from its arguments.
pub fn expression(arguments: &[Term]) -> Option<RegularExpression> {
    let [_, expression] = arguments else { return None };
    let Some(Value::String(text)) = expression.as_literal() else { return None };
    RegularExpression::parse(text).ok()
}

/// The condition that the operation puts on its arguments: positions lie within the string.
pub(crate) fn own_condition(operation: StringOperation, arguments: &[Term]) -> Term {
    let at_most = |a: &Term, b: &Term| Term::compare(Comparison::AtMost, a, b);
    match (operation, arguments) {
        (StringOperation::At, [s, i]) => {
            Term::and([at_most(&Term::int(0), i), Term::compare(Comparison::Less, i, &s.length())])
        }
        (StringOperation::Slice, [s, i, j]) => {
            Term::and([at_most(&Term::int(0), i), at_most(i, j), at_most(j, &s.length())])
        }
        _ => Term::yes(),
    }
}

/// Computes the value of the operation, if it has one. A concatenation takes at most one character more than
/// [`budget::MAX_DIGITS`] of its second part. If this leaves some out, the result is too long for any use.
pub fn on_values(operation: StringOperation, arguments: &[Value]) -> Option<Value> {
    use StringOperation as On;
    let count = |text: &str| Value::int(text.chars().count());
    Some(match (operation, arguments) {
        (On::Length, [Value::String(s)]) => count(s),
        (On::Concatenate, [Value::String(s), Value::String(t)]) => {
            let start_of_t = t.chars().take(budget::MAX_DIGITS + 1);
            Value::String(s.chars().chain(start_of_t).collect::<String>().into())
        }
        (On::At, [Value::String(s), Value::Int(i)]) => {
            Value::String(s.chars().nth(as_position(i)?)?.to_string().into())
        }
        (On::Slice, [Value::String(s), Value::Int(i), Value::Int(j)]) => {
            let (i, j) = (as_position(i)?, as_position(j)?);
            let slice: Arc<str> = s.chars().skip(i).take(j.checked_sub(i)?).collect::<String>().into();
            // After the end, `take` would return fewer characters.
            (j <= s.chars().count()).then_some(Value::String(slice))?
        }
        (On::StartsWith, [Value::String(s), Value::String(t)]) => Value::Bool(s.starts_with(&**t)),
        (On::EndsWith, [Value::String(s), Value::String(t)]) => Value::Bool(s.ends_with(&**t)),
        (On::Contains, [Value::String(s), Value::String(t)]) => Value::Bool(s.contains(&**t)),
        (On::IndexOf, [Value::String(s), Value::String(t)]) => match s.find(&**t) {
            Some(at) => count(&s[..at]),
            None => Value::int(-1),
        },
        (On::ToInteger, [Value::String(s)]) => {
            let is_number = !s.is_empty() && s.bytes().all(|byte| byte.is_ascii_digit());
            Value::Int(if is_number { IBig::from_str_radix(s, 10).ok()? } else { IBig::NEG_ONE })
        }
        (On::FromInteger, [Value::Int(n)]) => Value::string(&n.to_string()),
        (On::Matches, [Value::String(s), Value::String(expression)]) => {
            Value::Bool(regular::matches(expression, s)?)
        }
        _ => unreachable!("{operation:?} of {arguments:?}"),
    })
}

/// The number, if it can be a position.
fn as_position(number: &IBig) -> Option<usize> {
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        let s = Value::string("aé😀");
        let on = |operation, more: &[Value]| {
            on_values(operation, &[std::slice::from_ref(&s), more].concat()).map(|value| value.to_string())
        };
        let at = |i: i32| on(StringOperation::At, &[Value::int(i)]);
        let slice = |i: i32, j: i32| on(StringOperation::Slice, &[Value::int(i), Value::int(j)]);
        assert_eq!(on(StringOperation::Length, &[]).as_deref(), Some("3"));
        assert_eq!((at(1).as_deref(), at(3), at(-1)), (Some("\"é\""), None, None));
        assert_eq!((slice(1, 3).as_deref(), slice(3, 3).as_deref()), (Some("\"é😀\""), Some("\"\"")));
        assert_eq!((slice(2, 1), slice(0, 4), slice(-1, 1)), (None, None, None));
        assert_eq!(on(StringOperation::IndexOf, &[Value::string("😀")]).as_deref(), Some("2"));
        assert_eq!(on(StringOperation::IndexOf, &[Value::string("x")]).as_deref(), Some("-1"));
        assert_eq!(on(StringOperation::IndexOf, &[Value::string("")]).as_deref(), Some("0"));
    }

    #[test]
    fn digits_are_those_of_ascii() {
        let number = |s: &str| on_values(StringOperation::ToInteger, &[Value::string(s)]);
        for (s, expected) in
            [("", -1), ("007", 7), ("-1", -1), ("+1", -1), ("1_0", -1), ("٣", -1), (" 1", -1)]
        {
            assert_eq!(number(s), Some(Value::int(expected)), "{s:?}");
        }
        let text = |n: i32| on_values(StringOperation::FromInteger, &[Value::int(n)]);
        assert_eq!((text(-12), text(0)), (Some(Value::string("-12")), Some(Value::string("0"))));
    }
}
