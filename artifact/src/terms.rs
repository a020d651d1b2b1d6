//! The table of terms has each shared part once, by number.
//!
//! **Problem.** Terms share their parts, but text does not. A guard of forty steps `x := x + y, y := x` is
//! forty nodes, and as text a hundred million letters. **Method.** A document has one list of nodes. A node
//! names only nodes before it, and every guard, effect and fact is a number. Each shared node is written once
//! and read once. The reader checks the sorts of each node, and makes it with the model's constructors. So an
//! accepted document is as well-sorted as a model that our own reader accepts.
//!
//! A node is a list: a word, then the parts that the word needs.
//!
//! ```json
//! ["data", "vPaid", 1]        a datum and the number of its type
//! ["literal", 1, 3]           a value of the type 1, as docs/reference/json.md spells values
//! [">=", 0, 1]                the nodes 0 and 1
//! ["and", [2, 5]]             `and` and `or` have a list of nodes
//! ["field", 7, 0]             a node, and the position of a field
//! ["record", 2, [3, 4]]       a record type, and the nodes of its fields
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use coreach_model::reader::parser::MAX_HEIGHT;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::{TermShape, strings};
use coreach_model::{Datum, Term, Type, budget, codec};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::error::DocumentError;
use crate::operations;
pub use crate::reading::TermNumber;
use crate::reading::{NodeReading, as_number, find_word};
use crate::types::TypeTable;

/// A node of the table, in its written form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TermNode(Vec<Json>);

impl JsonSchema for TermNode {
    fn schema_name() -> Cow<'static, str> {
        "TermNode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let operators = OPERATORS.map(|(word, _)| word).into_iter().chain(ON_STRINGS.map(|(word, _)| word));
        let words = WORDS.into_iter().chain(COMPARISONS.map(|(word, _)| word)).chain(operators);
        let words: Vec<&str> = words.chain(operations::operation_words()).collect();
        json_schema!({
            "description": "A word, then what belongs to it: `literal` a type and a value, `data` a name and a type, `and` and `or` a list of nodes, and for an `or` that was written with `=>` the number of its negated premises, `field` a node and a position, `record` a type and a list of nodes, all others nodes. Each names only nodes before it.",
            "type": "array",
            "minItems": 2,
            "prefixItems": [{ "enum": words }]
        })
    }
}

const WORDS: [&str; 11] =
    ["literal", "data", "not", "and", "or", "if", "negate", "to_real", "select", "store", "record"];
const FIELD: &str = "field";

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::AtMost),
    (">", Comparison::Greater),
    (">=", Comparison::AtLeast),
];

const OPERATORS: [(&str, Operator); 6] = [
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
    ("div", Operator::IntegerDivide),
    ("mod", Operator::Modulo),
];

const ON_STRINGS: [(&str, StringOperation); 11] = [
    ("len", StringOperation::Length),
    ("concatenate", StringOperation::Concatenate),
    ("at", StringOperation::At),
    ("slice", StringOperation::Slice),
    ("starts_with", StringOperation::StartsWith),
    ("ends_with", StringOperation::EndsWith),
    ("contains", StringOperation::Contains),
    ("index_of", StringOperation::IndexOf),
    ("to_int", StringOperation::ToInteger),
    ("to_string", StringOperation::FromInteger),
    ("matches", StringOperation::Matches),
];

/// The terms in the order in which they were made. Each shared term is there once, after those that it is
/// made of.
#[derive(Clone, Default, Debug)]
pub struct TermTable {
    terms: Vec<Term>,
    numbers: HashMap<Term, TermNumber>,
}

impl TermTable {
    /// Gives the number of a term, and adds the term and its parts if they are new.
    pub fn number(&mut self, term: &Term) -> TermNumber {
        // The stack is explicit: a term may be deeper than a thread's stack.
        let mut unvisited = vec![(term.clone(), false)];
        while let Some((term, are_parts_done)) = unvisited.pop() {
            if self.numbers.contains_key(&term) {
                continue;
            }
            budget::ask();
            if !are_parts_done {
                // The term gets its number after its parts. The last part that is pushed gets its own first.
                let own: Vec<Term> = term.parts().into_iter().cloned().collect();
                let inner = inner_terms(&term);
                unvisited.push((term, true));
                let parts = own.into_iter().rev().chain(inner.into_iter().rev());
                unvisited.extend(parts.map(|part| (part, false)));
                continue;
            }
            self.terms.push(term.clone());
            self.numbers.insert(term, self.terms.len() - 1);
        }
        self.numbers[term]
    }

