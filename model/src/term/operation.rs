//! Operations that stand for a longer term: calls of declared functions, quantifiers, `match`, and operations
//! on lists, sets and maps.
//!
//! **Problem.** Analyses and solvers know numbers, records and conditions. A user writes `contains(q, e)`. If
//! the reader replaces it by a condition for each slot of `q`, nobody can read an explanation, and a run
//! evaluates every slot.
//!
//! **Method.** A term keeps the operation with its arguments ([`Term::shape`]). The longer term is made once,
//! when code asks for the root ([`Term::node`], [`Term::lowered`]). So code without a rule for an operation
//! sees the longer term, and need not know that there are operations. Few places know each operation: this
//! folder, the printer, the table of terms in documents, and the reader.
//!
//! A function's body, a quantifier's body and the cases of a `match` are *closed*: they mention their own
//! parameters only. Other data that they read become parameters too, and the arguments hold the data. So a
//! substitution changes arguments only, and captures no name.
//!
//! **Law.** An operation has the value of its longer term, and has one exactly if the longer term has one.

use std::sync::Arc;

use crate::data::Datum;
use crate::term::definedness::defined;
use crate::term::evaluate::{Valuation, evaluate, is_too_long};
use crate::term::lists::{self, count_conditions};
use crate::term::node::Comparison;
use crate::term::total::always_in;
use crate::term::{Substitution, Term, TermShape, entries, keyed, substitute};
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

