//! Expressions on sets and maps, as operations on terms.

use std::ops::Range;
use std::sync::Arc;

use crate::reader::syntax::{Call, Expression, ExpressionKind, says_type};
use crate::reader::typing::Typing;
use crate::term::Term;
use crate::term::node::{Comparison, Operator, StringOperation};
use crate::term::operation::{DerivedOperation, StandardOperation};
use crate::types::{RecordForm, RecordType, Type};

impl Typing<'_, '_> {
    /// Types `{A, B}` where a set is expected.
    fn type_set(&mut self, keys: &[Expression], span: &Range<usize>, ty: &Arc<RecordType>) -> Option<Term> {
        // A loop and no iterator: a function that recurses must need little of the stack.
        let mut terms = Vec::new();
        for key in keys {
            terms.push(self.type_key(key, ty));
        }
        let terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        self.check_made(Term::apply(DerivedOperation::SetOf(ty.clone()), terms), span)
    }

    /// Types a literal in the place of a set or a map.
    pub(super) fn type_keyed(&mut self, tree: &Expression, ty: &Arc<RecordType>) -> Option<Term> {
        match (&tree.kind, ty.map_value_type()) {
            (ExpressionKind::Set(keys), None) => self.type_set(keys, &tree.span, ty),
            (ExpressionKind::Entries(entries), Some(_)) => self.type_map(entries, &tree.span, ty),
            (ExpressionKind::Listed(none), Some(_)) if none.is_empty() => self.type_map(&[], &tree.span, ty),
            (ExpressionKind::Set(_), _) => self.report_unexpected("a set", tree, &Type::Record(ty.clone())),
            (ExpressionKind::Entries(_), _) => {
                self.report_unexpected("a map", tree, &Type::Record(ty.clone()))
            }
            _ => self.report_unexpected("an array or a list", tree, &Type::Record(ty.clone())),
        }
    }

    /// Types `[A: 1, B: 2]` where a map is expected.
    fn type_map(
        &mut self,
        entries: &[(Expression, Expression)],
        span: &Range<usize>,
        ty: &Arc<RecordType>,
    ) -> Option<Term> {
        let mut terms = Vec::new();
        let mut seen: Vec<Term> = Vec::new();
        for (key, value) in entries {
            let (key_term, value) = (self.type_key(key, ty), self.type_map_value(value, ty));
            if let Some(key_term) = key_term.as_ref().filter(|term| term.as_literal().is_some()) {
                if seen.contains(key_term) {
                    let message = format!("the key `{key_term}` appears twice");
                    let label = "the second time".to_owned();
                    self.error("duplicate-declaration", message, &key.span, label, None);
                }
                seen.push(key_term.clone());
            }
            terms.extend([key_term, value]);
        }
        let terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        self.check_made(Term::apply(DerivedOperation::MapOf(ty.clone()), terms), span)
    }

    /// Types a key of a set or map.
    fn type_key(&mut self, tree: &Expression, ty: &RecordType) -> Option<Term> {
        let (RecordForm::Keyed(key_type) | RecordForm::Entries(key_type, _)) = &ty.form else { return None };
        let term = self.type_as(tree, key_type, "a key")?;
        if term.as_literal().is_some_and(|value| !value.is_in(key_type)) {
            let message = format!("{} has no key `{term}`", ty.name);
            self.error("no-such-key", message, &tree.span, format!("keys are of type {key_type}"), None);
            return None;
        }
        Some(term)
    }

    fn type_map_value(&mut self, tree: &Expression, ty: &RecordType) -> Option<Term> {
        self.type_as(tree, ty.map_value_type()?, "a value of the map")
    }

    /// Types `k in s`.
    pub(super) fn type_member(&mut self, key: &Expression, table: &Expression) -> Option<Term> {
        if let ExpressionKind::Set(keys) = &table.kind {
            return self.type_one_of(key, keys);
        }
        if let ExpressionKind::Listed(keys) = &table.kind {
            let keys: Vec<&str> = keys.iter().map(|tree| self.text(&tree.span)).collect();
            let (key, keys) = (self.text(&key.span), keys.join(", "));
            let help = format!("write several values in braces: `{key} in {{{keys}}}`");
            let message = "`in` asks for a key of a set or a map, but this is a list".to_owned();
            self.error("type-mismatch", message, &table.span, "a list".to_owned(), Some(help));
            return None;
        }
        let term = self.term(table)?;
        let Some((ty, _)) = term.sort().as_keyed() else {
            let help = match term.sort().as_list() {
                Some(_) => "for a list, write `contains(q, e)`".to_owned(),
                None => "`x == A` compares with one value, `x in {A, B}` with several".to_owned(),
            };
            let message = format!("`in` asks for a key of a set or a map, but this is {}", term.sort());
            self.error("type-mismatch", message, &table.span, format!("this is {}", term.sort()), Some(help));
            return None;
        };
        let key_term = self.type_key(key, ty)?;
        let is_member = Term::standard(StandardOperation::HasKey, [key_term, term]);
        self.check_made(is_member, &(key.span.start..table.span.end))
    }

    /// Types `k in {A, B}`, which needs no type of sets.
    fn type_one_of(&mut self, key: &Expression, keys: &[Expression]) -> Option<Term> {
        let term = self.term(key);
        let mut parts = Vec::new();
        for tree in keys {
            let other = self.type_neighbour(tree, &term);
            parts.push(self.build_comparison(Comparison::Equal, (&term, &key.span), (&other, &tree.span)));
        }
        Some(Term::or(parts.into_iter().collect::<Option<Vec<Term>>>()?))
    }

