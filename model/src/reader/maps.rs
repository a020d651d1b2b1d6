//! Sets and maps of few keys: what is written of them, as terms over a field for each key ([`crate::forms`]).
//!
//! An operation is one of each field by itself. At a key that is not known now, a field is a case of whether
//! it is this key's. All operands are evaluated; where one has no value, or a key is none of the type, one
//! field of the result has none. What is made of such a result sees through it to the condition and the
//! fields.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::reader::expansion::balanced_sum;
use crate::reader::lists::{as_where_it_holds, where_it_holds};
use crate::reader::syntax::{Call, Expression, ExpressionKind, says_type};
use crate::reader::typing::Typing;
use crate::term::Term;
use crate::term::node::{Comparison, Node, Operator, StringOperation};
use crate::term::total::fits_field;
use crate::types::{RecordForm, RecordType, Type};
use crate::value::Value;

impl Typing<'_, '_> {
    /// `{A, B}` where a set is expected.
    fn set(&mut self, keys: &[Expression], at: &Range<usize>, ty: &Arc<RecordType>) -> Option<Term> {
        // No iterator: what recurses must need little of the stack.
        let mut terms = Vec::new();
        for key in keys {
            terms.push(self.key(key, ty));
        }
        let terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        let is_in =
            |key: &Value| Term::or(terms.iter().map(|term| Term::equal(term, &Term::literal(key.clone()))));
        let fields = ty.keys().iter().map(is_in).collect();
        let condition = Term::and(terms.iter().map(|term| is_key(term, ty)));
        self.made(Parts { ty: ty.clone(), fields, condition }.term(), at)
    }

    /// A literal where a set or a map is expected.
    pub(super) fn keyed(&mut self, tree: &Expression, ty: &Arc<RecordType>) -> Option<Term> {
        match (&tree.kind, ty.mapped()) {
            (ExpressionKind::Set(keys), None) => self.set(keys, &tree.span, ty),
            (ExpressionKind::Entries(entries), Some(_)) => self.map(entries, &tree.span, ty),
            (ExpressionKind::Listed(none), Some(_)) if none.is_empty() => self.map(&[], &tree.span, ty),
            (ExpressionKind::Set(_), _) => self.not_expected("a set", tree, &Type::Record(ty.clone())),
            (ExpressionKind::Entries(_), _) => self.not_expected("a map", tree, &Type::Record(ty.clone())),
            _ => self.not_expected("an array or a list", tree, &Type::Record(ty.clone())),
        }
    }

    /// `[A: 1, B: 2]` where a map is expected.
    fn map(
        &mut self,
        entries: &[(Expression, Expression)],
        at: &Range<usize>,
        ty: &Arc<RecordType>,
    ) -> Option<Term> {
        let mut map = Some(Term::literal(Value::any(&Type::Record(ty.clone()))));
        let mut seen: Vec<Term> = Vec::new();
        for (key, value) in entries {
            let (key_term, value) = (self.key(key, ty), self.mapped(value, ty));
            if let Some(key_term) = key_term.as_ref().filter(|term| term.as_literal().is_some()) {
                if seen.contains(key_term) {
                    let message = format!("the key `{key_term}` stands here twice");
                    self.error(
                        "duplicate-declaration",
                        message,
                        &key.span,
                        "the second time".to_owned(),
                        None,
                    );
                }
                seen.push(key_term.clone());
            }
            map = match (map, key_term, value) {
                (Some(map), Some(key), Some(value)) => self.made(changed(&map, &key, &value), at),
                _ => None,
            };
        }
        map
    }

    /// A key of the set or the map.
    fn key(&mut self, tree: &Expression, ty: &RecordType) -> Option<Term> {
        let RecordForm::Keyed(of) = &ty.form else { return None };
        let term = self.term_as(tree, of)?;
        let term = self.fit(&term, &tree.span, of, "a key")?;
        if term.as_literal().is_some_and(|value| !value.is_in(of)) {
            let message = format!("{} has no key `{term}`", ty.name);
            self.error("no-such-key", message, &tree.span, format!("keys are of type {of}"), None);
            return None;
        }
        Some(term)
    }

