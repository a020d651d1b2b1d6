//! Values of variants and options: `Ok(3)`, `some(x)`, `none`, `r is Ok` and `match`.
//!
//! All become terms over the fields of records ([`crate::forms`]): a `match` becomes an `if` that asks the
//! first field, with the fields of the alternative in place of their names.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::data::Datum;
use crate::reader::scope::Meaning;
use crate::reader::syntax::{Call, Expression, ExpressionKind, Match, MatchCase, says_type};
use crate::reader::typing::Typing;
use crate::term::operation::{self, DerivedOperation, MatchArm, is_alternative, read_by};
use crate::term::{Term, substitute};
use crate::types::{Alternative, RecordForm, RecordType, Type};
use crate::value::Value;

impl Typing<'_, '_> {
    /// The variant that has an alternative of this name, and the number of the alternative.
    pub(super) fn find_alternative(&self, name: &str) -> Option<(Arc<RecordType>, usize)> {
        match self.scope.names.get(name) {
            Some((Meaning::Alternative(variant, number), _)) => Some((variant.clone(), *number)),
            _ => None,
        }
    }

    /// Reports an alternative with data that is written without them.
    pub(super) fn report_missing_data(&mut self, variant: &RecordType, number: usize, span: &Range<usize>) {
        let alternatives = variant.alternatives();
        let alternative = &alternatives[number];
        let name = &alternative.name;
        let fields = variant.fields[alternative.positions()].iter();
        let data: Vec<String> = fields.map(|(_, ty)| Value::any(ty).to_string()).collect();
        let help = format!(
            "`x is {name}` asks whether `x` is one; with data it is a value, for example `{name}({})`",
            data.join(", ")
        );
        let message = format!("the alternative `{name}` of {} has data", variant.name);
        self.error("missing-field", message, span, "its data are missing".to_owned(), Some(help));
    }

    /// Types `Ok(3)`.
    pub(super) fn type_alternative(
        &mut self,
        variant: &Arc<RecordType>,
        number: usize,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let alternatives = variant.alternatives();
        let alternative = &alternatives[number];
        if !self.check_arity(&call.name.0, &call.arguments, alternative.count, whole, None) {
            return None;
        }
        // A loop and no iterator: a function that recurses must need little of the stack.
        let mut terms = Vec::new();
        for (position, argument) in call.arguments.iter().enumerate() {
            let ty = &variant.fields[alternative.first + position].1;
            let whose = format!("`{}`", variant.field_of(alternative, position));
            terms.push(self.type_as(argument, ty, &whose));
        }
        Some(variant.made_of(variant.tag(number), terms.into_iter().collect::<Option<Vec<Term>>>()?))
    }

    /// Types `some(x)`, an option of the type of `x`.
    pub(super) fn type_some(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        if !self.check_arity("some", &call.arguments, 1, whole, None) {
            return None;
        }
        let value = self.term(&call.arguments[0])?;
        let option = Arc::new(RecordType::option(value.sort()));
        Some(option.made_of(Value::Bool(true), [value]))
    }

    /// Types `none` or `some(x)` where an option is expected.
    pub(super) fn type_option(&mut self, tree: &Expression, expected: &Arc<RecordType>) -> Option<Term> {
        match &tree.kind {
            ExpressionKind::Call(call) if call.name.0 == "some" && self.is_free("some") => {
                self.type_alternative(expected, 1, call, &tree.span)
            }
            ExpressionKind::Name(name) if name == "none" && self.is_free("none") => {
                Some(expected.made_of(Value::Bool(false), []))
            }
            _ => self.term(tree),
        }
    }

    /// Does the model give the name no meaning?
    pub(super) fn is_free(&self, name: &str) -> bool {
        let parameters = self.scope.parameters.iter().map(|(known, _)| known);
        let mut known = parameters.chain(self.bound.iter().map(|(known, _)| known));
        self.scope.names.function(name).is_none()
            && self.scope.names.get(name).is_none()
            && known.all(|known| known != name)
    }

    /// Types a value that must be a variant or an option, or reports that it is none. `what` asks for it.
    fn type_subject(&mut self, tree: &Expression, what: &str) -> Option<(Term, Arc<RecordType>)> {
        let term = self.term(tree)?;
        match term.sort() {
            Type::Record(ty) if matches!(ty.form, RecordForm::Variant(_) | RecordForm::Option) => {
                Some((term.clone(), ty.clone()))
            }
            other => {
                let message = format!("`{what}` needs a variant or an option, but this is {other}");
                self.error("type-mismatch", message, &tree.span, format!("this is {other}"), None);
                None
            }
        }
    }

