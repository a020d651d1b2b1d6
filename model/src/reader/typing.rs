//! Typing: from the syntax tree to a well-sorted term, collecting every mistake on the way.
//!
//! A subexpression with a mistake has no term, and the expression around it reports nothing more: one
//! mistake, one message. Rules: `int`, `nat` and ranges are one sort. An integer next to a real, or in the
//! place of a real, is lifted. Nothing else converts. Recursion is bounded by the parser's limits.

use std::ops::Range;

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::excerpt::shortened;
use crate::reader::collect::{Collector, listed};
use crate::reader::elsewhere;
use crate::reader::parser::{self, Mistake};
use crate::reader::scope::{Meaning, Scope};
use crate::reader::shape::report_cut;
use crate::reader::syntax::{Expression, ExpressionKind, says_type};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::term::node::{Comparison, Operator};
use crate::term::{Substitution, Term};
use crate::types::{RecordForm, Type};
use crate::value::Value;

/// The help text that says what an id is for.
pub(super) const ONLY_COMPARED: &str = "an id can only be passed on, and compared with `==`, `!=`, `in` and \
    `contains`; use an `int` or a `string` to compute, order or convert";

/// The help for a mistake with an id.
pub(super) fn about_ids(sorts: [&Type; 2]) -> Option<String> {
    match sorts {
        [Type::Id(a), Type::Id(b)] if a != b => Some("ids of different types are never equal".to_owned()),
        [Type::Id(_), _] | [_, Type::Id(_)] => Some(ONLY_COMPARED.to_owned()),
        _ => None,
    }
}