    /// Types `m[k]`.
    pub(super) fn type_value_at(&mut self, map: &Term, index: &Expression) -> Option<Term> {
        let (ty, _) = map.sort().as_keyed()?;
        if ty.map_value_type().is_none() {
            let message = format!("`m[k]` reads a map, but this is {}", ty.name);
            let help = "write `k in s` to ask whether a set has a key".to_owned();
            self.error("type-mismatch", message, &index.span, "a set has no values".to_owned(), Some(help));
            return None;
        }
        let key = self.type_key(index, ty)?;
        self.check_made(Term::standard(StandardOperation::ValueAt, [map.clone(), key]), &index.span)
    }

    /// Types `m[k := v]`.
    pub(super) fn type_changed_map(
        &mut self,
        map: &Term,
        index: &Expression,
        new: &Expression,
    ) -> Option<Term> {
        let (ty, _) = map.sort().as_keyed()?;
        if ty.map_value_type().is_none() {
            let message = format!("`m[k := v]` changes a map, but this is {}", ty.name);
            let help = "`s + {k}` adds a key to a set, `s - {k}` removes it".to_owned();
            self.error("type-mismatch", message, &index.span, "a set has no values".to_owned(), Some(help));
            return None;
        }
        let (key, value) = (self.type_key(index, ty), self.type_map_value(new, ty));
        let changed = Term::standard(StandardOperation::ValueChanged, [map.clone(), key?, value?]);
        self.check_made(changed, &index.span)
    }

    /// Types `s + t`, `s - t`, `s * t`, `m - s`.
    pub(super) fn build_set_operation(
        &mut self,
        operator: Operator,
        (left, a): (&Term, &Range<usize>),
        (right, b): (&Term, &Range<usize>),
    ) -> Option<Term> {
        let types = (left.sort().as_keyed(), right.sort().as_keyed());
        let is_set = |ty: &RecordType| ty.map_value_type().is_none();
        let fit_together = match types {
            // Keys are taken from a set or a map, if both have a bound or neither has.
            (Some((table, own_key)), Some((keys, key))) if operator == Operator::Subtract => {
                own_key == key && is_set(keys) && table.width().is_some() == keys.width().is_some()
            }
            (Some((set, _)), Some((other_set, _))) => set == other_set && is_set(other_set),
            _ => false,
        };
        if !fit_together || !matches!(operator, Operator::Add | Operator::Subtract | Operator::Multiply) {
            let message = format!("`{operator}` cannot be applied to {} and {}", left.sort(), right.sort());
            let help = "sets of one type have `s + t`, `s - t` and `s * t`, as in `s + {k}`; for a map, `m - s` removes keys, and `m[k := v]` adds one";
            self.report_two_types(message, [(left, a), (right, b)], Some(help.to_owned()));
            return None;
        }
        let operation = match operator {
            Operator::Add => StandardOperation::Union,
            Operator::Multiply => StandardOperation::Intersection,
            _ => StandardOperation::Difference,
        };
        self.check_made(Term::standard(operation, [left.clone(), right.clone()]), &(a.start..b.end))
    }

    /// Types `s <= t`, or another comparison of two sets by their keys. The caller knows that both have one
    /// sort. `None`, without a report, if it is no sort of sets, or for `==` and `!=`.
    pub(super) fn build_subset(&mut self, comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
        a.sort().as_keyed().filter(|(ty, _)| ty.map_value_type().is_none())?;
        let (operation, [small, large]) = match comparison {
            Comparison::AtMost => (StandardOperation::Subset, [a, b]),
            Comparison::Less => (StandardOperation::ProperSubset, [a, b]),
            Comparison::AtLeast => (StandardOperation::Subset, [b, a]),
            Comparison::Greater => (StandardOperation::ProperSubset, [b, a]),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        self.is_expanded = true;
        Some(Term::standard(operation, [small.clone(), large.clone()]))
    }

    /// Types a function on strings whose argument is a set or a map. Only `len(s)` has one.
    pub(super) fn type_keyed_function(
        &mut self,
        operation: StringOperation,
        table: &Term,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, place), arguments } = call;
        if operation != StringOperation::Length {
            let message = format!("`{name}` does not take sets or maps, but this is {}", table.sort());
            let help = "write `k in s` to ask for a key, and `len(s)` for the number of keys".to_owned();
            self.error("type-mismatch", message, place, "not for sets and maps".to_owned(), Some(help));
            return None;
        }
        if !self.check_arity(name, arguments, 1, whole, None) {
            return None;
        }
        self.check_made(Term::standard(StandardOperation::Size, [table.clone()]), whole)
    }

    pub(super) fn type_keys(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        if !self.check_arity("keys", &call.arguments, 1, whole, None) {
            return None;
        }
        let map = self.term(&call.arguments[0])?;
        if map.sort().as_keyed().is_none_or(|(ty, _)| ty.map_value_type().is_none()) {
            let message = format!("`keys` needs a map, but this is {}", map.sort());
            let map_span = &call.arguments[0].span;
            self.error("type-mismatch", message, map_span, format!("this is {}", map.sort()), None);
            return None;
        }
        self.check_made(Term::standard(StandardOperation::Keys, [map]), whole)
    }

    /// Types the right operand of an operation on a set or a map. If the text does not show its type, it is
    /// that of the left one, but in `m - s` a set of the keys of `m`.
    pub(super) fn type_right_operand(
        &mut self,
        operator: Operator,
        left: &Option<Term>,
        right: &Expression,
    ) -> Option<Term> {
        match left.as_ref().and_then(|left| left.sort().as_keyed()) {
            Some((table, _)) if operator == Operator::Subtract && !says_type(right) => {
                let keys = Type::Record(Arc::new(table.set_of_keys()?));
                self.term_as(right, &keys)
            }
            _ => self.type_neighbour(right, left),
        }
    }
}