    /// Gives the number of a term that is in the table.
    ///
    /// # Panics
    /// If the term is not in the table.
    pub fn existing_number(&self, term: &Term) -> TermNumber {
        self.numbers[term]
    }

    /// The terms by their numbers.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Writes the nodes, by their numbers.
    pub fn nodes(&self, types: &mut TypeTable) -> Vec<TermNode> {
        self.terms.iter().map(|term| TermNode(self.node(term, types))).collect()
    }

    /// The height of the highest term. A datum has the height 0.
    pub fn height(&self) -> usize {
        let mut heights: Vec<usize> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let inner = inner_terms(term);
            let parts = term.parts().into_iter().chain(&inner);
            heights.push(parts.map(|part| heights[self.numbers[part]] + 1).max().unwrap_or(0));
        }
        heights.into_iter().max().unwrap_or(0)
    }

    /// Writes the node of a term, whose parts have numbers already.
    fn node(&self, term: &Term, types: &mut TypeTable) -> Vec<Json> {
        let (word, parts) = match term.shape() {
            TermShape::Node(node) => {
                let (word, mut parts) = self.plain_node(node, term.sort(), types);
                // The number of negated premises tells that it was written as `a => b`.
                parts.extend((term.premises() > 0).then(|| json!(term.premises())));
                (word, parts)
            }
            TermShape::Operation(operation, arguments) => {
                let number_of = |term: &Term| self.numbers[term];
                operations::write_operation(operation, arguments, &number_of, types)
            }
        };
        std::iter::once(json!(word)).chain(parts).collect()
    }

    /// Writes the word and the parts of a node that is no operation.
    fn plain_node(&self, node: &Node, sort: &Type, types: &mut TypeTable) -> (&'static str, Vec<Json>) {
        let number = |part: &Term| json!(self.numbers[part]);
        let list = |parts: &[Term]| parts.iter().map(number).collect::<Json>();
        match node {
            Node::Literal(value) => ("literal", vec![json!(types.number(sort)), codec::to_json(value)]),
            Node::Data(datum) => ("data", vec![json!(datum.name()), json!(types.number(datum.ty()))]),
            Node::Not(a) => ("not", vec![number(a)]),
            Node::And(parts) => ("and", vec![list(parts)]),
            Node::Or(parts) => ("or", vec![list(parts)]),
            Node::Compare(comparison, a, b) => {
                (find_word(&COMPARISONS, *comparison), vec![number(a), number(b)])
            }
            Node::IfThenElse(a, b, c) => ("if", vec![number(a), number(b), number(c)]),
            Node::Arithmetic(operator, a, b) => {
                (find_word(&OPERATORS, *operator), vec![number(a), number(b)])
            }
            Node::OnStrings(operation, arguments) => {
                (find_word(&ON_STRINGS, *operation), arguments.iter().map(number).collect())
            }
            Node::Negate(a) => ("negate", vec![number(a)]),
            Node::ToReal(a) => ("to_real", vec![number(a)]),
            Node::Select(a, i) => ("select", vec![number(a), number(i)]),
            Node::Store(a, i, e) => ("store", vec![number(a), number(i), number(e)]),
            Node::Field(a, position) => (FIELD, vec![number(a), json!(position)]),
            Node::Record(_, fields) => ("record", vec![json!(types.number(sort)), list(fields)]),
        }
    }
}

/// Lists the terms that a term names in addition to its parts.
fn inner_terms(term: &Term) -> Vec<Term> {
    match term.shape() {
        TermShape::Operation(operation, _) => operations::inner_terms(operation),
        TermShape::Node(_) => Vec::new(),
    }
}