    /// The number of the alternative of this name. Reports an unknown one.
    fn find_number(&mut self, variant: &RecordType, name: &str, span: &Range<usize>) -> Option<usize> {
        let alternatives = variant.alternatives();
        let number = alternatives.iter().position(|alternative| alternative.name == name);
        if number.is_none() {
            let known = || alternatives.iter().map(|alternative| alternative.name.as_str());
            let help = self.collector.suggest(name, &format!("alternatives of {}", variant.name), known);
            let message = format!("{} has no alternative `{name}`", variant.name);
            self.error("unknown-alternative", message, span, "no such alternative".to_owned(), Some(help));
        }
        number
    }

    /// Types `r is Ok`.
    pub(super) fn type_question(
        &mut self,
        tree: &Expression,
        name: &str,
        span: &Range<usize>,
    ) -> Option<Term> {
        let (subject, variant) = self.type_subject(tree, "is")?;
        let number = self.find_number(&variant, name, span)?;
        Some(is_alternative(&subject, number))
    }

    /// Types `match r: ...`, of the expected type if there is one.
    pub(super) fn type_match(
        &mut self,
        tree: &Match,
        whole: &Range<usize>,
        expected: Option<&Type>,
    ) -> Option<Term> {
        let (subject, variant) = self.type_subject(&tree.subject, "match")?;
        let alternatives = variant.alternatives();
        let mut without_case: BTreeSet<usize> = (0..alternatives.len()).collect();
        let mut cases: Vec<MatchArm> = Vec::new();
        let mut is_right = true;
        for case in &tree.cases {
            let (name, at) = &case.alternative;
            let number = if name == "_" { None } else { self.find_number(&variant, name, at) };
            if number.is_none() && name != "_" {
                is_right = false;
                continue;
            }
            let is_new = number.map_or(!without_case.is_empty(), |number| without_case.remove(&number));
            if !is_new {
                let message = match number {
                    Some(_) => format!("the case `{name}` appears twice, or after `_`"),
                    None => "all alternatives have cases before this one".to_owned(),
                };
                self.error("unreachable-case", message, at, "is never taken".to_owned(), None);
            }
            if number.is_none() {
                without_case.clear();
            }
            let first_body = cases.first().map(|case| case.body.clone());
            let arm = self.type_case(case, number, (&subject, &variant), expected, first_body);
            is_right &= is_new && arm.is_some();
            cases.extend(arm);
        }
        if !without_case.is_empty() && is_right {
            let name = |number: &usize| format!("`{}`", alternatives[*number].name);
            let missing: Vec<String> = without_case.iter().map(name).collect();
            let message = format!("the `match` has no case for {}", missing.join(", "));
            let help = "write `_ -> e` for all others".to_owned();
            self.error("missing-case", message, whole, "incomplete".to_owned(), Some(help));
            return None;
        }
        if !is_right {
            return None;
        }
        self.warn_of_reach_of_case(tree, whole);
        if cases.iter().any(|case| *case.body.sort() == Type::Real) {
            cases.iter_mut().for_each(|case| case.body = case.body.to_real());
        }
        let own = |case: &MatchArm| case.names.iter().map(|(name, _)| name.clone()).collect::<Vec<Datum>>();
        let read: BTreeSet<Datum> = cases.iter().flat_map(|case| read_by([&case.body], &own(case))).collect();
        let arguments = std::iter::once(subject).chain(read.iter().map(Term::datum)).collect();
        let read = read.into_iter().collect();
        let operation = DerivedOperation::Match(Arc::new(operation::MatchOperation { cases, read }));
        self.check_made(Term::apply(operation, arguments), whole)
    }