/// An operation that stands for a longer term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DerivedOperation {
    /// `f(x)`: the arguments of the call, then the data that the function reads.
    Call(Arc<DeclaredFunction>),
    /// `all i in q: ...`: the collection if there is one, then the data that the body reads.
    Quantified(Arc<QuantifiedOperation>),
    /// `match r: ...`: the subject, then the data that the cases read.
    Match(Arc<MatchOperation>),
    /// `{a, b}`: the keys.
    SetOf(Arc<RecordType>),
    /// `[a: 1, b: 2]`: keys and values in turn.
    MapOf(Arc<RecordType>),
    /// An operation on numbers or on a collection.
    Standard(StandardOperation),
    /// The condition that the argument has a value.
    Defined,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StandardOperation {
    /// `min(a, b)`
    Minimum,
    /// `max(a, b)`
    Maximum,
    /// `abs(a)`
    Absolute,
    /// `q[i]` of a list
    Element,
    /// `q[i := e]` of a list
    ElementChanged,
    /// `q[i..]` and `q[i..j]` of a list
    Part,
    /// `q + r` of lists
    Joined,
    /// `insert(q, i, e)`
    ElementInserted,
    /// `remove_at(q, i)`
    ElementRemoved,
    /// `sum(q)` of numbers
    Sum,
    /// `min(q)`
    LeastElement,
    /// `max(q)`
    GreatestElement,
    /// `join(q, s)` of strings
    JoinedBy,
    /// `sorted(q)`
    Sorted,
    /// `contains(q, e)` of a list
    Contains,
    /// `index_of(q, e)` of a list
    IndexOf,
    /// `k in s`
    HasKey,
    /// `m[k]`
    ValueAt,
    /// `m[k := v]`
    ValueChanged,
    /// `s + t` of sets
    Union,
    /// `s * t` of sets
    Intersection,
    /// `s - t` of sets, `m - s` of a map and a set
    Difference,
    /// `s <= t` of sets
    Subset,
    /// `s < t` of sets
    ProperSubset,
    /// `len(s)` of a set or a map
    Size,
    /// `keys(m)`
    Keys,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeclaredFunction {
    /// Its name under `functions:`.
    pub name: String,
    /// How many of the parameters a call names; the data that the body reads follow.
    pub named: usize,
    pub parameters: Vec<Datum>,
    /// The longer term. It mentions the parameters only.
    pub body: Term,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantifier {
    All,
    Some,
    Count,
    /// `find`: the first value as an option.
    Find,
    /// `index`: the position of the first value, or -1.
    Index,
    /// `[e for x in q if c]`
    Collect,
}

impl Quantifier {
    /// Its word. In a comprehension it stands in the middle.
    pub fn word(self) -> &'static str {
        match self {
            Quantifier::All => "all",
            Quantifier::Some => "some",
            Quantifier::Count => "count",
            Quantifier::Find => "find",
            Quantifier::Index => "index",
            Quantifier::Collect => "for",
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QuantifierDomain {
    /// Known values, and their text: `0..3`, or the name of a type.
    Values(String, Vec<Value>),
    /// The elements of a list, or the keys of a set or a map: the first argument.
    Elements,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QuantifiedOperation {
    pub quantifier: Quantifier,
    /// The name of a value in the body.
    pub bound: Datum,
    pub domain: QuantifierDomain,
    /// The other data that the body reads.
    pub read: Vec<Datum>,
    /// The condition on a value; mentions `bound` and `read` only.
    pub body: Term,
    /// For a comprehension, the type of the list, and the term of an element, which mentions the same data as
    /// the body.
    pub collected: Option<(Arc<RecordType>, Term)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MatchOperation {
    /// The cases. The first one that fits counts, and the last one fits all values that are left.
    pub cases: Vec<MatchArm>,
    /// The other data that the cases read.
    pub read: Vec<Datum>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MatchArm {
    /// The number of the alternative, or `None` for `_`.
    pub alternative: Option<usize>,
    /// The names of the alternative's fields, with their positions in the record.
    pub names: Vec<(Datum, usize)>,
    /// The value; mentions the names and `read` only.
    pub body: Term,
}

impl Term {
    /// An operation on its arguments. The caller has checked their number and their sorts. An operation on
    /// literals becomes a literal, unless it has no value or a body, or the value is too long.
    pub fn apply(operation: DerivedOperation, arguments: Vec<Term>) -> Term {
        let sort = operation.sort(&arguments);
        let has_no_body = matches!(
            operation,
            DerivedOperation::Standard(_) | DerivedOperation::SetOf(_) | DerivedOperation::MapOf(_)
        );
        let has_literals = arguments.iter().all(|argument| argument.written_literal().is_some());
        let term = Term::make_shape(TermShape::Operation(operation, arguments), sort, 0);
        if !(has_no_body && has_literals) {
            return term;
        }
        let value = evaluate(&term, &Valuation::new()).ok().filter(|value| !is_too_long(value));
        value.map_or(term, Term::literal)
    }

    /// An operation on numbers or on a collection.
    pub fn standard(operation: StandardOperation, arguments: impl Into<Vec<Term>>) -> Term {
        Term::apply(DerivedOperation::Standard(operation), arguments.into())
    }

    /// A call of the function with these arguments for the parameters that a call names.
    pub fn call(function: &Arc<DeclaredFunction>, arguments: Vec<Term>) -> Term {
        let read = function.parameters[function.named..].iter().map(Term::datum);
        let arguments = arguments.into_iter().chain(read).collect();
        Term::apply(DerivedOperation::Call(function.clone()), arguments)
    }
}

/// The data that the terms mention, without `own`, in order.
pub fn read_by<'a>(terms: impl IntoIterator<Item = &'a Term>, own: &[Datum]) -> Vec<Datum> {
    let mentioned: std::collections::BTreeSet<Datum> = terms.into_iter().flat_map(Term::data).collect();
    mentioned.into_iter().filter(|datum| !own.contains(datum)).collect()
}

impl DerivedOperation {
    /// Are the operation and its arguments well formed? The arguments have the right number and sorts, the
    /// bodies are closed, and a function names no more parameters than it has.
    pub fn accepts(&self, arguments: &[Term]) -> bool {
        match self {
            DerivedOperation::Call(function) => {
                function.named <= function.parameters.len()
                    && have_sorts_of(arguments, &function.parameters)
                    && is_closed(&function.body, [&function.parameters])
            }
            DerivedOperation::Quantified(quantified) => quantified.accepts(arguments),
            DerivedOperation::Match(choice) => choice.accepts(arguments),
            DerivedOperation::SetOf(ty) => match (Type::Record(ty.clone()).as_keyed(), ty.map_value_type()) {
                (Some((_, key)), None) => arguments.iter().all(|argument| *argument.sort() == key.sort()),
                _ => false,
            },
            DerivedOperation::MapOf(ty) => match (Type::Record(ty.clone()).as_keyed(), ty.map_value_type()) {
                (Some((_, key_type)), Some(value_type)) => arguments.chunks(2).all(|entry| match entry {
                    [key, value] => *key.sort() == key_type.sort() && *value.sort() == value_type.sort(),
                    _ => false,
                }),
                _ => false,
            },
            DerivedOperation::Standard(operation) => operation.accepts(arguments),
            DerivedOperation::Defined => arguments.len() == 1,
        }
    }

    /// The sort of the result. The arguments are such that [`Self::accepts`] accepts them.
    fn sort(&self, arguments: &[Term]) -> Type {
        match self {
            DerivedOperation::Call(function) => function.body.sort().clone(),
            DerivedOperation::Quantified(quantified) => {
                match (&quantified.collected, quantified.quantifier) {
                    (Some((ty, _)), _) => Type::Record(ty.clone()),
                    (_, Quantifier::Count | Quantifier::Index) => Type::Int,
                    (_, Quantifier::Find) => {
                        Type::Record(Arc::new(RecordType::option(quantified.bound.ty())))
                    }
                    _ => Type::Bool,
                }
            }
            DerivedOperation::Match(choice) => choice.sort(),
            DerivedOperation::SetOf(ty) | DerivedOperation::MapOf(ty) => Type::Record(ty.clone()),
            DerivedOperation::Defined => Type::Bool,
            DerivedOperation::Standard(operation) => operation.sort(arguments),
        }
    }

    /// Do its parts show that it has a value under every valuation?
    pub(super) fn is_total(&self, arguments: &[Term]) -> bool {
        let are_in = |arguments: &[Term], data: &[Datum]| {
            arguments.iter().zip(data).all(|(argument, datum)| always_in(argument, datum.ty()))
        };
        match self {
            // This asks whether the argument has a value, so it has one itself in any case.
            DerivedOperation::Defined => true,
            _ if !arguments.iter().all(Term::is_total) => false,
            DerivedOperation::Call(function) => {
                function.body.is_total() && are_in(arguments, &function.parameters)
            }
            DerivedOperation::Quantified(quantified) => {
                // A comprehension may have too many elements, or one outside of the element type.
                let has_value = quantified.body.is_total() && quantified.collected.is_none();
                has_value && are_in(quantified.split_arguments(arguments).1, &quantified.read)
            }
            DerivedOperation::Match(choice) => {
                choice.cases.iter().all(|case| case.body.is_total()) && are_in(&arguments[1..], &choice.read)
            }
            DerivedOperation::SetOf(ty) => match &ty.form {
                RecordForm::Keyed(key) | RecordForm::Entries(key, _) => {
                    // There may be too many keys only if there is a bound.
                    ty.most().is_none_or(|most| arguments.len() <= most)
                        && arguments.iter().all(|argument| always_in(argument, key))
                }
                _ => false,
            },
            DerivedOperation::MapOf(_) => false,
            DerivedOperation::Standard(StandardOperation::Union) => has_field_for_each_key(&arguments[0]),
            DerivedOperation::Standard(operation) => operation.is_total(),
        }
    }

    /// The bodies, each with the names that it binds for itself.
    pub fn bodies(&self) -> Vec<(Vec<&Datum>, &Term)> {
        match self {
            DerivedOperation::Call(function) => vec![(Vec::new(), &function.body)],
            DerivedOperation::Quantified(quantified) => {
                let element = quantified.collected.iter().map(|(_, element)| element);
                element.chain([&quantified.body]).map(|body| (vec![&quantified.bound], body)).collect()
            }
            DerivedOperation::Match(choice) => {
                let cases = choice.cases.iter();
                cases.map(|case| (case.names.iter().map(|(name, _)| name).collect(), &case.body)).collect()
            }
            DerivedOperation::SetOf(_)
            | DerivedOperation::MapOf(_)
            | DerivedOperation::Standard(_)
            | DerivedOperation::Defined => Vec::new(),
        }
    }

    /// The number of nodes of its bodies, which are written with it. A call is written by its name.
    pub(super) fn written_size(&self) -> u64 {
        match self {
            DerivedOperation::Call(_) => 0,
            _ => self.bodies().into_iter().map(|(_, body)| body.written_size()).sum(),
        }
    }

    /// Returns the longer term. The arguments are lowered already, so the result has no operations either. A
    /// set or map type with a bound is a list of entries. Any other has a field for each key.
    pub(super) fn lower(&self, arguments: &[Term]) -> Term {
        match self {
            DerivedOperation::Call(function) => {
                substitute(function.body.lowered(), &pair_arguments(&function.parameters, arguments))
            }
            DerivedOperation::Quantified(quantified) => quantified.lower(arguments),
            DerivedOperation::Match(choice) => choice.unfold(arguments, Term::lowered),
            DerivedOperation::SetOf(ty) => {
                entries::set_or_map_of(ty, arguments).unwrap_or_else(|| keyed::lower_set(ty, arguments))
            }
            DerivedOperation::MapOf(ty) => {
                entries::set_or_map_of(ty, arguments).unwrap_or_else(|| keyed::lower_map(ty, arguments))
            }
            DerivedOperation::Defined => defined(&arguments[0]),
            DerivedOperation::Standard(operation) => operation.lower(arguments),
        }
    }
}

/// Does the set have a field for each key? Then a union is never too large for the type.
fn has_field_for_each_key(set: &Term) -> bool {
    matches!(set.sort(), Type::Record(ty) if ty.width().is_none())
}

/// Do the arguments have the number and the sorts of these data?
fn have_sorts_of(arguments: &[Term], data: &[Datum]) -> bool {
    arguments.len() == data.len()
        && arguments.iter().zip(data).all(|(argument, datum)| *argument.sort() == datum.ty().sort())
}

/// Does the body mention these data only, and have they different names?
fn is_closed<const COUNT: usize>(body: &Term, own: [&[Datum]; COUNT]) -> bool {
    let own: Vec<&Datum> = own.into_iter().flatten().collect();
    let names: std::collections::BTreeSet<&str> = own.iter().map(|datum| datum.name()).collect();
    names.len() == own.len() && body.data().iter().all(|datum| own.contains(&datum))
}

/// The substitution that puts each argument in the place of its parameter.
pub fn pair_arguments(parameters: &[Datum], arguments: &[Term]) -> Substitution {
    parameters.iter().cloned().zip(arguments.iter().cloned()).collect()
}

impl QuantifiedOperation {
    /// The type of the values if no other one is expected.
    pub(super) fn own_type(&self, arguments: &[Term]) -> Type {
        match &self.domain {
            QuantifierDomain::Values(..) => self.bound.ty().sort(),
            QuantifierDomain::Elements => match arguments[0].sort().as_list() {
                Some((_, _, ty)) => ty.clone(),
                None => self.bound.ty().sort(),
            },
        }
    }

    /// Splits the arguments into the collection, if there is one, and those for `read`.
    pub(super) fn split_arguments<'a>(&self, arguments: &'a [Term]) -> (&'a [Term], &'a [Term]) {
        arguments.split_at(arguments.len() - self.read.len())
    }

    /// Is this quantifier well formed with these arguments? They are the collection, if the domain is its
    /// elements, and one argument for each datum of `read`. Bodies mention `bound` and `read` only.
    fn accepts(&self, arguments: &[Term]) -> bool {
        if arguments.len() < self.read.len() {
            return false;
        }
        let (collection, read_arguments) = self.split_arguments(arguments);
        let bound = self.bound.ty().sort();
        let fits_domain = match (&self.domain, collection) {
            (QuantifierDomain::Values(_, values), []) => values.iter().all(|value| value.sort() == bound),
            (QuantifierDomain::Elements, [collection]) => {
                let key = collection.sort().as_keyed().map(|(_, key)| key.sort());
                let element = collection.sort().as_list().map(|(_, _, element)| element.sort());
                key.or(element) == Some(bound)
            }
            _ => false,
        };
        let mentions_own_data_only =
            |body: &Term| is_closed(body, [std::slice::from_ref(&self.bound), &self.read]);
        let fits_list = |(list, element): &(Arc<RecordType>, Term)| {
            list.form == RecordForm::List
                && list.element_type().sort() == *element.sort()
                && mentions_own_data_only(element)
        };
        fits_domain
            && *self.body.sort() == Type::Bool
            && have_sorts_of(read_arguments, &self.read)
            && mentions_own_data_only(&self.body)
            && self.collected.is_some() == (self.quantifier == Quantifier::Collect)
            && self.collected.iter().all(fits_list)
    }

    /// Makes the longer term from the instances of the body, one for each possible value.
    fn lower(&self, arguments: &[Term]) -> Term {
        let values: Vec<(Term, Term)> = match &self.domain {
            QuantifierDomain::Values(_, values) => {
                values.iter().map(|value| (Term::yes(), Term::literal(value.clone()))).collect()
            }
            QuantifierDomain::Elements => elements_with_conditions(&arguments[0]),
        };
        let mut substitution = pair_arguments(&self.read, self.split_arguments(arguments).1);
        if !matches!(self.quantifier, Quantifier::All | Quantifier::Some | Quantifier::Count) {
            return self.lower_chosen(&values, substitution);
        }
        let instances = values.into_iter().map(|(exists, value)| {
            // Substitute all at once: an argument may mention a datum with the name that is bound here.
            substitution.insert(self.bound.clone(), value);
            let instance = substitute(self.body.lowered(), &substitution);
            match self.quantifier {
                Quantifier::All => Term::implies(&exists, &instance),
                _ => Term::and([exists, instance]),
            }
        });
        match self.quantifier {
            Quantifier::All => Term::and(instances),
            Quantifier::Some => Term::or(instances),
            Quantifier::Count => count_conditions(instances),
            _ => unreachable!("{:?} was answered above", self.quantifier),
        }
    }

    /// Lowers quantifiers that return elements, or the position of one. `values` are the possible values,
    /// each with the condition that it exists.
    fn lower_chosen(&self, values: &[(Term, Term)], mut substitution: Substitution) -> Term {
        let mut instances = Vec::new();
        for (exists, value) in values {
            substitution.insert(self.bound.clone(), value.clone());
            let instantiate = |body: &Term| substitute(body.lowered(), &substitution);
            let element = self.collected.as_ref().map(|(_, element)| instantiate(element));
            let is_taken = Term::and([exists.clone(), instantiate(&self.body)]);
            instances.push((is_taken, element.unwrap_or_else(|| value.clone())));
        }
        // The result of the first instance that is taken. The conditionals are built from the inside.
        let choose_first = |none: Term, result: &dyn Fn(usize, &Term) -> Term| {
            instances.iter().enumerate().rfold(none, |otherwise, (position, (is_taken, value))| {
                Term::if_then_else(is_taken, &result(position, value), &otherwise)
            })
        };
        match (&self.collected, self.quantifier) {
            (Some((list, _)), _) => lists::collect_taken(list, &instances),
            (_, Quantifier::Find) => {
                let option = Arc::new(RecordType::option(self.bound.ty()));
                let some = |_, value: &Term| option.made_of(Value::Bool(true), [value.clone()]);
                choose_first(option.made_of(Value::Bool(false), []), &some)
            }
            _ => choose_first(Term::int(-1), &|position, _| Term::int(position)),
        }
    }
}

/// The possible elements of a list, or keys of a set or a map, each with the condition that it is there.
fn elements_with_conditions(collection: &Term) -> Vec<(Term, Term)> {
    match collection.sort().as_list() {
        Some((_, most, _)) => {
            // Field 0 is the length, and the elements follow it.
            let exists = |position: usize| {
                Term::compare(Comparison::Greater, &Term::field(collection, 0), &Term::int(position))
            };
            (0..most).map(|position| (exists(position), Term::field(collection, position + 1))).collect()
        }
        None => entries::keys_with_conditions(collection)
            .unwrap_or_else(|| keyed::keys_with_conditions(collection)),
    }
}

impl MatchOperation {
    fn sort(&self) -> Type {
        self.cases.first().map_or(Type::Bool, |case| case.body.sort().clone())
    }

    /// Do the arguments and the cases fit the alternatives of the subject?
    fn accepts(&self, arguments: &[Term]) -> bool {
        let [subject, read @ ..] = arguments else { return false };
        let Type::Record(ty) = subject.sort() else { return false };
        let alternatives = ty.alternatives();
        let fits = |case: &MatchArm| {
            let names: Vec<Datum> = case.names.iter().map(|(name, _)| name.clone()).collect();
            // The positions of the fields that the case may name. The case `_` has none.
            let positions = match case.alternative.map(|number| alternatives.get(number)) {
                Some(Some(alternative)) => alternative.positions(),
                Some(None) => return false,
                None => 0..0,
            };
            let fits_field = |(name, position): &(Datum, usize)| {
                positions.contains(position) && *name.ty() == ty.fields[*position].1
            };
            *case.body.sort() == self.sort()
                && is_closed(&case.body, [names.as_slice(), &self.read])
                && case.names.iter().all(fits_field)
        };
        !alternatives.is_empty()
            && !self.cases.is_empty()
            && have_sorts_of(read, &self.read)
            && self.cases.iter().all(fits)
    }

    /// Makes a conditional over the cases, with their bodies in this form.
    pub(super) fn unfold(&self, arguments: &[Term], form: fn(&Term) -> &Term) -> Term {
        let [subject, read @ ..] = arguments else { unreachable!("a match without a subject") };
        let values_read = pair_arguments(&self.read, read);
        let instantiate = |case: &MatchArm| {
            let fields = case.names.iter().map(|(name, field)| (name.clone(), Term::field(subject, *field)));
            let values = values_read.clone().into_iter().chain(fields).collect();
            substitute(form(&case.body), &values)
        };
        // The last case fits all values that the others leave, so it has no condition.
        let Some((last, others)) = self.cases.split_last() else { unreachable!("a match without a case") };
        others.iter().rfold(instantiate(last), |otherwise, case| {
            let condition = case.alternative.map_or_else(Term::yes, |number| is_alternative(subject, number));
            Term::if_then_else(&condition, &instantiate(case), &otherwise)
        })
    }
}

/// The condition that a variant or an option is the alternative of this number.
pub fn is_alternative(subject: &Term, number: usize) -> Term {
    let Type::Record(variant) = subject.sort() else { unreachable!("{subject} has no alternatives") };
    Term::equal(&Term::field(subject, 0), &Term::literal(variant.tag(number)))
}

impl StandardOperation {
    /// The sort of the result, from the sorts of arguments that [`Self::accepts`] has accepted. For others it
    /// is any sort.
    fn sort(self, arguments: &[Term]) -> Type {
        use StandardOperation as On;
        let first = || arguments[0].sort().clone();
        match self {
            On::Minimum | On::Maximum | On::Absolute => first(),
            On::ElementChanged | On::ElementInserted | On::ElementRemoved => first(),
            On::Part | On::Joined | On::Sorted | On::ValueChanged => first(),
            On::Union | On::Intersection | On::Difference => first(),
            On::JoinedBy => Type::String,
            On::Element | On::Sum | On::LeastElement | On::GreatestElement => {
                first().as_list().map_or(Type::Bool, |(_, _, element)| element.sort())
            }
            On::ValueAt => match first() {
                Type::Record(map) => map.map_value_type().map_or(Type::Bool, Type::sort),
                no_map => no_map,
            },
            On::Keys => {
                let set = first().as_keyed().and_then(|(map, _)| map.set_of_keys());
                set.map_or(Type::Bool, |set| Type::Record(Arc::new(set)))
            }
            On::IndexOf | On::Size => Type::Int,
            On::Contains | On::HasKey | On::Subset | On::ProperSubset => Type::Bool,
        }
    }

    /// Do the arguments have the right number and sorts?
    fn accepts(self, arguments: &[Term]) -> bool {
        use StandardOperation as On;
        let sorts: Vec<&Type> = arguments.iter().map(Term::sort).collect();
        let element_type = |list: &Type| list.as_list().map(|(_, _, element)| element.clone());
        let key_type = |table: &Type| table.as_keyed().map(|(_, key)| key.clone());
        let value_sort =
            |map: &Type| map.as_keyed().and_then(|(record, _)| record.map_value_type().map(Type::sort));
        let is_list = |ty: &Type| ty.as_list().is_some();
        let is_map = |ty: &Type| value_sort(ty).is_some();
        let is_set = |ty: &Type| ty.as_keyed().is_some() && !is_map(ty);
        let fits_element = |ty: &Type, list: &Type| element_type(list).is_some_and(|own| own.sort() == *ty);
        let fits_key = |ty: &Type, table: &Type| key_type(table).is_some_and(|own| own.sort() == *ty);
        match (self, sorts.as_slice()) {
            (On::Minimum | On::Maximum, [a, b]) => a == b && a.is_number(),
            (On::Absolute, [number]) => number.is_number(),
            (On::Element | On::Part | On::ElementRemoved, [list, Type::Int]) => is_list(list),
            (On::Part, [list, Type::Int, Type::Int]) => is_list(list),
            (On::ElementChanged | On::ElementInserted, [list, Type::Int, new]) => fits_element(new, list),
            (On::Sum, [list]) => element_type(list).is_some_and(|ty| ty.is_number()),
            (On::LeastElement | On::GreatestElement | On::Sorted, [list]) => {
                element_type(list).is_some_and(|ty| ty.is_ordered())
            }
            (On::JoinedBy, [list, Type::String]) => element_type(list) == Some(Type::String),
            (On::Joined, [first, second]) => is_list(first) && element_type(first) == element_type(second),
            (On::Contains | On::IndexOf, [list, wanted]) => fits_element(wanted, list),
            (On::HasKey, [key, table]) => fits_key(key, table),
            (On::ValueAt, [map, key]) => is_map(map) && fits_key(key, map),
            (On::ValueChanged, [map, key, new]) => {
                fits_key(key, map) && value_sort(map).as_ref() == Some(*new)
            }
            (On::Union | On::Intersection | On::Subset | On::ProperSubset, [a, b]) => a == b && is_set(a),
            // Keys are taken from a set or a map. Tables with a bound have another form, so either both have
            // one or neither has.
            (On::Difference, [table, keys]) => {
                let has_bound = |ty: &Type| ty.as_keyed().is_some_and(|(record, _)| record.width().is_some());
                let have_same_keys = key_type(table).is_some() && key_type(table) == key_type(keys);
                is_set(keys) && have_same_keys && has_bound(table) == has_bound(keys)
            }
            (On::Size, [table]) => table.as_keyed().is_some(),
            (On::Keys, [map]) => is_map(map),
            _ => false,
        }
    }

    /// Does it have a value wherever its arguments have one? The caller has answered for a union.
    fn is_total(self) -> bool {
        use StandardOperation as On;
        let reads =
            matches!(self, On::Element | On::LeastElement | On::GreatestElement | On::ValueAt | On::Part);
        let changes =
            matches!(self, On::ElementChanged | On::ElementInserted | On::ElementRemoved | On::ValueChanged);
        !(reads || changes || self == On::Joined)
    }

    /// Makes the longer term of arguments without operations.
    fn lower(self, arguments: &[Term]) -> Term {
        use StandardOperation as On;
        // Sets and maps with a bound have another form than those with a field for each key.
        if let Some(term) = entries::lower_on_table(self, arguments) {
            return term;
        }
        match (self, arguments) {
            (On::ElementInserted, [list, index, new]) => lists::insert_element(list, index, new),
            (On::ElementRemoved, [list, index]) => lists::remove_element(list, index),
            (On::Sum, [list]) => lists::sum_list(list),
            (On::LeastElement, [list]) => lists::extreme_element(list, Comparison::Less),
            (On::GreatestElement, [list]) => lists::extreme_element(list, Comparison::Greater),
            (On::JoinedBy, [list, separator]) => lists::join_strings(list, separator),
            (On::Sorted, [list]) => lists::sort_list(list),
            (On::Minimum, [a, b]) => Term::if_then_else(&Term::compare(Comparison::AtMost, a, b), a, b),
            (On::Maximum, [a, b]) => Term::if_then_else(&Term::compare(Comparison::AtLeast, a, b), a, b),
            (On::Absolute, [a]) => {
                Term::if_then_else(&Term::compare(Comparison::Less, a, &Term::int(0)), &a.negate(), a)
            }
            (On::Element, [list, index]) => lists::element_at(list, index),
            (On::ElementChanged, [list, index, new]) => lists::with_element(list, index, new),
            (On::Part, [list, from]) => lists::slice_of_list(list, from, None),
            (On::Part, [list, from, to]) => lists::slice_of_list(list, from, Some(to)),
            (On::Joined, [first, second]) => lists::join_lists(first, second),
            (On::Contains, [list, element]) => lists::contains_element(list, element),
            (On::IndexOf, [list, element]) => lists::index_of(list, element),
            (On::HasKey, [key, table]) => keyed::has_key(table, key),
            (On::ValueAt, [map, key]) => keyed::value_at(map, key),
            (On::ValueChanged, [map, key, value]) => keyed::with_value(map, key, value),
            (On::Union | On::Intersection | On::Difference, [a, b]) => keyed::combine_sets(self, a, b),
            (On::Subset | On::ProperSubset, [a, b]) => keyed::subset(self, a, b),
            (On::Size, [table]) => keyed::count_keys(table),
            (On::Keys, [map]) => keyed::key_set(map),
            _ => unreachable!("{self:?} of {arguments:?}"),
        }
    }
}