    fn mapped(&mut self, tree: &Expression, ty: &RecordType) -> Option<Term> {
        let of = ty.mapped()?;
        let term = self.term_as(tree, of)?;
        self.fit(&term, &tree.span, of, "a value of the map")
    }

    /// `k in s`
    pub(super) fn member(&mut self, key: &Expression, whole: &Expression) -> Option<Term> {
        if let ExpressionKind::Set(keys) = &whole.kind {
            return self.one_of(key, keys);
        }
        let term = self.term(whole)?;
        let Some((ty, _)) = term.sort().as_keyed() else {
            let help = term.sort().as_list().map(|_| "of a list it is `contains(q, e)`".to_owned());
            let message = format!("`in` asks for a key of a set or a map, but this is {}", term.sort());
            self.error("type-mismatch", message, &whole.span, format!("this is {}", term.sort()), help);
            return None;
        };
        let key_term = self.key(key, ty)?;
        self.made(has(&Parts::of(&term), &key_term), &(key.span.start..whole.span.end))
    }

    /// `k in {A, B}`, which needs no type of sets.
    fn one_of(&mut self, key: &Expression, keys: &[Expression]) -> Option<Term> {
        let term = self.term(key);
        let mut parts = Vec::new();
        for tree in keys {
            let other = self.neighbour(tree, &term);
            parts.push(self.compare_two(Comparison::Equal, (&term, &key.span), (&other, &tree.span)));
        }
        Some(Term::or(parts.into_iter().collect::<Option<Vec<Term>>>()?))
    }

    /// `m[k]`
    pub(super) fn value_at(&mut self, map: &Term, index: &Expression) -> Option<Term> {
        let (ty, _) = map.sort().as_keyed()?;
        let Some(value) = ty.mapped() else {
            let message = format!("`m[k]` is the value of a map, but this is {}", ty.name);
            let help = "whether a set has a key is `k in s`".to_owned();
            self.error("type-mismatch", message, &index.span, "a set has no values".to_owned(), Some(help));
            return None;
        };
        let key = self.key(index, ty)?;
        let parts = Parts::of(map);
        let keys = ty.keys();
        let at = |at: usize| Term::field(&parts.fields[at], 1);
        let last = at(keys.len() - 1);
        let chosen = keys.iter().enumerate().rev().skip(1).fold(last, |rest, (number, known)| {
            Term::if_then_else(&Term::equal(&key, &Term::literal(known.clone())), &at(number), &rest)
        });
        self.made(where_it_holds(&has(&parts, &key), &chosen, value), &index.span)
    }

    /// `m[k := v]`
    pub(super) fn changed_at(&mut self, map: &Term, index: &Expression, new: &Expression) -> Option<Term> {
        let (ty, _) = map.sort().as_keyed()?;
        if ty.mapped().is_none() {
            let message = format!("`m[k := v]` changes a map, but this is {}", ty.name);
            let help = "`s + {k}` is a set with another key, `s - {k}` one without it".to_owned();
            self.error("type-mismatch", message, &index.span, "a set has no values".to_owned(), Some(help));
            return None;
        }
        let (key, value) = (self.key(index, ty), self.mapped(new, ty));
        self.made(changed(map, &key?, &value?), &index.span)
    }

