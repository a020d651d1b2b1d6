//! What the document writes once: files, types, terms, expressions.

use std::collections::HashMap;
use std::sync::Arc;

use coreach_model::diagnostic::{Origin as Place, SourceFile};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Term, Type, budget, codec};
use serde_json::{Value as Json, json};

use super::document::{Expression, File, Origin};

/// Longer terms, in nodes when written out, are not written out.
const LONGEST: u64 = 5_000;

/// The lists, and what is in them already.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) files: Vec<File>,
    pub(super) types: Vec<Json>,
    pub(super) terms: Vec<Json>,
    pub(super) expressions: Vec<Expression>,
    /// For each file, where its lines begin.
    known: Vec<(Arc<SourceFile>, Vec<usize>)>,
    known_types: HashMap<Type, usize>,
    known_terms: HashMap<Term, usize>,
    known_expressions: HashMap<Term, usize>,
}

impl Tables {
    /// The lines of a piece of a file.
    pub(super) fn origin(&mut self, place: &Place) -> Origin {
        let file = self.file(&place.file);
        let starts = &self.known[file].1;
        let line = |byte: usize| starts.partition_point(|start| *start <= byte).max(1);
        let last = place.span.end.saturating_sub(1).max(place.span.start);
        Origin { file, line: line(place.span.start), last: line(last) }
    }

    /// The number of a file.
    pub(super) fn file(&mut self, file: &Arc<SourceFile>) -> usize {
        if let Some(at) = self.known.iter().position(|(known, _)| Arc::ptr_eq(known, file) || known == file) {
            return at;
        }
        let behind = file.text.match_indices('\n').map(|(at, _)| at + 1);
        self.known.push((file.clone(), std::iter::once(0).chain(behind).collect()));
        self.files.push(File { name: file.name.clone(), text: file.text.clone() });
        self.files.len() - 1
    }

    /// The number of a type.
    pub(super) fn ty(&mut self, ty: &Type) -> usize {
        if let Some(at) = self.known_types.get(ty) {
            return *at;
        }
        let written = match ty {
            Type::Bool | Type::Int | Type::Nat | Type::Real => json!({ "kind": ty.to_string() }),
            Type::Range(low, high) => {
                json!({ "kind": "range", "low": low.to_string(), "high": high.to_string() })
            }
            Type::Enum(of) => json!({ "kind": "enum", "name": of.name, "literals": of.literals }),
            Type::Array(of) => {
                json!({ "kind": "array", "index": self.ty(&of.index), "element": self.ty(&of.element) })
            }
            Type::Record(of) => {
                let fields: Vec<Json> =
                    of.fields.iter().map(|(name, ty)| json!({ "name": name, "type": self.ty(ty) })).collect();
                json!({ "kind": "record", "name": of.name, "fields": fields })
            }
        };
        let mut written = written;
        written["text"] = json!(ty.to_string());
        self.types.push(written);
        self.known_types.insert(ty.clone(), self.types.len() - 1);
        self.types.len() - 1
    }

    /// The number of an expression.
    pub(super) fn expression(&mut self, term: &Term) -> usize {
        if let Some(at) = self.known_expressions.get(term) {
            return *at;
        }
        let text = match term.written_size() {
            size if size > LONGEST => format!("(an expression of {size} parts, too large to be shown)"),
            _ => term.to_string(),
        };
        let root = self.term(term);
        self.expressions.push(Expression { text, term: root });
        self.known_expressions.insert(term.clone(), self.expressions.len() - 1);
        self.expressions.len() - 1
    }

    /// The number of a term's root; its parts come before it.
    fn term(&mut self, term: &Term) -> usize {
        // By hand: a term may be deeper than a thread's stack.
        let mut work = vec![(term.clone(), false)];
        while let Some((term, are_parts_done)) = work.pop() {
            if self.known_terms.contains_key(&term) {
                continue;
            }
            budget::ask();
            if !are_parts_done {
                let parts: Vec<Term> = term.children().into_iter().cloned().collect();
                work.push((term, true));
                work.extend(parts.into_iter().map(|part| (part, false)));
                continue;
            }
            let written = self.node(&term);
            self.terms.push(written);
            self.known_terms.insert(term, self.terms.len() - 1);
        }
        self.known_terms[term]
    }

    fn node(&mut self, term: &Term) -> Json {
        let of = |part: &Term| self.known_terms[part];
        match term.node() {
            Node::Literal(value) => json!(["literal", self.ty(&value.sort()), codec::to_json(value)]),
            Node::Data(datum) => json!(["data", datum.name()]),
            Node::Not(a) => json!(["not", of(a)]),
            Node::And(parts) => json!(["and", parts.iter().map(of).collect::<Vec<_>>()]),
            Node::Or(parts) => json!(["or", parts.iter().map(of).collect::<Vec<_>>()]),
            Node::Compare(comparison, a, b) => json!([comparison_word(*comparison), of(a), of(b)]),
            Node::IfThenElse(a, b, c) => json!(["if", of(a), of(b), of(c)]),
            Node::Arithmetic(operator, a, b) => json!([operator_word(*operator), of(a), of(b)]),
            Node::Negate(a) => json!(["negate", of(a)]),
            Node::ToReal(a) => json!(["to_real", of(a)]),
            Node::Select(a, i) => json!(["select", of(a), of(i)]),
            Node::Store(a, i, e) => json!(["store", of(a), of(i), of(e)]),
            Node::Field(a, position) => json!(["field", of(a), position]),
        }
    }
}

fn comparison_word(comparison: Comparison) -> String {
    comparison.to_string()
}

fn operator_word(operator: Operator) -> String {
    operator.to_string()
}
