//! Collects the parts that the document writes once: files, types, terms, expressions.

use std::collections::HashMap;
use std::sync::Arc;

use coreach_artifact::terms::{TermNode, TermTable};
use coreach_artifact::types::TypeTable;
use coreach_execution::limits::LARGEST_WRITTEN;
use coreach_model::diagnostic::{Origin as Place, SourceFile};
use coreach_model::types::{Alternative, RecordForm, RecordType};
use coreach_model::{Term, Type, codec};
use serde_json::{Value as Json, json};

use super::document::{PageExpression, PageFile, PageOrigin};

#[derive(Default)]
pub(super) struct PageTables {
    pub(super) files: Vec<PageFile>,
    types: TypeTable,
    terms: TermTable,
    pub(super) expressions: Vec<PageExpression>,
    /// Each file, with the places where its lines begin.
    known: Vec<(Arc<SourceFile>, Vec<usize>)>,
    known_expressions: HashMap<Term, usize>,
}

impl PageTables {
    pub(super) fn origin(&mut self, place: &Place) -> PageOrigin {
        let file = self.file(&place.file);
        let starts = &self.known[file].1;
        let line = |byte: usize| starts.partition_point(|start| *start <= byte).max(1);
        let last = place.span.end.saturating_sub(1).max(place.span.start);
        PageOrigin { file, line: line(place.span.start), last: line(last) }
    }

    /// Gives the number of a file, and adds it if it is new.
    pub(super) fn file(&mut self, file: &Arc<SourceFile>) -> usize {
        let is_file = |(known, _): &(Arc<SourceFile>, _)| Arc::ptr_eq(known, file) || known == file;
        if let Some(number) = self.known.iter().position(is_file) {
            return number;
        }
        let line_starts = file.text.match_indices('\n').map(|(line_end, _)| line_end + 1);
        self.known.push((file.clone(), std::iter::once(0).chain(line_starts).collect()));
        self.files.push(PageFile { name: file.name.clone(), text: file.text.clone() });
        self.files.len() - 1
    }

    pub(super) fn ty(&mut self, ty: &Type) -> usize {
        self.types.number(ty)
    }

    /// Gives the number of a term as text and as nodes, and adds it if it is new.
    pub(super) fn expression(&mut self, term: &Term) -> usize {
        if let Some(number) = self.known_expressions.get(term) {
            return *number;
        }
        let text = match term.written_size() {
            size if size > LARGEST_WRITTEN => {
                format!("(an expression of {size} parts, too large to be shown)")
            }
            _ => term.to_string(),
        };
        let root = self.terms.number(term);
        self.expressions.push(PageExpression { text, term: root });
        self.known_expressions.insert(term.clone(), self.expressions.len() - 1);
        self.expressions.len() - 1
    }

    /// Returns the lists of types, of terms, and of the types of these terms. A page shows a type's text.
    /// Lists, options and variants are records with a form.
    pub(super) fn lists(&mut self) -> (Vec<Json>, Vec<TermNode>, Vec<usize>) {
        let terms = self.terms.nodes(&mut self.types);
        let sorts = self.terms.terms().iter().map(|term| self.types.number(term.sort())).collect();
        let mut written = Vec::new();
        // The types of fields are added while types are written.
        while let Some(ty) = self.types.types().get(written.len()).cloned() {
            let mut node = match &ty {
                Type::Record(of) if of.form != RecordForm::Plain => self.record_node(of),
                _ => json!(self.types.nodes()[written.len()]),
            };
            node["text"] = json!(ty.to_string());
            written.push(node);
        }
        (written, terms, sorts)
    }

    /// Describes a list, an option, a set, a map or a variant. It has fields like a record, and its form as a
    /// word, an object or the list of alternatives. Plain records do not come here.
    fn record_node(&mut self, of: &RecordType) -> Json {
        let field = |(name, ty): &(String, Type)| json!({ "name": name, "type": self.types.number(ty) });
        let fields: Vec<Json> = of.fields.iter().map(field).collect();
        let form = match &of.form {
            RecordForm::List => json!("list"),
            RecordForm::Option => json!("option"),
            RecordForm::Entries(..) => json!("entries"),
            RecordForm::Keyed(key) => {
                let known = of.keys().iter().map(codec::to_json).collect::<Json>();
                json!({ "known": known, "key": self.types.number(key) })
            }
            RecordForm::Variant(..) | RecordForm::Plain => {
                let node = |Alternative { name, first, count }: &Alternative| json!({ "name": name, "first": first, "count": count });
                of.alternatives().iter().map(node).collect()
            }
        };
        json!({ "kind": "record", "name": of.name, "fields": fields, "form": form })
    }
}
