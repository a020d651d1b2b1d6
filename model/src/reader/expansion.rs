//! Calls of functions, and quantifiers over finitely many values: their types, and the operations that they
//! become.
//!
//! An analysis that needs it makes the longer term ([`crate::term::operation`]). That term is limited in size
//! and in height, since a walk over a term goes as deep as its height.

use std::ops::Range;
use std::sync::Arc;

use dashu_int::IBig;

use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::excerpt::shortened;
use crate::forms::MOST_PARTS;
use crate::limits::MOST_VALUES;
use crate::reader::collect::article;
use crate::reader::elsewhere;
use crate::reader::parser::MAX_NESTING;
use crate::reader::scope::{Meaning, NamedExpression};
use crate::reader::syntax::{self, Call, Expression, ExpressionKind, QuantifiedValues, is_unbracketed};
use crate::reader::typing::Typing;
use crate::term::operation::{
    DeclaredFunction, DerivedOperation, QuantifiedOperation, Quantifier, QuantifierDomain, StandardOperation,
    read_by,
};
use crate::term::strings::FUNCTIONS;
use crate::term::{Substitution, Term, parts_bound, steps_bound};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// The functions of numbers that need no declaration.
const STANDARD: [&str; 3] = ["abs", "max", "min"];
/// The functions of lists. A model may declare functions with the same names.
const ON_LISTS: [(&str, StandardOperation); 5] = [
    ("insert", StandardOperation::ElementInserted),
    ("join", StandardOperation::JoinedBy),
    ("remove_at", StandardOperation::ElementRemoved),
    ("sorted", StandardOperation::Sorted),
    ("sum", StandardOperation::Sum),
];
/// The most different parts of a lowered expression.
const MAX_PARTS: usize = 200_000;
/// The most estimated parts of a term that is lowered at all.
const MOST_BEGUN: u64 = 3_000_000;
/// The most nodes that an evaluation meets. A run evaluates the body of each call.
const MOST_STEPS: u64 = 10_000_000;

/// Is it the name of a function that needs no declaration?
pub(super) fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || FUNCTIONS.iter().any(|(known, _)| *known == name)
}

/// The greatest number of values of a quantifier, at least 1. `None` if they do not fit into a list.
fn count_most_values(domain: &QuantifierDomain, collection: Option<&Term>) -> Option<usize> {
    let most = match (domain, collection.map(Term::sort)) {
        (QuantifierDomain::Values(_, values), _) => values.len().max(1),
        // A set or a map without a bound has a field for each key.
        (_, Some(Type::Record(record))) => record.most().unwrap_or(record.fields.len()),
        _ => return None,
    };
    (most <= MOST_PARTS).then_some(most)
}

/// Are the values of a quantifier, which have this sort, surely of the type?
fn are_in(domain: &QuantifierDomain, collection: Option<&Term>, sort: &Type, ty: &Type) -> bool {
    sort.sort() == ty.sort()
        && match domain {
            QuantifierDomain::Values(_, values) => values.iter().all(|value| value.is_in(ty)),
            QuantifierDomain::Elements => {
                let key = collection.and_then(|table| table.sort().as_keyed()).map(|(_, key)| key);
                // A list has only the sort of its elements, so they are surely of this type if it is a sort.
                *ty == ty.sort() || key.unwrap_or(sort) == ty
            }
        }
}

/// The values of a quantifier: their sort, the values, and the collection whose elements they are.
struct TypedDomain {
    sort: Type,
    domain: QuantifierDomain,
    collection: Option<Term>,
}

/// The last parts of a form that goes on to the end, such as a quantifier. They may not be meant as its own.
pub(super) struct FormTail {
    /// The sign between the parts.
    pub(super) sign: &'static str,
    /// The place of the last parts.
    rest: Range<usize>,
    /// The text with the form in brackets, without these parts.
    pub(super) apart: String,
    /// The text of the form before its body.
    head: String,
    /// Does a sign before the form bind tighter than the sign between the parts?
    pub(super) is_swallowed: bool,
}

