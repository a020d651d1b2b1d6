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
use crate::term::lists::{self, balanced_sum};
use crate::term::node::Comparison;
use crate::term::total::always_in;
use crate::term::{Substitution, Term, entries, keyed, substitute};
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
    /// An operation on its arguments. The caller has checked their number and their sorts.
    pub fn apply(operation: DerivedOperation, arguments: Vec<Term>) -> Term {
        let sort = operation.sort(&arguments);
        let is_plain = matches!(
            operation,
            DerivedOperation::Standard(_) | DerivedOperation::SetOf(_) | DerivedOperation::MapOf(_)
        );
        let is_known = is_plain && arguments.iter().all(|argument| argument.written_literal().is_some());
        let term = Term::make_operation(operation, arguments, sort);
        match is_known.then(|| crate::term::evaluate::evaluate(&term, &Default::default())) {
            Some(Ok(value)) if !crate::term::evaluate::is_too_long(&value) => Term::literal(value),
            _ => term,
        }
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
    let all: std::collections::BTreeSet<Datum> = terms.into_iter().flat_map(Term::data).collect();
    all.into_iter().filter(|datum| !own.contains(datum)).collect()
}

impl DerivedOperation {
    /// Do the arguments have the right number and sorts, and are the bodies closed?
    pub fn accepts(&self, arguments: &[Term]) -> bool {
        match self {
            DerivedOperation::Call(of) => {
                of.named <= of.parameters.len()
                    && are_of(arguments, &of.parameters)
                    && is_closed(&of.body, [&of.parameters])
            }
            DerivedOperation::Quantified(of) => {
                let Some(first) = arguments.len().checked_sub(of.read.len()) else { return false };
                let bound = of.bound.ty();
                let is_of_domain = match (&of.domain, &arguments[..first]) {
                    (QuantifierDomain::Values(_, values), []) => {
                        values.iter().all(|value| value.sort() == bound.sort())
                    }
                    (QuantifierDomain::Elements, [collection]) => {
                        let keys = collection.sort().as_keyed().map(|(_, key)| key.sort());
                        let elements = collection.sort().as_list().map(|(_, _, ty)| ty.clone());
                        keys.or(elements).map(|ty| ty.sort()) == Some(bound.sort())
                    }
                    _ => false,
                };
                let closed = |body: &Term| is_closed(body, [std::slice::from_ref(&of.bound), &of.read]);
                let is_list = |(ty, element): &(Arc<RecordType>, Term)| {
                    ty.form == RecordForm::List
                        && ty.element_type().sort() == *element.sort()
                        && closed(element)
                };
                is_of_domain
                    && *of.body.sort() == Type::Bool
                    && are_of(&arguments[first..], &of.read)
                    && closed(&of.body)
                    && of.collected.is_some() == (of.quantifier == Quantifier::Collect)
                    && of.collected.iter().all(is_list)
            }
            DerivedOperation::Match(of) => of.accepts(arguments),
            DerivedOperation::SetOf(ty) => match Type::Record(ty.clone()).as_keyed() {
                Some((_, key)) => {
                    ty.map_value_type().is_none() && arguments.iter().all(|one| *one.sort() == key.sort())
                }
                None => false,
            },
            DerivedOperation::MapOf(ty) => match (Type::Record(ty.clone()).as_keyed(), ty.map_value_type()) {
                (Some((_, key)), Some(value)) => arguments.chunks(2).all(|entry| match entry {
                    [one, other] => *one.sort() == key.sort() && *other.sort() == value.sort(),
                    _ => false,
                }),
                _ => false,
            },
            DerivedOperation::Standard(operation) => operation.accepts(arguments),
            DerivedOperation::Defined => arguments.len() == 1,
        }
    }

    fn sort(&self, arguments: &[Term]) -> Type {
        match self {
            DerivedOperation::Call(function) => function.body.sort().clone(),
            DerivedOperation::Quantified(of) => match (&of.collected, of.quantifier) {
                (Some((ty, _)), _) => Type::Record(ty.clone()),
                (_, Quantifier::Count | Quantifier::Index) => Type::Int,
                (_, Quantifier::Find) => Type::Record(Arc::new(RecordType::option(of.bound.ty()))),
                _ => Type::Bool,
            },
            DerivedOperation::Match(of) => of.sort(),
            DerivedOperation::SetOf(ty) | DerivedOperation::MapOf(ty) => Type::Record(ty.clone()),
            DerivedOperation::Defined => Type::Bool,
            DerivedOperation::Standard(operation) => operation.sort(arguments),
        }
    }