    /// Warns of a last case that begins with a truth value and goes on: it takes more than was meant.
    fn warn_of_reach_of_case(&mut self, tree: &Match, whole: &Range<usize>) {
        let Some(MatchCase { body, .. }) = tree.cases.last() else { return };
        let is_own = |part: &Expression| part.span.start == body.span.start;
        let Some(tail) = self.find_tail(body, whole, is_own) else { return };
        let first_kind = &body.kind.parts()[0].kind;
        // A truth value at the beginning may decide the whole chain: then this is the value and the result.
        let result = match (first_kind, tail.sign) {
            (ExpressionKind::Truth(value @ true), "||") | (ExpressionKind::Truth(value @ false), "&&") => {
                Some((value, value))
            }
            (ExpressionKind::Truth(value @ false), "=>") => Some((value, &true)),
            _ => None,
        };
        let message = match first_kind {
            _ if let Some((value, result)) = result => format!(
                "the last case of a `match` goes on to the end: `{value} {} ...` is always {result}",
                tail.sign
            ),
            _ if tail.is_swallowed || matches!(first_kind, ExpressionKind::Truth(_)) => {
                "the last case of a `match` goes on to the end".to_owned()
            }
            _ => return,
        };
        let help = format!("put the `match` into brackets: `{}`", tail.apart);
        self.warn_of_mistake("reaches-to-the-end", message, &body.span, "all this is the last case", help);
    }

    /// Types one case of a `match`. `first_body` is that of the first case, whose type the others must have.
    fn type_case(
        &mut self,
        case: &MatchCase,
        number: Option<usize>,
        (subject, variant): (&Term, &Arc<RecordType>),
        expected: Option<&Type>,
        first_body: Option<Term>,
    ) -> Option<MatchArm> {
        let (name, at) = &case.alternative;
        let alternative = number.map(|number| variant.alternatives()[number].clone());
        let count = alternative.as_ref().map_or(0, |alternative| alternative.count);
        if case.names.len() != count {
            let message = format!("`{name}` has {count} fields, but here it has {} names", case.names.len());
            let help = alternative.map(|alternative| {
                format!("write `{}`, with `_` for unused fields", spell_alternative(variant, &alternative))
            });
            self.error("wrong-arity", message, at, format!("expected {count}"), help);
            return None;
        }
        // The names of fields are bound while the body is read.
        let bound_before = self.bound.len();
        let mut names = Vec::new();
        let mut is_right = true;
        for (position, (name, at)) in case.names.iter().enumerate().filter(|(_, (name, _))| name != "_") {
            let field = alternative.as_ref().map_or(0, |alternative| alternative.first) + position;
            let new = if name == "x" { "y" } else { "x" };
            let pattern: Vec<&str> = (0..count).map(|own| if own == position { new } else { "_" }).collect();
            let help = format!(
                "a name in a case is new and compares nothing: write `{}({}) -> {new} == {name} && ...`",
                case.alternative.0,
                pattern.join(", ")
            );
            is_right &= self.check_new_name("case", name, at, Some(help));
            let datum = Datum::new(name.clone(), variant.fields[field].1.clone());
            let value = substitute(&Term::field(subject, field), &self.named);
            self.named.insert(datum.clone(), value);
            names.push((datum.clone(), field));
            self.bound.push((name.clone(), Some(datum)));
        }
        let body = match (expected, &first_body) {
            (Some(_), _) if says_type(&case.body) => self.term(&case.body),
            (Some(ty), _) => self.type_as(&case.body, ty, "this case"),
            (None, Some(_)) => self.type_neighbour(&case.body, &first_body),
            (None, None) => self.term(&case.body),
        };
        let body = body.filter(|_| is_right);
        for datum in self.bound.drain(bound_before..).filter_map(|(_, datum)| datum) {
            self.named.remove(&datum);
        }
        let body = body?;
        // If some are reals, `type_match` lifts the integers.
        if let Some(first_body) = first_body
            && first_body.sort() != body.sort()
            && !(first_body.sort().is_number() && body.sort().is_number())
        {
            let message = format!("the cases differ in type: {} and {}", first_body.sort(), body.sort());
            self.error("type-mismatch", message, &case.body.span, format!("this is {}", body.sort()), None);
            return None;
        }
        Some(MatchArm { alternative: number, names, body })
    }
}

/// Writes an alternative with its fields, as a case of a `match` has it.
pub(super) fn spell_alternative(variant: &RecordType, alternative: &Alternative) -> String {
    let fields = (0..alternative.count).map(|place| variant.field_of(alternative, place));
    match alternative.count {
        0 => alternative.name.clone(),
        _ => format!("{}({})", alternative.name, fields.collect::<Vec<_>>().join(", ")),
    }
}
