//! Infers the types of undeclared variables: those of JavaScript, and those at drawn edges.
//!
//! **Problem.** A model of GraphWalker has `x = 0` and `x < 3`, and no types. A datum has one type.
//!
//! **Method.** Each variable has a sort, which grows along the chain *unknown*, *integer*, *real*, or is
//! *truth*. The sort follows from the values that are assigned to the variable, from comparisons, and from
//! its place in an expression. All expressions are visited again until no sort grows. A variable with two
//! sorts keeps the first, and the typing reports the other use. An unknown sort is an integer.
//!
//! **Ends**: a sort grows at most twice. **Cost**: the size of all expressions, times the number of rounds.
//! That is at most three times the number of variables, and in practice three.

use std::collections::BTreeMap;

use coreach_model::Type;
use coreach_model::budget;
use coreach_model::term::node::Comparison;

use super::{ForeignAssignment, ForeignExpression, ForeignKind, Operation};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Truth,
    Integer,
    Real,
}

impl Sort {
    /// Returns the sort that includes both. Of two sorts that exclude each other, it is the first.
    fn widen(self, other: Sort) -> Sort {
        match (self, other) {
            (Sort::Integer, Sort::Real) => Sort::Real,
            _ => self,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum UsesSeen<'a> {
    Guard(&'a ForeignExpression),
    Assigned(&'a ForeignAssignment),
}

/// Infers the types of all mentioned variables but the declared ones. The types of `begun` may still grow.
pub fn infer<'a>(
    uses: &[UsesSeen<'a>],
    declared: &BTreeMap<String, Type>,
    begun: &BTreeMap<String, Type>,
) -> BTreeMap<String, Type> {
    let mut state = Inference { sorts: BTreeMap::new(), changed: true, mentioned: Vec::new() };
    for (name, ty) in declared.iter().chain(begun) {
        let sort = match ty {
            Type::Bool => Sort::Truth,
            Type::Real => Sort::Real,
            _ => Sort::Integer,
        };
        state.sorts.insert(name.clone(), sort);
    }
    while std::mem::take(&mut state.changed) {
        for seen in uses {
            budget::ask();
            match seen {
                UsesSeen::Guard(tree) => {
                    state.infer_sort(tree, Some(Sort::Truth));
                }
                UsesSeen::Assigned(assignment) => {
                    let target = state.sorts.get(&assignment.target).copied();
                    // An integer may be assigned to a real, so only a truth value is expected.
                    let expected = target.filter(|sort| *sort == Sort::Truth);
                    state.mentioned.push(assignment.target.clone());
                    if let Some(sort) = state.infer_sort(&assignment.value, expected) {
                        state.learn(&assignment.target, sort);
                    }
                }
            }
        }
    }
    let mut types: BTreeMap<String, Type> =
        state.mentioned.into_iter().map(|name| (name, Type::Int)).collect();
    for (name, sort) in state.sorts {
        let ty = match sort {
            Sort::Truth => Type::Bool,
            Sort::Integer => Type::Int,
            Sort::Real => Type::Real,
        };
        types.insert(name, ty);
    }
    types.retain(|name, _| !declared.contains_key(name));
    types
}

struct Inference {
    sorts: BTreeMap<String, Sort>,
    changed: bool,
    /// All names so far. One whose sort stays unknown becomes an integer.
    mentioned: Vec<String>,
}

impl Inference {
    fn learn(&mut self, name: &str, sort: Sort) {
        let old = self.sorts.get(name).copied();
        let new = old.map_or(sort, |old| old.widen(sort));
        if old != Some(new) {
            self.sorts.insert(name.to_owned(), new);
            self.changed = true;
        }
    }

    /// Infers the sort of an expression, and learns those of its variables. `expected` is the sort that its
    /// place needs, if that is known. `None` if nothing tells the sort.
    fn infer_sort(&mut self, tree: &ForeignExpression, expected: Option<Sort>) -> Option<Sort> {
        match &tree.kind {
            ForeignKind::Name(name) => {
                if !self.sorts.contains_key(name) {
                    self.mentioned.push(name.clone());
                    if let Some(sort) = expected {
                        // In the place of a real, a variable is an integer until a real is assigned to it.
                        self.learn(name, if sort == Sort::Real { Sort::Integer } else { sort });
                    }
                }
                self.sorts.get(name).copied()
            }
            ForeignKind::Truth(_) => Some(Sort::Truth),
            ForeignKind::Number(digits) if digits.contains('.') => Some(Sort::Real),
            ForeignKind::Number(_) => Some(Sort::Integer),
            ForeignKind::Not(inner) => {
                self.infer_sort(inner, Some(Sort::Truth));
                Some(Sort::Truth)
            }
            ForeignKind::Negate(inner) => self.infer_sort(inner, Some(Sort::Integer)),
            ForeignKind::And(parts) | ForeignKind::Or(parts) => {
                for part in parts {
                    self.infer_sort(part, Some(Sort::Truth));
                }
                Some(Sort::Truth)
            }
            ForeignKind::Implies(a, b) => {
                self.infer_sort(a, Some(Sort::Truth));
                self.infer_sort(b, Some(Sort::Truth));
                Some(Sort::Truth)
            }
            ForeignKind::Compare(first, others) => {
                let is_order =
                    others.iter().any(|(sign, _)| !matches!(sign, Comparison::Equal | Comparison::NotEqual));
                let mut left = first.as_ref();
                for (_, right) in others {
                    // An order compares numbers. An equation may also compare truth values.
                    let start = is_order.then_some(Sort::Integer);
                    let known = self.infer_sort(left, start).or(self.infer_sort(right, start));
                    // Both sides of a comparison have the same sort.
                    self.infer_sort(left, known);
                    self.infer_sort(right, known);
                    left = right;
                }
                Some(Sort::Truth)
            }
            ForeignKind::Arithmetic(operation, a, b) => {
                let (left, right) =
                    (self.infer_sort(a, Some(Sort::Integer)), self.infer_sort(b, Some(Sort::Integer)));
                let is_real =
                    *operation == Operation::Divide || left == Some(Sort::Real) || right == Some(Sort::Real);
                Some(if is_real { Sort::Real } else { Sort::Integer })
            }
            ForeignKind::Choice(condition, a, b) => {
                self.infer_sort(condition, Some(Sort::Truth));
                let (left, right) = (self.infer_sort(a, expected), self.infer_sort(b, expected));
                match (left, right) {
                    (Some(left), Some(right)) => Some(left.widen(right)),
                    // A branch of unknown sort gets the sort of the other one.
                    (left, right) => left.or(right),
                }
            }
        }
    }
}
