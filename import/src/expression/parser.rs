//! Parses guards and actions to trees, by recursive descent over tokens.
//!
//! [`MAX_NESTING`] bounds the recursion. Long conjunctions and sums need no recursion here. But a sum's tree
//! is as deep as the sum is long, and later functions recurse over it, so its length is bounded too.

use std::ops::Range;

use coreach_model::budget;
use coreach_model::reader::parser::{MAX_HEIGHT, MAX_NESTING};
use coreach_model::term::node::Comparison;

use super::lexer::{ForeignToken, split_tokens};
use super::{Dialect, ForeignAssignment, ForeignExpression, ForeignKind, ForeignMistake, Operation};

pub(crate) type PResult<T> = Result<T, Box<ForeignMistake>>;

/// Parses the whole text as an expression. It may end with `;`.
pub fn parse_expression(text: &str, dialect: Dialect) -> Result<ForeignExpression, Box<ForeignMistake>> {
    let tokens = split_tokens(text, dialect);
    let mut cursor = Cursor::new(&tokens, text.len(), dialect);
    let tree = cursor.parse_expression()?;
    while cursor.eat(";") {}
    if cursor.peek().is_some() { Err(cursor.unexpected("an operator")) } else { Ok(tree) }
}

#[derive(Debug, Default)]
pub struct Statements {
    pub assignments: Vec<ForeignAssignment>,
    pub mistakes: Vec<ForeignMistake>,
    /// Variables that the wrong statements would have assigned, as far as they are known.
    pub broken: Vec<String>,
    /// Variables that `let` and `const` declare. They are not known outside of this text.
    pub local: Vec<(String, Range<usize>)>,
}

/// Parses the text as statements. After a mistake, parsing goes on with the next statement.
pub fn parse_statements(text: &str, dialect: Dialect) -> Statements {
    let tokens = split_tokens(text, dialect);
    let mut cursor = Cursor::new(&tokens, text.len(), dialect);
    let mut read = Statements::default();
    while cursor.peek().is_some() {
        if cursor.eat(";") {
            continue;
        }
        let start = cursor.at;
        match cursor.parse_statement(&mut read.local) {
            Ok(assignments) => read.assignments.extend(assignments),
            Err(mistake) => {
                read.mistakes.push(*mistake);
                // Statements such as `x = f();` and `var x = f();` assign to `x`.
                for number in start..cursor.at.max(start + 1) {
                    let next = tokens.get(number + 1).map(|(token, _)| token);
                    if let Some((ForeignToken::Name(name), _)) = tokens.get(number)
                        && next.is_some_and(is_assignment_sign)
                    {
                        read.broken.push(name.clone());
                    }
                }
                // Skip to the next statement.
                while cursor.peek().is_some_and(|token| *token != ForeignToken::Sign(";")) {
                    cursor.at += 1;
                }
            }
        }
        debug_assert!(cursor.at > start, "each round takes a token");
    }
    read
}

fn is_assignment_sign(token: &ForeignToken) -> bool {
    matches!(token, ForeignToken::Sign("=" | ":=" | "+=" | "-=" | "*=" | "/=" | "%="))
}

#[derive(Debug)]
pub struct Cursor<'a> {
    tokens: &'a [(ForeignToken, Range<usize>)],
    /// The number of the next token.
    pub at: usize,
    /// The end of the text, in bytes.
    end: usize,
    dialect: Dialect,
    depth: u32,
    /// It reads an assigned value, in which `=` does not compare.
    assigns: bool,
}

impl<'a> Cursor<'a> {
    /// Makes a parser that stands before the first token of a text that ends at this byte.
    pub fn new(tokens: &'a [(ForeignToken, Range<usize>)], end: usize, dialect: Dialect) -> Self {
        Cursor { tokens, at: 0, end, dialect, depth: 0, assigns: false }
    }

    pub fn peek(&self) -> Option<&'a ForeignToken> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    pub fn peek_second(&self) -> Option<&'a ForeignToken> {
        self.tokens.get(self.at + 1).map(|(token, _)| token)
    }

