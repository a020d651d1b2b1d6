//! Expressions from text: precedence climbing over the tokens of [`crate::reader::lexer`].
//!
//! Precedence as in Rust, from weak to tight: `=>` (to the right), `||`, `&&`, comparisons (chains are
//! conjunctions), `k in s`, `+ -`, `* / div mod`, unary `! -`, then `a[i]`, `a[i := e]`, `a[i..j]` and
//! `r.field`. `if c then a else b` and `all i in 0..3: e` take as much as they can on their right. The words
//! `all`, `some`, `count`, `in`, `for` and `with` are no keywords: two names in a row have no other meaning,
//! so data may have these names. Expressions that begin with a name, a brace or a bracket are in `forms.rs`.
//!
//! Three limits keep hostile text from costing more than a message: the text's length, the nesting (a counter
//! that is checked before each descent, so that the stack never decides) and the height of the tree, which is
//! the depth of every later recursion over the term. Chains of `&&`, `||`, `=>` and comparisons are flat and
//! cost one level. Cost: linear in the text. The first mistake of syntax ends the parsing of its expression,
//! since the rest would be guesswork.

use std::ops::Range;

use crate::reader::elsewhere;
use crate::reader::lexer::{Token, TokenKind as Lexeme, tokens};
use crate::reader::syntax::{Expression, ExpressionKind};
use crate::term::node::{Comparison, Operator};
use crate::term::strings::FUNCTIONS;

/// The deepest nesting of brackets, conditionals and prefix signs.
pub const MAX_NESTING: u32 = 200;
/// The greatest height of a syntax tree.
pub const MAX_HEIGHT: u32 = 500;
pub use crate::budget::MAX_DIGITS;

/// A mistake in an expression's form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub code: &'static str,
    pub message: String,
    /// The text under the place.
    pub label: String,
    /// The place, in bytes of the expression.
    pub span: Range<usize>,
    pub help: Option<String>,
}

/// The mistake is boxed to keep the frames of the recursion small.
pub(super) type Parsed<T = Expression> = Result<T, Box<Mistake>>;

/// Parses a text of at most so many bytes.
pub fn parse(text: &str, longest: usize) -> Parsed {
    if text.len() > longest {
        let message = format!("the expression has {} bytes; at most {longest} are read", text.len());
        return Err(syntax_mistake("expression-too-long", message, "too long", 0..text.len()));
    }
    let tokens = tokens(text);
    let mut parser = Parser::new(&tokens, text);
    let expression = parser.parse_operators(Level::Implication)?;
    match parser.tokens.get(parser.next) {
        None => Ok(expression),
        Some(token) => Err(parser.unexpected_after(token)),
    }
}

fn syntax_mistake(
    code: &'static str,
    message: impl Into<String>,
    label: impl Into<String>,
    span: Range<usize>,
) -> Box<Mistake> {
    Box::new(Mistake { code, message: message.into(), label: label.into(), span, help: None })
}