/// The help for a comparison of two collections or options of integers.
fn about_parts(a: &Type, b: &Type) -> Option<&'static str> {
    if let (Type::Record(a), Type::Record(b)) = (a, b)
        && [a, b].iter().all(|ty| ty.form == RecordForm::Option)
        && a.content_type().sort() == b.content_type().sort()
    {
        return Some(
            "only options of one range can be compared; for others, write `(match o: some(x) -> (match p: some(y) -> x \
            == y | none -> false) | none -> p is none)`",
        );
    }
    let key_of_set =
        |ty: &Type| ty.as_keyed().filter(|(ty, _)| ty.map_value_type().is_none()).map(|(_, key)| key.sort());
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
            let message = format!("expected an expression for {whose}, found {}", node.describe());
            let mut diagnostic = Diagnostic::error("expected-expression", message)
                .at(collector.origin(&node.head()), "expected an expression");
            if !node.is_nothing() {
                // A list or a mapping of texts is meant as their conjunction.
                let text = |node: &Yaml| node.as_scalar().map(|scalar| scalar.text.clone());
                let conjuncts: Option<Vec<String>> = match &node.kind {
                    NodeKind::Sequence(items) => items.iter().map(|item| text(item)).collect(),
                    NodeKind::Mapping(entries) => {
                        let equation =
                            |entry: &Entry| Some(format!("{} == {}", entry.key.text, text(&entry.value)?));
                        entries.iter().map(equation).collect()
                    }
                    NodeKind::Scalar(_) => None,
                };
                let example = conjuncts.map(|conjuncts| format!(", as in `{}`", conjuncts.join(" && ")));
                diagnostic = diagnostic.help(format!(
                    "write an expression as one text, in quotes if it contains brackets, braces or `: `{}",
                    example.unwrap_or_default()
                ));
            }
            collector.push(diagnostic);
            return None;
        }
    };
    let parsed = parser::parse(&scalar.text, collector.limits.expression);
    let tree = parsed.map_err(|mistake| report(collector, scalar, *mistake)).ok()?;
    let found_before = collector.count_found();
    let term = Typing::new(collector, scalar, scope).whole(&tree, expected, whose);
    if term.is_none() {
        // A quantifier may be meant to end before its last comparison. Only few are typed again.
        let right = tree.earlier_ends().into_iter().take(4).find_map(|(whole, end)| {
            let text = &scalar.text;
            let apart = format!("({}){}", text.get(whole.start..end)?, text.get(end..whole.end)?);
            let changed = format!("{}{apart}{}", text.get(..whole.start)?, text.get(whole.end..)?);
            let tree = parser::parse(&changed, collector.limits.expression).ok()?;
            let scalar = Scalar::made(changed, scalar.span.clone());
            let mut tried = Collector::new(collector.file.clone());
            Typing::new(&mut tried, &scalar, scope).whole(&tree, expected, whose)?;
            (tried.count_found() == 0).then_some(apart)
        });
        if let Some(text) = right {
            let help = "the body of a quantifier goes on to the end: write";
            collector.help_since(found_before, format!("{help} `{}`", shortened(&text)));
        }
    }
    term
}

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

    /// Types the whole expression, which must be of this type.
    fn whole(&mut self, tree: &Expression, expected: &Type, whose: &str) -> Option<Term> {
        let term = self.term_as(tree, expected)?;
        let term = self.fit(&term, &tree.span, expected, whose)?;
        self.affordable(term, &tree.span)
    }

    pub(super) fn error(
        &mut self,
        code: &'static str,
        message: String,
        span: &Range<usize>,
        label: String,
        help: Option<String>,
    ) {
        let place = self.scalar.place(span);
        let diagnostic = Diagnostic::error(code, message).at(self.collector.origin(&place), label);
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
            _ => self.spell_id([(&wanted, span), (&sort, span)]).or_else(|| about_ids([&wanted, &sort])),
        };
        let message = format!("{whose} must be {}, but this is {sort}", expected_text(expected));
        self.error("type-mismatch", message, span, format!("this is {sort}"), help);
        None
    }

    /// Types an expression.
    pub(super) fn term(&mut self, tree: &Expression) -> Option<Term> {
        match &tree.kind {
            ExpressionKind::Name(name) => self.name(name, &tree.span),
            ExpressionKind::Truth(value) => Some(Term::literal(Value::Bool(*value))),
            ExpressionKind::Integer(digits) => Some(Term::int(parse_integer(digits)?)),
            ExpressionKind::Decimal(digits) => Some(Term::literal(Value::Real(parse_decimal(digits)?))),
            ExpressionKind::Text(text) => Some(Term::literal(Value::string(text))),
            ExpressionKind::Not(inner) => Some(self.truth(inner, "!")?.not()),
            ExpressionKind::Negate(inner) => Some(self.number(inner, "-")?.negate()),
            ExpressionKind::And(parts) => Some(Term::and(self.truths(parts, "&&")?)),
            ExpressionKind::Or(parts) => Some(Term::or(self.truths(parts, "||")?)),
            ExpressionKind::Implies(parts) => {
                let mut parts = self.truths(parts, "=>")?;
                let conclusion = parts.pop()?;
                // Build the chain at once: it must not cost its square.
                Some(Term::or(parts.iter().map(Term::not).chain([conclusion])))
            }
            ExpressionKind::Compare(first, others) => self.compare(first, others),
            ExpressionKind::Arithmetic(operator, a, b) => self.arithmetic(*operator, a, b),
            ExpressionKind::IfThenElse(condition, a, b) => self.conditional(condition, a, b, &tree.span),
            ExpressionKind::Select(array, index) => self.select(array, index),
            ExpressionKind::Store(array, index, element) => self.store(array, index, element),
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
                self.unknown_field(&ty, field, place, Some(&record.span));
                None
            }
            // The other forms are in a function of their own: a function that recurses must need little of
            // the stack.
            _ => self.form(tree),
        }
    }

    /// Types `a[i]` of an array, a list, a map or a string.
    fn select(&mut self, array: &Expression, index: &Expression) -> Option<Term> {
        let array_term = self.term(array);
        if let Some(map) = array_term.as_ref().filter(|term| term.sort().as_keyed().is_some()) {
            return self.value_at(map, index);
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
        match sort {
            Some(Type::String) => return self.character(&array_term?, &index_term?, &index.span),
            Some(sort) if sort.as_list().is_some() => {
                self.warn_of_index((array_term.as_ref(), array), index, false);
                return self.element_of(&array_term?, &index_term?, &index.span);
            }
            _ => {}
        }
        self.warn_of_index((array_term.as_ref(), array), index, false);
        let (array_term, ty) = (array_term.as_ref()?, self.array(array_term.as_ref()?, &array.span)?);
        let index = self.fit(&index_term?, &index.span, &ty.index, "the index")?;
        Some(Term::select(array_term, &index))
    }

    /// Types `a[i := e]` of an array, a list or a map.
    fn store(&mut self, array: &Expression, index: &Expression, element: &Expression) -> Option<Term> {
        let array_term = self.term(array);
        self.warn_of_index((array_term.as_ref(), array), index, true);
        if let Some(list) = array_term.as_ref().filter(|term| term.sort().as_list().is_some()) {
            return self.changed(list, index, element);
        }
        if let Some(map) = array_term.as_ref().filter(|term| term.sort().as_keyed().is_some()) {
            return self.changed_at(map, index, element);
        }
        let index_term = self.term(index);
        let element_term = match array_term.as_ref().map(Term::sort) {
            Some(Type::Array(ty)) => self.term_as(element, &ty.element.clone()),
            _ => self.term(element),
        };
        let (array_term, ty) = (array_term.as_ref()?, self.array(array_term.as_ref()?, &array.span)?);
        let index = index_term.and_then(|term| self.fit(&term, &index.span, &ty.index, "the index"));
        let element =
            element_term.and_then(|term| self.fit(&term, &element.span, &ty.element, "the new element"));
        Some(Term::store(array_term, &index?, &element?))
    }

    /// Warns of an index in digits that a list or an array of this type never has, and of one that is the
    /// length of the list.
    fn warn_of_index(&mut self, array: (Option<&Term>, &Expression), index: &Expression, is_store: bool) {
        let text = |tree: &Expression| self.scalar.text.get(tree.span.clone()).unwrap_or_default();
        let (array, list) = (array.0, text(array.1));
        if text(index) == format!("len({list})") {
            let message = "a list has no element at its length: its indices begin at 0".to_owned();
            let help = match is_store {
                true => format!("write `{list} + [e]` to add an element at the end"),
                false => format!("write `{list}[len({list}) - 1]` for the last element"),
            };
            return self.warn_of_mistake("no-such-index", message, &index.span, "behind the last one", help);
        }
        let (digits, sign) = match &index.kind {
            ExpressionKind::Integer(digits) => (digits, ""),
            ExpressionKind::Negate(inner) => match &inner.kind {
                ExpressionKind::Integer(digits) => (digits, "-"),
                _ => return,
            },
            _ => return,
        };
        let Some(array) = array else { return };
        let (first, last) = match array.sort() {
            Type::Array(ty) => match &ty.index {
                Type::Range(first, last) => (first.clone(), last.clone()),
                _ => return,
            },
            sort => match sort.as_list() {
                Some((_, most, _)) => (IBig::ZERO, IBig::from(most) - IBig::ONE),
                None => return,
            },
        };
        let Ok(number) = format!("{sign}{digits}").parse::<IBig>() else { return };
        if (&first..=&last).contains(&&number) {
            return;
        }
        let message = format!("{} has no element at {number}", array.sort());
        let place = self.collector.origin(&self.scalar.place(&index.span));
        let warning = Diagnostic::warning("no-such-index", message)
            .at(place, format!("its indices are {first} to {last}"))
            .help("an expression that reads it has no value: a guard does not hold, and a transition is not taken");
        self.collector.push(warning);
    }

    fn array(&mut self, term: &Term, span: &Range<usize>) -> Option<std::sync::Arc<crate::types::ArrayType>> {
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

    /// Types a name: of a bound value, a parameter, a datum or a literal. Reports an unknown name with a
    /// hint.
    pub(super) fn name(&mut self, name: &str, span: &Range<usize>) -> Option<Term> {
        if let Some((_, datum)) = self.bound.iter().find(|(known, _)| known == name) {
            return datum.as_ref().map(Term::datum);
        }
        if let Some((_, parameter)) = self.scope.parameters.iter().find(|(known, _)| known == name) {
            return parameter.as_ref().map(Term::datum);
        }
        if let Some((meaning, _)) = self.scope.names.get(name) {
            let term = meaning.term();
            if let (None, Some((variant, number))) = (&term, self.alternative(name)) {
                self.without_data(&variant, number, span);
            }
            return term;
        }
        if name == "none" {
            return self.needs_type(span);
        }
        // What follows finds a hint. After too many errors none is shown.
        if self.collector.is_full() {
            return None;
        }
        if let Some(function) = self.scope.names.functions().find(|function| function.name == name) {
            let parameters: Vec<&str> = function.parameters.iter().map(Datum::name).collect();
            let help = format!("to call it, write `{name}({})`", parameters.join(", "));
            let message = format!("the name `{name}` is that of a function");
            self.error("unknown-name", message, span, "a function".to_owned(), Some(help));
            return None;
        }
        let usable = self.scope.usable();
        let similar = self.collector.nearest(name, usable).map(str::to_owned);
        let elsewhere = self.scope.names.elsewhere(name).map(str::to_owned);
        let renamed =
            self.scope.parameters.iter().find(|(_, p)| p.as_ref().is_some_and(|p| p.name() == name));
        if let Some((new, _)) = renamed {
            let help = format!("`{}` is called `{new}` in this transition", name);
            self.error(
                "unknown-name",
                format!("unknown name `{name}`"),
                span,
                "renamed by `on:`".to_owned(),
                Some(help),
            );
            return None;
        }
        if let (Some(what), true) =
            (elsewhere.as_ref().filter(|what| is_parameter(what)), self.scope.is_function)
        {
            let help = format!("a function cannot read a message: give it a parameter, and pass it `{name}`");
            self.error("unknown-name", format!("unknown name `{name}`"), span, what.clone(), Some(help));
            return None;
        }
        if let (None, Some(what)) = (self.scope.action, elsewhere.as_ref().filter(|what| is_parameter(what)))
        {
            let help = "it holds before any message: use only variables and constants".to_owned();
            let message = format!("the initial condition mentions the parameter `{name}`");
            self.error("parameter-in-initial-condition", message, span, what.clone(), Some(help));
            return None;
        }
        let help = match (similar, &elsewhere) {
            (_, None) if let Some(explanation) = elsewhere::explain_word(name) => explanation.to_owned(),
            (_, Some(what)) if what.contains("of the specification") => {
                format!("list it under `observes:` to read it: `observes: [{name}]`")
            }
            (_, Some(what)) if what.starts_with("a type") => {
                "write the literal alone, without the name of its type".to_owned()
            }
            (_, Some(what)) if is_parameter(what) => {
                let action = self.scope.action.unwrap_or_default();
                format!(
                    "a parameter is known only in the transitions of its action, but this one is on `{action}`"
                )
            }
            // The next value, as in TLA+.
            _ if let Some(now) = name.strip_suffix('\'')
                && self.scope.names.get(now).is_some() =>
            {
                format!(
                    "an expression reads old values only: give the new one with `assign: {{ {now}: VALUE }}`"
                )
            }
            (Some(similar), _) => format!("did you mean {}?", self.describe_name(&similar)),
            (None, _) => self.inventory(),
        };
        let label = elsewhere.unwrap_or_else(|| "not declared".to_owned());
        self.error("unknown-name", format!("unknown name `{name}`"), span, label, Some(help));
        None
    }

    pub(super) fn describe_name(&self, name: &str) -> String {
        match self.scope.names.get(name) {
            Some((meaning, _)) => format!("the {} `{name}`", meaning.describe()),
            None => format!("the parameter `{name}`"),
        }
    }

    /// The help text with all names that can be used here, by kind.
    fn inventory(&self) -> String {
        let mut lines = Vec::new();
        let parameters: Vec<&str> = self.scope.parameters.iter().map(|(name, _)| name.as_str()).collect();
        match self.scope.action {
            Some(action) if parameters.is_empty() => {
                lines.push(format!("{action} has no parameters (`{action}: {{ p: int }}` declares one)"));
            }
            Some(action) => lines.push(format!("parameters of {action}: {}", listed(parameters))),
            None => {}
        }
        let mut kinds: [(&str, Vec<&str>); 5] =
            ["variables", "constants", "observed", "clocks", "literals"].map(|kind| (kind, Vec::new()));
        for (name, meaning) in self.scope.names.iter() {
            let kind = match meaning {
                Meaning::Variable(_) => 0,
                Meaning::Constant(_) => 1,
                Meaning::Observed(_) => 2,
                Meaning::Clock(_) => 3,
                Meaning::Literal(..) | Meaning::Alternative(..) => 4,
                Meaning::Broken => continue,
            };
            kinds[kind].1.push(name);
        }
        for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
            lines.push(format!("{kind}: {}", listed(names)));
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
    pub(super) fn truth(&mut self, tree: &Expression, operator: &str) -> Option<Term> {
        let term = self.term(tree)?;
        if *term.sort() == Type::Bool {
            return Some(term);
        }
        let help = match operator {
            "!" => Some("`!` binds tighter than a comparison: write `!(x == y)` or `x != y`".to_owned()),
            "=>" if term.sort().is_number() => {
                Some("`=>` means \"implies\": write `>=` for \"at least\"".to_owned())
            }
            _ if *term.sort() == Type::Int => Some("write a comparison: `x != 0`".to_owned()),
            _ => None,
        };
        // Other languages ask in this way whether a text or a collection is empty.
        let may_be_empty = *term.sort() == Type::String
            || matches!(term.sort(), Type::Record(record) if record.form != RecordForm::Plain);
        let is_option = matches!(term.sort(), Type::Record(record) if record.form == RecordForm::Option);
        let help = match may_be_empty {
            true if is_option => {
                let text = self.scalar.text.get(tree.span.clone()).unwrap_or("o");
                let word = if operator == "!" { "none" } else { "some" };
                Some(format!("write `{text} is {word}`"))
            }
            true => elsewhere::explain_operation("is_empty").map(str::to_owned),
            false => help,
        };
        let message = format!("`{operator}` joins truth values, but this is {}", term.sort());
        let message = if operator == "!" {
            message.replace("joins truth values", "negates a truth value")
        } else {
            message
        };
        self.error("type-mismatch", message, &tree.span, format!("this is {}, not bool", term.sort()), help);
        None
    }

    fn truths(&mut self, parts: &[Expression], operator: &str) -> Option<Vec<Term>> {
        // All parts are typed before the result, so that all their mistakes are reported.
        let terms: Vec<Option<Term>> = parts.iter().map(|part| self.truth(part, operator)).collect();
        terms.into_iter().collect()
    }

    pub(super) fn number(&mut self, tree: &Expression, operator: &str) -> Option<Term> {
        let term = self.term(tree);
        self.as_number(term, &tree.span, operator)
    }

    fn as_number(&mut self, term: Option<Term>, span: &Range<usize>, operator: &str) -> Option<Term> {
        let term = term?;
        if term.sort().is_number() {
            return Some(term);
        }
        let message = format!("`{operator}` computes with numbers, but this is {}", term.sort());
        let help = about_ids([term.sort(); 2]);
        self.error("type-mismatch", message, span, format!("this is {}", term.sort()), help);
        None
    }

    /// Types `a + b` and the like. It recurses and must need little of the stack, so longer parts are in
    /// other functions.
    fn arithmetic(&mut self, operator: Operator, a: &Expression, b: &Expression) -> Option<Term> {
        if !(says_type(a) && says_type(b)) {
            return self.sum_beside(operator, a, b);
        }
        let (left, right) = (self.term(a), self.term(b));
        self.operation(operator, (left, a), (right, b))
    }

    /// Types an operation of which an operand takes its type from the other one.
    fn sum_beside(&mut self, operator: Operator, a: &Expression, b: &Expression) -> Option<Term> {
        let (left, right) = match says_type(a) {
            true => {
                let left = self.term(a);
                let right = self.beside(operator, &left, b);
                (left, right)
            }
            false => self.type_two(a, b),
        };
        self.operation(operator, (left, a), (right, b))
    }

    /// Types an operation on two typed operands: on strings, lists, sets, maps or numbers.
    pub(super) fn operation(
        &mut self,
        operator: Operator,
        (left, a): (Option<Term>, &Expression),
        (right, b): (Option<Term>, &Expression),
    ) -> Option<Term> {
        let sign = operator.to_string();
        let is_list = |term: &Option<Term>| term.as_ref().is_some_and(|term| term.sort().as_list().is_some());
        if operator == Operator::Add && (is_list(&left) || is_list(&right)) {
            return self.joined((&left?, &a.span), (&right?, &b.span));
        }
        let is_string = |term: &Option<Term>| term.as_ref().is_some_and(|term| *term.sort() == Type::String);
        if operator == Operator::Add && (is_string(&left) || is_string(&right)) {
            return self.concatenation(&left?, &a.span, &right?, &b.span);
        }
        let is_keyed =
            |term: &Option<Term>| term.as_ref().is_some_and(|term| term.sort().as_keyed().is_some());
        if is_keyed(&left) || is_keyed(&right) {
            return self.of_sets(operator, (&left?, &a.span), (&right?, &b.span));
        }
        let (left, right) = (self.as_number(left, &a.span, &sign), self.as_number(right, &b.span, &sign));
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
            self.too_long(a, b);
            return None;
        }
        Some(term)
    }

    fn too_long(&mut self, a: &Expression, b: &Expression) {
        let message = format!("this value has more than {} digits", parser::MAX_DIGITS);
        self.error("number-too-long", message, &(a.span.start..b.span.end), "too long".to_owned(), None);
    }

    /// Types a chain such as `a < b < c`, which is a conjunction. Each operand may take its type from the one
    /// before it.
    fn compare(&mut self, first: &Expression, others: &[(Comparison, Expression)]) -> Option<Term> {
        let mut parts = Vec::new();
        let Some(((comparison, second), others)) = others.split_first() else { return self.term(first) };
        let (first_term, second_term) = self.type_two(first, second);
        parts.push(self.compare_two(*comparison, (&first_term, &first.span), (&second_term, &second.span)));
        let (mut left_term, mut left_span) = (second_term, &second.span);
        for (comparison, right) in others {
            let right_term = self.type_neighbour(right, &left_term);
            parts.push(self.compare_two(*comparison, (&left_term, left_span), (&right_term, &right.span)));
            (left_term, left_span) = (right_term, &right.span);
        }
        parts.into_iter().collect::<Option<Vec<Term>>>().map(Term::and)
    }

    /// Types one comparison of two typed operands.
    pub(super) fn compare_two(
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
            let id = self.spell_id([(a.sort(), a_span), (b.sort(), b_span)]);
            let help = match (a.sort(), b.sort()) {
                (Type::Enum(_), Type::String) | (Type::String, Type::Enum(_)) => {
                    "write literals of enumerations without quotes"
                }
                _ if let Some(id) = &id => id,
                (Type::Id(_), Type::Id(_)) => "ids of different types are never equal",
                (Type::Id(_), _) | (_, Type::Id(_)) => {
                    "an id has no literals and can only be compared with ids: keep one in a variable"
                }
                (Type::Record(record), other) | (other, Type::Record(record))
                    if record.form == RecordForm::Option && !matches!(other, Type::Record(_)) =>
                {
                    "compare an option with an option: write `some(x)` on the other side, or ask `o is some`"
                }
                (a, b) if let Some(help) = about_parts(a, b) => help,
                _ => "both sides of a comparison must have the same type",
            };
            let diagnostic = Diagnostic::error("type-mismatch", message)
                .at(self.collector.origin(&self.scalar.place(a_span)), format!("this is {}", a.sort()))
                .at(self.collector.origin(&self.scalar.place(b_span)), format!("this is {}", b.sort()))
                .help(help);
            self.collector.push(diagnostic);
            return None;
        }
        if let Some(term) = self.subset(comparison, a, b) {
            return self.affordable(term, &whole);
        }
        let is_ordered = are_numbers || a.sort().is_ordered();
        if !is_ordered && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            let message =
                format!("`{comparison}` orders numbers, strings and sets, but these are {}", a.sort());
            let help = || "values of this type can only be compared with `==` and `!=`".to_owned();
            let help = about_ids([a.sort(); 2]).or_else(|| Some(help()));
            self.error("type-mismatch", message, &whole, format!("these are {}", a.sort()), help);
            return None;
        }
        Some(Term::compare(comparison, a, b))
    }

    /// Writes the id that is meant by a number or a text in quotes, which stands at one of the two places.
    fn spell_id(&self, sides: [(&Type, &Range<usize>); 2]) -> Option<String> {
        let [(a, _), (b, _)] = sides;
        let ((Type::Id(id), other) | (other, Type::Id(id))) = (a, b) else { return None };
        let (_, span) = sides.into_iter().rfind(|(ty, _)| *ty == other)?;
        let text = self.scalar.text.get(span.clone())?.trim_matches('"');
        let is_quoted = text.len() + 2 == span.len() && !text.contains('"');
        let is_literal = is_quoted || text.parse::<u64>().is_ok();
        is_literal.then(|| format!("for the id that the system calls `{text}`, write `(\"{text}\": {id})`"))
    }

    fn conditional(
        &mut self,
        condition: &Expression,
        a: &Expression,
        b: &Expression,
        whole: &Range<usize>,
    ) -> Option<Term> {
        self.warn_of_else(a, b, whole);
        let choice = self.term(condition);
        let (then, otherwise) = self.type_two(a, b);
        let choice = choice.and_then(|term| self.fit(&term, &condition.span, &Type::Bool, "a condition"));
        let (then, otherwise) = (then?, otherwise?);
        let are_numbers = then.sort().is_number() && otherwise.sort().is_number();
        if then.sort() != otherwise.sort() && !are_numbers {
            let message = format!("the branches differ in type: {} and {}", then.sort(), otherwise.sort());
            let [a, b] = [a, b].map(|branch| self.collector.origin(&self.scalar.place(&branch.span)));
            let diagnostic = Diagnostic::error("type-mismatch", message)
                .at(a, format!("this is {}", then.sort()))
                .at(b, format!("this is {}", otherwise.sort()));
            self.collector.push(diagnostic);
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