/// Reads the terms of a table. None is higher than a term of a model: a function that walks a term
/// recursively goes as deep as it is high, on a stack that ends.
pub fn read_terms(nodes: &[TermNode], types: &[Type]) -> Result<Vec<Term>, DocumentError> {
    let mut terms = Vec::with_capacity(nodes.len());
    let mut heights: HashMap<Term, u32> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        budget::ask();
        let term = read_node(&node.0, &terms, types).map_err(|why| format!("the term {number}: {why}"))?;
        // A constructor may have made parts that are not in the table. They count as leaves.
        let below = term.parts().into_iter().map(|part| heights.get(part).map_or(1, |height| *height));
        let height = below.max().unwrap_or(0) + 1;
        // What an operation stands for may be higher than its text.
        if height > MAX_HEIGHT || (term.has_operations() && term.height() > MAX_HEIGHT) {
            let message = format!("the term {number} is nested more than {MAX_HEIGHT} deep");
            return Err(DocumentError::TooDeep(message));
        }
        heights.insert(term.clone(), height);
        terms.push(term);
    }
    Ok(terms)
}

/// Reads a node, by its word.
fn read_node(node: &[Json], terms: &[Term], types: &[Type]) -> Result<Term, String> {
    let [Json::String(word), parts @ ..] = node else {
        return Err("it does not begin with a word".to_owned());
    };
    let reading = NodeReading { word, parts, terms, types };
    if let Some((_, comparison)) = COMPARISONS.iter().find(|(known, _)| known == word) {
        return reading.comparison(*comparison);
    }
    if let Some((_, operator)) = OPERATORS.iter().find(|(known, _)| known == word) {
        return reading.arithmetic(*operator);
    }
    if let Some((_, operation)) = ON_STRINGS.iter().find(|(known, _)| known == word) {
        return reading.on_strings(*operation);
    }
    if let Some(operation) = operations::read_if_operation(&reading) {
        return operation;
    }
    match word.as_str() {
        "literal" => reading.literal(),
        "data" => reading.data(),
        "not" => reading.condition().map(|part| part.not()),
        "and" => Ok(Term::and(reading.conditions()?)),
        "or" => reading.disjunction(),
        "if" => reading.if_then_else(),
        "negate" => reading.numeric().map(|part| part.negate()),
        "to_real" => reading.numeric().map(|part| part.to_real()),
        "select" => reading.select(),
        "store" => reading.store(),
        FIELD => reading.field(),
        "record" => reading.record(),
        _ => Err(format!("no operation is called `{word}`")),
    }
}

