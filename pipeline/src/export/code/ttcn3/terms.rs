//! Terms as expressions of TTCN-3, and values that a guard may hold for.

use std::collections::BTreeSet;

use coreach_model::iosts::{Action, Transition};
use coreach_model::term::node::{Comparison, Node, Operator};
use coreach_model::{Datum, Term, Type, Value};

use super::super::Scope;
use super::types::TtcnTypes;
use super::{ALWAYS, Module};

/// What stands for a parameter: the field of this message.
pub type TtcnMessage<'m> = Option<(&'m str, &'m [Datum])>;

impl Module<'_> {
    /// A term as an expression.
    pub fn term(&mut self, term: &Term, message: TtcnMessage<'_>) -> String {
        match term.node() {
            Node::Literal(value) => self.types.value(value, &mut self.words),
            Node::Data(datum) => self.datum(datum, message),
            Node::Not(a) => format!("(not {})", self.term(a, message)),
            Node::And(parts) => self.joined(parts, " and ", message),
            Node::Or(parts) => self.joined(parts, " or ", message),
            Node::Compare(comparison, a, b) => {
                let (left, right) = (self.term(a, message), self.term(b, message));
                let same = |types: &TtcnTypes| types.same(a.sort(), &left, &right);
                match comparison {
                    Comparison::Equal => same(&self.types),
                    Comparison::NotEqual => format!("(not {})", same(&self.types)),
                    other => format!("({left} {other} {right})"),
                }
            }
            Node::IfThenElse(c, a, b) => {
                let ty = self.types.of(term.sort(), &mut self.words);
                self.types.chosen(&ty);
                let (c, a, b) = (self.term(c, message), self.term(a, message), self.term(b, message));
                format!("if_{ty}({c}, {a}, {b})")
            }
            Node::Arithmetic(operator, a, b) => {
                let (a, b) = (self.term(a, message), self.term(b, message));
                match operator {
                    Operator::IntegerDivide => format!("h_div({a}, {b})"),
                    Operator::Modulo => format!("h_mod({a}, {b})"),
                    other => format!("({a} {other} {b})"),
                }
            }
            // Refused before.
            Node::OnStrings(..) => String::new(),
            Node::Negate(a) => format!("(-{})", self.term(a, message)),
            Node::ToReal(a) => self.term(a, message),
            Node::Select(a, i) => {
                let (array, index) = (self.term(a, message), self.term(i, message));
                format!("get_{}({array}, {index})", self.types.name(a.sort()))
            }
            Node::Store(a, i, e) => {
                let (array, index, new) =
                    (self.term(a, message), self.term(i, message), self.term(e, message));
                format!("put_{}({array}, {index}, {new})", self.types.name(a.sort()))
            }
            Node::Record(_, fields) => {
                let parts: Vec<String> = fields.iter().map(|field| self.term(field, message)).collect();
                let make = self.types.make(term.sort(), &mut self.words);
                format!("{make}({})", parts.join(", "))
            }
            Node::Field(a, position) => {
                let record = self.term(a, message);
                let Type::Record(of) = a.sort() else { unreachable!("{position} of a record") };
                let field = self.words.of(Scope::Field, &of.fields[*position].0);
                let inner = self.types.of(term.sort(), &mut self.words);
                match is_place(a) {
                    true => format!("{record}.{field}"),
                    // What a function gives has no fields.
                    false => format!("{}({record})", self.types.field(a.sort(), &field, &inner)),
                }
            }
        }
    }

    fn joined(&mut self, parts: &[Term], by: &str, message: TtcnMessage<'_>) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.term(part, message)).collect();
        format!("({})", parts.join(by))
    }

    pub fn datum(&mut self, datum: &Datum, message: TtcnMessage<'_>) -> String {
        if let Some((name, parameters)) = message
            && parameters.contains(datum)
        {
            return format!("{name}.{}", self.words.of(Scope::Field, datum.name()));
        }
        let name = self.words.of(Scope::Datum, datum.name());
        if self.iosts.constants.contains(datum) { format!("tsp_{name}") } else { name }
    }

    /// That the values of a message lie in their types.
    pub fn typed(&mut self, action: &Action, message: &str) -> String {
        let mut parts = Vec::new();
        for datum in &action.parameters {
            let field = format!("{message}.{}", self.words.of(Scope::Field, datum.name()));
            parts.extend(self.types.inside(datum.ty(), &field));
        }
        if parts.is_empty() { ALWAYS.to_owned() } else { parts.join(" and ") }
    }

    /// Values that the guard may hold for: what it compares the parameter with, and what lies near.
    pub fn candidates(
        &mut self,
        transition: &Transition,
        datum: &Datum,
        parameters: &[Datum],
    ) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut sides = BTreeSet::new();
        let mut work = vec![transition.guard.clone()];
        while let Some(term) = work.pop() {
            match term.node() {
                Node::And(parts) | Node::Or(parts) => work.extend(parts.iter().cloned()),
                Node::Compare(_, a, b) => {
                    for (side, other) in [(a, b), (b, a)] {
                        if side.as_datum() == Some(datum)
                            && !other.data().iter().any(|one| parameters.contains(one))
                        {
                            sides.insert(other.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        for side in sides {
            let text = self.term(&side, None);
            match datum.ty() {
                Type::Int | Type::Nat | Type::Range(..) => {
                    found.extend([text.clone(), format!("({text}) - 1"), format!("({text}) + 1")]);
                }
                _ => found.push(text),
            }
        }
        let mut value = |value: Value| self.types.value(&value, &mut self.words);
        match datum.ty() {
            Type::Bool => found.extend(["false".to_owned(), "true".to_owned()]),
            Type::Enum(of) => {
                found.extend((0..of.literals.len()).map(|at| value(Value::Enum(of.clone(), at))));
            }
            Type::Range(low, high) => {
                found.extend([value(Value::Int(low.clone())), value(Value::Int(high.clone()))]);
                found.push(value(Value::any(datum.ty())));
            }
            Type::Int | Type::Nat => found.extend(["0", "1", "2", "7", "(-1)"].map(str::to_owned)),
            ty => found.push(value(Value::any(ty))),
        }
        let same_type = self.iosts.constants.iter().chain(&self.iosts.variables);
        let same_type: Vec<&Datum> = same_type.filter(|one| one.ty().sort() == datum.ty().sort()).collect();
        for one in same_type {
            found.push(self.datum(one, None));
        }
        let mut seen = BTreeSet::new();
        found.retain(|one| seen.insert(one.clone()));
        found
    }
}

/// Is it a datum, or a field of one?
fn is_place(term: &Term) -> bool {
    match term.node() {
        Node::Data(_) => true,
        Node::Field(a, _) => is_place(a),
        _ => false,
    }
}