    /// `s + t`, `s - t`, `s * t`, `m - s`
    pub(super) fn of_sets(
        &mut self,
        operator: Operator,
        (left, a): (&Term, &Range<usize>),
        (right, b): (&Term, &Range<usize>),
    ) -> Option<Term> {
        let types = (left.sort().as_keyed(), right.sort().as_keyed());
        let is_set = |ty: &RecordType| ty.mapped().is_none();
        let known = match types {
            (Some((one, of)), Some((other, key))) => {
                of == key && is_set(other) && (is_set(one) || operator == Operator::Subtract)
            }
            _ => false,
        };
        if !known || !matches!(operator, Operator::Add | Operator::Subtract | Operator::Multiply) {
            let message = format!("`{operator}` of {} and {}", left.sort(), right.sort());
            let help = "of sets of one type there are `s + t`, `s - t` and `s * t`: `s + {k}`; `m - s` is a map without these keys, and `m[k := v]` one with another";
            let place = |at| self.collector.origin(&self.scalar.place(at));
            let diagnostic = Diagnostic::error("type-mismatch", message)
                .at(place(a), format!("this is {}", left.sort()))
                .at(place(b), format!("this is {}", right.sort()))
                .help(help);
            self.collector.push(diagnostic);
            return None;
        }
        let (a_parts, b_parts) = (Parts::of(left), Parts::of(right));
        let nothing = Term::literal(Value::any(&a_parts.ty.fields[0].1));
        let field = |(one, other): (&Term, &Term)| match operator {
            Operator::Add => Term::or([one.clone(), other.clone()]),
            Operator::Multiply => Term::and([one.clone(), other.clone()]),
            _ => Term::if_then_else(other, &nothing, one),
        };
        let fields = a_parts.fields.iter().zip(&b_parts.fields).map(field).collect();
        let condition = Term::and([a_parts.condition, b_parts.condition]);
        self.made(Parts { ty: a_parts.ty, fields, condition }.term(), &(a.start..b.end))
    }

    /// `s <= t`, or another comparison of two sets by what they have; `None` where these are no sets.
    pub(super) fn subset(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
        a.sort().as_keyed().filter(|(ty, _)| ty.mapped().is_none())?;
        let (small, large) = match comparison {
            Comparison::Less | Comparison::AtMost => (a, b),
            Comparison::Greater | Comparison::AtLeast => (b, a),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let (small, large) = (Parts::of(small), Parts::of(large));
        let all = small.fields.iter().zip(&large.fields).map(|(one, other)| Term::implies(one, other));
        let mut parts = vec![Term::and(all)];
        if matches!(comparison, Comparison::Less | Comparison::Greater) {
            parts.push(Term::compare(Comparison::NotEqual, a, b));
        }
        self.is_expanded = true;
        let is_it = Term::and(parts);
        let condition = Term::and([small.condition, large.condition]);
        Some(where_it_holds(&condition, &is_it, &Type::Bool))
    }

    /// `len(s)`
    pub(super) fn on_keys(
        &mut self,
        operation: StringOperation,
        whole: &Term,
        call: &Call,
        at: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, place), arguments } = call;
        if operation != StringOperation::Length {
            let message = format!("`{name}` is not of sets and maps, and this is {}", whole.sort());
            let help = "whether one has a key is `k in s`; how many there are, `len(s)`".to_owned();
            self.error("type-mismatch", message, place, "of others".to_owned(), Some(help));
            return None;
        }
        if !self.is_arity(name, arguments, 1, at, None) {
            return None;
        }
        let parts = Parts::of(whole);
        let one = |at: usize| Term::if_then_else(&parts.is_there(at), &Term::int(1), &Term::int(0));
        let sum = balanced_sum(&(0..parts.fields.len()).map(one).collect::<Vec<Term>>());
        self.made(where_it_holds(&parts.condition, &sum, &Type::Int), at)
    }

    /// `keys(m)`
    pub(super) fn keys(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        if !self.is_arity("keys", &call.arguments, 1, whole, None) {
            return None;
        }
        let map = self.term(&call.arguments[0])?;
        let Some((ty, of)) = map.sort().as_keyed().filter(|(ty, _)| ty.mapped().is_some()) else {
            let message = format!("`keys` is of maps, but this is {}", map.sort());
            let at = &call.arguments[0].span;
            self.error("type-mismatch", message, at, format!("this is {}", map.sort()), None);
            return None;
        };
        let set = Arc::new(RecordType::keyed(of, None)?);
        let parts = Parts::of(&map);
        let fields = (0..ty.fields.len()).map(|at| parts.is_there(at)).collect();
        self.made(Parts { ty: set, fields, condition: parts.condition }.term(), whole)
    }

    /// The keys that there may be, each with the condition that it is there; `None` of other terms.
    pub(super) fn keys_of(&self, whole: &Term) -> Option<(Type, Vec<(Term, Term)>)> {
        let (ty, of) = whole.sort().as_keyed()?;
        let parts = Parts::of(whole);
        let one = |(at, key): (usize, Value)| {
            (Term::and([parts.condition.clone(), parts.is_there(at)]), Term::literal(key))
        };
        Some((of.sort(), ty.keys().into_iter().enumerate().map(one).collect()))
    }

    /// What is taken away from a set or a map, or joined with it.
    pub(super) fn beside(
        &mut self,
        operator: Operator,
        left: &Option<Term>,
        right: &Expression,
    ) -> Option<Term> {
        match left.as_ref().and_then(|left| left.sort().as_keyed()) {
            Some((_, of)) if operator == Operator::Subtract && !says_type(right) => {
                let keys = Type::Record(Arc::new(RecordType::keyed(of, None)?));
                self.term_as(right, &keys)
            }
            _ => self.neighbour(right, left),
        }
    }
}

