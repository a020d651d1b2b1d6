//! Expressions that begin with a name, a brace or a bracket: calls, quantifiers, records, arrays, and `(e:
//! T)`.

use std::ops::Range;

use crate::reader::lexer::{Token, TokenKind as Lexeme};
use crate::reader::parser::{Mistake, Parsed, Parser, build_expression};
use crate::reader::syntax::{
    Call, Expression, ExpressionKind, Match, MatchCase, Quantified, QuantifiedValues, RecordFields,
};
use crate::term::operation::Quantifier;

impl Parser<'_> {
    /// Parses an operand that begins with this name, which comes next.
    pub(super) fn parse_named(&mut self, name: &str, span: Range<usize>) -> Parsed {
        match self.kind_ahead(1) {
            Some(Lexeme::Sign("(")) if !(name == "match" && self.is_match()) => self.parse_call(name, span),
            // `match x { some(v) => ... }` has no fields.
            Some(Lexeme::Sign("{"))
                if !self.is_subject() || self.kind_ahead(3) == Some(&Lexeme::Sign(":")) =>
            {
                self.next += 1;
                self.parse_fields(Some((name.to_owned(), span)), None)
            }
            Some(Lexeme::Name(_)) if quantifier_of_word(name).is_some() && self.is_quantifier(name) => {
                self.parse_quantifier()
            }
            Some(Lexeme::Name(_) | Lexeme::Sign("(")) if name == "match" => self.parse_match(),
            _ => {
                self.next += 1;
                build_expression(ExpressionKind::Name(name.to_owned()), span)
            }
        }
    }

    /// Is the value after `match` next?
    fn is_subject(&self) -> bool {
        matches!(self.last_token(1), Some(Token { kind: Lexeme::Name(word), .. }) if word == "match")
    }

    /// Parses a whole expression inside of a form, two levels down: it needs as much of the stack as two
    /// brackets.
    fn parse_part(&mut self) -> Parsed {
        self.enter()?;
        let part = self.parse_inner()?;
        self.leave();
        Ok(part)
    }

    /// Parses a call: its name has been looked at, and is the next token.
    fn parse_call(&mut self, name: &str, name_span: Range<usize>) -> Parsed {
        // The name and its bracket.
        self.next += 2;
        let mut arguments = Vec::new();
        let close = match self.eat(")") {
            Some(close) => close,
            None => loop {
                arguments.push(self.parse_part()?);
                if self.eat(",").is_none() {
                    break self.need(")", "after the arguments")?;
                }
            },
        };
        let span = name_span.start..close.end;
        let call = Call { name: (name.to_owned(), name_span), arguments };
        build_expression(ExpressionKind::Call(Box::new(call)), span)
    }

    /// Parses `all i in 0..3: e`.
    fn parse_quantifier(&mut self) -> Parsed {
        let (word, start) = self.take_name("a quantifier")?;
        let Some(quantifier) = quantifier_of_word(&word) else { return Err(self.expected("a quantifier")) };
        let (name, values) = self.parse_bound("all i in 0..3: ...")?;
        // After one value that is no name, a range may have been meant.
        if matches!(values, QuantifiedValues::Elements(_)) && !self.is_next(":") {
            return Err(self.expected("`..` and the last value: `all i in 0..3: ...`"));
        }
        self.need(":", "after the values")?;
        let body = self.parse_part()?;
        let span = start.start..body.span.end;
        let quantified = Quantified { quantifier, name, of: values, body, element: None };
        build_expression(ExpressionKind::Quantified(Box::new(quantified)), span)
    }

    /// Parses `i in 0..3`.
    fn parse_bound(&mut self, like: &str) -> Parsed<((String, Range<usize>), QuantifiedValues)> {
        let one_key = || "one name goes through the keys of a map: `[m[k] for k in m]`".to_owned();
        // Only in a list does a bracket stand here, as in `[v for (k, v) in m]`.
        let name = self.take_name("a name for the values");
        let name = name.map_err(|wrong| Mistake { help: Some(one_key()), ..*wrong })?;
        match self.peek() {
            Some(Token { kind: Lexeme::Name(word), .. }) if word == "in" => self.take(),
            _ => {
                let mut wrong = self.expected(&format!("`in` and the values: `{like}`"));
                if self.is_next(",") {
                    wrong.help = Some(match (like.starts_with('['), self.last_token(2)) {
                        (false, Some(Token { kind: Lexeme::Name(word), .. })) => {
                            format!("a quantifier has one name: write `{word} x in q: {word} y in q: ...`")
                        }
                        _ => one_key(),
                    });
                }
                return Err(wrong);
            }
        };
        let first = self.parse_range_end()?;
        let values = match (self.eat(".."), first) {
            (Some(_), low) => QuantifiedValues::Between(low, self.parse_range_end()?),
            (None, Expression { kind: ExpressionKind::Name(name), span, .. }) => {
                QuantifiedValues::Type(name, span)
            }
            (None, list) => QuantifiedValues::Elements(list),
        };
        Ok((name, values))
    }

    /// Parses `x in q if c]`, after the element.
    fn parse_comprehension(&mut self, element: Expression, open: &Range<usize>) -> Parsed {
        let like = "[x for x in q if x > 0]";
        let (name, of) = self.parse_bound(like)?;
        let body = match self.eat("if") {
            Some(_) => self.parse_part()?,
            None => build_expression(ExpressionKind::Truth(true), open.clone())?,
        };
        let close = self.need("]", &format!("at the end: `{like}`"))?;
        let quantified =
            Quantified { quantifier: Quantifier::Collect, name, of, body, element: Some(element) };
        build_expression(ExpressionKind::Quantified(Box::new(quantified)), open.start..close.end)
    }

    /// Is this word a quantifier here? A word that a model may use as a name is one only before a name and
    /// `in`.
    fn is_quantifier(&self, word: &str) -> bool {
        let next = self.kind_ahead(2);
        ["all", "some", "count"].contains(&word) || matches!(next, Some(Lexeme::Name(word)) if word == "in")
    }

    /// Parses `match r: Ok(v) -> v | Missing -> 0`.
    fn parse_match(&mut self) -> Parsed {
        let (_, start) = self.take_name("`match`")?;
        let subject = self.parse_range_end()?;
        self.need(":", "after the value: `match r: Ok(v) -> v | Missing -> 0`")?;
        let mut cases = Vec::new();
        let end = loop {
            let alternative =
                self.take_name("an alternative, or `_` for all others").map_err(|mut mistake| {
                    let help =
                        "`match` takes variants and options; for numbers, write `if x == 1 then a else b`";
                    mistake.help.get_or_insert_with(|| help.to_owned());
                    mistake
                })?;
            let mut names = Vec::new();
            if self.eat("(").is_some() {
                loop {
                    names.push(self.take_name("a name for a field")?);
                    if self.eat(",").is_none() {
                        break;
                    }
                }
                self.need(")", "after the names")?;
            }
            self.need("->", "before the value of this case")?;
            let body = self.parse_part()?;
            let end = body.span.end;
            cases.push(MatchCase { alternative, names, body });
            if self.eat("|").is_none() {
                break end;
            }
        };
        build_expression(ExpressionKind::Match(Box::new(Match { subject, cases })), start.start..end)
    }

    /// Do a value in brackets and the cases of a `match` follow? Otherwise it is a call of a function.
    fn is_match(&self) -> bool {
        let mut depth = 0;
        // How many tokens after `match` come before the first `:` outside of brackets, if there is one.
        let end = self.tokens.iter().skip(self.next + 1).position(|token| {
            depth += match token.kind {
                Lexeme::Sign("(" | "[" | "{") => 1,
                Lexeme::Sign(")" | "]" | "}") => -1,
                _ => 0,
            };
            depth < 0 || depth == 0 && token.kind == Lexeme::Sign(":")
        });
        let from_end = |count: usize| end.and_then(|end| self.kind_ahead(1 + end + count));
        // After `:` and an alternative comes `(` or `->`. After `:` and a type comes neither.
        from_end(0) == Some(&Lexeme::Sign(":")) && matches!(from_end(2), Some(Lexeme::Sign("(" | "->")))
    }

    /// Does `is Ok` come next?
    pub(super) fn is_question(&self) -> bool {
        let (word, name) = (self.kind_ahead(0), self.kind_ahead(1));
        matches!(word, Some(Lexeme::Name(word)) if word == "is") && matches!(name, Some(Lexeme::Name(_)))
    }

    /// The kind of the token so many places after the next one.
    fn kind_ahead(&self, count: usize) -> Option<&Lexeme> {
        self.tokens.get(self.next + count).map(|token| &token.kind)
    }

    /// Parses `is`, and the alternative after it.
    pub(super) fn parse_question(&mut self, base: Expression) -> Parsed {
        self.next += 1;
        let (name, place) = self.take_name("an alternative")?;
        if self.is_next("(") {
            let subject = if let ExpressionKind::Name(subject) = &base.kind { subject } else { "x" };
            let help = format!(
                "`is` only asks for the alternative: write `{subject} == {name}(...)` for one value, or `match` for its data"
            );
            return Err(Box::new(Mistake { help: Some(help), ..*self.expected("an operator or the end") }));
        }
        let span = base.span.start..place.end;
        build_expression(ExpressionKind::Is(Box::new(base), name, place), span)
    }

    /// Does `with {` come next?
    pub(super) fn is_update(&self) -> bool {
        let (word, brace) = (self.kind_ahead(0), self.kind_ahead(1));
        matches!(word, Some(Lexeme::Name(word)) if word == "with") && brace == Some(&Lexeme::Sign("{"))
    }

    /// Parses a form that begins with a brace or a bracket.
    pub(super) fn parse_form(&mut self) -> Parsed {
        match self.peek().map(|token| &token.kind) {
            Some(Lexeme::Sign("{")) if !self.is_set() => self.parse_fields(None, None),
            Some(Lexeme::Sign("{")) => self.parse_set(),
            _ => self.parse_elements(),
        }
    }

    /// Does a set begin here? A record's fields have names and colons.
    fn is_set(&self) -> bool {
        let (name, colon) = (self.kind_ahead(1), self.kind_ahead(2));
        !matches!((name, colon), (Some(Lexeme::Name(_)), Some(Lexeme::Sign(":"))))
    }

    /// Parses `{A, B}`, or the entries of a map if a colon follows the first key.
    fn parse_set(&mut self) -> Parsed {
        let open = self.need("{", "")?;
        let mut keys = Vec::new();
        let close = match self.eat("}") {
            Some(close) => close,
            None => loop {
                keys.push(self.parse_part()?);
                if self.is_next(":") && keys.len() == 1 {
                    return self.parse_entries(keys.swap_remove(0), &open, "}");
                }
                if self.eat(",").is_none() {
                    break self.need("}", "after the keys of a set")?;
                }
            },
        };
        build_expression(ExpressionKind::Set(keys), open.start..close.end)
    }

    /// Parses the entries of a map after their first key. Entries in braces, as in JSON, are refused later:
    /// the expected type decides which help is given.
    fn parse_entries(&mut self, first: Expression, open: &Range<usize>, end: &str) -> Parsed {
        let mut entries = Vec::new();
        let mut key = first;
        let close = loop {
            self.need(":", "between a key and its value")?;
            entries.push((key, self.parse_part()?));
            if self.eat(",").is_none() {
                break self.need(end, "after the entries")?;
            }
            key = self.parse_part()?;
        };
        build_expression(ExpressionKind::Entries(entries), open.start..close.end)
    }

    /// Parses the fields of a record, in braces.
    pub(super) fn parse_fields(
        &mut self,
        name: Option<(String, Range<usize>)>,
        base: Option<Expression>,
    ) -> Parsed {
        let open = self.need("{", "before the fields")?;
        let mut fields = Vec::new();
        let close = loop {
            let (field, span) = self.take_name("a field's name")?;
            self.need(":", "after the field's name")?;
            fields.push((field, span, self.parse_part()?));
            if self.eat(",").is_none() {
                break self.need("}", "after the fields")?;
            }
        };
        let start = name.as_ref().map(|(_, span)| span.start).or(base.as_ref().map(|base| base.span.start));
        let span = start.unwrap_or(open.start)..close.end;
        build_expression(ExpressionKind::Fields(Box::new(RecordFields { name, base, fields })), span)
    }

    /// The elements of an array or a list, or the entries of a map, in brackets.
    fn parse_elements(&mut self) -> Parsed {
        let open = self.need("[", "")?;
        if let Some(close) = self.eat("]") {
            return build_expression(ExpressionKind::Listed(Vec::new()), open.start..close.end);
        }
        let first = self.parse_part()?;
        if self.is_next(":") {
            return self.parse_entries(first, &open, "]");
        }
        let mut elements = vec![first];
        if matches!(self.peek(), Some(Token { kind: Lexeme::Name(word), .. }) if word == "for") {
            self.next += 1;
            let element = elements.swap_remove(0);
            match self.peek() {
                Some(Token { kind: Lexeme::Name(word), .. }) if word == "all" => self.take(),
                Some(Token { kind: Lexeme::Name(_) | Lexeme::Sign("("), .. }) => {
                    return self.parse_comprehension(element, &open);
                }
                _ => return Err(self.expected("`all` or a name: `[0 for all]`, `[x for x in q if x > 0]`")),
            };
            let close = self.need("]", "after `for all`")?;
            let kind = ExpressionKind::Filled(Box::new(element));
            return build_expression(kind, open.start..close.end);
        }
        while self.eat(",").is_some() {
            elements.push(self.parse_part()?);
        }
        let close = self.need("]", "after the elements")?;
        build_expression(ExpressionKind::Listed(elements), open.start..close.end)
    }

    /// Parses what follows `(e:`. A type consists of names, brackets and numbers, and is read later.
    pub(super) fn parse_ascribed(&mut self, inner: Expression, start: usize) -> Parsed {
        let type_start = self.peek().map_or(self.text_end, |token| token.span.start);
        let mut ty = type_start..type_start;
        while let Some(token) = self.peek().filter(|token| token.kind != Lexeme::Sign(")")) {
            ty.end = token.span.end;
            self.next += 1;
        }
        let close = self.need(")", "after the type")?;
        build_expression(ExpressionKind::Ascribed(Box::new(inner), ty), start..close.end)
    }
}

fn quantifier_of_word(word: &str) -> Option<Quantifier> {
    match word {
        "all" => Some(Quantifier::All),
        "some" => Some(Quantifier::Some),
        "count" => Some(Quantifier::Count),
        "find" => Some(Quantifier::Find),
        "index" => Some(Quantifier::Index),
        _ => None,
    }
}
