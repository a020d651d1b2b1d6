//! Types with a bound or with brackets after their first word: lists, options, sets and maps.

use std::ops::Range;
use std::sync::Arc;

use dashu_int::IBig;

use crate::forms::MOST_PARTS;
use crate::reader::lexer::{Token, TokenKind as Lexeme};
use crate::reader::parser::{Mistake, Parser};
use crate::reader::types::{TypeReading, read_bound};
use crate::reader::typing::report;
use crate::reader::yaml::Scalar;
use crate::types::{RecordForm, RecordType, Type};

impl TypeReading<'_, '_> {
    /// Reads `list[8] of T` after its first word.
    pub(super) fn read_list(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, depth: u32) -> Option<Type> {
        self.take_sign(cursor, scalar, "[", "and the bound: `list[8] of T`")?;
        let most = self.read_most(cursor, scalar, "`list[8] of T`")?;
        let element = self.read_type(cursor, scalar, depth + 1)?;
        Some(Type::Record(Arc::new(RecordType::list(most, &element))))
    }

    /// Reads a sign that must come, or reports what comes instead.
    pub(super) fn take_sign(
        &mut self,
        cursor: &mut Parser<'_>,
        scalar: &Scalar,
        sign: &str,
        why: &str,
    ) -> Option<Range<usize>> {
        cursor.need(sign, why).map_err(|mistake| report(self.collector, scalar, *mistake)).ok()
    }

    /// Reads `8] of`, the bound of a list, a set or a map.
    fn read_most(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, like: &str) -> Option<usize> {
        let parsed = parse_most(cursor, like);
        let (most, at) = parsed.map_err(|mistake| report(self.collector, scalar, *mistake)).ok()?;
        let bound = usize::try_from(most.clone()).ok().filter(|most| (1..=MOST_PARTS).contains(most));
        if bound.is_none() {
            let message = format!("the bound of a list, a set or a map is 1 to {MOST_PARTS}, not {most}");
            self.collector.error("list-bound", message, &scalar.place(&at), "not a possible bound");
        }
        bound
    }