/// A set or a map by its fields, which have values where the condition holds.
struct Parts {
    ty: Arc<RecordType>,
    fields: Vec<Term>,
    condition: Term,
}

impl Parts {
    fn of(whole: &Term) -> Self {
        let Type::Record(ty) = whole.sort() else { unreachable!("{whole} has no keys") };
        if let Node::Record(_, fields) = whole.node() {
            let (on, first) = as_where_it_holds(&fields[0]).unzip();
            let fields: Vec<Term> =
                first.into_iter().chain(&fields[usize::from(on.is_some())..]).cloned().collect();
            let condition = Term::and(on.cloned().into_iter().chain(fields.iter().map(has_value)));
            return Parts { ty: ty.clone(), fields, condition };
        }
        let fields = (0..ty.fields.len()).map(|at| Term::field(whole, at)).collect();
        Parts { ty: ty.clone(), fields, condition: has_value(whole) }
    }

    fn term(mut self) -> Term {
        self.fields[0] = where_it_holds(&self.condition, &self.fields[0], &self.ty.fields[0].1);
        Term::record(&self.ty, self.fields)
    }

    /// Is the key of this number there?
    fn is_there(&self, at: usize) -> Term {
        match self.ty.mapped() {
            Some(_) => Term::field(&self.fields[at], 0),
            None => self.fields[at].clone(),
        }
    }
}

/// Has the set, or the map, the key? A key of another type is in none.
fn has(parts: &Parts, key: &Term) -> Term {
    let is_it = |(at, known): (usize, Value)| {
        Term::and([Term::equal(key, &Term::literal(known)), parts.is_there(at)])
    };
    let is_one = Term::or(parts.ty.keys().into_iter().enumerate().map(is_it));
    where_it_holds(&Term::and([parts.condition.clone(), has_value(key)]), &is_one, &Type::Bool)
}

fn changed(map: &Term, key: &Term, value: &Term) -> Term {
    let mut parts = Parts::of(map);
    let Type::Record(option) = &parts.ty.fields[0].1 else { unreachable!("{map} is no map") };
    let new = option.made_of(Value::Bool(true), [value.clone()]);
    let condition = Term::and([parts.condition, is_key(key, &parts.ty)]);
    let field = |(known, field): (Value, &Term)| {
        Term::if_then_else(&Term::equal(key, &Term::literal(known)), &new, field)
    };
    parts.fields = parts.ty.keys().into_iter().zip(&parts.fields).map(field).collect();
    Parts { condition, ..parts }.term()
}

/// Is it a key of the type?
fn is_key(key: &Term, ty: &RecordType) -> Term {
    let keys = ty.keys();
    let bounds = match (keys.first(), keys.last()) {
        (Some(low @ Value::Int(a)), Some(high @ Value::Int(b)))
            if !fits_field(key, &Type::Range(a.clone(), b.clone())) =>
        {
            let at_most = |a: &Term, b: &Term| Term::compare(Comparison::AtMost, a, b);
            vec![at_most(&Term::literal(low.clone()), key), at_most(key, &Term::literal(high.clone()))]
        }
        _ => Vec::new(),
    };
    Term::and(bounds.into_iter().chain([has_value(key)]))
}

/// True where the term has a value, which it has of nothing else.
fn has_value(term: &Term) -> Term {
    if term.is_total() { Term::yes() } else { Term::equal(term, term) }
}
