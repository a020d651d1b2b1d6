//! Types with a bound or with brackets behind their first word: lists, options, sets and maps.

use std::ops::Range;
use std::sync::Arc;

use dashu::integer::IBig;

use crate::forms::MOST_PARTS;
use crate::reader::lexer::{Token, TokenKind as Lexeme};
use crate::reader::parser::{Mistake, Parser};
use crate::reader::types::{Reading, bound};
use crate::reader::typing::report;
use crate::reader::yaml::Scalar;
use crate::types::{RecordForm, RecordType, Type};

impl Reading<'_, '_> {
    /// `list[8] of T`, behind its first word.
    pub(super) fn list(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, depth: u32) -> Option<Type> {
        let most: Result<(IBig, Range<usize>), Box<Mistake>> = (|| {
            cursor.need("[", "and the most elements: `list[8] of T`")?;
            let at = cursor.peek().map_or(0..0, |token| token.span.clone());
            if !matches!(cursor.peek(), Some(Token { kind: Lexeme::Integer(_) | Lexeme::Sign("-"), .. })) {
                return Err(cursor.expected("the most elements: `list[8] of T`"));
            }
            let most = bound(cursor)?;
            cursor.need("]", "after the most elements")?;
            match cursor.peek() {
                Some(Token { kind: Lexeme::Name(of), .. }) if of == "of" => cursor.take(),
                _ => return Err(cursor.expected("`of` and the elements' type: `list[8] of T`")),
            };
            Ok((most, at))
        })();
        let (most, at) = match most {
            Ok(most) => most,
            Err(mistake) => {
                report(self.collector, scalar, *mistake);
                return None;
            }
        };
        let element = self.ty(cursor, scalar, depth + 1)?;
        match usize::try_from(most.clone()).ok().filter(|most| (1..=MOST_PARTS).contains(most)) {
            Some(most) => Some(Type::Record(Arc::new(RecordType::list(most, &element)))),
            None => {
                let message = format!("a list has at most 1 to {MOST_PARTS} elements, and not {most}");
                self.collector.error("list-bound", message, &scalar.place(&at), "another bound");
                None
            }
        }
    }

    /// `set[K]` or `map[K] of V`, behind its first word.
    pub(super) fn keyed(
        &mut self,
        word: &str,
        cursor: &mut Parser<'_>,
        scalar: &Scalar,
        depth: u32,
    ) -> Option<Type> {
        let like = if word == "set" { "`set[K]`" } else { "`map[K] of V`" };
        let needed = |this: &mut Self, cursor: &mut Parser<'_>, sign: &str, why: &str| {
            cursor.need(sign, why).map_err(|mistake| report(this.collector, scalar, *mistake)).ok()
        };
        needed(self, cursor, "[", &format!("and the keys' type: {like}"))?;
        let from = cursor.peek().map_or(0, |token| token.span.start);
        let key = self.ty(cursor, scalar, depth + 1)?;
        let to = needed(self, cursor, "]", "after the keys' type: `map[K] of V`, `set[K]`")?.start;
        let value = match (word, cursor.peek()) {
            ("set", _) => None,
            (_, Some(Token { kind: Lexeme::Name(of), .. })) if of == "of" => {
                cursor.take();
                let at = cursor.peek().map_or(0..0, |token| token.span.clone());
                let value = self.ty(cursor, scalar, depth + 1)?;
                if matches!(&value, Type::Record(of) if of.form == RecordForm::Option) {
                    let message = "a map to an option: what has no value need not be in the map";
                    self.collector.error("nested-option", message, &scalar.place(&at), "an option");
                    return None;
                }
                Some(value)
            }
            _ => {
                let mistake = cursor.expected("`of` and the values' type: `map[K] of V`");
                report(self.collector, scalar, *mistake);
                return None;
            }
        };
        let is_simple = matches!(key, Type::Bool | Type::Enum(_) | Type::Range(..));
        let ty = RecordType::keyed(&key, value.as_ref()).filter(|_| is_simple);
        if ty.is_none() {
            let many =
                key.cardinality().filter(|_| is_simple).map(|count| format!(", and {key} has {count}"));
            let message = format!(
                "the keys of a {word} are an enumeration, `bool` or a range, of at most {MOST_PARTS} values{}",
                many.unwrap_or_else(|| format!(", and not {key}"))
            );
            let label = if key.is_id() { "an id is no key: keep ids in a list" } else { "other keys" };
            self.collector.error("key-type", message, &scalar.place(&(from..to)), label);
        }
        ty.map(|ty| Type::Record(Arc::new(ty)))
    }

    /// `option[T]`, behind its first word.
    pub(super) fn option(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, depth: u32) -> Option<Type> {
        let open = cursor.need("[", "and the type of the value: `option[T]`");
        if let Err(mistake) = open {
            report(self.collector, scalar, *mistake);
            return None;
        }
        let at = cursor.peek().map_or(0..0, |token| token.span.clone());
        let some = self.ty(cursor, scalar, depth + 1)?;
        if let Err(mistake) = cursor.need("]", "after the type of the value") {
            report(self.collector, scalar, *mistake);
            return None;
        }
        if matches!(&some, Type::Record(of) if of.form == RecordForm::Option) {
            let message = "an option of an option: `none` of which one is `null`, where it is sent?";
            self.collector.error("nested-option", message, &scalar.place(&at), "already an option");
            return None;
        }
        Some(Type::Record(Arc::new(RecordType::option(&some))))
    }
}