/// How tightly the sign binds with which a text ends: an implication 0, a disjunction 1, a conjunction 2, and
/// other operators 3. A text without such a sign has 0.
fn strength_of_sign(text: &str) -> u8 {
    let ends = |signs: &[&str]| signs.iter().any(|sign| text.ends_with(sign));
    match () {
        () if ends(&["=>", "->", ":="]) => 0,
        () if ends(&["||", "or"]) => 1,
        () if ends(&["&&", "and"]) => 2,
        () if ends(&["=", "<", ">", "!", "+", "-", "*", "/", "not", "div", "mod"]) => 3,
        () => 0,
    }
}

impl Typing<'_, '_> {
    /// Types a call: of a function on strings, a standard function, a function on lists, an alternative, or a
    /// declared function.
    pub(super) fn type_call(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        let name = call.name.0.as_str();
        if call.arguments.iter().any(|argument| self.refuse_lambda(name, argument)) {
            return None;
        }
        if let Some((_, operation)) = FUNCTIONS.into_iter().find(|(known, _)| *known == name) {
            return self.type_string_function(operation, call, whole);
        }
        if STANDARD.contains(&name) {
            return self.type_standard_call(call, whole);
        }
        if let Some((_, operation)) = ON_LISTS.into_iter().find(|(known, _)| *known == name)
            && self.scope.names.function(name).is_none()
        {
            return self.type_list_call(operation, call, whole);
        }
        if let Some((variant, number)) = self.find_alternative(name) {
            return self.type_alternative(&variant, number, call, whole);
        }
        match name {
            // A declared function hides these words. The last case reports an unknown name.
            _ if self.scope.names.function(name).is_some() => self.type_declared_call(call, whole),
            "some" => self.type_some(call, whole),
            "keys" => self.type_keys(call, whole),
            "fresh" => self.type_fresh(call, whole),
            "defined" => self.type_defined(call, whole),
            _ => self.type_declared_call(call, whole),
        }
    }

    /// Is the argument of this function `x => e` with an unknown name, as other languages write a function?
    /// Reports it.
    fn refuse_lambda(&mut self, function: &str, tree: &Expression) -> bool {
        let ExpressionKind::Implies(parts) = &tree.kind else { return false };
        let ExpressionKind::Name(name) = &parts[0].kind else { return false };
        if !self.is_free(name) || !parts[1..].iter().any(|part| part.mentions(name)) {
            return false;
        }
        let help = elsewhere::explain_operation(function).or(elsewhere::explain_operation("map"));
        let message = format!("there are no functions without a name, such as `{name} => ...`");
        let label = "a function without a name".to_owned();
        self.error("unknown-function", message, &tree.span, label, help.map(str::to_owned));
        true
    }

    /// Types `defined(e)`: has the expression a value?
    fn type_defined(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        let terms: Vec<Option<Term>> = call.arguments.iter().map(|argument| self.term(argument)).collect();
        if !self.check_arity("defined", &call.arguments, 1, whole, None) {
            return None;
        }
        let term = terms.into_iter().next()??;
        let condition = crate::obligation::defined(&term);
        if condition.is_true() {
            let text = self.text(&call.arguments[0].span);
            let (label, help) = match term.sort() {
                Type::Record(ty) if ty.form == RecordForm::Option => (
                    "`none` is a value, too",
                    format!("write `{text} is some` to ask whether there is something in it"),
                ),
                _ => (
                    "it cannot fail",
                    "leave it out: only an operation such as `q[i]` may have no value".to_owned(),
                ),
            };
            let message = format!("`{text}` always has a value, so this is always true");
            self.warn_of_mistake("always-defined", message, whole, label, help);
        }
        self.check_made(condition, whole)
    }

