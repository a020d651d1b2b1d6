//! Lists with many slots: one element that stands for each of them.
//!
//! **Problem.** The slots of a large list are too many for a domain. Mostly it is enough to know what all
//! elements have in common: each is at least 3, each is less than the next number. **Source.** Summarized
//! dimensions, as for the cells of arrays ([`crate::summaries`]). A state of numbers x and a list q is seen
//! as the set of all `(x, q[k])`. An abstract value stands for the states for which *all* `(x, q[k])` are in
//! it.
//!
//! **Differences to arrays.** A list may be empty, and then it has no such pair. So whether a list is empty
//! is a digit of the partition, and the element of an empty list may be any. There is no store at an index.
//! An element of an assigned list has an origin ([`ElementOrigin`]). It is the element that stood for all
//! before, or another element, or one that is new. Each origin is a case, and the cases come together again.
//!
//! **Sound backward** as well. An operation that may drop elements says nothing of the dropped elements. The
//! element after such an operation is some element of the list before it, and the fact about all elements
//! holds for this one too. **Sound** only if the partition has room for the digit. Without it, no condition
//! restricts the element. **Not known:** the order of elements, and how many have a property. **Cost**: two
//! cells for each list, a dimension for each number in an element, and for each element that is read another
//! dimension.

use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{
    DerivedOperation, QuantifiedOperation, Quantifier, QuantifierDomain, StandardOperation,
};
use coreach_model::term::{Substitution, Term, TermShape, replace, substitute};
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Datum, Type, Value};
use coreach_polyhedra::{LinearExpression, Rational};
use dashu_int::IBig;

use crate::condition::Formula;
use crate::frame::Frame;
use crate::places::{Place, element, element_at, index_variable, is_empty};
use crate::scope::{Beyond, CompileScope, ImprecisionReason, Split, compare_integers};
use crate::summaries::at_index_variable;

/// The most combinations of origins for the lists that one transition assigns.
pub const MOST_ORIGINS: usize = 24;

/// Where the element that stands for all of an assigned list comes from.
#[derive(Clone, Debug)]
pub struct ElementOrigin {
    /// The condition under which it comes from there.
    pub on: Term,
    /// The element. `None`: it may be any, for example because the list is empty.
    pub element: Option<Term>,
}

/// The assignment to a list in which one element stands for all.
#[derive(Clone, Debug)]
pub struct AssignedList {
    /// The element that stands for all.
    element: Term,
    /// The numbers of the element, and their dimensions.
    leaves: Vec<(Place, usize)>,
    pub origins: Vec<ElementOrigin>,
}

impl AssignedList {
    /// Finds the large lists in a datum that an assignment changes, with the origins of their elements.
    pub fn all(frame: &Frame, datum: &Datum, value: &Term) -> Vec<AssignedList> {
        let mut assigned_lists = Vec::new();
        for (number, summary) in frame.summaries.iter().enumerate() {
            let Some(list) = summary.list.as_ref().filter(|list| list.mentions(datum)) else { continue };
            let new = substitute(list, &Substitution::from([(datum.clone(), value.clone())]));
            if new == *list {
                continue;
            }
            let leaf = |dimension: &usize| (frame.numeric[*dimension].clone(), *dimension);
            let leaves = summary.leaves.iter().map(leaf).collect();
            // Each list has numbers of its own for the names of fresh elements.
            let names = number * MOST_ORIGINS;
            let mut search = OriginSearch { frame, assigned: list, origins: Vec::new(), names };
            let is_known = search.collect(&new, &Term::yes(), Kept::All).is_some();
            let is_empty = is_empty(&new);
            let mut origins = search.origins;
            for origin in &mut origins {
                origin.on = Term::and([is_empty.not(), origin.on.clone()]);
            }
            origins.push(ElementOrigin { on: is_empty, element: None });
            let is_complete = is_known && origins.len() <= MOST_ORIGINS;
            let mut assigned = AssignedList { element: element(list), leaves, origins };
            if !is_complete {
                assigned.forget();
            }
            assigned_lists.push(assigned);
        }
        assigned_lists
    }

    /// The places that change, with their dimensions and new values. `None` is any value.
    pub fn changes(&self, origin: usize) -> impl Iterator<Item = (&Place, usize, Option<Term>)> {
        let from = &self.origins[origin].element;
        self.leaves.iter().map(move |(place, dimension)| {
            let value = from.as_ref().map(|from| {
                replace(&place.term, std::iter::once((self.element.clone(), from.clone())).collect())
            });
            (place, *dimension, value)
        })
    }