    /// Do its parts show that it has a value under every valuation?
    pub(super) fn is_total(&self, arguments: &[Term]) -> bool {
        if matches!(self, DerivedOperation::Defined) {
            return true;
        }
        let fits = |(argument, datum): (&Term, &Datum)| always_in(argument, datum.ty());
        arguments.iter().all(Term::is_total)
            && match self {
                DerivedOperation::Call(function) => {
                    function.body.is_total() && arguments.iter().zip(&function.parameters).all(fits)
                }
                DerivedOperation::Quantified(of) => {
                    let first = arguments.len() - of.read.len();
                    let is_total = of.body.is_total() && of.collected.is_none();
                    is_total && arguments[first..].iter().zip(&of.read).all(fits)
                }
                DerivedOperation::Match(of) => {
                    of.cases.iter().all(|case| case.body.is_total())
                        && arguments[1..].iter().zip(&of.read).all(fits)
                }
                DerivedOperation::SetOf(ty) => match &ty.form {
                    RecordForm::Keyed(key) => arguments.iter().all(|one| always_in(one, key)),
                    RecordForm::Entries(key, _) => {
                        ty.most() >= Some(arguments.len()) && arguments.iter().all(|one| always_in(one, key))
                    }
                    _ => false,
                },
                DerivedOperation::MapOf(_) => false,
                DerivedOperation::Standard(StandardOperation::Union) => is_set_of_few(&arguments[0]),
                DerivedOperation::Standard(operation) => operation.is_total(),
                DerivedOperation::Defined => true,
            }
    }