    /// Returns the place of the next token. After the last token it is the end of the text.
    pub fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, span)| span.clone())
    }

    pub fn last_end(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |(_, span)| span.end)
    }

    pub fn eat(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(ForeignToken::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(ForeignToken::Name(next)) if next == word);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn expect(&mut self, sign: &str) -> PResult<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub fn take_name(&mut self, what: &str) -> PResult<(String, Range<usize>)> {
        match self.peek() {
            Some(ForeignToken::Name(name)) => {
                let span = self.span();
                self.at += 1;
                Ok((name.clone(), span))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub fn unexpected(&self, expected: &str) -> Box<ForeignMistake> {
        let span = self.span();
        let (found, label) = match self.peek() {
            None => ("the text ends".to_owned(), "it ends here".to_owned()),
            Some(ForeignToken::Wrong(why)) => {
                return Box::new(ForeignMistake::new("syntax", &span, why.clone(), "this"));
            }
            Some(ForeignToken::Name(name)) => (format!("found `{name}`"), "not expected".to_owned()),
            Some(ForeignToken::Number(number)) => (format!("found `{number}`"), "not expected".to_owned()),
            Some(ForeignToken::Text(_)) => ("found a text".to_owned(), "not expected".to_owned()),
            Some(ForeignToken::Sign(sign)) => (format!("found `{sign}`"), "not expected".to_owned()),
        };
        Box::new(ForeignMistake::new("syntax", &span, format!("expected {expected}, {found}"), label))
    }

    pub fn parse_expression(&mut self) -> PResult<ForeignExpression> {
        budget::ask();
        if self.depth >= MAX_NESTING {
            let span = self.span();
            let message = format!("the expression is nested more than {MAX_NESTING} levels deep");
            let mistake = ForeignMistake::new("nested-too-deep", &span, message, "too deep from here on");
            return Err(Box::new(mistake));
        }
        self.depth += 1;
        let result = self.parse_choice();
        self.depth -= 1;
        result
    }

    fn parse_choice(&mut self) -> PResult<ForeignExpression> {
        let condition = self.parse_implication()?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let then = self.parse_expression()?;
        self.expect(":")?;
        let otherwise = self.parse_expression()?;
        let span = condition.span.start..otherwise.span.end;
        let kind = ForeignKind::Choice(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(ForeignExpression { kind, span })
    }

    fn parse_implication(&mut self) -> PResult<ForeignExpression> {
        let left = self.parse_or()?;
        let has_implication = self.dialect != Dialect::JavaScript;
        if !(has_implication && (self.eat("=>") || self.eat_word("implies"))) {
            return Ok(left);
        }
        // The right side recurses through the function that counts the depth.
        let right = self.parse_expression()?;
        let span = left.span.start..right.span.end;
        Ok(ForeignExpression { kind: ForeignKind::Implies(Box::new(left), Box::new(right)), span })
    }

    fn parse_or(&mut self) -> PResult<ForeignExpression> {
        self.parse_joined(&["||", "or"], ForeignKind::Or, Cursor::parse_and)
    }

    fn parse_and(&mut self) -> PResult<ForeignExpression> {
        self.parse_joined(&["&&", "and"], ForeignKind::And, Cursor::parse_comparison)
    }

    /// Parses parts that are joined by one operator, which is a sign or a word.
    fn parse_joined(
        &mut self,
        spellings: &[&str; 2],
        kind: fn(Vec<ForeignExpression>) -> ForeignKind,
        part: fn(&mut Self) -> PResult<ForeignExpression>,
    ) -> PResult<ForeignExpression> {
        let mut parts = vec![part(self)?];
        let [sign, word] = spellings;
        let has_words = self.dialect != Dialect::JavaScript;
        while self.eat(sign) || (has_words && self.eat_word(word)) {
            parts.push(part(self)?);
        }
        match parts.as_slice() {
            [_] => Ok(parts.swap_remove(0)),
            [first, .., last] => {
                let span = first.span.start..last.span.end;
                Ok(ForeignExpression { kind: kind(parts), span })
            }
            [] => Err(self.unexpected("an expression")),
        }
    }

    /// Parses a comparison, or a chain of them, which JavaScript does not have.
    fn parse_comparison(&mut self) -> PResult<ForeignExpression> {
        let first = self.parse_sum()?;
        let mut others = Vec::new();
        while let Some(comparison) = self.take_comparison_sign()? {
            let sign = self.tokens[self.at - 1].1.clone();
            if !others.is_empty() && self.dialect == Dialect::JavaScript {
                let message = "JavaScript compares the truth value of the first comparison here";
                let mistake =
                    ForeignMistake::new("chained-comparison", &sign, message, "the second comparison");
                return Err(Box::new(mistake.help("write `a <= x && x <= b`")));
            }
            others.push((comparison, self.parse_sum()?));
        }
        match others.last() {
            None => Ok(first),
            Some((_, last)) => {
                let span = first.span.start..last.span.end;
                Ok(ForeignExpression { kind: ForeignKind::Compare(Box::new(first), others), span })
            }
        }
    }

    /// Takes a sign of comparison, if one comes next. Refuses `=` where it may mean an assignment.
    fn take_comparison_sign(&mut self) -> PResult<Option<Comparison>> {
        let Some(ForeignToken::Sign(sign)) = self.peek() else { return Ok(None) };
        let comparison = match (*sign, self.dialect) {
            ("==" | "===", _) => Comparison::Equal,
            ("!=" | "!==", _) => Comparison::NotEqual,
            ("<", _) => Comparison::Less,
            ("<=", _) => Comparison::AtMost,
            (">", _) => Comparison::Greater,
            (">=", _) => Comparison::AtLeast,
            ("=", dialect) if self.assigns || dialect == Dialect::JavaScript => {
                let message = match dialect {
                    Dialect::JavaScript => "`=` assigns in JavaScript",
                    _ => "`=` may assign or compare here",
                };
                let mistake = ForeignMistake::new("assignment", &self.span(), message, "an assignment");
                return Err(Box::new(mistake.help("write `==` to compare")));
            }
            ("=", _) => Comparison::Equal,
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(comparison))
    }

    fn parse_sum(&mut self) -> PResult<ForeignExpression> {
        self.parse_chain(&[("+", Operation::Add), ("-", Operation::Subtract)], Cursor::parse_product)
    }

    fn parse_product(&mut self) -> PResult<ForeignExpression> {
        const OPERATIONS: [(&str, Operation); 5] = [
            ("*", Operation::Multiply),
            ("/", Operation::Divide),
            ("%", Operation::Remainder),
            ("div", Operation::IntegerDivide),
            ("mod", Operation::Modulo),
        ];
        // The words are known at drawn edges only.
        let known = if self.dialect == Dialect::Drawn { &OPERATIONS[..] } else { &OPERATIONS[..3] };
        self.parse_chain(known, Cursor::parse_unary)
    }

    /// Parses operands that are joined by operators of one level, from left to right.
    fn parse_chain(
        &mut self,
        operations: &[(&str, Operation)],
        part: fn(&mut Self) -> PResult<ForeignExpression>,
    ) -> PResult<ForeignExpression> {
        let mut left = part(self)?;
        for length in 0_u32.. {
            let next = operations.iter().find(|(sign, _)| self.eat(sign) || self.eat_word(sign));
            let Some((_, operation)) = next else { break };
            if length == MAX_HEIGHT {
                let message = format!("a sum or a product has more than {MAX_HEIGHT} operators");
                let (code, label) = ("nested-too-deep", "too long from here on");
                return Err(Box::new(ForeignMistake::new(code, &self.span(), message, label)));
            }
            let right = part(self)?;
            let span = left.span.start..right.span.end;
            let kind = ForeignKind::Arithmetic(*operation, Box::new(left), Box::new(right));
            left = ForeignExpression { kind, span };
        }
        Ok(left)
    }

    /// Parses signs before an operand: `!`, `-`, `+`.
    fn parse_unary(&mut self) -> PResult<ForeignExpression> {
        let start = self.span().start;
        let has_words = self.dialect != Dialect::JavaScript;
        let is_not = self.eat("!") || (has_words && self.eat_word("not"));
        let is_minus = !is_not && self.eat("-");
        let is_plus = !is_not && !is_minus && self.eat("+");
        if !(is_not || is_minus || is_plus) {
            return self.parse_operand();
        }
        if self.depth >= MAX_NESTING {
            // This reports that the expression is too deep.
            return self.parse_expression();
        }
        self.depth += 1;
        let inner = self.parse_unary();
        self.depth -= 1;
        let inner = inner?;
        let span = start..inner.span.end;
        let kind = match (is_not, is_minus) {
            (true, _) => ForeignKind::Not(Box::new(inner)),
            (_, true) => ForeignKind::Negate(Box::new(inner)),
            // JavaScript turns a truth value into a number. Here `0 + c` refuses it.
            _ => {
                let zero =
                    ForeignExpression { kind: ForeignKind::Number("0".to_owned()), span: start..start + 1 };
                ForeignKind::Arithmetic(Operation::Add, Box::new(zero), Box::new(inner))
            }
        };
        Ok(ForeignExpression { kind, span })
    }

    /// Parses an operand: a number, a truth value, a name, or an expression in brackets.
    fn parse_operand(&mut self) -> PResult<ForeignExpression> {
        let span = self.span();
        let kind = match self.peek() {
            Some(ForeignToken::Sign("(")) => {
                self.at += 1;
                let inner = self.parse_expression()?;
                self.expect(")")?;
                return Ok(ForeignExpression { kind: inner.kind, span: span.start..self.last_end() });
            }
            Some(ForeignToken::Number(digits)) => ForeignKind::Number(digits.clone()),
            Some(ForeignToken::Text(_)) => {
                return Err(Box::new(ForeignMistake::untranslatable(&span, "texts")));
            }
            Some(ForeignToken::Name(name)) => {
                if matches!(self.peek_second(), Some(ForeignToken::Sign("("))) {
                    let call = format!("the call of `{name}`");
                    return Err(Box::new(ForeignMistake::untranslatable(&span, call)));
                }
                if matches!(self.peek_second(), Some(ForeignToken::Sign("[")))
                    && self.dialect == Dialect::JavaScript
                {
                    return Err(Box::new(ForeignMistake::untranslatable(&span, "JavaScript's arrays")));
                }
                match name.as_str() {
                    "true" => ForeignKind::Truth(true),
                    "false" => ForeignKind::Truth(false),
                    _ => ForeignKind::Name(name.clone()),
                }
            }
            Some(ForeignToken::Sign(sign @ ("{" | "[" | "&" | "|" | "^" | "~" | "++" | "--"))) => {
                return Err(Box::new(ForeignMistake::untranslatable(&span, format!("`{sign}`"))));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.at += 1;
        Ok(ForeignExpression { kind, span })
    }

    /// Parses an assignment of XLIA, in which no statement has several of them.
    pub fn parse_assignment(&mut self) -> PResult<ForeignAssignment> {
        let mut assignments = self.parse_assignments(&mut Vec::new())?;
        assignments.pop().ok_or_else(|| self.unexpected("an assignment"))
    }

    /// Parses a statement. Returns its assignments in their order.
    fn parse_statement(
        &mut self,
        local: &mut Vec<(String, Range<usize>)>,
    ) -> PResult<Vec<ForeignAssignment>> {
        self.assigns = self.dialect == Dialect::Drawn;
        let result = self.parse_assignments(local);
        self.assigns = false;
        result
    }

    /// Parses one assignment in any spelling, such as `++x` and `x += 1`. A declared name goes into `local`.
    fn parse_assignments(
        &mut self,
        local: &mut Vec<(String, Range<usize>)>,
    ) -> PResult<Vec<ForeignAssignment>> {
        let start = self.span();
        let one = |span: Range<usize>| ForeignExpression { kind: ForeignKind::Number("1".to_owned()), span };
        // `x += e` is `x = x + e`.
        let change = |target: String, span: Range<usize>, operation, operand: ForeignExpression| {
            let whole = span.start..operand.span.end;
            let old = ForeignExpression { kind: ForeignKind::Name(target.clone()), span: span.clone() };
            let kind = ForeignKind::Arithmetic(operation, Box::new(old), Box::new(operand));
            let value = ForeignExpression { kind, span: whole };
            Ok(vec![ForeignAssignment { target, target_span: span, value }])
        };
        for (sign, operation) in [("++", Operation::Add), ("--", Operation::Subtract)] {
            if self.eat(sign) {
                let (target, place) = self.take_name("a variable")?;
                return change(target, place, operation, one(start));
            }
        }
        // In `let x = 1` a word declares the name, so no sign is second. With `var` it is not local.
        let mut is_local = false;
        if self.dialect != Dialect::Xlia && !matches!(self.peek_second(), Some(ForeignToken::Sign(_))) {
            is_local = !self.eat_word("var") && (self.eat_word("let") || self.eat_word("const"));
        }
        let (target, place) = self.take_name("an assignment")?;
        if is_local {
            local.push((target.clone(), place.clone()));
        }
        let sign = match self.peek() {
            Some(ForeignToken::Sign(sign)) => *sign,
            // Other statements begin with words such as `if`, `for`, `function`.
            _ => {
                let statement = format!("the statement `{target}`");
                return Err(Box::new(ForeignMistake::untranslatable(&start, statement)));
            }
        };
        let sign_span = self.span();
        self.at += 1;
        let operation = match sign {
            "=" | ":=" => {
                let is_chain = self.dialect != Dialect::Xlia
                    && matches!(self.peek(), Some(ForeignToken::Name(_)))
                    && self.peek_second().is_some_and(is_assignment_sign);
                if is_chain {
                    return self.parse_chained(target, place, local);
                }
                let value = self.parse_expression()?;
                self.expect_end_of_statement()?;
                return Ok(vec![ForeignAssignment { target, target_span: place, value }]);
            }
            "+=" => Operation::Add,
            "-=" => Operation::Subtract,
            "*=" => Operation::Multiply,
            "/=" => Operation::Divide,
            "%=" => Operation::Remainder,
            "++" | "--" => {
                let operation = if sign == "++" { Operation::Add } else { Operation::Subtract };
                self.expect_end_of_statement()?;
                return change(target, place, operation, one(sign_span));
            }
            "(" => {
                let call = format!("the call of `{target}`");
                return Err(Box::new(ForeignMistake::untranslatable(&place, call)));
            }
            "[" => return Err(Box::new(ForeignMistake::untranslatable(&place, "an array's element"))),
            _ => {
                self.at -= 1;
                return Err(self.unexpected("an assignment"));
            }
        };
        let operand = self.parse_expression()?;
        self.expect_end_of_statement()?;
        change(target, place, operation, operand)
    }

    /// Parses `x = y = 3` after the first sign. `y` is assigned first, then `x`.
    fn parse_chained(
        &mut self,
        target: String,
        target_span: Range<usize>,
        local: &mut Vec<(String, Range<usize>)>,
    ) -> PResult<Vec<ForeignAssignment>> {
        if self.depth >= MAX_NESTING {
            // This reports that the chain is too deep.
            return self.parse_expression().map(|_| Vec::new());
        }
        self.depth += 1;
        let inner = self.parse_assignments(local);
        self.depth -= 1;
        let mut assignments = inner?;
        if let Some(last) = assignments.last() {
            let value = ForeignExpression {
                kind: ForeignKind::Name(last.target.clone()),
                span: last.target_span.clone(),
            };
            assignments.push(ForeignAssignment { target, target_span, value });
        }
        Ok(assignments)
    }

    /// Checks that a statement ends here: at `;`, at the end of the text, or before the next statement.
    fn expect_end_of_statement(&mut self) -> PResult<()> {
        match self.peek() {
            None | Some(ForeignToken::Name(_) | ForeignToken::Sign(";" | "}" | "++" | "--")) => Ok(()),
            Some(_) => Err(self.unexpected("`;`")),
        }
    }
}
