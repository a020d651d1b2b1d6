//! Typing: from the syntax tree to a well-sorted term, collecting every mistake on the way.
//!
//! A subexpression with a mistake has no term, and the expression around it reports nothing more: one
//! mistake, one message. Rules: `int`, `nat` and ranges are one sort. An integer next to a real, or in the
//! place of a real, is lifted. Nothing else converts. Recursion is bounded by the parser's limits.

use std::ops::Range;
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::data::Datum;
use crate::diagnostic::{Diagnostic, Origin};
use crate::excerpt::shortened;
use crate::reader::collect::{Collector, listed};
use crate::reader::elsewhere;
use crate::reader::parser::{self, Mistake};
use crate::reader::scope::{HIDDEN, LOCATION, Meaning, Scope};
use crate::reader::shape::report_cut;
use crate::reader::syntax::{Expression, ExpressionKind, says_type};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::term::node::{Comparison, Operator};
use crate::term::{Substitution, Term};
use crate::types::{ArrayType, RecordForm, Type};
use crate::value::Value;

/// The help text that says what an id is for.
pub(super) const ONLY_COMPARED: &str = "an id can only be passed on, and compared with `==`, `!=`, `in` and \
    `contains`; use an `int` or a `string` to compute, order or convert";

/// The help for a mistake with a value of this sort, if it is an id.
pub(super) fn explain_id(sort: &Type) -> Option<String> {
    sort.is_id().then(|| ONLY_COMPARED.to_owned())
}

/// The help for two sorts that do not go together, if one of them is an id.
fn explain_ids(sorts: [&Type; 2]) -> Option<String> {
    match sorts {
        [Type::Id(a), Type::Id(b)] if a != b => Some("ids of different types are never equal".to_owned()),
        [a, b] => explain_id(a).or_else(|| explain_id(b)),
    }
}

/// Explains how two options, sets or lists of integers are compared whose ranges or lengths differ.
fn explain_different_ranges(a: &Type, b: &Type) -> Option<&'static str> {
    if let (Type::Record(a), Type::Record(b)) = (a, b)
        && [a, b].iter().all(|ty| ty.form == RecordForm::Option)
        && a.content_type().sort() == b.content_type().sort()
    {
        return Some(
            "only options of one range can be compared; for others, write `(match o: some(x) -> (match p: some(y) -> x \
            == y | none -> false) | none -> p is none)`",
        );
    }
    let key_of_set = |ty: &Type| {
        let (record, key) = ty.as_keyed()?;
        record.map_value_type().is_none().then(|| key.sort())
    };
    if key_of_set(a).is_some() && key_of_set(a) == key_of_set(b) {
        return Some(
            "only sets of one range can be compared; for others, write `(all k in s: k in t) && (all k in t: k in s)`",
        );
    }
    let element = |ty: &Type| ty.as_list().map(|(_, _, ty)| ty.sort());
    (element(a).is_some() && element(a) == element(b)).then_some(
        "only lists of one range and length can be compared; for others, write `len(q) == len(r) && (all i \
        in 0..7: i < len(q) => q[i] == r[i])`",
    )
}

/// Reads an expression of the expected type from a scalar. `whose` names it: "the guard".
///
/// `None` after a mistake, which has been reported.
pub fn read_expression(
    collector: &mut Collector,
    node: &Yaml,
    scope: Scope<'_>,
    expected: &Type,
    whose: &str,
) -> Option<Term> {
    let scalar = match node.as_scalar() {
        Some(scalar) if scalar.broken => return None,
        Some(scalar) if !node.is_nothing() && !scalar.text.trim().is_empty() => scalar,
        _ => {
            report_no_expression(collector, node, whose);
            return None;
        }
    };
    let parsed = parser::parse(&scalar.text, collector.limits.expression);
    let tree = parsed.map_err(|mistake| report(collector, scalar, *mistake)).ok()?;
    let found_before = collector.count_found();
    let term = Typing::new(collector, scalar, scope).type_whole(&tree, expected, whose);
    if term.is_some() {
        return term;
    }
    // Perhaps a quantifier is meant to end before its last comparison, as `all i in s: i > 0` in
    // `all i in s: i > 0 == b`. Only four ends are tried, since each is typed.
    let bracketed = tree.earlier_ends().into_iter().take(4).find_map(|(quantifier, end)| {
        let text = &scalar.text;
        let apart = format!("({}){}", text.get(quantifier.start..end)?, text.get(end..quantifier.end)?);
        let changed = format!("{}{apart}{}", text.get(..quantifier.start)?, text.get(quantifier.end..)?);
        let tree = parser::parse(&changed, collector.limits.expression).ok()?;
        let scalar = Scalar::made(changed, scalar.span.clone());
        let mut trial = Collector::new(collector.file.clone());
        Typing::new(&mut trial, &scalar, scope).type_whole(&tree, expected, whose)?;
        (trial.count_found() == 0).then_some(apart)
    });
    if let Some(text) = bracketed {
        let help = "the body of a quantifier goes on to the end: write";
        collector.help_since(found_before, format!("{help} `{}`", shortened(&text)));
    }
    None
}