    /// The bodies, each with the names that it binds for itself.
    pub fn bodies(&self) -> Vec<(Vec<&Datum>, &Term)> {
        match self {
            DerivedOperation::Call(of) => vec![(Vec::new(), &of.body)],
            DerivedOperation::Quantified(of) => {
                let element = of.collected.iter().map(|(_, element)| element);
                element.chain([&of.body]).map(|body| (vec![&of.bound], body)).collect()
            }
            DerivedOperation::Match(of) => of
                .cases
                .iter()
                .map(|arm| (arm.names.iter().map(|(name, _)| name).collect(), &arm.body))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The number of nodes of its bodies, which are written with it. A call is written by its name.
    pub(super) fn written_size(&self) -> u64 {
        match self {
            DerivedOperation::Call(_) => 0,
            _ => self.bodies().into_iter().map(|(_, body)| body.written_size()).sum(),
        }
    }

    /// Returns the longer term. The arguments have no operations, and neither has the result.
    pub(super) fn lower(&self, arguments: &[Term]) -> Term {
        match self {
            DerivedOperation::Call(function) => {
                substitute(function.body.lowered(), &pair_arguments(&function.parameters, arguments))
            }
            DerivedOperation::Quantified(of) => of.lower(arguments),
            DerivedOperation::Match(of) => of.lower(arguments),
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

/// Is it a set with a field for each key, so that a union is no larger?
fn is_set_of_few(set: &Term) -> bool {
    matches!(set.sort(), Type::Record(ty) if ty.width().is_none())
}

fn are_of(arguments: &[Term], data: &[Datum]) -> bool {
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
pub(super) fn pair_arguments(parameters: &[Datum], arguments: &[Term]) -> Substitution {
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

    /// Makes the longer term: a condition or a number over the instances of the body.
    fn lower(&self, arguments: &[Term]) -> Term {
        let first = arguments.len() - self.read.len();
        let values: Vec<(Term, Term)> = match &self.domain {
            QuantifierDomain::Values(_, values) => {
                values.iter().map(|value| (Term::yes(), Term::literal(value.clone()))).collect()
            }
            QuantifierDomain::Elements => elements_with_conditions(&arguments[0]),
        };
        if !matches!(self.quantifier, Quantifier::All | Quantifier::Some | Quantifier::Count) {
            return self.lower_chosen(&values, arguments);
        }
        let mut named = pair_arguments(&self.read, &arguments[first..]);
        let instances = values.into_iter().map(|(is_there, value)| {
            // Substitute all at once: an argument may mention a datum with the name that is bound here.
            named.insert(self.bound.clone(), value);
            let instance = substitute(self.body.lowered(), &named);
            match self.quantifier {
                Quantifier::All => Term::implies(&is_there, &instance),
                _ => Term::and([is_there, instance]),
            }
        });
        match self.quantifier {
            Quantifier::All => Term::and(instances),
            Quantifier::Some => Term::or(instances),
            Quantifier::Count => {
                let one = |instance: Term| Term::if_then_else(&instance, &Term::int(1), &Term::int(0));
                balanced_sum(&instances.map(one).collect::<Vec<Term>>())
            }
            _ => unreachable!("{:?} was answered above", self.quantifier),
        }
    }

    /// Lowers quantifiers that return elements, or the place of one.
    fn lower_chosen(&self, values: &[(Term, Term)], arguments: &[Term]) -> Term {
        let mut named = pair_arguments(&self.read, &arguments[arguments.len() - self.read.len()..]);
        let mut instances = Vec::new();
        for (is_there, value) in values {
            named.insert(self.bound.clone(), value.clone());
            let of = |body: &Term| substitute(body.lowered(), &named);
            let element = self.collected.as_ref().map_or_else(|| value.clone(), |(_, element)| of(element));
            instances.push((Term::and([is_there.clone(), of(&self.body)]), element));
        }
        let first = |none: Term, one: &dyn Fn(usize, &Term) -> Term| {
            let cases = instances.iter().enumerate();
            cases.rfold(none, |rest, (at, (holds, value))| Term::if_then_else(holds, &one(at, value), &rest))
        };
        match (&self.collected, self.quantifier) {
            (Some((ty, _)), _) => lists::collect_taken(ty, &instances),
            (_, Quantifier::Find) => {
                let option = Arc::new(RecordType::option(self.bound.ty()));
                let some = |_, value: &Term| option.made_of(Value::Bool(true), [value.clone()]);
                first(option.made_of(Value::Bool(false), []), &some)
            }
            _ => first(Term::int(-1), &|at, _| Term::int(at)),
        }
    }
}

/// The possible elements of a list, or keys of a set or a map, each with the condition that it is there.
fn elements_with_conditions(collection: &Term) -> Vec<(Term, Term)> {
    match collection.sort().as_list() {
        Some((_, most, _)) => {
            let is_there =
                |at: usize| Term::compare(Comparison::Greater, &Term::field(collection, 0), &Term::int(at));
            (0..most).map(|at| (is_there(at), Term::field(collection, at + 1))).collect()
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
        let is_right = |case: &MatchArm| {
            let names: Vec<Datum> = case.names.iter().map(|(name, _)| name.clone()).collect();
            let fields = match case.alternative.map(|number| alternatives.get(number)) {
                Some(Some(one)) => one.first..one.first + one.count,
                Some(None) => return false,
                None => 0..0,
            };
            *case.body.sort() == self.sort()
                && is_closed(&case.body, [names.as_slice(), &self.read])
                && case.names.iter().all(|(name, at)| fields.contains(at) && *name.ty() == ty.fields[*at].1)
        };
        !alternatives.is_empty()
            && !self.cases.is_empty()
            && are_of(read, &self.read)
            && self.cases.iter().all(is_right)
    }

    fn lower(&self, arguments: &[Term]) -> Term {
        let subject = &arguments[0];
        let read = pair_arguments(&self.read, &arguments[1..]);
        let body = |case: &MatchArm| {
            let mut values = read.clone();
            values.extend(case.names.iter().map(|(name, at)| (name.clone(), Term::field(subject, *at))));
            substitute(case.body.lowered(), &values)
        };
        let Some((last, others)) = self.cases.split_last() else { unreachable!("a match without a case") };
        others.iter().rev().fold(body(last), |rest, case| {
            let condition = case.alternative.map_or_else(Term::yes, |number| is_alternative(subject, number));
            Term::if_then_else(&condition, &body(case), &rest)
        })
    }
}

/// The condition that a variant or an option is the alternative of this number.
pub fn is_alternative(subject: &Term, number: usize) -> Term {
    let Type::Record(variant) = subject.sort() else { unreachable!("{subject} has no alternatives") };
    Term::equal(&Term::field(subject, 0), &Term::literal(variant.tag(number)))
}

impl StandardOperation {
    /// The sort of the result, from the sorts of the arguments.
    fn sort(self, arguments: &[Term]) -> Type {
        let first = || arguments[0].sort().clone();
        match self {
            StandardOperation::Minimum
            | StandardOperation::Maximum
            | StandardOperation::Absolute
            | StandardOperation::ElementChanged
            | StandardOperation::Part
            | StandardOperation::Joined
            | StandardOperation::ElementInserted
            | StandardOperation::ElementRemoved
            | StandardOperation::Sorted
            | StandardOperation::ValueChanged
            | StandardOperation::Union
            | StandardOperation::Intersection
            | StandardOperation::Difference => first(),
            StandardOperation::JoinedBy => Type::String,
            StandardOperation::Element
            | StandardOperation::Sum
            | StandardOperation::LeastElement
            | StandardOperation::GreatestElement => {
                first().as_list().map_or(Type::Bool, |(_, _, ty)| ty.sort())
            }
            StandardOperation::ValueAt => match first() {
                Type::Record(ty) => ty.map_value_type().map_or(Type::Bool, Type::sort),
                other => other,
            },
            StandardOperation::Keys => first()
                .as_keyed()
                .and_then(|(of, _)| of.set_of_keys())
                .map_or(Type::Bool, |set| Type::Record(Arc::new(set))),
            StandardOperation::IndexOf | StandardOperation::Size => Type::Int,
            StandardOperation::Contains
            | StandardOperation::HasKey
            | StandardOperation::Subset
            | StandardOperation::ProperSubset => Type::Bool,
        }
    }

    /// Do the arguments have the right number and sorts?
    fn accepts(self, arguments: &[Term]) -> bool {
        let sorts: Vec<&Type> = arguments.iter().map(Term::sort).collect();
        let element = |ty: &Type| ty.as_list().map(|(_, _, element)| element.clone());
        let is_element = |list: &Type, ty: &Type| element(list).is_some_and(|of| of.sort() == *ty);
        let key = |ty: &Type| ty.as_keyed().map(|(_, key)| key.clone());
        let has_bound = |ty: &Type| ty.as_keyed().is_some_and(|(of, _)| of.width().is_some());
        let is_key = |whole: &Type, ty: &Type| key(whole).is_some_and(|of| of.sort() == *ty);
        let is_set = |ty: &Type| ty.as_keyed().is_some_and(|(of, _)| of.map_value_type().is_none());
        let value = |ty: &Type| ty.as_keyed().and_then(|(of, _)| of.map_value_type().map(Type::sort));
        match (self, sorts.as_slice()) {
            (StandardOperation::Minimum | StandardOperation::Maximum, [a, b]) => a == b && a.is_number(),
            (StandardOperation::Absolute, [a]) => a.is_number(),
            (StandardOperation::Element | StandardOperation::Part, [list, Type::Int]) => {
                list.as_list().is_some()
            }
            (StandardOperation::Part, [list, Type::Int, Type::Int]) => list.as_list().is_some(),
            (
                StandardOperation::ElementChanged | StandardOperation::ElementInserted,
                [list, Type::Int, new],
            ) => is_element(list, new),
            (StandardOperation::ElementRemoved, [list, Type::Int]) => element(list).is_some(),
            (StandardOperation::Sum, [list]) => element(list).is_some_and(|ty| ty.is_number()),
            (
                StandardOperation::LeastElement
                | StandardOperation::GreatestElement
                | StandardOperation::Sorted,
                [list],
            ) => element(list).is_some_and(|ty| ty.is_ordered()),
            (StandardOperation::JoinedBy, [list, Type::String]) => element(list) == Some(Type::String),
            (StandardOperation::Joined, [left, right]) => {
                element(left).is_some() && element(left) == element(right)
            }
            (StandardOperation::Contains | StandardOperation::IndexOf, [list, wanted]) => {
                is_element(list, wanted)
            }
            (StandardOperation::HasKey, [wanted, whole]) => is_key(whole, wanted),
            (StandardOperation::ValueAt, [map, wanted]) => value(map).is_some() && is_key(map, wanted),
            (StandardOperation::ValueChanged, [map, wanted, new]) => {
                is_key(map, wanted) && value(map).as_ref() == Some(*new)
            }
            (
                StandardOperation::Union
                | StandardOperation::Intersection
                | StandardOperation::Subset
                | StandardOperation::ProperSubset,
                [a, b],
            ) => a == b && is_set(a),
            (StandardOperation::Difference, [a, b]) => {
                is_set(b) && key(a).is_some() && key(a) == key(b) && has_bound(a) == has_bound(b)
            }
            (StandardOperation::Size, [whole]) => whole.as_keyed().is_some(),
            (StandardOperation::Keys, [map]) => value(map).is_some(),
            _ => false,
        }
    }

    fn is_total(self) -> bool {
        !matches!(
            self,
            StandardOperation::Element
                | StandardOperation::ElementChanged
                | StandardOperation::Part
                | StandardOperation::Joined
                | StandardOperation::ElementInserted
                | StandardOperation::ElementRemoved
                | StandardOperation::LeastElement
                | StandardOperation::GreatestElement
                | StandardOperation::ValueAt
                | StandardOperation::ValueChanged
        )
    }

    /// Makes the longer term of arguments without operations.
    fn lower(self, arguments: &[Term]) -> Term {
        if let Some(term) = entries::lower_on_table(self, arguments) {
            return term;
        }
        match (self, arguments) {
            (StandardOperation::ElementInserted, [list, index, new]) => {
                lists::insert_element(list, index, new)
            }
            (StandardOperation::ElementRemoved, [list, index]) => lists::remove_element(list, index),
            (StandardOperation::Sum, [list]) => lists::sum_list(list),
            (StandardOperation::LeastElement, [list]) => lists::extreme_element(list, Comparison::Less),
            (StandardOperation::GreatestElement, [list]) => lists::extreme_element(list, Comparison::Greater),
            (StandardOperation::JoinedBy, [list, separator]) => lists::join_strings(list, separator),
            (StandardOperation::Sorted, [list]) => lists::sort_list(list),
            (StandardOperation::Minimum, [a, b]) => {
                Term::if_then_else(&Term::compare(Comparison::AtMost, a, b), a, b)
            }
            (StandardOperation::Maximum, [a, b]) => {
                Term::if_then_else(&Term::compare(Comparison::AtLeast, a, b), a, b)
            }
            (StandardOperation::Absolute, [a]) => {
                Term::if_then_else(&Term::compare(Comparison::Less, a, &Term::int(0)), &a.negate(), a)
            }
            (StandardOperation::Element, [list, index]) => lists::element_at(list, index),
            (StandardOperation::ElementChanged, [list, index, new]) => lists::with_element(list, index, new),
            (StandardOperation::Part, [list, from]) => lists::slice_of_list(list, from, None),
            (StandardOperation::Part, [list, from, to]) => lists::slice_of_list(list, from, Some(to)),
            (StandardOperation::Joined, [left, right]) => lists::join_lists(left, right),
            (StandardOperation::Contains, [list, element]) => lists::contains_element(list, element),
            (StandardOperation::IndexOf, [list, element]) => lists::index_of(list, element),
            (StandardOperation::HasKey, [key, whole]) => keyed::has_key(whole, key),
            (StandardOperation::ValueAt, [map, key]) => keyed::value_at(map, key),
            (StandardOperation::ValueChanged, [map, key, value]) => keyed::with_value(map, key, value),
            (
                StandardOperation::Union | StandardOperation::Intersection | StandardOperation::Difference,
                [a, b],
            ) => keyed::combine_sets(self, a, b),
            (StandardOperation::Subset | StandardOperation::ProperSubset, [a, b]) => {
                keyed::subset(self, a, b)
            }
            (StandardOperation::Size, [whole]) => keyed::count_keys(whole),
            (StandardOperation::Keys, [map]) => keyed::key_set(map),
            _ => unreachable!("{self:?} of {arguments:?}"),
        }
    }
}