/// A cursor over the tokens of a short text. Types and the `on:` of a transition are read with it, too.
pub struct Parser<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) next: usize,
    /// The end of the text: the place of a token that is missing there.
    pub(super) text_end: usize,
    nesting: u32,
}

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Token], text: &str) -> Self {
        Parser { tokens, next: 0, text_end: text.trim_end().len(), nesting: 0 }
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    pub fn take(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.next);
        self.next += 1;
        token
    }

    /// Takes the sign if it comes next.
    pub fn eat(&mut self, sign: &str) -> Option<Range<usize>> {
        if !self.is_next(sign) {
            return None;
        }
        self.take().map(|token| token.span.clone())
    }

    pub(super) fn is_next(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: Lexeme::Sign(found), .. }) if *found == sign)
    }

    /// Takes the sign, which must come next.
    ///
    /// # Errors
    /// If something else comes, or nothing. `why` says what the sign is needed for.
    pub fn need(&mut self, sign: &str, why: &str) -> Parsed<Range<usize>> {
        self.eat(sign).ok_or_else(|| {
            let mut wrong = self.expected(&format!("`{sign}` {why}"));
            if sign == ")" && self.is_next("->") {
                wrong.help = Some("write `if c then a else b`, or `=>` for an implication".to_owned());
            }
            // Signs and methods that the language lacks have a message of their own, which stays.
            if [")", "]", "}"].contains(&sign)
                && wrong.message.starts_with("expected")
                && let Some(open) = self.find_unclosed()
            {
                wrong.message = format!("{} is never closed: {}", describe_token(open), wrong.message);
                "opened here".clone_into(&mut wrong.label);
                wrong.span = open.span.clone();
            }
            wrong
        })
    }

    /// Does `in` stand somewhere before the next token?
    fn is_behind_in(&self) -> bool {
        let is_in = |token: &Token| matches!(&token.kind, Lexeme::Name(word) if word == "in");
        self.tokens.iter().take(self.next).any(is_in)
    }

    /// The innermost bracket that is never closed. A closing bracket of another kind ends the search.
    fn find_unclosed(&self) -> Option<&'a Token> {
        let mut open: Vec<&Token> = Vec::new();
        for token in self.tokens {
            let Lexeme::Sign(sign) = token.kind else { continue };
            let opening = match sign {
                "(" | "[" | "{" => {
                    open.push(token);
                    continue;
                }
                ")" => Lexeme::Sign("("),
                "]" => Lexeme::Sign("["),
                "}" => Lexeme::Sign("{"),
                _ => continue,
            };
            if open.last().is_some_and(|last| last.kind == opening) {
                open.pop();
            } else if open.iter().any(|token| token.kind == opening) {
                break;
            }
        }
        open.pop()
    }

    /// The place of something that is missing at the end.
    fn end_of_text(&self) -> Range<usize> {
        self.text_end.saturating_sub(1)..self.text_end
    }

    /// Makes the mistake that something else stands here than `what`.
    pub fn expected(&self, what: &str) -> Box<Mistake> {
        let what = what.trim_end();
        match self.peek() {
            None => syntax_mistake(
                "syntax",
                format!("expected {what}, but the text ends"),
                format!("expected {what}"),
                self.end_of_text(),
            ),
            Some(Token { kind: Lexeme::Wrong(message, help), span }) => {
                let mut wrong = syntax_mistake("syntax", message.clone(), "not understood", span.clone());
                if message.contains("U+") && message.contains("letter") {
                    wrong.code = "non-ascii-name";
                }
                wrong.help.clone_from(help);
                wrong
            }
            Some(token) => self.refuse_method().unwrap_or_else(|| {
                let label = format!("expected {what}");
                let message = format!("{label}, found {}", describe_token(token));
                let help = match token.kind {
                    Lexeme::Sign("if") => Some("write `if c then a else b`".to_owned()),
                    Lexeme::Sign(",") if self.is_behind_in() => {
                        Some("write several values in braces: `x in {A, B}`".to_owned())
                    }
                    Lexeme::Sign("..") => Some(self.explain_spread().unwrap_or(elsewhere::RANGE.to_owned())),
                    Lexeme::Sign("+") => Some(
                        "write a number without `+`, and a sum as `x + 1`, also under `assign`".to_owned(),
                    ),
                    Lexeme::Sign("else") => elsewhere::explain_word("otherwise").map(str::to_owned),
                    _ => self.explain_generator(token).or_else(|| self.explain_quantifier()),
                };
                Box::new(Mistake { help, ..*syntax_mistake("syntax", message, label, token.span.clone()) })
            }),
        }
    }

    /// Explains how a list is made from another one, if this token is the sign of `e for x in q` or of
    /// `e | x in q`.
    fn explain_generator(&self, token: &Token) -> Option<String> {
        if token.kind != Lexeme::Name("for".to_owned()) && token.kind != Lexeme::Sign("|") {
            return None;
        }
        // The next tokens are the sign, `x`, `in` and `q`.
        let Lexeme::Name(name) = &self.tokens.get(self.next + 1)?.kind else { return None };
        let values = match self.tokens.get(self.next + 3).map(|token| &token.kind) {
            Some(Lexeme::Name(values)) => values,
            _ => "s",
        };
        // Backwards, the bracket around this place is the first one that is not closed again.
        let mut closed = 0;
        let open = self.tokens[..self.next].iter().rposition(|token| {
            closed += match token.kind {
                Lexeme::Sign(")" | "]" | "}") => 1,
                Lexeme::Sign("(" | "[" | "{") => -1,
                _ => 0,
            };
            closed < 0
        })?;
        let list = format!("[e for {name} in {values}]");
        let word_before = open.checked_sub(1).map(|before| &self.tokens[before].kind);
        Some(match (&self.tokens[open].kind, word_before) {
            (Lexeme::Sign("["), _) => format!("write `[e for {name} in {values} if c]`"),
            (Lexeme::Sign("{"), Some(Lexeme::Name(word))) if word == "in" => {
                format!("only a list is made so: write `contains({list}, k)`")
            }
            (Lexeme::Sign("{"), before) if !matches!(before, Some(Lexeme::Name(_))) => {
                format!("only a list is made so, and no set or map: `{list}`")
            }
            (_, Some(Lexeme::Name(function))) if elsewhere::find_quantifier(function).is_some() => {
                elsewhere::explain_operation(function)?.to_owned()
            }
            (_, Some(Lexeme::Name(function))) => {
                format!("write a list, in brackets: `{function}({list})`")
            }
            _ => format!("write a list, in brackets: `{list}`"),
        })
    }

    /// Explains how a copy of a record is written, if `...r` stands here.
    fn explain_spread(&self) -> Option<String> {
        let [_, point, name, after, ..] = self.tokens.get(self.next..)? else { return None };
        if matches!(after.kind, Lexeme::Sign("." | "[" | "(")) {
            return None;
        }
        let (Lexeme::Sign("."), Lexeme::Name(name)) = (&point.kind, &name.kind) else { return None };
        Some(format!("write `{name} with {{ FIELD: VALUE }}` for a copy with other values of some fields"))
    }

    /// Makes the mistake that the token cannot follow a complete expression.
    fn unexpected_after(&self, token: &Token) -> Box<Mistake> {
        if let Lexeme::Wrong(..) = token.kind {
            return self.expected("an operator");
        }
        if let Some(wrong) = self.refuse_method() {
            return wrong;
        }
        let mut wrong = syntax_mistake(
            "syntax",
            format!("expected an operator or the end, found {}", describe_token(token)),
            "the expression could end before this",
            token.span.clone(),
        );
        wrong.help = match &token.kind {
            Lexeme::Sign(")") => Some("there is no `(` for this `)`".to_owned()),
            Lexeme::Sign("]") => Some("there is no `[` for this `]`".to_owned()),
            Lexeme::Sign("!") => Some("write brackets after `!`, as in `!(k in s)`".to_owned()),
            Lexeme::Sign("(") => Some("only a function can be called, by its name: `f(x)`".to_owned()),
            Lexeme::Sign(":" | "{") if self.tokens[0].kind == Lexeme::Name("match".to_owned()) => Some(
                "write the value between `match` and `:`, and the cases after it, as in `match r: Found(v) -> v > 0 | _ -> \
                 false`"
                    .to_owned(),
            ),
            Lexeme::Sign(":") => {
                Some("write `:` after the values of a quantifier: `all i in 0..3: ...`".to_owned())
            }
            Lexeme::Sign(":=") => {
                Some("write `:=` only in `a[i := e]`, and an assignment as a line under `assign:`".to_owned())
            }
            Lexeme::Sign("|") => {
                Some("write `||` for `or`; `|` only separates the cases of a `match`".to_owned())
            }
            Lexeme::Sign(",") => Some("join conditions with `&&`".to_owned()),
            Lexeme::Name(word) if FUNCTIONS.iter().any(|(known, _)| known == word) => {
                Some(format!("write the function in front: `{word}(x, y)`"))
            }
            Lexeme::Name(word) => match word.to_lowercase().as_str() {
                "and" => Some("write `and` or `&&`".to_owned()),
                "or" => Some("write `or` or `||`".to_owned()),
                _ if let Some(help) = self.explain_quantifier() => Some(help),
                "is" | "equals" => {
                    Some("`==` compares, and `o is A` asks for the alternative of a variant".to_owned())
                }
                _ => match self.last_token(1).map(|token| &token.kind) {
                    Some(Lexeme::Name(word)) => {
                        let help = "write a text in double quotes, and join conditions with `&&`";
                        Some(elsewhere::explain_word(word).unwrap_or(help).to_owned())
                    }
                    _ => None,
                },
            },
            Lexeme::Sign("->") => Some("write `=>` for an implication".to_owned()),
            Lexeme::Sign("then" | "else") => Some("this needs an `if` before it".to_owned()),
            Lexeme::Sign("if") => Some("write `if c then a else b`".to_owned()),
            _ => None,
        };
        wrong
    }

    /// Explains how a quantifier of another language is written here, if its word and a name stand here.
    fn explain_quantifier(&self) -> Option<String> {
        let (Lexeme::Name(word), Lexeme::Name(_)) = (&self.last_token(1)?.kind, &self.peek()?.kind) else {
            return None;
        };
        let quantifier = match word.to_lowercase().as_str() {
            "for" => "all",
            "sum" | "max" | "min" => return Some(format!("write `{word}([e for x in q if c])`")),
            word => elsewhere::find_quantifier(word)?,
        };
        Some(format!("write `{quantifier} i in 0..3: ...`"))
    }

    /// The token so many places before the next one.
    pub(super) fn last_token(&self, count: usize) -> Option<&'a Token> {
        self.tokens.get(self.next.checked_sub(count)?)
    }

    /// Makes the mistake that something is called as a method here, if it is.
    fn refuse_method(&self) -> Option<Box<Mistake>> {
        let (open, point) = (self.peek()?, self.last_token(2)?);
        let Lexeme::Name(name) = &self.last_token(1)?.kind else { return None };
        if (&open.kind, &point.kind) != (&Lexeme::Sign("("), &Lexeme::Sign(".")) {
            return None;
        }
        let span = point.span.start..open.span.end;
        let mut wrong =
            syntax_mistake("syntax", format!("there are no methods such as `.{name}()`"), "a method", span);
        let call = || match FUNCTIONS.iter().any(|(known, _)| *known == name) {
            true => format!("write the function in front, with all its arguments: `{name}(x, ...)`"),
            false => format!("declare such a function under `functions:`, and write `{name}(x)`"),
        };
        wrong.help = Some(elsewhere::explain_operation(name).map_or_else(call, str::to_owned));
        Some(wrong)
    }

    /// Goes one level down, or refuses to, before the stack is used. A mistake ends everything, so only a
    /// return without one needs [`Self::leave`].
    pub(super) fn enter(&mut self) -> Parsed<()> {
        if self.nesting >= MAX_NESTING {
            let span = self.peek().map_or_else(|| self.end_of_text(), |token| token.span.clone());
            let message = format!("the expression is nested more than {MAX_NESTING} deep");
            return Err(syntax_mistake("expression-too-deep", message, "one level too many", span));
        }
        self.nesting += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.nesting -= 1;
    }

    /// Parses a whole expression, one level down.
    pub(super) fn parse_inner(&mut self) -> Parsed {
        self.enter()?;
        let inner = self.parse_operators(Level::Implication)?;
        self.leave();
        Ok(inner)
    }

    /// Parses operands joined by operators that bind at least this tightly.
    ///
    /// One function serves all levels, for the sake of the stack: a bracket costs four frames, not nine.
    fn parse_operators(&mut self, at_least: Level) -> Parsed {
        let mut expression = self.parse_unary()?;
        while let Some((level, sign)) = self.peek_operator().filter(|(level, _)| *level >= at_least) {
            expression = match level {
                // Chains of these are flat.
                Level::Implication | Level::Disjunction | Level::Conjunction => {
                    let mut parts = vec![expression];
                    while self.eat(sign).is_some() {
                        parts.push(self.parse_operators(level.tighter())?);
                    }
                    build_junction(level, parts)?
                }
                Level::Comparison => {
                    let mut others = Vec::new();
                    while let Some(comparison) = self.take_comparison() {
                        others.push((comparison, self.parse_operators(Level::Membership)?));
                    }
                    build_comparison(expression, others)?
                }
                Level::Membership => {
                    self.next += 1;
                    build_membership(expression, self.parse_operators(Level::Sum)?)?
                }
                // These associate to the left.
                Level::Sum | Level::Product => {
                    self.next += 1;
                    let right = if level == Level::Sum {
                        self.parse_operators(Level::Product)?
                    } else {
                        self.parse_unary()?
                    };
                    build_arithmetic(sign, expression, right)?
                }
            };
        }
        Ok(expression)
    }

    /// Looks at the binary operator that comes next, without taking it. `None` if none does.
    fn peek_operator(&self) -> Option<(Level, &'static str)> {
        let sign = match &self.peek()?.kind {
            Lexeme::Sign(sign) => *sign,
            Lexeme::Name(word) if word == "in" => "in",
            _ => return None,
        };
        let level = match sign {
            "=>" => Level::Implication,
            "||" => Level::Disjunction,
            "&&" => Level::Conjunction,
            "==" | "!=" | "<" | "<=" | ">" | ">=" => Level::Comparison,
            "in" => Level::Membership,
            "+" | "-" => Level::Sum,
            "*" | "/" | "div" | "mod" => Level::Product,
            _ => return None,
        };
        Some((level, sign))
    }

    fn take_comparison(&mut self) -> Option<Comparison> {
        let comparison = match self.peek_operator()?.1 {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Greater,
            ">=" => Comparison::AtLeast,
            _ => return None,
        };
        self.next += 1;
        Some(comparison)
    }

    /// Parses an operand with its prefix signs, which are taken in a loop.
    fn parse_unary(&mut self) -> Parsed {
        let mut signs = Vec::new();
        loop {
            if let Some(span) = self.eat("!") {
                signs.push((ExpressionKind::Not as fn(_) -> _, span.start));
            } else if let Some(span) = self.eat("-") {
                signs.push((ExpressionKind::Negate, span.start));
            } else {
                break;
            }
            // So many signs are refused like a nesting that is too deep.
            if signs.len() > MAX_NESTING as usize {
                self.nesting = MAX_NESTING;
                self.enter()?;
            }
        }
        let mut operand = self.parse_postfix()?;
        while let Some((apply, start)) = signs.pop() {
            let span = start..operand.span.end;
            operand = build_expression(apply(Box::new(operand)), span)?;
        }
        Ok(operand)
    }

    /// Parses an operand with its indices, fields, `with` and `is`.
    fn parse_postfix(&mut self) -> Parsed {
        let mut base = self.parse_atom()?;
        loop {
            if self.eat("[").is_some() {
                base = self.parse_subscript(base)?;
            } else if self.eat(".").is_some() {
                let (field, place) = self.take_name("a field's name").map_err(|mut mistake| {
                    mistake.help.get_or_insert("write `q[0]` for an element of a list or array".to_owned());
                    mistake
                })?;
                let span = base.span.start..place.end;
                base = build_expression(ExpressionKind::Field(Box::new(base), field, place), span)?;
            } else if self.is_update() {
                self.next += 1;
                base = self.parse_fields(None, Some(base))?;
            } else if self.is_question() {
                base = self.parse_question(base)?;
            } else {
                return Ok(base);
            }
        }
    }

    /// Parses the brackets after an operand: an index, a slice or a store.
    fn parse_subscript(&mut self, base: Expression) -> Parsed {
        let index = if self.is_next(":") { Err(self.expected("an index")) } else { self.parse_inner() };
        let index = index.map_err(|mistake| self.explain_slice(mistake))?;
        let (is_store, is_slice) = (self.eat(":=").is_some(), self.eat("..").is_some());
        // The new element of a store, or the end of a slice, which may be left out.
        let third =
            if is_store || (is_slice && !self.is_next("]")) { Some(self.parse_inner()?) } else { None };
        let why = match (is_store, is_slice) {
            (true, _) => "after the new element",
            (_, true) => "after the end of the slice",
            _ => "after the index",
        };
        let close = self.need("]", why).map_err(|mistake| self.explain_slice(mistake))?;
        let span = base.span.start..close.end;
        let (base, index, third) = (Box::new(base), Box::new(index), third.map(Box::new));
        let kind = match third {
            Some(element) if is_store => ExpressionKind::Store(base, index, element),
            end if is_slice => ExpressionKind::Slice(base, index, end),
            _ => ExpressionKind::Select(base, index),
        };
        build_expression(kind, span)
    }

    /// Adds how a slice is written, if one with a colon stands here.
    fn explain_slice(&self, mut mistake: Box<Mistake>) -> Box<Mistake> {
        if self.is_next(":") {
            mistake.help =
                Some("write `q[i..j]` or `q[i..]` for a part, from `i` up to the one before `j`".to_owned());
        }
        mistake
    }

    /// Parses an operand without prefix and postfix: a literal, a bracket, a form or a conditional.
    fn parse_atom(&mut self) -> Parsed {
        let Some(token) = self.peek() else { return Err(self.expected("an operand")) };
        let span = token.span.clone();
        let kind = match &token.kind {
            Lexeme::Name(name) => return self.parse_named(name, span),
            Lexeme::Text(text) => ExpressionKind::Text(text.clone()),
            Lexeme::Truth(value) => ExpressionKind::Truth(*value),
            Lexeme::Integer(digits) | Lexeme::Decimal(digits) if digits.len() > MAX_DIGITS => {
                let message =
                    format!("the number has {} digits; at most {MAX_DIGITS} are read", digits.len());
                return Err(syntax_mistake("number-too-long", message, "too long", span));
            }
            Lexeme::Integer(digits) => ExpressionKind::Integer(digits.clone()),
            Lexeme::Decimal(digits) => ExpressionKind::Decimal(digits.clone()),
            Lexeme::Sign("(") => {
                self.next += 1;
                let mut inner = self.parse_inner()?;
                if self.eat(":").is_some() {
                    return self.parse_ascribed(inner, span.start);
                }
                let close = self.need(")", "to close the bracket")?;
                inner.span = span.start..close.end;
                return Ok(inner);
            }
            Lexeme::Sign("{" | "[") => return self.parse_form(),
            Lexeme::Sign("if") => return self.parse_conditional(),
            _ => return Err(self.expected("an operand")),
        };
        self.next += 1;
        build_expression(kind, span)
    }

    /// Parses an end of a range, or another operand without comparisons, one level down.
    pub(super) fn parse_range_end(&mut self) -> Parsed {
        self.enter()?;
        let end = self.parse_operators(Level::Sum)?;
        self.leave();
        Ok(end)
    }

    /// Takes a name, which must come next.
    pub(super) fn take_name(&mut self, what: &str) -> Parsed<(String, Range<usize>)> {
        let Some(Token { kind: Lexeme::Name(name), span }) = self.peek() else {
            return Err(self.expected(what));
        };
        self.next += 1;
        Ok((name.clone(), span.clone()))
    }

    fn parse_conditional(&mut self) -> Parsed {
        let start = self.need("if", "")?.start;
        let condition = self.parse_inner()?;
        self.need("then", "after the condition")?;
        let then = self.parse_inner()?;
        self.need("else", "(both branches are needed)")?;
        let otherwise = self.parse_inner()?;
        let span = start..otherwise.span.end;
        let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
        build_expression(ExpressionKind::IfThenElse(condition, then, otherwise), span)
    }
}