/// Reports a node that holds no expression.
fn report_no_expression(collector: &mut Collector, node: &Yaml, whose: &str) {
    let message = format!("expected an expression for {whose}, found {}", node.describe());
    let mut diagnostic = Diagnostic::error("expected-expression", message)
        .at(collector.origin(&node.head()), "expected an expression");
    if !node.is_nothing() {
        // A list or a mapping of texts is meant as their conjunction.
        let text = |node: &Yaml| node.as_scalar().map(|scalar| scalar.text.clone());
        let equation = |entry: &Entry| Some(format!("{} == {}", entry.key.text, text(&entry.value)?));
        let conjuncts: Option<Vec<String>> = match &node.kind {
            NodeKind::Sequence(items) => items.iter().map(|item| text(item)).collect(),
            NodeKind::Mapping(entries) => entries.iter().map(equation).collect(),
            NodeKind::Scalar(_) => None,
        };
        let example = conjuncts.map(|conjuncts| format!(", as in `{}`", conjuncts.join(" && ")));
        diagnostic = diagnostic.help(format!(
            "write an expression as one text, in quotes if it contains brackets, braces or `: `{}",
            example.unwrap_or_default()
        ));
    }
    collector.push(diagnostic);
}

/// Reports a mistake of syntax at its place, or that YAML has cut the expression at a comma.
pub fn report(collector: &mut Collector, scalar: &Scalar, mistake: Mistake) {
    if report_cut(collector, scalar, None) {
        return;
    }
    let place = scalar.place(&mistake.span);
    let diagnostic =
        Diagnostic::error(mistake.code, mistake.message).at(collector.origin(&place), mistake.label);
    collector.push(Diagnostic { help: mistake.help, ..diagnostic });
}

/// An expression that is being typed. Operations for longer terms are in [`super::expansion`].
pub(super) struct Typing<'a, 'c> {
    pub(super) collector: &'c mut Collector,
    pub(super) scalar: &'a Scalar,
    pub(super) scope: Scope<'a>,
    /// The names that the enclosing quantifiers bind, outermost first. `None` if the values have a mistake.
    pub(super) bound: Vec<(String, Option<Datum>)>,
    /// The fields for which the names of the enclosing cases of `match` stand, without such names.
    pub(super) named: Substitution,
    /// Is there an operation in it? Then its lowered form may be larger than its text.
    pub(super) is_expanded: bool,
}

impl<'a, 'c> Typing<'a, 'c> {
    pub(super) fn new(collector: &'c mut Collector, scalar: &'a Scalar, scope: Scope<'a>) -> Self {
        Typing { collector, scalar, scope, bound: Vec::new(), named: Substitution::new(), is_expanded: false }
    }