    /// Forgets where the element comes from.
    pub fn forget(&mut self) {
        self.origins = vec![ElementOrigin { on: Term::yes(), element: None }];
    }
}

/// Does an operation keep all elements of its list?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    All,
    Some,
}

struct OriginSearch<'a> {
    frame: &'a Frame,
    /// The list that is assigned.
    assigned: &'a Term,
    origins: Vec<ElementOrigin>,
    /// How many elements have got a fresh name.
    names: usize,
}

impl OriginSearch<'_> {
    /// Adds an origin. `None`: there are too many.
    fn add(&mut self, on: Term, element: Term) -> Option<()> {
        self.origins.push(ElementOrigin { on, element: Some(element) });
        (self.origins.len() < MOST_ORIGINS).then_some(())
    }

    /// Adds the slots of a list that are in use, the first `length` ones. `None` if there are too many.
    fn add_slots(&mut self, on: &Term, length: &IBig, slots: impl Iterator<Item = Term>) -> Option<()> {
        let mut elements = slots.take(usize::try_from(length.clone()).ok()?);
        elements.try_for_each(|element| self.add(on.clone(), element))
    }

    /// Names a fresh element of a list.
    fn name_element(&mut self, list: &Term) -> Term {
        self.names += 1;
        element_at(list, &Datum::new(format!("# {} {list}", self.names), Type::Nat))
    }

    /// Collects the origins of the elements of a list that is assigned if `on` holds. `kept` says whether all
    /// elements of the list are assigned. `None`: an origin is not known, or there are too many.
    fn collect(&mut self, list: &Term, on: &Term, kept: Kept) -> Option<()> {
        use StandardOperation::{ElementChanged, ElementInserted, ElementRemoved, Joined, Part, Sorted};
        if self.frame.has_large_list(list) {
            let on = Term::and([on.clone(), is_empty(list).not()]);
            let from = if kept == Kept::All && list == self.assigned {
                element(list)
            } else {
                self.name_element(list)
            };
            return self.add(on, from);
        }
        if let Some(body) = list.unfolded() {
            return self.collect(&body, on, kept);
        }
        match list.shape() {
            TermShape::Node(Node::IfThenElse(c, a, b)) => {
                self.collect(a, &Term::and([on.clone(), c.clone()]), kept)?;
                self.collect(b, &Term::and([on.clone(), c.not()]), kept)
            }
            TermShape::Node(Node::Field(record, at)) => match record.written() {
                Some(Node::Record(_, fields)) => self.collect(&fields[*at], on, kept),
                _ => None,
            },
            TermShape::Node(Node::Record(record, fields)) if record.form == RecordForm::List => {
                let Some(Node::Literal(Value::Int(length))) = fields[0].written() else { return None };
                self.add_slots(on, length, fields.iter().skip(1).cloned())
            }
            TermShape::Node(Node::Literal(Value::Record(record, fields)))
                if record.form == RecordForm::List =>
            {
                let Value::Int(length) = &fields[0] else { return None };
                self.add_slots(on, length, fields.iter().skip(1).cloned().map(Term::literal))
            }
            TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                match (operation, &arguments[..]) {
                    (Joined, [first, second]) => {
                        self.collect(first, on, kept)?;
                        self.collect(second, on, kept)
                    }
                    (Part, [list, ..]) | (ElementRemoved, [list, _]) => self.collect(list, on, Kept::Some),
                    (Sorted, [list]) => self.collect(list, on, kept),
                    (ElementInserted, [list, _, element]) => {
                        self.collect(list, on, kept)?;
                        self.add(on.clone(), element.clone())
                    }
                    (ElementChanged, [list, _, element]) => {
                        self.collect(list, on, Kept::Some)?;
                        self.add(on.clone(), element.clone())
                    }
                    _ => None,
                }
            }
            // A comprehension: an element that satisfies its body gives a collected value.
            TermShape::Operation(DerivedOperation::Quantified(operation), arguments) => {
                let (_, collected) = operation.collected.as_ref()?;
                let list = elements_of(operation, arguments)?;
                if !self.frame.has_large_list(list) {
                    return None;
                }
                let source = self.name_element(list);
                let [body, collected] =
                    [&operation.body, collected].map(|body| body_at(operation, arguments, body, &source));
                self.add(Term::and([on.clone(), is_empty(list).not(), body]), collected)
            }
            _ => None,
        }
    }
}