/// How tightly a binary operator binds, from weak to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Implication,
    Disjunction,
    Conjunction,
    Comparison,
    Membership,
    Sum,
    Product,
}

impl Level {
    fn tighter(self) -> Self {
        match self {
            Level::Implication => Level::Disjunction,
            Level::Disjunction => Level::Conjunction,
            Level::Conjunction => Level::Comparison,
            Level::Comparison => Level::Membership,
            Level::Membership => Level::Sum,
            Level::Sum | Level::Product => Level::Product,
        }
    }
}

/// Joins parts by the operator of a level: implication, disjunction, or else conjunction.
fn build_junction(level: Level, parts: Vec<Expression>) -> Parsed {
    let end = parts.last().map_or(0, |part| part.span.end);
    let span = parts.first().map_or(0, |part| part.span.start)..end;
    let kind = match level {
        Level::Implication => ExpressionKind::Implies(parts),
        Level::Disjunction => ExpressionKind::Or(parts),
        _ => ExpressionKind::And(parts),
    };
    build_expression(kind, span)
}

fn build_comparison(first: Expression, others: Vec<(Comparison, Expression)>) -> Parsed {
    let end = others.last().map_or(first.span.end, |(_, last)| last.span.end);
    let span = first.span.start..end;
    build_expression(ExpressionKind::Compare(Box::new(first), others), span)
}