    /// The text at a place in the expression.
    pub(super) fn text(&self, span: &Range<usize>) -> &'a str {
        self.scalar.text.get(span.clone()).unwrap_or_default()
    }

    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        self.collector.origin(&self.scalar.place(span))
    }

    /// Types the whole expression, which must be of this type.
    fn type_whole(&mut self, tree: &Expression, expected: &Type, whose: &str) -> Option<Term> {
        let term = self.type_as(tree, expected, whose)?;
        self.check_size(term, &tree.span)
    }

    /// Types a part that must be of this type. `whose` names it: "an element".
    pub(super) fn type_as(&mut self, tree: &Expression, expected: &Type, whose: &str) -> Option<Term> {
        let term = self.term_as(tree, expected)?;
        self.fit(&term, &tree.span, expected, whose)
    }

    pub(super) fn error(
        &mut self,
        code: &'static str,
        message: String,
        span: &Range<usize>,
        label: String,
        help: Option<String>,
    ) {
        let diagnostic = Diagnostic::error(code, message).at(self.origin(span), label);
        self.collector.push(Diagnostic { help, ..diagnostic });
    }

    /// Reports two operands whose types do not go together.
    pub(super) fn report_two_types(
        &mut self,
        message: String,
        operands: [(&Term, &Range<usize>); 2],
        help: Option<String>,
    ) {
        let mut diagnostic = Diagnostic::error("type-mismatch", message);
        for (term, span) in operands {
            diagnostic = diagnostic.at(self.origin(span), format!("this is {}", term.sort()));
        }
        self.collector.push(Diagnostic { help, ..diagnostic });
    }

    /// Converts the term to the expected type, or reports that it does not fit.
    pub(super) fn fit(
        &mut self,
        term: &Term,
        span: &Range<usize>,
        expected: &Type,
        whose: &str,
    ) -> Option<Term> {
        let (sort, wanted) = (term.sort().clone(), expected.sort());
        if sort == wanted {
            return Some(term.clone());
        }
        if sort == Type::Int && wanted == Type::Real {
            return Some(term.to_real());
        }
        let help = match (&wanted, &sort) {
            (Type::Int, Type::Real) => Some(
                "a real cannot be converted to an integer; `/` always gives a real, `div` divides integers"
                    .to_owned(),
            ),
            (Type::Bool, Type::Int) => Some("write a comparison: `x != 0`".to_owned()),
            _ => self
                .explain_part(&wanted, &sort, span, whose)
                .or_else(|| self.spell_id([(&wanted, span), (&sort, span)]))
                .or_else(|| explain_ids([&wanted, &sort])),
        };
        let message = format!("{whose} must be {}, but this is {sort}", expected_text(expected));
        self.error("type-mismatch", message, span, format!("this is {sort}"), help);
        None
    }

    /// Explains how to take the value out of an option, or to change one value of a map, an array or a list.
    /// `whose` names what must be of the sort `wanted`, and `sort` is that of the text at `span`.
    fn explain_part(&self, wanted: &Type, sort: &Type, span: &Range<usize>, whose: &str) -> Option<String> {
        let text = self.scalar.text.get(span.clone())?;
        let part = |whole: &Type| match whole {
            Type::Record(ty) if ty.form == RecordForm::Option => Some(ty.content_type().sort()),
            Type::Array(ty) => Some(ty.element.sort()),
            _ => match whole.as_list() {
                Some((_, _, element)) => Some(element.sort()),
                None => Some(whole.as_keyed()?.0.map_value_type()?.sort()),
            },
        };
        let is_option = |ty: &Type| matches!(ty, Type::Record(ty) if ty.form == RecordForm::Option);
        if is_option(sort) && part(sort).as_ref() == Some(wanted) {
            // After `o in s` goes `s` into the case.
            let after = self.scalar.text[span.end..].trim_start().strip_prefix("in ").unwrap_or_default();
            let body = match after.split(|sign: char| !sign.is_alphanumeric() && sign != '_').next() {
                Some(table) if !table.is_empty() => format!("x in {table} | none -> false"),
                _ => "x | none -> VALUE".to_owned(),
            };
            return Some(format!("there may be none: write `(match {text}: some(x) -> {body})`"));
        }
        if part(wanted).as_ref() != Some(sort) {
            return None;
        }
        if is_option(wanted) {
            return Some(format!("write `some({text})`"));
        }
        // For the assignment `m: m[2] + 1` it is `m[2 := m[2] + 1]`.
        let name = whose.strip_prefix("the value of `")?.strip_suffix('`')?;
        let key = text.split_once(&format!("{name}[")).and_then(|(_, rest)| rest.split(']').next());
        let key = key.filter(|key| !key.contains('[')).unwrap_or("k");
        Some(format!("to give one index or key this value, write `{name}[{key} := {text}]`"))
    }

    /// Warns of `{name}` in a text, which nothing fills.
    fn warn_of_hole(&mut self, text: &str, span: &Range<usize>) {
        let sort_of_name = |name: &str| {
            let mut near = self.bound.iter().chain(self.scope.parameters);
            if let Some((_, datum)) = near.find(|(known, _)| known == name) {
                return datum.as_ref().map(|datum| datum.ty().sort());
            }
            let (meaning, _) = self.scope.names.get(name)?;
            Some(meaning.term()?.sort().clone())
        };
        let mut holes = text.match_indices('{').filter_map(|(at, _)| {
            let (name, after) = text[at + 1..].split_once('}')?;
            let value = match sort_of_name(name)? {
                Type::String => name.to_owned(),
                Type::Int => format!("to_string({name})"),
                _ => return None,
            };
            Some((name, [format!("\"{}\"", &text[..at]), value, format!("\"{after}\"")]))
        });
        let Some((name, parts)) = holes.next() else { return };
        let parts: Vec<String> = parts.into_iter().filter(|part| part != "\"\"").collect();
        let help = format!("join texts with `+`: `{}`", parts.join(" + "));
        let message = format!("nothing fills `{{{name}}}` in a text of an expression");
        self.warn_of_mistake("hole-in-text", message, span, "a text with these braces", help);
    }

    /// Types an expression.
    pub(super) fn term(&mut self, tree: &Expression) -> Option<Term> {
        match &tree.kind {
            ExpressionKind::Name(name) => self.type_name(name, &tree.span),
            ExpressionKind::Truth(value) => Some(Term::literal(Value::Bool(*value))),
            ExpressionKind::Integer(digits) => Some(Term::int(parse_integer(digits)?)),
            ExpressionKind::Decimal(digits) => Some(Term::literal(Value::Real(parse_decimal(digits)?))),
            ExpressionKind::Text(text) => {
                self.warn_of_hole(text, &tree.span);
                Some(Term::literal(Value::string(text)))
            }
            ExpressionKind::Not(inner) => Some(self.type_condition(inner, "!")?.not()),
            ExpressionKind::Negate(inner) => Some(self.type_number(inner, "-")?.negate()),
            ExpressionKind::And(parts) => Some(Term::and(self.type_conditions(parts, "&&")?)),
            ExpressionKind::Or(parts) => Some(Term::or(self.type_conditions(parts, "||")?)),
            ExpressionKind::Implies(parts) => {
                let mut parts = self.type_conditions(parts, "=>")?;
                let conclusion = parts.pop()?;
                // Build the chain at once: it must not cost its square.
                let negated = parts.iter().map(Term::not);
                Some(Term::or_with_premises(negated.chain([conclusion]), parts.len()))
            }
            ExpressionKind::Compare(first, others) => self.type_comparison(first, others),
            ExpressionKind::Arithmetic(operator, a, b) => self.type_arithmetic(*operator, a, b),
            ExpressionKind::IfThenElse(condition, a, b) => self.type_conditional(condition, a, b, &tree.span),
            ExpressionKind::Select(array, index) => self.type_select(array, index),
            ExpressionKind::Store(array, index, element) => self.type_store(array, index, element),
            ExpressionKind::Field(record, field, place) => {
                let record_term = self.term(record)?;
                let Type::Record(ty) = record_term.sort().clone() else {
                    let message =
                        format!("`.{field}` reads a field of a record, but this is {}", record_term.sort());
                    let label = format!("this is {}", record_term.sort());
                    let help = elsewhere::explain_operation(field).map(str::to_owned);
                    self.error("type-mismatch", message, &record.span, label, help);
                    return None;
                };
                if let Some(position) = ty.field(field) {
                    return Some(Term::field(&record_term, position));
                }
                self.report_unknown_field(&ty, field, place, Some(&record.span));
                None
            }
            // The other forms have their own function: one that recurses must need little of the stack.
            _ => self.type_form(tree),
        }
    }

    /// Types `a[i]` of an array, a list, a map or a string.
    fn type_select(&mut self, array: &Expression, index: &Expression) -> Option<Term> {
        let array_term = self.term(array);
        if let Some(map) = array_term.as_ref().filter(|term| term.sort().as_keyed().is_some()) {
            return self.type_value_at(map, index);
        }
        let index_term = self.term(index);
        let sort = array_term.as_ref().map(Term::sort);
        if let Some(sort) = sort.filter(|sort| **sort == Type::String || sort.as_list().is_some())
            && matches!(&index.kind, ExpressionKind::Negate(number) if matches!(number.kind, ExpressionKind::Integer(_)))
        {
            let message = format!("{sort} has no element at a negative index");
            let help = "the last one is `q[len(q) - 1]`, the one before it `q[len(q) - 2]`".to_owned();
            self.error("no-such-index", message, &index.span, "indices begin at 0".to_owned(), Some(help));
            return None;
        }
        if let Some(Type::String) = sort {
            return self.build_character(&array_term?, &index_term?, &index.span);
        }
        let is_store = false;
        self.warn_of_index(array_term.as_ref(), array, index, is_store);
        if sort.is_some_and(|sort| sort.as_list().is_some()) {
            return self.build_element(&array_term?, &index_term?, &index.span);
        }
        let (array_term, ty) = (array_term.as_ref()?, self.expect_array(array_term.as_ref()?, &array.span)?);
        let index = self.fit(&index_term?, &index.span, &ty.index, "the index")?;
        Some(Term::select(array_term, &index))
    }

    /// Types `a[i := e]` of an array, a list or a map.
    fn type_store(&mut self, array: &Expression, index: &Expression, element: &Expression) -> Option<Term> {
        let array_term = self.term(array);
        let is_store = true;
        self.warn_of_index(array_term.as_ref(), array, index, is_store);
        if let Some(list) = array_term.as_ref().filter(|term| term.sort().as_list().is_some()) {
            return self.type_changed_list(list, index, element);
        }
        if let Some(map) = array_term.as_ref().filter(|term| term.sort().as_keyed().is_some()) {
            return self.type_changed_map(map, index, element);
        }
        let index_term = self.term(index);
        let element_term = match array_term.as_ref().map(Term::sort) {
            Some(Type::Array(ty)) => self.term_as(element, &ty.element.clone()),
            _ => self.term(element),
        };
        let (array_term, ty) = (array_term.as_ref()?, self.expect_array(array_term.as_ref()?, &array.span)?);
        let index = index_term.and_then(|term| self.fit(&term, &index.span, &ty.index, "the index"));
        let element =
            element_term.and_then(|term| self.fit(&term, &element.span, &ty.element, "the new element"));
        Some(Term::store(array_term, &index?, &element?))
    }

    /// Warns of an index in digits that a list or an array of this type never has, and of one that is the
    /// length of the list.
    fn warn_of_index(
        &mut self,
        array: Option<&Term>,
        array_tree: &Expression,
        index: &Expression,
        is_store: bool,
    ) {
        let list = self.text(&array_tree.span);
        if self.text(&index.span) == format!("len({list})") {
            let message = "a list has no element at its length: its indices begin at 0".to_owned();
            let help = match is_store {
                true => format!("write `{list} + [e]` to add an element at the end"),
                false => format!("write `{list}[len({list}) - 1]` for the last element"),
            };
            return self.warn_of_mistake("no-such-index", message, &index.span, "behind the last one", help);
        }
        let number = match &index.kind {
            ExpressionKind::Integer(digits) => parse_integer(digits),
            ExpressionKind::Negate(inner) => match &inner.kind {
                ExpressionKind::Integer(digits) => parse_integer(digits).map(|number| -number),
                _ => return,
            },
            _ => return,
        };
        let (Some(number), Some(sort)) = (number, array.map(Term::sort)) else { return };
        let (first, last) = match (sort, sort.as_list()) {
            (_, Some((_, most, _))) => (IBig::ZERO, IBig::from(most) - IBig::ONE),
            (Type::Array(ty), _) if let Type::Range(first, last) = &ty.index => (first.clone(), last.clone()),
            _ => return,
        };
        if (&first..=&last).contains(&&number) {
            return;
        }
        let message = format!("{sort} has no element at {number}");
        let label = format!("its indices are {first} to {last}");
        let help =
            "an expression that reads it has no value: a guard does not hold, and a transition is not taken";
        self.warn_of_mistake("no-such-index", message, &index.span, &label, help.to_owned());
    }

    /// Gives the type of the array that `a[i]` reads, or reports that the term is no array.
    fn expect_array(&mut self, term: &Term, span: &Range<usize>) -> Option<Arc<ArrayType>> {
        match term.sort() {
            Type::Array(ty) => Some(ty.clone()),
            other => {
                let message =
                    format!("`a[i]` needs an array, a list, a map or a string, but this is {other}");
                self.error("type-mismatch", message, span, format!("this is {other}"), None);
                None
            }
        }
    }

    /// Types a name: of a bound value, a parameter, a datum or a literal. Reports an unknown one.
    pub(super) fn type_name(&mut self, name: &str, span: &Range<usize>) -> Option<Term> {
        if let Some((_, datum)) = self.bound.iter().find(|(known, _)| known == name) {
            return datum.as_ref().map(Term::datum);
        }
        if let Some((_, parameter)) = self.scope.parameters.iter().find(|(known, _)| known == name) {
            return parameter.as_ref().map(Term::datum);
        }
        if let Some((meaning, _)) = self.scope.names.get(name) {
            let term = meaning.term();
            if let (None, Some((variant, number))) = (&term, self.find_alternative(name)) {
                self.report_missing_data(&variant, number, span);
            }
            return term;
        }
        if name == "none" {
            return self.report_untyped(span);
        }
        // After too many errors none is shown, so no hint is looked for.
        if !self.collector.is_full() {
            self.report_unknown_name(name, span);
        }
        None
    }

    /// Reports an unknown name, with a hint from the scope, from other languages or from a similar name.
    fn report_unknown_name(&mut self, name: &str, span: &Range<usize>) {
        let Scope { names, parameters, action, is_function } = self.scope;
        let unknown = format!("unknown name `{name}`");
        if let Some(function) = names.function(name) {
            let parameters: Vec<&str> = function.parameters.iter().map(Datum::name).collect();
            let help = format!("to call it, write `{name}({})`", parameters.join(", "));
            let message = format!("the name `{name}` is that of a function");
            return self.error("unknown-name", message, span, "a function".to_owned(), Some(help));
        }
        let similar = self.collector.nearest(name, self.scope.usable());
        let is_renamed =
            |parameter: &&(String, Option<Datum>)| parameter.1.as_ref().is_some_and(|p| p.name() == name);
        if let Some((new, _)) = parameters.iter().find(is_renamed) {
            let help = format!("`{name}` is called `{new}` in this transition");
            return self.error("unknown-name", unknown, span, "renamed by `on:`".to_owned(), Some(help));
        }
        let other_meaning = names.elsewhere(name);
        if let Some(what) = other_meaning.filter(|what| is_parameter(what)).map(str::to_owned) {
            if is_function {
                let help =
                    format!("a function cannot read a message: give it a parameter, and pass it `{name}`");
                return self.error("unknown-name", unknown, span, what, Some(help));
            }
            if action.is_none() {
                let help = "it holds before any message: use only variables and constants".to_owned();
                let message = format!("the initial condition mentions the parameter `{name}`");
                return self.error("parameter-in-initial-condition", message, span, what, Some(help));
            }
        }
        let help = match (similar, other_meaning) {
            (_, None) if let Some(explanation) = elsewhere::explain_word(name) => explanation.to_owned(),
            (_, Some(LOCATION)) => {
                "a purpose cannot ask where the specification is: name the message that leads \
                                    there, with `on:` of a transition of its own"
                    .to_owned()
            }
            (_, Some(what)) if what.contains("of the specification") => {
                format!("list it under `observes:` to read it: `observes: [{name}]`")
            }
            (_, Some(what)) if what.starts_with("a type") => {
                "write the literal alone, without the name of its type".to_owned()
            }
            (_, Some(what)) if is_parameter(what) => format!(
                "a parameter is known only in the transitions of its action, but this one is on `{}`. Keep its value in a \
                 variable: `assign: {{ VARIABLE: {name} }}` in the transition with {}",
                action.unwrap_or_default(),
                what.strip_prefix("a parameter of ").unwrap_or("its action")
            ),
            // The next value, as in TLA+.
            _ if let Some(now) = name.strip_suffix('\'')
                && names.get(now).is_some() =>
            {
                format!(
                    "an expression reads old values only: give the new one with `assign: {{ {now}: VALUE }}`"
                )
            }
            (Some(similar), _) => format!("did you mean {}?", self.describe_name(similar)),
            (None, _) => self.list_usable_names(),
        };
        let label = other_meaning.unwrap_or("not declared").to_owned();
        self.error("unknown-name", unknown, span, label, Some(help));
    }

    pub(super) fn describe_name(&self, name: &str) -> String {
        match self.scope.names.get(name) {
            Some((meaning, _)) => format!("the {} `{name}`", meaning.describe()),
            None => format!("the parameter `{name}`"),
        }
    }

    /// The help text with all names that can be used here, by kind.
    fn list_usable_names(&self) -> String {
        let mut lines = Vec::new();
        let parameters: Vec<&str> = self.scope.parameters.iter().map(|(name, _)| name.as_str()).collect();
        match self.scope.action {
            Some(action) if parameters.is_empty() => {
                let hidden = self.scope.names.elsewhere(action).filter(|what| what.starts_with(HIDDEN));
                lines.push(match hidden {
                    Some(what) => format!("{action} is {what}, so it has no parameters: take it out there"),
                    None => format!("{action} has no parameters (`{action}: {{ p: int }}` declares one)"),
                });
            }
            Some(action) => lines.push(format!("parameters of {action}: {}", listed(parameters))),
            None => {}
        }
        let kind_of = |meaning: &Meaning| match meaning {
            Meaning::Variable(_) => "variables",
            Meaning::Constant(_) => "constants",
            Meaning::Observed(_) => "observed",
            Meaning::Clock(_) => "clocks",
            Meaning::Literal(..) | Meaning::Alternative(..) => "literals",
            Meaning::Broken => "",
        };
        for kind in ["variables", "constants", "observed", "clocks", "literals"] {
            let of_kind = self.scope.names.iter().filter(|(_, meaning)| kind_of(meaning) == kind);
            let names: Vec<&str> = of_kind.map(|(name, _)| name).collect();
            if !names.is_empty() {
                lines.push(format!("{kind}: {}", listed(names)));
            }
        }
        let has_variables = lines.iter().any(|line| line.starts_with("variables"));
        if lines.is_empty() {
            "no declared name can be used here".to_owned()
        } else if has_variables || self.scope.is_function {
            lines.join("; ")
        } else {
            format!("{}; declare a variable under `variables:`", lines.join("; "))
        }
    }

    /// Types a condition. `operator` is the operator that it belongs to.
    pub(super) fn type_condition(&mut self, tree: &Expression, operator: &str) -> Option<Term> {
        let term = self.term(tree)?;
        if *term.sort() == Type::Bool {
            return Some(term);
        }
        let explain_emptiness = || elsewhere::explain_operation("is_empty").map(str::to_owned);
        let help = match (term.sort(), operator) {
            // Other languages ask in this way whether a text or a collection is empty.
            (Type::Record(record), _) if record.form == RecordForm::Option => {
                let word = if operator == "!" { "none" } else { "some" };
                Some(format!("write `{} is {word}`", self.text(&tree.span)))
            }
            (Type::Record(record), _) if record.form != RecordForm::Plain => explain_emptiness(),
            (Type::String, _) => explain_emptiness(),
            (_, "!") => Some("`!` binds tighter than a comparison: write `!(x == y)` or `x != y`".to_owned()),
            (sort, "=>") if sort.is_number() => {
                Some("`=>` means \"implies\": write `>=` for \"at least\"".to_owned())
            }
            (Type::Int, _) => Some("write a comparison: `x != 0`".to_owned()),
            _ => None,
        };
        let use_of_it = if operator == "!" { "negates a truth value" } else { "joins truth values" };
        let message = format!("`{operator}` {use_of_it}, but this is {}", term.sort());
        self.error("type-mismatch", message, &tree.span, format!("this is {}, not bool", term.sort()), help);
        None
    }

    /// Types all parts, so that all mistakes are reported. `None` if there was one.
    fn type_conditions(&mut self, parts: &[Expression], operator: &str) -> Option<Vec<Term>> {
        // All parts are typed before the result, so that all their mistakes are reported.
        let terms: Vec<Option<Term>> = parts.iter().map(|part| self.type_condition(part, operator)).collect();
        terms.into_iter().collect()
    }

    pub(super) fn type_number(&mut self, tree: &Expression, operator: &str) -> Option<Term> {
        let term = self.term(tree);
        self.expect_number(term, &tree.span, operator)
    }

    /// Refuses a term that is no number. `operator` is the operator that computes with it.
    fn expect_number(&mut self, term: Option<Term>, span: &Range<usize>, operator: &str) -> Option<Term> {
        let term = term?;
        if term.sort().is_number() {
            return Some(term);
        }
        let message = format!("`{operator}` computes with numbers, but this is {}", term.sort());
        let help = explain_id(term.sort());
        self.error("type-mismatch", message, span, format!("this is {}", term.sort()), help);
        None
    }

    /// Types `a + b` and the like. It recurses and must need little of the stack, so longer parts are in
    /// other functions.
    fn type_arithmetic(&mut self, operator: Operator, a: &Expression, b: &Expression) -> Option<Term> {
        if !(says_type(a) && says_type(b)) {
            return self.type_untyped_arithmetic(operator, a, b);
        }
        let (left, right) = (self.term(a), self.term(b));
        self.type_operation(operator, (left, a), (right, b))
    }

    /// Types an operation of which an operand takes its type from the other one.
    fn type_untyped_arithmetic(
        &mut self,
        operator: Operator,
        a: &Expression,
        b: &Expression,
    ) -> Option<Term> {
        let (left, right) = match says_type(a) {
            true => {
                let left = self.term(a);
                let right = self.type_right_operand(operator, &left, b);
                (left, right)
            }
            false => self.type_two(a, b),
        };
        self.type_operation(operator, (left, a), (right, b))
    }

    /// Types an operation on two typed operands: on strings, lists, sets, maps or numbers.
    pub(super) fn type_operation(
        &mut self,
        operator: Operator,
        (left, a): (Option<Term>, &Expression),
        (right, b): (Option<Term>, &Expression),
    ) -> Option<Term> {
        let sign = operator.to_string();
        let is_list = |term: &Option<Term>| term.as_ref().is_some_and(|term| term.sort().as_list().is_some());
        if operator == Operator::Add && (is_list(&left) || is_list(&right)) {
            return self.build_joined((&left?, &a.span), (&right?, &b.span));
        }
        let is_string = |term: &Option<Term>| term.as_ref().is_some_and(|term| *term.sort() == Type::String);
        if operator == Operator::Add && (is_string(&left) || is_string(&right)) {
            return self.build_concatenation(&left?, &a.span, &right?, &b.span);
        }
        let is_keyed =
            |term: &Option<Term>| term.as_ref().is_some_and(|term| term.sort().as_keyed().is_some());
        if is_keyed(&left) || is_keyed(&right) {
            return self.build_set_operation(operator, (&left?, &a.span), (&right?, &b.span));
        }
        let (left, right) =
            (self.expect_number(left, &a.span, &sign), self.expect_number(right, &b.span, &sign));
        let (left, right) = (left?, right?);
        if matches!(operator, Operator::IntegerDivide | Operator::Modulo) {
            // Both operands are checked before the return, so that both mistakes are reported.
            for (term, tree) in [(&left, a), (&right, b)] {
                if *term.sort() != Type::Int {
                    let message = format!("`{sign}` needs integers, but this is {}", term.sort());
                    let label = format!("this is {}", term.sort());
                    let help = (operator == Operator::IntegerDivide).then(|| "`/` divides reals".to_owned());
                    self.error("type-mismatch", message, &tree.span, label, help);
                }
            }
            if [&left, &right].iter().any(|term| *term.sort() != Type::Int) {
                return None;
            }
        }
        let term = Term::arithmetic(operator, &left, &right);
        if is_too_long(&term) {
            self.report_too_long(a, b);
            return None;
        }
        Some(term)
    }

    fn report_too_long(&mut self, a: &Expression, b: &Expression) {
        let message = format!("this value has more than {} digits", parser::MAX_DIGITS);
        self.error("number-too-long", message, &(a.span.start..b.span.end), "too long".to_owned(), None);
    }

    /// Types a chain such as `a < b < c`, which is a conjunction. Each operand may take its type from the one
    /// before it.
    fn type_comparison(&mut self, first: &Expression, others: &[(Comparison, Expression)]) -> Option<Term> {
        let Some(((comparison, second), others)) = others.split_first() else { return self.term(first) };
        let mut parts = Vec::new();
        let (first_term, second_term) = self.type_two(first, second);
        let (left_side, right_side) = ((&first_term, &first.span), (&second_term, &second.span));
        parts.push(self.build_comparison(*comparison, left_side, right_side));
        let (mut left_term, mut left_span) = (second_term, &second.span);
        for (comparison, right) in others {
            let right_term = self.type_neighbour(right, &left_term);
            let (left_side, right_side) = ((&left_term, left_span), (&right_term, &right.span));
            parts.push(self.build_comparison(*comparison, left_side, right_side));
            (left_term, left_span) = (right_term, &right.span);
        }
        parts.into_iter().collect::<Option<Vec<Term>>>().map(Term::and)
    }

    /// Types one comparison of two typed operands.
    pub(super) fn build_comparison(
        &mut self,
        comparison: Comparison,
        (a, a_span): (&Option<Term>, &Range<usize>),
        (b, b_span): (&Option<Term>, &Range<usize>),
    ) -> Option<Term> {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        let are_numbers = a.sort().is_number() && b.sort().is_number();
        let whole = a_span.start..b_span.end;
        if a.sort() != b.sort() && !are_numbers {
            let message = format!("`{comparison}` cannot compare {} with {}", a.sort(), b.sort());
            let spelled_id = self.spell_id([(a.sort(), a_span), (b.sort(), b_span)]);
            let help = match (a.sort(), b.sort()) {
                (Type::Enum(_), Type::String) | (Type::String, Type::Enum(_)) => {
                    "write literals of enumerations without quotes"
                }
                _ if let Some(help) = &spelled_id => help,
                (Type::Id(_), Type::Id(_)) => "ids of different types are never equal",
                (Type::Id(_), _) | (_, Type::Id(_)) => {
                    "an id has no literals and can only be compared with ids: keep one in a variable"
                }
                (Type::Record(record), other) | (other, Type::Record(record))
                    if record.form == RecordForm::Option && !matches!(other, Type::Record(_)) =>
                {
                    "compare an option with an option: write `some(x)` on the other side, or ask `o is some`"
                }
                (a, b) if let Some(help) = explain_different_ranges(a, b) => help,
                _ => "both sides of a comparison must have the same type",
            };
            self.report_two_types(message, [(a, a_span), (b, b_span)], Some(help.to_owned()));
            return None;
        }
        if let Some(term) = self.build_subset(comparison, a, b) {
            return self.check_size(term, &whole);
        }
        let is_ordered = are_numbers || a.sort().is_ordered();
        if !is_ordered && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            let message =
                format!("`{comparison}` orders numbers, strings and sets, but these are {}", a.sort());
            let help = explain_id(a.sort())
                .unwrap_or_else(|| "values of this type can only be compared with `==` and `!=`".to_owned());
            self.error("type-mismatch", message, &whole, format!("these are {}", a.sort()), Some(help));
            return None;
        }
        Some(Term::compare(comparison, a, b))
    }

    /// Writes the id that is meant by a number or a text in quotes. Of the two sides, which have these sorts
    /// and places, one must be an id: the other one is read.
    fn spell_id(&self, sides: [(&Type, &Range<usize>); 2]) -> Option<String> {
        let ([(Type::Id(id), _), (_, span)] | [(_, span), (Type::Id(id), _)]) = sides else { return None };
        let text = self.text(span).trim_matches('"');
        let is_quoted = text.len() + 2 == span.len() && !text.contains('"');
        let is_literal = is_quoted || text.parse::<u64>().is_ok();
        is_literal.then(|| format!("for the id that the system calls `{text}`, write `(\"{text}\": {id})`"))
    }

    /// Types `if condition then a else b`. Of an integer and a real branch, `if_then_else` lifts the integer.
    fn type_conditional(
        &mut self,
        condition: &Expression,
        a: &Expression,
        b: &Expression,
        whole: &Range<usize>,
    ) -> Option<Term> {
        self.warn_of_greedy_else([a, b], whole);
        let choice = self.term(condition);
        let (then, otherwise) = self.type_two(a, b);
        let choice = choice.and_then(|term| self.fit(&term, &condition.span, &Type::Bool, "a condition"));
        let (then, otherwise) = (then?, otherwise?);
        let are_numbers = then.sort().is_number() && otherwise.sort().is_number();
        if then.sort() != otherwise.sort() && !are_numbers {
            let message = format!("the branches differ in type: {} and {}", then.sort(), otherwise.sort());
            self.report_two_types(message, [(&then, &a.span), (&otherwise, &b.span)], None);
            return None;
        }
        Some(Term::if_then_else(&choice?, &then, &otherwise))
    }
}

fn is_parameter(what: &str) -> bool {
    what.starts_with("a parameter of")
}

fn expected_text(ty: &Type) -> String {
    match ty {
        Type::Bool => "a truth value (bool)".to_owned(),
        other => format!("of type {other}"),
    }
}

fn parse_integer(digits: &str) -> Option<IBig> {
    IBig::from_str_radix(digits, 10).ok()
}

fn parse_decimal(digits: &str) -> Option<RBig> {
    let (whole, fraction) = digits.split_once('.')?;
    let numerator = parse_integer(&format!("{whole}{fraction}"))?;
    let denominator = parse_integer(&format!("1{}", "0".repeat(fraction.len())))?;
    Some(RBig::from(numerator) / RBig::from(denominator))
}

/// Is it a number of more digits than are read? Literals are computed here already. Products of long ones
/// would be longer still, and cost the solver the square of the length.
fn is_too_long(term: &Term) -> bool {
    term.as_literal().is_some_and(crate::term::evaluate::is_too_long)
}
