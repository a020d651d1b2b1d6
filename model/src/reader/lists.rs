//! Expressions on lists with a bound, as operations on terms.

use std::ops::Range;
use std::sync::Arc;

use crate::reader::syntax::{Call, Expression};
use crate::reader::typing::Typing;
use crate::term::Term;
use crate::term::node::StringOperation;
use crate::term::operation::StandardOperation;
use crate::types::{RecordType, Type};
use crate::value::Value;

impl Typing<'_, '_> {
    /// `[1, 2]` where a list is expected.
    pub(super) fn list(
        &mut self,
        elements: &[Expression],
        span: &Range<usize>,
        ty: &Arc<RecordType>,
    ) -> Option<Term> {
        let mut terms = Vec::new();
        for tree in elements {
            terms.push(self.list_element(tree, ty.element_type()));
        }
        let most = ty.fields.len() - 1;
        if elements.len() > most {
            let message =
                format!("{} has at most {most} elements, but here it has {}", ty.name, elements.len());
            self.error("wrong-arity", message, span, "too long".to_owned(), None);
            return None;
        }
        Some(ty.made_of(Value::int(elements.len()), terms.into_iter().collect::<Option<Vec<Term>>>()?))
    }

    pub(super) fn list_element(&mut self, tree: &Expression, ty: &Type) -> Option<Term> {
        let term = self.term_as(tree, ty)?;
        self.fit(&term, &tree.span, ty, "an element")
    }

    fn index(&mut self, tree: &Expression) -> Option<Term> {
        let term = self.term(tree)?;
        self.fit(&term, &tree.span, &Type::Int, "the index")
    }

    /// `q[i]`
    pub(super) fn element_of(&mut self, list: &Term, index: &Term, span: &Range<usize>) -> Option<Term> {
        let index = self.fit(index, span, &Type::Int, "the index")?;
        self.check_made(Term::standard(StandardOperation::Element, [list.clone(), index]), span)
    }

    /// `q[i := e]`
    pub(super) fn changed(&mut self, list: &Term, index: &Expression, new: &Expression) -> Option<Term> {
        let (_, _, ty) = list.sort().as_list()?;
        let (at, new) = (self.index(index), self.list_element(new, ty));
        self.check_made(
            Term::standard(StandardOperation::ElementChanged, [list.clone(), at?, new?]),
            &index.span,
        )
    }

    /// `q[i..j]`
    pub(super) fn part_of(
        &mut self,
        list: &Term,
        from: &Expression,
        to: Option<&Expression>,
    ) -> Option<Term> {
        let first = self.index(from);
        let mut arguments = vec![list.clone()];
        if let Some(to) = to {
            arguments.push(self.index(to)?);
        }
        arguments.insert(1, first?);
        self.check_made(Term::standard(StandardOperation::Part, arguments), &from.span)
    }

    /// `q + r`, if one of them is a list.
    pub(super) fn joined(
        &mut self,
        (left, a): (&Term, &Range<usize>),
        (right, b): (&Term, &Range<usize>),
    ) -> Option<Term> {
        let types = (left.sort().as_list(), right.sort().as_list());
        let (Some((_, _, of_left)), Some((_, _, of_right))) = types else {
            let (other, at) = if types.0.is_some() { (right, b) } else { (left, a) };
            let message = format!("`+` joins two lists, but this is {}", other.sort());
            let text = |at: &Range<usize>| self.scalar.text.get(at.clone()).unwrap_or("e");
            let [left, right] = match types.0 {
                Some(_) => [text(a).to_owned(), format!("[{}]", text(b))],
                None => [format!("[{}]", text(a)), text(b).to_owned()],
            };
            let element = types.0.or(types.1).map(|(_, _, element)| element.sort());
            let help = (element == Some(other.sort().clone()))
                .then(|| format!("write an element in brackets: `{left} + {right}`"));
            self.error("type-mismatch", message, at, format!("this is {}", other.sort()), help);
            return None;
        };
        if of_left != of_right {
            let message = format!("`+` cannot join a list of {of_left} and a list of {of_right}");
            self.error("type-mismatch", message, b, format!("a list of {of_right}"), None);
            return None;
        }
        self.check_made(
            Term::standard(StandardOperation::Joined, [left.clone(), right.clone()]),
            &(a.start..b.end),
        )
    }

    /// `len(q)`, `contains(q, e)`, `index_of(q, e)`
    pub(super) fn on_list(
        &mut self,
        operation: StringOperation,
        list: &Term,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, at), arguments } = call;
        let (_, _, ty) = list.sort().as_list()?;
        let wanted = match operation {
            StringOperation::Length => 1,
            StringOperation::Contains | StringOperation::IndexOf => 2,
            _ => {
                let message = format!("`{name}` needs a string, but this is {}", list.sort());
                let help = "lists have `len`, `contains`, `index_of`, `insert`, `remove_at`, `sorted`, `sum`, `join`, `min` and `max`".to_owned();
                self.error("type-mismatch", message, at, "only for strings".to_owned(), Some(help));
                return None;
            }
        };
        if !self.is_arity(name, arguments, wanted, whole, None) {
            return None;
        }
        let [_, element] = arguments.as_slice() else {
            return Some(Term::field(list, 0));
        };
        let element = self.list_element(element, ty)?;
        let operation = match operation {
            StringOperation::Contains => StandardOperation::Contains,
            _ => StandardOperation::IndexOf,
        };
        self.check_made(Term::standard(operation, [list.clone(), element]), whole)
    }

    /// The type of the elements of a list, or of the keys of a set or a map.
    pub(super) fn type_of_elements(&mut self, list: &Term, span: &Range<usize>) -> Option<Type> {
        if let Some((_, key)) = list.sort().as_keyed() {
            return Some(key.sort());
        }
        let Some((_, _, ty)) = list.sort().as_list() else {
            let message = format!(
                "a quantifier needs a range, a type, a list, a set or a map, but this is {}",
                list.sort()
            );
            self.error("type-mismatch", message, span, format!("this is {}", list.sort()), None);
            return None;
        };
        Some(ty.clone())
    }

    /// Returns the term of an operation, unless its lowered form is too large.
    pub(super) fn check_made(&mut self, term: Term, span: &Range<usize>) -> Option<Term> {
        debug_assert!(term.is_well_made(), "{term}");
        self.is_expanded = true;
        self.affordable(term, span)
    }
}