    /// Reads `set[K]`, `map[K] of V`, `set[8] of K` or `map[8] of K to V` after its first word.
    pub(super) fn read_keyed(
        &mut self,
        word: &str,
        cursor: &mut Parser<'_>,
        scalar: &Scalar,
        depth: u32,
    ) -> Option<Type> {
        let has_bound = matches!(
            cursor.tokens.get(cursor.next + 1).map(|token| &token.kind),
            Some(Lexeme::Integer(_) | Lexeme::Sign("-"))
        );
        let like = match (word, has_bound) {
            ("set", false) => "`set[K]`",
            ("set", true) => "`set[8] of K`",
            (_, false) => "`map[K] of V`",
            (_, true) => "`map[8] of K to V`",
        };
        self.take_sign(cursor, scalar, "[", &format!("and the keys' type: {like}"))?;
        let most = if has_bound { Some(self.read_most(cursor, scalar, like)?) } else { None };
        let key_start = cursor.peek().map_or(0, |token| token.span.start);
        let key = self.read_type(cursor, scalar, depth + 1)?;
        let key_end = match has_bound {
            true => cursor.peek().map_or(scalar.text.len(), |token| token.span.start),
            false => {
                self.take_sign(cursor, scalar, "]", "after the keys' type: `map[K] of V`, `set[K]`")?.start
            }
        };
        // In `map[8] of K to V` the word `of` stands before the keys already.
        let joint = if has_bound { "to" } else { "of" };
        let value = match (word, cursor.peek()) {
            ("set", _) => None,
            (_, Some(Token { kind: Lexeme::Name(of), .. })) if of == joint => {
                cursor.take();
                let at = cursor.peek().map_or(0..0, |token| token.span.clone());
                let value = self.read_type(cursor, scalar, depth + 1)?;
                if matches!(&value, Type::Record(of) if of.form == RecordForm::Option) {
                    let message = "a map cannot have options as values: leave keys without a value out";
                    self.collector.error("nested-option", message, &scalar.place(&at), "an option");
                    return None;
                }
                Some(value)
            }
            _ => {
                let mistake = cursor.expected(&format!("`{joint}` and the values' type: {like}"));
                report(self.collector, scalar, *mistake);
                return None;
            }
        };
        if let Some(most) = most {
            if key.is_ordered() || key.is_id() {
                return Some(Type::Record(Arc::new(RecordType::entries_of(most, &key, value.as_ref()))));
            }
            let of = value.as_ref().map_or(String::new(), |value| format!(" of {value}"));
            let message = format!("the keys of a {word} with a bound are strings, ids or numbers, not {key}");
            let help = format!(
                "for keys that are an enumeration, `bool` or a range, leave out the bound: `{word}[{key}]{of}`"
            );
            let place = scalar.place(&(key_start..key_end));
            self.collector.mistake("key-type", message, &place, "other keys", help);
            return None;
        }
        // Without a bound there is a field for each key, so the keys must be few.
        let is_simple = matches!(key, Type::Bool | Type::Enum(_) | Type::Range(..));
        let ty = RecordType::keyed(&key, value.as_ref()).filter(|_| is_simple);
        if ty.is_none() {
            let many =
                key.cardinality().filter(|_| is_simple).map(|count| format!(", but {key} has {count}"));
            let message = format!(
                "the keys of a {word} are an enumeration, `bool` or a range, of at most {MOST_PARTS} values{}",
                many.unwrap_or_else(|| format!(", not {key}"))
            );
            let place = scalar.place(&(key_start..key_end));
            match key.is_ordered() || key.is_id() {
                true => {
                    let to = value.as_ref().map_or(String::new(), |value| format!(" to {value}"));
                    let help = format!("give the most keys: `{word}[8] of {key}{to}`");
                    self.collector.mistake("key-type", message, &place, "needs a bound", help);
                }
                false => self.collector.error("key-type", message, &place, "other keys"),
            }
        }
        ty.map(|ty| Type::Record(Arc::new(ty)))
    }

    /// Reads `option[T]` after its first word.
    pub(super) fn read_option(
        &mut self,
        cursor: &mut Parser<'_>,
        scalar: &Scalar,
        depth: u32,
    ) -> Option<Type> {
        self.take_sign(cursor, scalar, "[", "and the type of the value: `option[T]`")?;
        let at = cursor.peek().map_or(0..0, |token| token.span.clone());
        let some = self.read_type(cursor, scalar, depth + 1)?;
        self.take_sign(cursor, scalar, "]", "after the type of the value")?;
        if matches!(&some, Type::Record(of) if of.form == RecordForm::Option) {
            let message = "an option cannot contain an option: `null` would be ambiguous in messages";
            self.collector.error("nested-option", message, &scalar.place(&at), "already an option");
            return None;
        }
        Some(Type::Record(Arc::new(RecordType::option(&some))))
    }
}

/// Parses `8] of`. Returns the bound, which may be impossible, and its place.
fn parse_most(cursor: &mut Parser<'_>, like: &str) -> Result<(IBig, Range<usize>), Box<Mistake>> {
    let at = cursor.peek().map_or(0..0, |token| token.span.clone());
    if !matches!(cursor.peek(), Some(Token { kind: Lexeme::Integer(_) | Lexeme::Sign("-"), .. })) {
        return Err(cursor.expected(&format!("the bound: {like}")));
    }
    let most = read_bound(cursor)?;
    cursor.need("]", "after the bound")?;
    match cursor.peek() {
        Some(Token { kind: Lexeme::Name(of), .. }) if of == "of" => cursor.take(),
        _ => return Err(cursor.expected(&format!("`of` and the elements' type: {like}"))),
    };
    Ok((most, at))
}