fn build_membership(key: Expression, set: Expression) -> Parsed {
    let span = key.span.start..set.span.end;
    build_expression(ExpressionKind::Member(Box::new(key), Box::new(set)), span)
}

fn build_arithmetic(sign: &str, left: Expression, right: Expression) -> Parsed {
    let operator = match sign {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "div" => Operator::IntegerDivide,
        _ => Operator::Modulo,
    };
    let span = left.span.start..right.span.end;
    build_expression(ExpressionKind::Arithmetic(operator, Box::new(left), Box::new(right)), span)
}

/// Makes a node of the tree, unless the tree is too high.
pub(super) fn build_expression(kind: ExpressionKind, span: Range<usize>) -> Parsed {
    let height = kind.parts().into_iter().map(|part| part.height + 1).max().unwrap_or(1);
    if height > MAX_HEIGHT {
        let message = format!("the expression nests more than {MAX_HEIGHT} operations");
        return Err(syntax_mistake("expression-too-deep", message, "nested too deep", span));
    }
    Ok(Expression { kind, span, height })
}

fn describe_token(token: &Token) -> String {
    match &token.kind {
        Lexeme::Name(text) | Lexeme::Integer(text) | Lexeme::Decimal(text) => format!("`{text}`"),
        Lexeme::Truth(value) => format!("`{value}`"),
        Lexeme::Text(_) => "a string".to_owned(),
        Lexeme::Sign(sign) => format!("`{sign}`"),
        Lexeme::Wrong(..) => "something else".to_owned(),
    }
}