impl NodeReading<'_> {
    fn literal(&self) -> Result<Term, String> {
        self.arity(2)?;
        let ty = self.ty(0)?;
        // The writer gives a literal the sort of its term as its type.
        if ty.sort() != *ty {
            return self.wrong("its type is a subset of the integers");
        }
        match codec::from_json(&self.parts[1], ty) {
            Ok(value) => Ok(Term::literal(value)),
            Err(why) => self.wrong(&why.to_string()),
        }
    }

    fn data(&self) -> Result<Term, String> {
        self.arity(2)?;
        let Some(name) = self.parts[0].as_str() else { return self.wrong("a datum has no name") };
        Ok(Term::datum(&Datum::new(name, self.ty(1)?.clone())))
    }

    fn condition(&self) -> Result<Term, String> {
        self.arity(1)?;
        let part = self.part(0)?;
        if *part.sort() == Type::Bool { Ok(part) } else { self.wrong("its part has no truth value") }
    }

    fn record(&self) -> Result<Term, String> {
        self.arity(2)?;
        let fields = self.list(1)?;
        if let Type::Record(ty) = self.ty(0)?
            && ty.fields.len() == fields.len()
            && fields.iter().zip(&ty.fields).all(|(field, (_, ty))| fits_type(field, ty))
        {
            return Ok(Term::record(ty, fields));
        }
        self.wrong("its type is not a record, or its parts have other types")
    }

    fn conditions(&self) -> Result<Vec<Term>, String> {
        self.arity(1)?;
        let parts = self.list(0)?;
        match parts.iter().all(|part| *part.sort() == Type::Bool) {
            true => Ok(parts),
            false => self.wrong("a part has no truth value"),
        }
    }

    /// Reads a disjunction. If a number follows, so many of its first parts are negated premises.
    fn disjunction(&self) -> Result<Term, String> {
        let [list, premises] = self.parts else { return Ok(Term::or(self.conditions()?)) };
        let parts = NodeReading { parts: std::slice::from_ref(list), ..*self }.conditions()?;
        let premises = as_number(premises).filter(|count| *count < parts.len());
        let Some(count) = premises else { return self.wrong("it has no conclusion") };
        Ok(Term::or_with_premises(parts, count))
    }

    fn two_parts(&self) -> Result<(Term, Term), String> {
        self.arity(2)?;
        Ok((self.part(0)?, self.part(1)?))
    }

    fn numeric(&self) -> Result<Term, String> {
        self.arity(1)?;
        let part = self.part(0)?;
        if part.sort().is_number() { Ok(part) } else { self.wrong("its part is not a number") }
    }

    /// Reads a comparison. Only numbers and strings have an order.
    fn comparison(&self, comparison: Comparison) -> Result<Term, String> {
        let (a, b) = self.two_parts()?;
        let are_numbers = a.sort().is_number() && b.sort().is_number();
        let are_strings = *a.sort() == Type::String && *b.sort() == Type::String;
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        match are_numbers || are_strings || (!is_order && a.sort() == b.sort()) {
            true => Ok(Term::compare(comparison, &a, &b)),
            false => self.wrong("its parts cannot be compared in this way"),
        }
    }

    fn arithmetic(&self, operator: Operator) -> Result<Term, String> {
        let (a, b) = self.two_parts()?;
        let is_whole = matches!(operator, Operator::IntegerDivide | Operator::Modulo);
        let fits = |term: &Term| if is_whole { *term.sort() == Type::Int } else { term.sort().is_number() };
        match fits(&a) && fits(&b) {
            true => Ok(Term::arithmetic(operator, &a, &b)),
            false => self.wrong("its parts are not numbers of that kind"),
        }
    }

    /// Reads an operation on strings. A pattern must be a regular expression.
    fn on_strings(&self, operation: StringOperation) -> Result<Term, String> {
        let sorts = operation.arguments();
        self.arity(sorts.len())?;
        let arguments = (0..sorts.len()).map(|place| self.part(place)).collect::<Result<Vec<_>, _>>()?;
        if operation == StringOperation::Matches && strings::expression(&arguments).is_none() {
            return self.wrong("its second part is not a regular expression");
        }
        match arguments.iter().map(Term::sort).eq(sorts) {
            true => Ok(Term::on_strings(operation, &arguments)),
            false => self.wrong("its parts have other types"),
        }
    }

    fn if_then_else(&self) -> Result<Term, String> {
        self.arity(3)?;
        let (condition, a, b) = (self.part(0)?, self.part(1)?, self.part(2)?);
        let fit = a.sort() == b.sort() || (a.sort().is_number() && b.sort().is_number());
        match fit && *condition.sort() == Type::Bool {
            true => Ok(Term::if_then_else(&condition, &a, &b)),
            false => self.wrong("its parts have types that do not fit"),
        }
    }

    fn select(&self) -> Result<Term, String> {
        let (array, index) = self.two_parts()?;
        match array.sort() {
            Type::Array(ty) if fits_type(&index, &ty.index) => Ok(Term::select(&array, &index)),
            _ => self.wrong("it is not an array, or its indices have another type"),
        }
    }

    fn store(&self) -> Result<Term, String> {
        self.arity(3)?;
        let (array, index, element) = (self.part(0)?, self.part(1)?, self.part(2)?);
        match array.sort() {
            Type::Array(ty) if fits_type(&index, &ty.index) && fits_type(&element, &ty.element) => {
                Ok(Term::store(&array, &index, &element))
            }
            _ => self.wrong("it is not an array, or its parts have other types"),
        }
    }

    fn field(&self) -> Result<Term, String> {
        self.arity(2)?;
        let (record, position) = (self.part(0)?, self.place(1)?);
        match record.sort() {
            Type::Record(ty) if position < ty.fields.len() => Ok(Term::field(&record, position)),
            _ => self.wrong("it is not a record, or has no such field"),
        }
    }
}

/// May the term stand where a value of this type is expected?
fn fits_type(term: &Term, ty: &Type) -> bool {
    *term.sort() == ty.sort() || (*ty == Type::Real && *term.sort() == Type::Int)
}
