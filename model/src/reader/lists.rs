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
    /// Types `[1, 2]` where a list is expected.
    pub(super) fn type_list(
        &mut self,
        elements: &[Expression],
        span: &Range<usize>,
        ty: &Arc<RecordType>,
    ) -> Option<Term> {
        let mut terms = Vec::new();
        for tree in elements {
            terms.push(self.type_as(tree, ty.element_type(), "an element"));
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

    fn type_index(&mut self, tree: &Expression) -> Option<Term> {
        let term = self.term(tree)?;
        self.fit(&term, &tree.span, &Type::Int, "the index")
    }

    /// Types `q[i]`.
    pub(super) fn build_element(&mut self, list: &Term, index: &Term, span: &Range<usize>) -> Option<Term> {
        let index = self.fit(index, span, &Type::Int, "the index")?;
        self.check_made(Term::standard(StandardOperation::Element, [list.clone(), index]), span)
    }

    /// Types `q[i := e]`.
    pub(super) fn type_changed_list(
        &mut self,
        list: &Term,
        index: &Expression,
        new: &Expression,
    ) -> Option<Term> {
        let (.., element_type) = list.sort().as_list()?;
        let (index_term, new) = (self.type_index(index), self.type_as(new, element_type, "an element"));
        let changed = Term::standard(StandardOperation::ElementChanged, [list.clone(), index_term?, new?]);
        self.check_made(changed, &index.span)
    }

    /// Types `q[i..j]`.
    pub(super) fn type_list_slice(
        &mut self,
        list: &Term,
        from: &Expression,
        to: Option<&Expression>,
    ) -> Option<Term> {
        // Both ends are typed before the result, so that the mistakes of both are reported.
        let (start, end) = (self.type_index(from), to.map(|to| self.type_index(to)));
        let mut arguments = vec![list.clone(), start?];
        if let Some(end) = end {
            arguments.push(end?);
        }
        self.check_made(Term::standard(StandardOperation::Part, arguments), &from.span)
    }

    /// Types `q + r`. The caller knows that one of them is a list. Reports that the other one is none, or has
    /// other elements.
    pub(super) fn build_joined(
        &mut self,
        (left, a): (&Term, &Range<usize>),
        (right, b): (&Term, &Range<usize>),
    ) -> Option<Term> {
        let element = |term: &Term| term.sort().as_list().map(|(_, _, element)| element.clone());
        let (text_a, text_b) = (self.text(a), self.text(b));
        let (list_element, other, place, joined) = match (element(left), element(right)) {
            (Some(of_left), Some(of_right)) if of_left == of_right => {
                let joined = Term::standard(StandardOperation::Joined, [left.clone(), right.clone()]);
                return self.check_made(joined, &(a.start..b.end));
            }
            (Some(of_left), Some(of_right)) => {
                let message = format!("`+` cannot join a list of {of_left} and a list of {of_right}");
                self.error("type-mismatch", message, b, format!("a list of {of_right}"), None);
                return None;
            }
            (of_left @ Some(_), None) => (of_left, right, b, format!("{text_a} + [{text_b}]")),
            (None, of_right) => (of_right, left, a, format!("[{text_a}] + {text_b}")),
        };
        let message = format!("`+` joins two lists, but this is {}", other.sort());
        let is_element = list_element.is_some_and(|element| element.sort() == *other.sort());
        let help = is_element.then(|| format!("write an element in brackets: `{joined}`"));
        self.error("type-mismatch", message, place, format!("this is {}", other.sort()), help);
        None
    }

    /// Types a function on strings whose argument is a list: `len(q)`, `contains(q, e)`, `index_of(q, e)`.
    pub(super) fn type_list_function(
        &mut self,
        operation: StringOperation,
        list: &Term,
        call: &Call,
        whole: &Range<usize>,
    ) -> Option<Term> {
        let Call { name: (name, place), arguments } = call;
        let (_, _, ty) = list.sort().as_list()?;
        let wanted = match operation {
            StringOperation::Length => 1,
            StringOperation::Contains | StringOperation::IndexOf => 2,
            _ => {
                let message = format!("`{name}` needs a string, but this is {}", list.sort());
                let help = "lists have `len`, `contains`, `index_of`, `insert`, `remove_at`, `sorted`, `sum`, `join`, `min` and `max`".to_owned();
                self.error("type-mismatch", message, place, "only for strings".to_owned(), Some(help));
                return None;
            }
        };
        if !self.check_arity(name, arguments, wanted, whole, None) {
            return None;
        }
        // Without a second argument it is `len`, and the length is field 0.
        let [_, element] = arguments.as_slice() else { return Some(Term::field(list, 0)) };
        let element = self.type_as(element, ty, "an element")?;
        let operation = match operation {
            StringOperation::Contains => StandardOperation::Contains,
            _ => StandardOperation::IndexOf,
        };
        self.check_made(Term::standard(operation, [list.clone(), element]), whole)
    }

    /// The type of the elements of a list, or of the keys of a set or a map. Reports a term that is none.
    pub(super) fn find_element_type(&mut self, list: &Term, span: &Range<usize>) -> Option<Type> {
        if let Some((_, key)) = list.sort().as_keyed() {
            return Some(key.sort());
        }
        if let Some((.., element_type)) = list.sort().as_list() {
            return Some(element_type.clone());
        }
        let sort = list.sort();
        let message =
            format!("a quantifier needs a range, a type, a list, a set or a map, but this is {sort}");
        self.error("type-mismatch", message, span, format!("this is {sort}"), None);
        None
    }

    /// Returns the term of an operation, unless its lowered form is too large.
    pub(super) fn check_made(&mut self, term: Term, span: &Range<usize>) -> Option<Term> {
        debug_assert!(term.is_well_made(), "{term}");
        self.is_expanded = true;
        self.check_size(term, span)
    }
}