    /// Types a call of a declared function, or reports that there is none of this name.
    fn type_declared_call(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        let Call { name: (name, place), arguments } = call;
        let name = name.as_str();
        let Some(function) = self.scope.names.function(name) else {
            // The name may be an alternative of a type that could not be read.
            if matches!(self.scope.names.get(name), Some((Meaning::Broken, _))) {
                return None;
            }
            // Mistakes in the arguments are reported, too. A collection has its type from the function.
            let is_known = |argument: &&Expression| {
                !matches!(
                    argument.kind,
                    ExpressionKind::Listed(_) | ExpressionKind::Set(_) | ExpressionKind::Entries(_)
                )
            };
            arguments.iter().filter(is_known).for_each(|argument| drop(self.term(argument)));
            self.report_unknown_function(name, arguments, place);
            return None;
        };
        // A function with a mistake has been reported. The arguments may have mistakes of their own.
        let Some(body) = &function.body else {
            arguments.iter().for_each(|argument| drop(self.term(argument)));
            return None;
        };
        if !self.check_arity(name, arguments, function.parameters.len(), whole, Some(function)) {
            return None;
        }
        let mut values = Substitution::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            let Some(term) = self.term_as(argument, parameter.ty()) else { continue };
            let findings_before = self.collector.count_found();
            let whose = format!("`{parameter}` of `{name}`");
            match self.fit(&term, &argument.span, parameter.ty(), &whose) {
                Some(term) => drop(values.insert(parameter.clone(), term)),
                None => self.collector.label_since(findings_before, &function.origin, "the function"),
            }
        }
        if !self.check_observed(function, body, place) {
            return None;
        }
        if values.len() < arguments.len() {
            return None;
        }
        // Other data that the body reads become parameters, too. `Term::call` gives them their arguments.
        let read = read_by([body], &function.parameters);
        let declared = DeclaredFunction {
            name: name.to_owned(),
            named: function.parameters.len(),
            parameters: function.parameters.iter().cloned().chain(read).collect(),
            body: body.clone(),
        };
        let values = function.parameters.iter().filter_map(|parameter| values.remove(parameter)).collect();
        self.check_made(Term::call(&Arc::new(declared), values), whole)
    }

    /// Is all data that the function reads known here? Reports a datum that is not.
    fn check_observed(&mut self, function: &NamedExpression, body: &Term, span: &Range<usize>) -> bool {
        let name = &function.name;
        let foreign = body.data().into_iter().find(|datum| {
            let known = self.scope.names.get(datum.name()).and_then(|(meaning, _)| meaning.term());
            !function.parameters.contains(datum) && known.as_ref() != Some(&Term::datum(datum))
        });
        if let Some(datum) = foreign {
            let message = format!("`{name}` reads `{datum}` of the specification, which is not observed");
            let diagnostic = Diagnostic::error("unknown-name", message)
                .at(self.origin(span), "called here")
                .at(function.origin.clone(), "the function")
                .help(format!("list it under `observes:` to read it: `observes: [{datum}]`"));
            self.collector.push(diagnostic);
            return false;
        }
        true
    }

    /// Reports an unknown function, with the nearest name or a hint.
    fn report_unknown_function(&mut self, name: &str, arguments: &[Expression], span: &Range<usize>) {
        let names = self.scope.names;
        let standard = STANDARD.into_iter().chain(FUNCTIONS.map(|(known, _)| known));
        let standard = standard.chain(ON_LISTS.map(|(known, _)| known));
        let known = || standard.clone().chain(names.functions().map(|function| function.name.as_str()));
        let (label, help) = match names.get(name) {
            Some((meaning, _)) => {
                let what = format!("{}, not a function", article(&meaning.describe()));
                (what, "write `a[i]` to read an array, and `x * (y + 1)` for a product".to_owned())
            }
            None => {
                let help = match elsewhere::explain_operation(name) {
                    // `put(m, k, v)`
                    Some(explanation) if let ([a, i, e], true) = (arguments, explanation.contains(":=")) => {
                        let [a, i, e] = [a, i, e].map(|argument| self.text(&argument.span));
                        format!("write `{a}[{i} := {e}]`")
                    }
                    Some(explanation) => explanation.to_owned(),
                    None => self.collector.suggest(name, "functions", known),
                };
                ("not declared under `functions:`".to_owned(), help)
            }
        };
        self.error("unknown-function", format!("unknown function `{name}`"), span, label, Some(help));
    }

    /// Does the call have this number of arguments? Reports it if not.
    pub(super) fn check_arity(
        &mut self,
        name: &str,
        arguments: &[Expression],
        wanted: usize,
        whole: &Range<usize>,
        function: Option<&NamedExpression>,
    ) -> bool {
        if arguments.len() == wanted {
            return true;
        }
        let wanted = if wanted == 1 { "1 argument".to_owned() } else { format!("{wanted} arguments") };
        let message = format!("`{name}` takes {wanted}, but here it has {}", arguments.len());
        let diagnostic = Diagnostic::error("wrong-arity", message)
            .at(self.origin(whole), "called here")
            .at(function.map(|function| function.origin.clone()), "the function");
        self.collector.push(diagnostic);
        false
    }

    /// Types a call of `abs`, `min` or `max`.
    fn type_standard_call(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        let Call { name: (name, _), arguments } = call;
        let (operation, wanted) = match (name.as_str(), arguments.len()) {
            ("min", 1) => return self.type_list_call(StandardOperation::LeastElement, call, whole),
            ("max", 1) => return self.type_list_call(StandardOperation::GreatestElement, call, whole),
            ("min", _) => (StandardOperation::Minimum, 2),
            ("max", _) => (StandardOperation::Maximum, 2),
            _ => (StandardOperation::Absolute, 1),
        };
        // A loop and no iterator: a function that recurses must need little of the stack.
        let mut terms = Vec::new();
        for argument in arguments {
            terms.push(self.type_number(argument, name));
        }
        if !self.check_arity(name, arguments, wanted, whole, None) {
            return None;
        }
        let mut terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        if terms.iter().any(|term| *term.sort() == Type::Real) {
            terms = terms.iter().map(Term::to_real).collect();
        }
        self.check_made(Term::standard(operation, terms), whole)
    }

    /// Types a quantifier or a comprehension. `expected` is the type of list that a comprehension must be, or
    /// the type of option for `find`.
    pub(super) fn type_quantifier(
        &mut self,
        quantified: &syntax::Quantified,
        whole: &Range<usize>,
        expected: Option<&Arc<RecordType>>,
    ) -> Option<Term> {
        let typed_domain = self.type_domain(&quantified.of);
        let (name, at) = &quantified.name;
        if !self.check_new_name("quantifier", name, at, None) {
            return None;
        }
        // If the values have a mistake, the other mistakes of the body are still reported.
        let bound = typed_domain.as_ref().map(|TypedDomain { sort, domain, collection }| {
            // `find` gives an option of the expected type if all values are of that type.
            let is_option = |ty: &&Arc<RecordType>| ty.form == RecordForm::Option;
            let content_type = expected.filter(is_option).map(|option| option.content_type());
            let fitting = content_type.filter(|ty| are_in(domain, collection.as_ref(), sort, ty));
            Datum::new(name.clone(), fitting.unwrap_or(sort).clone())
        });
        self.bound.push((name.clone(), bound.clone()));
        let body = self.type_condition(&quantified.body, quantified.quantifier.word());
        // The type and the term of an element, if it is a comprehension. `None` within it after a mistake.
        let element = quantified.element.as_ref().map(|tree| {
            let ty = expected.map(|list| list.element_type());
            let term = match ty {
                Some(ty) => self.type_as(tree, ty, "an element"),
                None => self.term(tree),
            };
            term.map(|term| (ty.cloned().unwrap_or_else(|| term.declared_type()), term))
        });
        self.bound.pop();
        let (TypedDomain { domain, collection, .. }, datum, body) = (typed_domain?, bound?, body?);
        self.warn_of_reach(quantified, &domain, whole);
        let collected = match element {
            None => None,
            Some(element) => {
                let (ty, element) = element?;
                let most = count_most_values(&domain, collection.as_ref());
                let list =
                    expected.cloned().or_else(|| most.map(|most| Arc::new(RecordType::list(most, &ty))));
                if list.is_none() {
                    let message =
                        format!("a list has at most {MOST_PARTS} elements, but there are more values here");
                    self.error("too-many-values", message, whole, "too many values".to_owned(), None);
                }
                Some((list?, element))
            }
        };
        let quantifier = quantified.quantifier;
        if let (Quantifier::Find, Type::Record(record)) = (quantifier, datum.ty())
            && record.form == RecordForm::Option
        {
            let message = "`find` cannot give an option of an option: use `index`, which gives a position";
            self.error("nested-option", message.to_owned(), whole, "an option of an option".to_owned(), None);
            return None;
        }
        self.warn_of_keys(quantified, collection.as_ref(), whole);
        let bodies = [&body].into_iter().chain(collected.iter().map(|(_, element)| element));
        let read = read_by(bodies, std::slice::from_ref(&datum));
        let arguments = collection.into_iter().chain(read.iter().map(Term::datum)).collect();
        let operation = QuantifiedOperation { quantifier, bound: datum, domain, read, body, collected };
        self.check_made(Term::apply(DerivedOperation::Quantified(Arc::new(operation)), arguments), whole)
    }

    /// Warns of a quantifier whose body takes more than was meant: its last part does not read the value.
    /// Also warns of one that takes a value for which the premise of `=>` does not hold.
    fn warn_of_reach(
        &mut self,
        quantified: &syntax::Quantified,
        domain: &QuantifierDomain,
        whole: &Range<usize>,
    ) {
        let (quantifier, body) = (quantified.quantifier, &quantified.body);
        if quantifier == Quantifier::Collect {
            return;
        }
        let reads = |part: &Expression| part.mentions(&quantified.name.0);
        let word = quantifier.word();
        if let Some(tail) = self.find_tail(body, whole, reads) {
            let label = match (quantifier, tail.sign, domain) {
                _ if tail.is_swallowed => format!("all this belongs to `{word}`"),
                // If there are values, the other reading of the text is equal.
                (Quantifier::All, "&&", QuantifierDomain::Elements)
                | (Quantifier::Some, "||", QuantifierDomain::Elements) => {
                    "not asked if there is no value".to_owned()
                }
                (Quantifier::Some, "=>", _) => "not asked if a value does not meet what is before".to_owned(),
                _ => return,
            };
            let message =
                format!("this part does not read `{}`, but `{word}` goes on to the end", quantified.name.0);
            return self.warn_of_tail(&tail, message, &label, "body");
        }
        if quantifier != Quantifier::All
            && let ExpressionKind::Implies(parts) = &body.kind
            && let [premise, conclusion, ..] = parts.as_slice()
            && is_unbracketed(body, parts)
            && reads(premise)
        {
            let premise_text = self.text(&premise.span);
            let message = format!("`{word}` also takes each value for which `{premise_text}` does not hold");
            let help = format!(
                "write `{premise_text} && {}`; if `=>` is meant, put the body into brackets",
                shortened(self.text(&(conclusion.span.start..body.span.end)))
            );
            self.warn_of_mistake("implication-in-quantifier", message, &body.span, "with `=>`", help);
        }
    }

    /// Warns of `sum([k for k in m])` if the values of the map `m` are numbers: it adds the keys.
    fn warn_of_keys(&mut self, quantified: &syntax::Quantified, map: Option<&Term>, whole: &Range<usize>) {
        let before_sum = self.text(&(0..whole.start)).trim_end().strip_suffix("sum(");
        let goes_on_in_name = |sign: char| sign.is_alphanumeric() || sign == '_';
        let is_sum = before_sum.is_some_and(|before| !before.ends_with(goes_on_in_name));
        let (Some(element), true) = (&quantified.element, is_sum) else { return };
        let name = &quantified.name.0;
        let value_type = map.and_then(|map| map.sort().as_keyed()?.0.map_value_type());
        if !value_type.is_some_and(Type::is_number) || self.text(&element.span).trim() != name {
            return;
        }
        let (QuantifiedValues::Type(_, span) | QuantifiedValues::Elements(Expression { span, .. })) =
            &quantified.of
        else {
            return;
        };
        let map = self.text(span);
        let message = format!("this is a sum of keys: `{name}` goes through the keys of `{map}`");
        let help =
            format!("write `{map}[{name}]` for a value, as in `sum([{map}[{name}] for {name} in {map}])`");
        self.warn_of_mistake("sum-of-keys", message, &element.span, "a key", help);
    }

    /// Warns of `if c then x else y && z` if `z` seems not to belong to the branch. Either a sign before the
    /// `if` binds tighter, or `x` is a single condition about data of `y`, not of `z`, and says nothing of a
    /// parameter that `y` or `z` reads.
    pub(super) fn warn_of_greedy_else(&mut self, [then, otherwise]: [&Expression; 2], whole: &Range<usize>) {
        let parts = otherwise.kind.parts();
        let is_first = |part: &Expression| part.span.start == otherwise.span.start;
        let Some(mut tail) = self.find_tail(otherwise, whole, is_first) else { return };
        if !tail.is_swallowed {
            // Does `x` say nothing of it, although `y` or `z` reads it?
            let is_left_open = |name: &String| otherwise.mentions(name) && !then.mentions(name);
            let is_chain = matches!(then.kind, ExpressionKind::And(_) | ExpressionKind::Or(_));
            if is_chain || !self.scope.parameters.iter().any(|(name, _)| is_left_open(name)) {
                return;
            }
            // The data of `x` and of the first part of `y`. Behind the last part that reads some of them is
            // `z`.
            let mut shared_names = then.names();
            shared_names.retain(|name| parts.first().is_some_and(|first| first.mentions(name)));
            let is_own = |part: &Expression| shared_names.iter().any(|name| part.mentions(name));
            let Some(own_tail) = self.find_tail(otherwise, whole, is_own) else { return };
            tail = own_tail;
        } else if let [first, others @ ..] = parts.as_slice()
            && others.iter().any(|part| first.names().iter().any(|name| part.mentions(name)))
        {
            // Parts about the same data belong together.
            return;
        }
        let message = "the `else` branch goes on to the end: it takes this part, too".to_owned();
        self.warn_of_tail(&tail, message, "not asked in the other branch", "branch");
    }

    /// Finds what may have been meant to stand behind a form, as `b` in `all i in 0..3: p(i) && b`: the parts
    /// of its `body` after the last one that surely belongs to it (`is_own`). `None` if no part does, if the
    /// last one does, or if `body` has brackets.
    pub(super) fn find_tail(
        &self,
        body: &Expression,
        whole: &Range<usize>,
        is_own: impl Fn(&Expression) -> bool,
    ) -> Option<FormTail> {
        let (parts, sign) = match &body.kind {
            ExpressionKind::And(parts) => (parts, "&&"),
            ExpressionKind::Or(parts) => (parts, "||"),
            ExpressionKind::Implies(parts) => (parts, "=>"),
            _ => return None,
        };
        if !is_unbracketed(body, parts) {
            return None;
        }
        let last = parts.iter().rposition(is_own)?;
        let (own, next) = (parts.get(last)?, parts.get(last + 1)?);
        // The first sign within the brackets around the form. No sign before brackets takes a part of it.
        let start = whole.end - self.text(whole).trim_start_matches(['(', ' ']).len();
        let rest = next.span.start..body.span.end;
        let form = self.text(&(start..own.span.end));
        let apart = format!("({form}) {sign} {}", shortened(self.text(&rest)));
        let before = self.text(&(0..start)).trim_end();
        let is_swallowed = start == whole.start && strength_of_sign(before) > strength_of_sign(sign);
        let head = self.text(&(start..body.span.start)).to_owned();
        Some(FormTail { sign, rest, apart, head, is_swallowed })
    }

    fn warn_of_tail(&mut self, tail: &FormTail, message: String, label: &str, what: &str) {
        let help = format!(
            "if it is a condition of its own, write `{}`; otherwise put the {what} into brackets: `{}(...)`",
            tail.apart, tail.head
        );
        self.warn_of_mistake("reaches-to-the-end", message, &tail.rest, label, help);
    }

    /// Warns of what is legal, but most likely a mistake.
    pub(super) fn warn_of_mistake(
        &mut self,
        code: &'static str,
        message: String,
        span: &Range<usize>,
        label: &str,
        help: String,
    ) {
        self.collector.push(Diagnostic::warning(code, message).at(self.origin(span), label).help(help));
    }

    /// May a bound value have this name? Reports it if the name is used, with this help if there is one.
    pub(super) fn check_new_name(
        &mut self,
        binder: &str,
        name: &str,
        span: &Range<usize>,
        help: Option<String>,
    ) -> bool {
        let parameters = self.scope.parameters.iter().map(|(known, _)| known.as_str());
        let bound = self.bound.iter().map(|(known, _)| known.as_str());
        let is_parameter = parameters.chain(bound).any(|known| known == name);
        let declared = self.scope.names.get(name).map(|(meaning, _)| meaning.describe());
        let owner = is_parameter.then(|| "parameter or a bound value".to_owned()).or(declared);
        if let Some(owner) = &owner {
            let message = format!("the {binder}'s `{name}` has the same name as {}", article(owner));
            let choose = || "choose another name: the expression could not tell them apart".to_owned();
            let help = Some(help.unwrap_or_else(choose));
            self.error("duplicate-name", message, span, "already used".to_owned(), help);
        }
        owner.is_none()
    }

    /// Types the values of a quantifier. A name stands for a type if one is declared, otherwise for a datum.
    fn type_domain(&mut self, values: &QuantifiedValues) -> Option<TypedDomain> {
        match values {
            QuantifiedValues::Between(first, last) => {
                let (low, high) = (self.type_range_end(first), self.type_range_end(last));
                let (low, high) = (low?, high?);
                let text = format!("{low}..{high}");
                if low > high {
                    let message = format!("the range {text} is empty: there is no value to ask");
                    let help = format!("write the lower end first: `{high}..{low}`");
                    let span = first.span.start..last.span.end;
                    self.warn_of_mistake("empty-range", message, &span, "from high to low", help);
                }
                self.domain_of_type(&Type::Range(low, high), text, &(first.span.start..last.span.end))
            }
            QuantifiedValues::Elements(list) => {
                let term = self.term(list)?;
                self.domain_of_elements(term, &list.span)
            }
            QuantifiedValues::Type(name, at) => {
                let declared = self.scope.names.types.iter().find(|(known, _)| known == name);
                let ty = match (declared, name.as_str()) {
                    (Some((_, ty)), _) => ty.clone(),
                    (None, "bool") => Type::Bool,
                    (None, _) if !self.is_free(name) => {
                        let list = self.type_name(name, at)?;
                        return self.domain_of_elements(list, at);
                    }
                    (None, _) => {
                        let known = || self.scope.names.types.iter().map(|(name, _)| name.as_str());
                        let datum = self.collector.nearest(name, self.scope.usable());
                        let help = match datum {
                            Some(datum) => format!("did you mean {}?", self.describe_name(datum)),
                            None => self.collector.suggest(name, "declared types", known),
                        };
                        let message = format!("unknown type `{name}`");
                        let label = "expected a type under `types:`, a range (`0..3`) or a list".to_owned();
                        self.error("unknown-type", message, at, label, Some(help));
                        return None;
                    }
                };
                self.domain_of_type(&ty, name.clone(), at)
            }
        }
    }

    /// Types `sum(q)`, `insert(q, i, e)` and other functions of a list.
    fn type_list_call(
        &mut self,
        operation: StandardOperation,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, _), arguments } = call;
        let wanted = match operation {
            StandardOperation::ElementInserted => 3,
            StandardOperation::ElementRemoved | StandardOperation::JoinedBy => 2,
            _ => 1,
        };
        let first = arguments.first().map(|tree| (self.term(tree), &tree.span));
        if !self.check_arity(name, arguments, wanted, whole, None) {
            return None;
        }
        let (Some(list), list_span) = first? else { return None };
        let (kind, fits): (&str, fn(&Type) -> bool) = match operation {
            StandardOperation::ElementInserted | StandardOperation::ElementRemoved => ("", |_| true),
            StandardOperation::Sum => (" of numbers", Type::is_number),
            StandardOperation::JoinedBy => (" of strings", |ty| *ty == Type::String),
            _ => (" of numbers or strings", Type::is_ordered),
        };
        let element = list.sort().as_list().map(|(_, _, ty)| ty.clone()).filter(fits);
        let Some(element) = element else {
            let sort = list.sort();
            let message = format!("`{name}` needs a list{kind}, but this is {sort}");
            let help = self.explain_other_list(name, sort, fits, list_span);
            self.error("type-mismatch", message, list_span, format!("this is {sort}"), help);
            return None;
        };
        let mut terms = vec![list];
        for (position, tree) in arguments.iter().enumerate().skip(1) {
            // A separator, an index, or a new element.
            let ty = match (operation, position) {
                (StandardOperation::JoinedBy, _) => &Type::String,
                (_, 1) => &Type::Int,
                _ => &element,
            };
            terms.push(self.type_as(tree, ty, &format!("an argument of `{name}`"))?);
        }
        self.check_made(Term::standard(operation, terms), whole)
    }

    /// Explains how a list whose elements fit the function is made of a value of this sort.
    fn explain_other_list(
        &self,
        function: &str,
        sort: &Type,
        fits: fn(&Type) -> bool,
        span: &Range<usize>,
    ) -> Option<String> {
        // A list of records has a list of the values of each field.
        if let Some((_, _, Type::Record(record))) = sort.as_list()
            && record.form == RecordForm::Plain
            && let Some((field, _)) = record.fields.iter().find(|(_, ty)| fits(ty))
        {
            let list = self.text(span);
            return Some(format!("choose a field: `{function}([x.{field} for x in {list}])`"));
        }
        let help = match sort.as_keyed() {
            Some((ty, _)) if ty.map_value_type().is_none() => {
                "write `[k for k in s]` for the list of its keys"
            }
            Some(_) => "write `[m[k] for k in m]` for the list of its values",
            None if sort.is_number() && matches!(function, "min" | "max") => {
                "for two numbers, write `min(a, b)` or `max(a, b)`"
            }
            None => return None,
        };
        Some(help.to_owned())
    }

    fn domain_of_elements(&mut self, list: Term, span: &Range<usize>) -> Option<TypedDomain> {
        let sort = self.find_element_type(&list, span)?;
        Some(TypedDomain { sort, domain: QuantifierDomain::Elements, collection: Some(list) })
    }

    /// Lists the values of a type, which is written as `text`. Reports too many.
    fn domain_of_type(&mut self, ty: &Type, text: String, span: &Range<usize>) -> Option<TypedDomain> {
        let values = match ty {
            // The ends of an empty range may be computed, so it is only warned of.
            Type::Range(low, high) if low > high => Some(Vec::new()),
            ty => Value::enumerate(ty, MOST_VALUES),
        };
        if values.is_none() {
            let message = format!("a quantifier takes at most {MOST_VALUES} values, but {ty} has more");
            let help = "use fewer values, as in `all i in 0..9: ...`, or an enumeration: coreach writes each value out";
            self.error("too-many-values", message, span, "too many values".to_owned(), Some(help.to_owned()));
        }
        let domain = QuantifierDomain::Values(text, values?);
        Some(TypedDomain { sort: ty.sort(), domain, collection: None })
    }

    /// Types an end of a range, whose value must be known now.
    fn type_range_end(&mut self, tree: &Expression) -> Option<IBig> {
        let term = self.type_number(tree, "..")?;
        if let Some(Value::Int(value)) = term.as_literal() {
            return Some(value.clone());
        }
        let help = "use known bounds, and ask in the body, as in `i < n => ...`";
        let message = format!("the end of a range must be a known integer, but this is `{term}`");
        self.error("unknown-range", message, &tree.span, "not known".to_owned(), Some(help.to_owned()));
        None
    }

    /// Returns the term if its lowered form is not too large. Reports it otherwise.
    pub(super) fn check_size(&mut self, term: Term, span: &Range<usize>) -> Option<Term> {
        let may_be_lowered = || parts_bound(&term) <= MOST_BEGUN && steps_bound(&term) <= MOST_STEPS;
        let is_small = || term.lowered().height() <= MAX_NESTING && term.has_at_most(MAX_PARTS);
        // The estimates come first, so that a term that is far too large is not made.
        if !self.is_expanded || (may_be_lowered() && is_small()) {
            return Some(term);
        }
        let message = format!(
            "this expands to an expression with more than {MAX_PARTS} different parts, or one nested more than {MAX_NESTING} deep"
        );
        let help =
            "the solver sees each element of a list: use smaller bounds, or nest fewer calls".to_owned();
        self.error("expression-too-large", message, span, "too large".to_owned(), Some(help));
        None
    }
}