/// The list over whose elements an operation goes.
fn elements_of<'a>(operation: &QuantifiedOperation, arguments: &'a [Term]) -> Option<&'a Term> {
    let list = arguments.first().filter(|_| matches!(operation.domain, QuantifierDomain::Elements))?;
    list.sort().as_list().map(|_| list)
}

/// A body of the operation, with this value for its bound name.
fn body_at(operation: &QuantifiedOperation, arguments: &[Term], body: &Term, value: &Term) -> Term {
    // The last arguments are the data that the body reads.
    let first_read = arguments.len() - operation.read.len();
    let read = operation.read.iter().cloned().zip(arguments[first_read..].iter().cloned());
    let values: Substitution = read.chain([(operation.bound.clone(), value.clone())]).collect();
    substitute(body, &values)
}

impl CompileScope<'_> {
    /// Has a large list an element? `None`: it is no large list, or that is not known.
    fn is_nonempty(&self, list: &Term) -> Option<bool> {
        match self.finite.get(&is_empty(list)).filter(|_| self.frame.has_large_list(list))? {
            Value::Bool(is_empty) => Some(!is_empty),
            _ => None,
        }
    }

    pub(crate) fn is_large_list(&self, sort: &Type) -> bool {
        let is_large = |record: &RecordType| self.frame.arrays.is_large_list(record);
        matches!(sort, Type::Record(record) if is_large(record)) && !self.frame.summaries.is_empty()
    }

    /// Compiles a comparison of large lists: what it says of their lengths.
    pub(crate) fn compared_lists(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Formula {
        let is_empty_literal = |list: &Term| matches!(list.as_literal(), Some(Value::Record(_, fields)) if fields[0] == Value::int(0));
        // Lists of one length may differ. But only the empty list has length 0.
        if comparison == Comparison::NotEqual && !is_empty_literal(a) && !is_empty_literal(b) {
            return Formula::Yes;
        }
        self.condition(&Term::compare(comparison, &Term::field(a, 0), &Term::field(b, 0)))
    }

    /// The cases of a number that an operation makes of a large list. `None` for another term.
    /// Errors: nothing is known of the number.
    pub(crate) fn number_of_elements(
        &mut self,
        term: &Term,
    ) -> Option<Result<Split<LinearExpression>, Beyond>> {
        if let Some(length) = self.length_of_result(term) {
            return Some(self.linear(&length));
        }
        // The term is the length of a list that an operation makes (field 0), or a number that one makes.
        let made = match term.written() {
            Some(Node::Field(list, 0)) => match list.unfolded() {
                Some(body) => return Some(self.linear(&Term::field(&body, 0))),
                None => list,
            },
            _ => term,
        };
        let list = self.large_argument(made)?;
        let TermShape::Operation(operation, arguments) = made.shape() else { return None };
        // The number lies between `least` and `least` plus the length of the list.
        let least = match operation {
            DerivedOperation::Standard(
                StandardOperation::LeastElement | StandardOperation::GreatestElement,
            ) => {
                // Any element of the list: the index is free.
                let index = Datum::new(format!("# {term}"), Type::Nat);
                return Some(self.linear(&element_at(&arguments[0], &index)));
            }
            DerivedOperation::Standard(StandardOperation::IndexOf) => -1,
            DerivedOperation::Quantified(quantified) => match quantified.quantifier {
                Quantifier::Collect | Quantifier::Count => 0,
                Quantifier::Index => -1,
                _ => return Some(Err((term.clone(), ImprecisionReason::Elements))),
            },
            _ => return Some(Err((term.clone(), ImprecisionReason::Elements))),
        };
        // A whole number, of which only the bounds below are known.
        let next = self.next_dimension();
        let Some(number) = self.auxiliaries.number_of_read(term, next, true, |_| Vec::new()) else {
            return Some(Err((term.clone(), ImprecisionReason::Elements)));
        };
        self.note_imprecision((list.clone(), ImprecisionReason::Elements));
        let least = LinearExpression::constant(Rational::from(least));
        let bound_number = |(on, length): (Formula, LinearExpression)| {
            let above = compare_integers(Comparison::AtMost, &least, &number);
            let below = compare_integers(Comparison::AtMost, &number.minus(&least), &length);
            (Formula::and([on, above, below]), number.clone())
        };
        let lengths = self.linear(&Term::field(list, 0));
        Some(lengths.map(|cases| cases.into_iter().map(bound_number).collect()))
    }

    /// The length of a large list that an operation makes, as a term over the lengths of its arguments.
    /// `None` for other terms.
    fn length_of_result(&self, term: &Term) -> Option<Term> {
        use StandardOperation::{ElementChanged, ElementInserted, ElementRemoved, Joined, Part, Sorted};
        let Some(Node::Field(list, 0)) = term.written() else { return None };
        self.large_argument(list)?;
        let TermShape::Operation(DerivedOperation::Standard(operation), arguments) = list.shape() else {
            return None;
        };
        let length = Term::field(&arguments[0], 0);
        Some(match (operation, &arguments[1..]) {
            (Joined, [other]) => Term::add(&length, &Term::field(other, 0)),
            (Part, [from]) => Term::subtract(&length, from),
            (Part, [from, to]) => Term::subtract(to, from),
            (ElementInserted, _) => Term::add(&length, &Term::int(1)),
            (ElementRemoved, _) => Term::subtract(&length, &Term::int(1)),
            (ElementChanged | Sorted, _) => length,
            _ => return None,
        })
    }

    /// The first large list among the arguments of an operation.
    fn large_argument<'t>(&self, term: &'t Term) -> Option<&'t Term> {
        let TermShape::Operation(_, arguments) = term.shape() else { return None };
        arguments.iter().find(|argument| self.is_large_list(argument.sort()))
    }

    /// Compiles a condition about elements of a large list. It is "yes" if nothing is known of them. `None`
    /// for another condition. `expected`: the truth value that it should have.
    pub(crate) fn on_elements(&mut self, term: &Term, expected: bool) -> Option<Formula> {
        if let TermShape::Operation(DerivedOperation::Defined, arguments) = term.shape() {
            let list = self.large_argument(&arguments[0])?;
            // An element is defined if its index is within the list. Nothing else is known of definedness.
            return Some(match arguments[0].shape() {
                TermShape::Operation(DerivedOperation::Standard(StandardOperation::Element), read)
                    if expected =>
                {
                    let [below, above] = [Term::int(0), Term::field(list, 0)];
                    let index = &read[1];
                    self.condition(&Term::and([
                        Term::compare(Comparison::AtMost, &below, index),
                        Term::compare(Comparison::Less, index, &above),
                    ]))
                }
                _ => Formula::Yes,
            });
        }
        let list = self.large_argument(term)?.clone();
        // `list_element` compiles a read of one element, and `unfolded` gives the body of a call.
        if at_index_variable(self.frame.arrays, term).is_some() || term.unfolded().is_some() {
            return None;
        }
        Some(self.on_all_or_some(term, expected).unwrap_or_else(|| {
            self.note_imprecision((list, ImprecisionReason::Elements));
            Formula::Yes
        }))
    }

    /// Compiles a condition about all elements of a large list, or about some. `None` for another one.
    fn on_all_or_some(&mut self, term: &Term, expected: bool) -> Option<Formula> {
        let TermShape::Operation(operation, arguments) = term.shape() else { return None };
        // If a list does not contain a value, each of its elements is different.
        let (list, is_all) = match operation {
            DerivedOperation::Standard(StandardOperation::Contains) => (arguments.first()?, !expected),
            DerivedOperation::Quantified(quantified) => match quantified.quantifier {
                Quantifier::All => (elements_of(quantified, arguments)?, expected),
                Quantifier::Some => (elements_of(quantified, arguments)?, !expected),
                _ => return None,
            },
            _ => return None,
        };
        if !self.is_nonempty(list)? {
            return Some(if is_all { Formula::Yes } else { Formula::No });
        }
        // A fact about all elements holds for the one that stands for all. One about some has a fresh one.
        let index = match is_all {
            true => index_variable(list),
            false => Datum::new(format!("#{} {list}", self.auxiliaries.next_name()), Type::Nat),
        };
        let element = element_at(list, &index);
        let body = match operation {
            DerivedOperation::Quantified(quantified) => {
                body_at(quantified, arguments, &quantified.body, &element)
            }
            _ => Term::equal(&element, &arguments[1]),
        };
        Some(self.condition(&if expected { body } else { body.not() }))
    }
}
