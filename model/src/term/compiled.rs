//! Terms as code, which evaluation runs.
//!
//! **Problem.** Runs evaluate the same guards and assignments again and again. A walk over terms looks every
//! datum up by its name and copies every value that it passes.
//!
//! **Method.** A term is compiled when it is first evaluated, and keeps its code. In the code a datum is a
//! slot, and an operation has its arguments as code. A value passes by reference if it exists already. A part
//! that may be shared is evaluated once ([`Code::Remembered`]). The body of a function, a quantifier or a
//! `match` has code of its own, whose slots are the arguments. An argument is evaluated once, when it is
//! first needed.
//!
//! **Termination** follows from the finite code. **Cost**: one step for each part that is reached. A
//! quantifier stops at the element that decides it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::budget;
use crate::data::Datum;
use crate::term::evaluate::{Undefined, arithmetic_on_values, is_too_long, negate_value, sign};
use crate::term::intern::Cell;
use crate::term::node::{Comparison, Node, Operator};
use crate::term::operate::{elements, list_of, on_values, option_of, set_or_map_of};
use crate::term::operation::{
    DeclaredFunction, DerivedOperation, MatchArm, MatchOperation, QuantifiedOperation, Quantifier,
    QuantifierDomain, StandardOperation,
};
use crate::term::{Term, TermShape, strings};
use crate::types::{RecordForm, RecordType};
use crate::value::Value;

/// A part of at least this size is evaluated once and remembered, since it may be shared.
const WORTH_REMEMBERING: u64 = 64;

type Result<T> = std::result::Result<T, Undefined>;

#[derive(Debug)]
pub(super) struct TermProgram {
    root: Code,
    /// The data that the term mentions, in the order of their slots.
    data: Vec<Datum>,
    /// How many parts are remembered.
    remembered: usize,
}

/// The term from which a part was compiled. The term keeps its own code, so the code must not keep the term.
#[derive(Debug)]
struct CompiledSource(Weak<Cell>);

#[derive(Debug)]
enum Code {
    Literal(Value),
    Slot(usize),
    Not(Box<Code>),
    And(Box<[Code]>),
    Or(Box<[Code]>),
    Compare(Comparison, Box<[Code; 2]>),
    IfThenElse(Box<[Code; 3]>),
    Arithmetic(Operator, Box<[Code; 2]>, CompiledSource),
    Negate(Box<Code>),
    ToReal(Box<Code>),
    Select(Box<[Code; 2]>, CompiledSource),
    Store(Box<[Code; 3]>, CompiledSource),
    Record(Arc<RecordType>, Box<[Code]>, CompiledSource),
    OnStrings(strings::StringOperation, Box<[Code]>, CompiledSource),
    Field(Box<Code>, usize),
    /// A part that is evaluated once.
    Remembered(usize, Arc<Code>),
    /// A function with the arguments that its body reads, in the order of the slots.
    Call(Arc<DeclaredFunction>, Box<[Code]>),
    Quantified(Arc<QuantifiedOperation>, Box<QuantifiedCode>, CompiledSource),
    /// The subject, and the slots of each case.
    Match(Arc<MatchOperation>, Arc<Code>, Box<[Box<[CaseSlot]>]>),
    /// A set or a map, by its keys, or by its keys and values in turn.
    Keyed(Arc<RecordType>, Box<[Code]>, CompiledSource),
    Standard(StandardOperation, Box<[Code]>, CompiledSource),
    Defined(Box<Code>),
}

/// The code of a quantifier: its collection if there is one, and the slots of its bodies.
#[derive(Debug)]
struct QuantifiedCode {
    collection: Option<Code>,
    condition: BodyCode,
    element: Option<BodyCode>,
}

/// The code for the slots of a body with a bound value.
#[derive(Debug)]
struct BodyCode {
    read: Box<[Code]>,
    /// The slot of the bound value, which is filled for each value.
    bound: Option<usize>,
}

/// The source of a slot in a case of a `match`.
#[derive(Debug)]
enum CaseSlot {
    /// The field of the subject at this position.
    Field(usize),
    /// Other data that the case reads.
    Read(Code),
}

/// The values of the slots of one evaluation.
struct SlotFrame<'f> {
    slots: &'f [Slot<'f>],
    remembered: Vec<OnceCell<Value>>,
}

enum Slot<'f> {
    Value(&'f Value),
    Unbound(&'f Datum),
    /// Evaluated in another frame when it is first needed.
    Argument(&'f Code, &'f SlotFrame<'f>, OnceCell<Result<Value>>),
    /// The field at this position of the record that the code makes.
    FieldOf(&'f Code, usize, &'f SlotFrame<'f>, OnceCell<Result<Value>>),
}

pub(super) fn compile_program(term: &Term) -> TermProgram {
    let mut compiler = Compiler::default();
    let root = compiler.compile(term);
    TermProgram { root, data: compiler.data, remembered: compiler.remembered.len() }
}

#[derive(Default)]
struct Compiler {
    data: Vec<Datum>,
    slots: HashMap<Datum, usize>,
    remembered: HashMap<Term, (usize, Arc<Code>)>,
}

impl Compiler {
    /// Compiles a part. It is evaluated once if it is large, since it may be shared.
    fn compile(&mut self, term: &Term) -> Code {
        if term.written_size() < WORTH_REMEMBERING {
            return self.compile_root(term);
        }
        let (number, code) = self.remember(term);
        Code::Remembered(number, code)
    }

    /// Compiles a part that is evaluated once, and returns its number and its code.
    fn remember(&mut self, term: &Term) -> (usize, Arc<Code>) {
        if let Some(known) = self.remembered.get(term) {
            return known.clone();
        }
        let code = Arc::new(self.compile_root(term));
        let number = self.remembered.len();
        self.remembered.insert(term.clone(), (number, code.clone()));
        (number, code)
    }

    fn compile_boxed(&mut self, term: &Term) -> Box<Code> {
        Box::new(self.compile(term))
    }

    fn compile_pair(&mut self, a: &Term, b: &Term) -> Box<[Code; 2]> {
        Box::new([self.compile(a), self.compile(b)])
    }

    fn compile_all<'t>(&mut self, terms: impl IntoIterator<Item = &'t Term>) -> Box<[Code]> {
        terms.into_iter().map(|term| self.compile(term)).collect()
    }

    /// Compiles the root of a term, and its parts.
    fn compile_root(&mut self, term: &Term) -> Code {
        let source = || CompiledSource(Arc::downgrade(&term.0));
        let node = match term.shape() {
            TermShape::Node(node) => node,
            TermShape::Operation(operation, arguments) => {
                return self.compile_operation(operation, arguments, source());
            }
        };
        match node {
            Node::Literal(value) => Code::Literal(value.clone()),
            Node::Data(datum) => Code::Slot(*self.slots.entry(datum.clone()).or_insert_with(|| {
                self.data.push(datum.clone());
                self.data.len() - 1
            })),
            Node::Not(a) => Code::Not(self.compile_boxed(a)),
            Node::And(parts) => Code::And(self.compile_all(parts)),
            Node::Or(parts) => Code::Or(self.compile_all(parts)),
            Node::Compare(comparison, a, b) => Code::Compare(*comparison, self.compile_pair(a, b)),
            Node::IfThenElse(c, a, b) => {
                Code::IfThenElse(Box::new([self.compile(c), self.compile(a), self.compile(b)]))
            }
            Node::Arithmetic(operator, a, b) => {
                Code::Arithmetic(*operator, self.compile_pair(a, b), source())
            }
            Node::Negate(a) => Code::Negate(self.compile_boxed(a)),
            Node::ToReal(a) => Code::ToReal(self.compile_boxed(a)),
            Node::Select(a, i) => Code::Select(self.compile_pair(a, i), source()),
            Node::Store(a, i, e) => {
                Code::Store(Box::new([self.compile(a), self.compile(i), self.compile(e)]), source())
            }
            Node::Record(ty, fields) => Code::Record(ty.clone(), self.compile_all(fields), source()),
            Node::OnStrings(operation, arguments) => {
                Code::OnStrings(*operation, self.compile_all(arguments), source())
            }
            Node::Field(a, position) => Code::Field(self.compile_boxed(a), *position),
        }
    }

    /// Compiles an operation. A body becomes code of its own, whose slots the arguments fill.
    fn compile_operation(
        &mut self,
        operation: &DerivedOperation,
        arguments: &[Term],
        source: CompiledSource,
    ) -> Code {
        match operation {
            DerivedOperation::Call(function) => {
                // The slots of the body stand for the parameters that it mentions, in the order of its code.
                let needed = function.body.program().data.iter().filter_map(|datum| {
                    let position = function.parameters.iter().position(|parameter| parameter == datum)?;
                    Some(&arguments[position])
                });
                Code::Call(function.clone(), self.compile_all(needed))
            }
            DerivedOperation::Quantified(operation) => {
                let (collection, read) = operation.split_arguments(arguments);
                let element = operation.collected.as_ref();
                let code = QuantifiedCode {
                    collection: collection.first().map(|collection| self.compile(collection)),
                    condition: self.compile_body(operation, &operation.body, read),
                    element: element.map(|(_, element)| self.compile_body(operation, element, read)),
                };
                Code::Quantified(operation.clone(), Box::new(code), source)
            }
            DerivedOperation::Match(operation) => {
                // Each field that a case names reads the subject, so it is evaluated once.
                let (number, subject) = self.remember(&arguments[0]);
                let subject = Arc::new(Code::Remembered(number, subject));
                let cases = operation.cases.iter();
                let cases = cases.map(|case| self.compile_case(operation, case, &arguments[1..])).collect();
                Code::Match(operation.clone(), subject, cases)
            }
            DerivedOperation::SetOf(ty) | DerivedOperation::MapOf(ty) => {
                Code::Keyed(ty.clone(), self.compile_all(arguments), source)
            }
            DerivedOperation::Standard(operation) => {
                Code::Standard(*operation, self.compile_all(arguments), source)
            }
            DerivedOperation::Defined => Code::Defined(self.compile_boxed(&arguments[0])),
        }
    }

    /// Compiles the slots of a case. `read` are the arguments for the data that the cases read.
    fn compile_case(
        &mut self,
        operation: &MatchOperation,
        case: &MatchArm,
        read: &[Term],
    ) -> Box<[CaseSlot]> {
        let slot = |datum: &Datum| match case.names.iter().find(|(name, _)| name == datum) {
            Some((_, field)) => CaseSlot::Field(*field),
            None => match operation.read.iter().position(|parameter| parameter == datum) {
                Some(position) => CaseSlot::Read(self.compile(&read[position])),
                None => unreachable!("`{datum}` in a closed body"),
            },
        };
        case.body.program().data.iter().map(slot).collect()
    }

    /// Compiles the slots of a quantifier's body. `read` are the arguments for the data that it reads.
    fn compile_body(&mut self, operation: &QuantifiedOperation, body: &Term, read: &[Term]) -> BodyCode {
        let data = &body.program().data;
        let slot = |datum: &Datum| match operation.read.iter().position(|parameter| parameter == datum) {
            Some(position) if *datum != operation.bound => self.compile(&read[position]),
            // The slot of the bound value. Its content does not matter, since each value is put there.
            _ => Code::Literal(Value::Bool(true)),
        };
        let bound = data.iter().position(|datum| *datum == operation.bound);
        BodyCode { read: data.iter().map(slot).collect(), bound }
    }
}

impl CompiledSource {
    fn term(&self) -> Term {
        match self.0.upgrade() {
            Some(cell) => Term(cell),
            None => unreachable!("code of a term that is gone"),
        }
    }
}

impl TermProgram {
    /// The value, where `lookup` gives the data their values.
    pub(super) fn run<'v>(&self, lookup: impl Fn(&Datum) -> Option<&'v Value>) -> Result<Value> {
        budget::ask();
        self.value(&self.look_up(lookup))
    }

    /// The truth of a condition, where `lookup` gives the data their values.
    pub(super) fn decide<'v>(&self, lookup: impl Fn(&Datum) -> Option<&'v Value>) -> Result<bool> {
        budget::ask();
        self.truth(&self.look_up(lookup))
    }

    fn look_up<'p, 'v: 'p>(&'p self, lookup: impl Fn(&Datum) -> Option<&'v Value>) -> Vec<Slot<'p>> {
        let slot = |datum| lookup(datum).map_or(Slot::Unbound(datum), Slot::Value);
        self.data.iter().map(slot).collect()
    }

    fn frame<'f>(&self, slots: &'f [Slot<'f>]) -> SlotFrame<'f> {
        SlotFrame { slots, remembered: std::iter::repeat_with(OnceCell::new).take(self.remembered).collect() }
    }

    fn value(&self, slots: &[Slot<'_>]) -> Result<Value> {
        Ok(self.root.value(&self.frame(slots))?.into_owned())
    }

    fn truth(&self, slots: &[Slot<'_>]) -> Result<bool> {
        self.root.truth(&self.frame(slots))
    }
}

impl<'f> Slot<'f> {
    /// Passes an argument to a body, which evaluates it in this frame when it is first needed.
    fn argument(code: &'f Code, frame: &'f SlotFrame<'f>) -> Self {
        // A value that is known already is passed on, without a reference to the other frame.
        match code {
            Code::Literal(value) => Slot::Value(value),
            Code::Slot(number) => match &frame.slots[*number] {
                Slot::Value(value) => Slot::Value(value),
                Slot::Unbound(datum) => Slot::Unbound(datum),
                Slot::Argument(..) | Slot::FieldOf(..) => Slot::Argument(code, frame, OnceCell::new()),
            },
            _ => Slot::Argument(code, frame, OnceCell::new()),
        }
    }

    /// Gives the content of the slot. Code in it is evaluated at the first use, and its result is kept.
    fn value(&self) -> Result<&Value> {
        let evaluated = match self {
            Slot::Value(value) => return Ok(value),
            Slot::Unbound(datum) => return Err(Undefined::Unbound((*datum).clone())),
            Slot::Argument(code, frame, memo) => memo.get_or_init(|| Ok(code.value(frame)?.into_owned())),
            Slot::FieldOf(code, position, frame, memo) => {
                memo.get_or_init(|| Ok(field_of_record(code.value(frame)?, *position).into_owned()))
            }
        };
        evaluated.as_ref().map_err(Clone::clone)
    }
}

fn truth_of(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        other => unreachable!("{other} is not a truth value"),
    }
}

fn field_of_record(record: Cow<'_, Value>, position: usize) -> Cow<'_, Value> {
    match record {
        Cow::Borrowed(Value::Record(_, fields)) => Cow::Borrowed(&fields[position]),
        Cow::Owned(Value::Record(_, fields)) => Cow::Owned(fields[position].clone()),
        other => unreachable!("{other} is not a record"),
    }
}

/// Returns the computed value, unless it is too long.
fn check_length(value: Value, source: &CompiledSource) -> Result<Cow<'static, Value>> {
    if is_too_long(&value) {
        budget::too_long();
        return Err(Undefined::TooLong(source.term()));
    }
    Ok(Cow::Owned(value))
}

impl Code {
    /// Evaluates the code. Values that exist already are borrowed.
    fn value<'f>(&'f self, frame: &'f SlotFrame<'f>) -> Result<Cow<'f, Value>> {
        Ok(Cow::Owned(match self {
            Code::Literal(value) => return Ok(Cow::Borrowed(value)),
            Code::Slot(number) => return Ok(Cow::Borrowed(frame.slots[*number].value()?)),
            Code::Not(_) | Code::And(_) | Code::Or(_) | Code::Compare(..) | Code::Defined(_) => {
                Value::Bool(self.truth(frame)?)
            }
            Code::IfThenElse(parts) => {
                let [condition, then, otherwise] = &**parts;
                return if condition.truth(frame)? { then } else { otherwise }.value(frame);
            }
            Code::Arithmetic(operator, parts, source) => {
                let (a, b) = (parts[0].value(frame)?, parts[1].value(frame)?);
                let value = arithmetic_on_values(*operator, &a, &b);
                return check_length(value.ok_or_else(|| Undefined::DivisionByZero(source.term()))?, source);
            }
            Code::Negate(a) => negate_value(a.value(frame)?.into_owned()),
            Code::ToReal(a) => match a.value(frame)?.into_owned() {
                Value::Int(value) => Value::Real(value.into()),
                other => other,
            },
            Code::Select(parts, source) => {
                let (array, index) = (parts[0].value(frame)?, parts[1].value(frame)?);
                let Value::Array(known) = &*array else { unreachable!("{array} is not an array") };
                if !index.is_in(&known.ty.index) {
                    return Err(Undefined::IndexOutside(source.term(), index.into_owned()));
                }
                known.get(&index).clone()
            }
            Code::Store(parts, source) => {
                let [array, index, element] = &**parts;
                let array = array.value(frame)?;
                let (index, element) = (index.value(frame)?, element.value(frame)?);
                let Value::Array(known) = &*array else { unreachable!("{array} is not an array") };
                if !index.is_in(&known.ty.index) {
                    return Err(Undefined::IndexOutside(source.term(), index.into_owned()));
                }
                if !element.is_in(&known.ty.element) {
                    return Err(Undefined::ElementOutside(source.term(), element.into_owned()));
                }
                Value::Array(Arc::new(known.set(index.into_owned(), element.into_owned())))
            }
            Code::Record(ty, parts, source) => {
                let mut values = Vec::with_capacity(parts.len());
                for (part, (_, field_type)) in parts.iter().zip(&ty.fields) {
                    let value = part.value(frame)?.into_owned();
                    if !value.is_in(field_type) {
                        return Err(Undefined::FieldOutside(source.term(), value));
                    }
                    values.push(value);
                }
                let is_canonical = ty.is_canonical(&values);
                let record = Value::Record(ty.clone(), values.into());
                if !is_canonical {
                    return Err(Undefined::FieldOutside(source.term(), record));
                }
                record
            }
            Code::OnStrings(operation, parts, source) => {
                let values = evaluate_all(parts, frame)?;
                let value = strings::on_values(*operation, &values);
                return check_length(value.ok_or_else(|| Undefined::PositionOutside(source.term()))?, source);
            }
            Code::Field(record, position) => return Ok(field_of_record(record.value(frame)?, *position)),
            Code::Remembered(number, code) => {
                let memo = &frame.remembered[*number];
                if let Some(value) = memo.get() {
                    return Ok(Cow::Borrowed(value));
                }
                // A part without a value ends the whole evaluation, so it is not remembered.
                let value = code.value(frame)?.into_owned();
                return Ok(Cow::Borrowed(memo.get_or_init(|| value)));
            }
            Code::Call(function, arguments) => {
                budget::ask();
                let slots = arguments.iter().map(|argument| Slot::argument(argument, frame));
                function.body.program().value(&slots.collect::<Vec<Slot<'_>>>())?
            }
            Code::Quantified(operation, code, source) => evaluate_quantifier(operation, code, source, frame)?,
            Code::Match(operation, subject, cases) => evaluate_match(operation, subject, cases, frame)?,
            Code::Keyed(ty, parts, source) => {
                let values = evaluate_all(parts, frame)?;
                set_or_map_of(ty, &values).ok_or_else(|| Undefined::NoValue(source.term()))?
            }
            Code::Standard(operation, parts, source) => evaluate_standard(*operation, parts, source, frame)?,
        }))
    }

    /// Evaluates a condition, and stops when its truth is known.
    fn truth<'f>(&'f self, frame: &'f SlotFrame<'f>) -> Result<bool> {
        match self {
            Code::Not(a) => Ok(!a.truth(frame)?),
            Code::And(parts) => {
                for part in parts {
                    if !part.truth(frame)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Code::Or(parts) => {
                for part in parts {
                    if part.truth(frame)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Code::Compare(comparison, parts) => {
                let (a, b) = (parts[0].value(frame)?, parts[1].value(frame)?);
                Ok(match comparison {
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                    comparison => comparison.holds(a.cmp(&b)),
                })
            }
            Code::Defined(a) => match a.value(frame) {
                // These say that the value is not known, not that there is none.
                Err(unknown @ (Undefined::Unbound(_) | Undefined::TooLong(_))) => Err(unknown),
                result => Ok(result.is_ok()),
            },
            _ => Ok(truth_of(&*self.value(frame)?)),
        }
    }
}

fn evaluate_all(parts: &[Code], frame: &SlotFrame<'_>) -> Result<Vec<Value>> {
    parts.iter().map(|part| Ok(part.value(frame)?.into_owned())).collect()
}

impl BodyCode {
    fn slots<'f>(&'f self, frame: &'f SlotFrame<'f>) -> Vec<Slot<'f>> {
        self.read.iter().map(|argument| Slot::argument(argument, frame)).collect()
    }

    fn bind<'f>(&self, slots: &mut [Slot<'f>], value: &'f Value) {
        if let Some(bound) = self.bound {
            slots[bound] = Slot::Value(value);
        }
    }
}

/// Evaluates a quantifier, value by value, until its result is known.
fn evaluate_quantifier(
    operation: &QuantifiedOperation,
    code: &QuantifiedCode,
    source: &CompiledSource,
    frame: &SlotFrame<'_>,
) -> Result<Value> {
    let elements_of_collection;
    let values = match (&operation.domain, &code.collection) {
        (QuantifierDomain::Values(_, values), _) => values,
        (QuantifierDomain::Elements, Some(collection)) => {
            elements_of_collection = elements(&*collection.value(frame)?);
            &elements_of_collection
        }
        (QuantifierDomain::Elements, None) => unreachable!("elements of nothing"),
    };
    let value_or_error = |value: Option<Value>| value.ok_or_else(|| Undefined::NoValue(source.term()));
    let condition = operation.body.program();
    let mut condition_slots = code.condition.slots(frame);
    let mut element_slots = code.element.as_ref().map_or_else(Vec::new, |element| element.slots(frame));
    let (mut count, mut collected) = (0u64, Vec::new());
    // A value that decides the result ends the loop. The others are counted or collected.
    for (position, value) in values.iter().enumerate() {
        budget::ask();
        code.condition.bind(&mut condition_slots, value);
        let holds = condition.truth(&condition_slots)?;
        match (operation.quantifier, &operation.collected) {
            (_, Some((_, element))) if holds => {
                if let Some(body) = &code.element {
                    body.bind(&mut element_slots, value);
                }
                collected.push(element.program().value(&element_slots)?);
            }
            (Quantifier::All, _) if !holds => return Ok(Value::Bool(false)),
            (Quantifier::Some, _) if holds => return Ok(Value::Bool(true)),
            (Quantifier::Index, _) if holds => return Ok(Value::int(position)),
            (Quantifier::Find, _) if holds => {
                return value_or_error(option_of(operation.bound.ty(), Some(value.clone())));
            }
            _ => count += u64::from(holds),
        }
    }
    // No value has decided the result.
    match (operation.quantifier, &operation.collected) {
        (Quantifier::Collect, Some((ty, _))) => value_or_error(list_of(ty, collected)),
        (Quantifier::Find, _) => value_or_error(option_of(operation.bound.ty(), None)),
        (Quantifier::Index, _) => Ok(Value::int(-1)),
        (Quantifier::Count, _) => Ok(Value::int(count)),
        (Quantifier::All, _) => Ok(Value::Bool(true)),
        (Quantifier::Some | Quantifier::Collect, _) => Ok(Value::Bool(false)),
    }
}

/// Evaluates a `match`: chooses the case, and evaluates its body.
fn evaluate_match(
    operation: &MatchOperation,
    subject: &Code,
    cases: &[Box<[CaseSlot]>],
    frame: &SlotFrame<'_>,
) -> Result<Value> {
    // If there is one case only, the subject is evaluated only if the body needs it.
    let chosen = if operation.cases.len() == 1 {
        0
    } else {
        let value = subject.value(frame)?;
        let Value::Record(ty, fields) = &*value else { unreachable!("{value} has no alternatives") };
        let fits = |number: usize| ty.tag(number) == fields[0];
        let chosen = operation.cases.iter().position(|case| case.alternative.is_none_or(fits));
        // The last case fits all values that the others leave.
        chosen.unwrap_or(operation.cases.len() - 1)
    };
    let fill = |slot| match slot {
        &CaseSlot::Field(position) => Slot::FieldOf(subject, position, frame, OnceCell::new()),
        CaseSlot::Read(code) => Slot::argument(code, frame),
    };
    let slots: Vec<Slot<'_>> = cases[chosen].iter().map(fill).collect();
    operation.cases[chosen].body.program().value(&slots)
}

/// Is it an empty set or map with a bound?
fn is_empty_table(value: &Value) -> bool {
    match value {
        Value::Record(ty, fields) => matches!(ty.form, RecordForm::Entries(..)) && fields[0] == Value::int(0),
        _ => false,
    }
}

/// Evaluates an operation on numbers or on a collection.
fn evaluate_standard(
    operation: StandardOperation,
    parts: &[Code],
    source: &CompiledSource,
    frame: &SlotFrame<'_>,
) -> Result<Value> {
    // The key is evaluated only if there is an entry to compare it with.
    if operation == StandardOperation::HasKey && is_empty_table(&*parts[1].value(frame)?) {
        return Ok(Value::Bool(false));
    }
    let first = parts[0].value(frame)?;
    match operation {
        StandardOperation::Absolute => {
            let first = first.into_owned();
            return Ok(if sign(&first) < 0 { negate_value(first) } else { first });
        }
        // The element is evaluated only if there is one to compare it with.
        StandardOperation::Contains | StandardOperation::IndexOf => {
            let elements = elements(&first);
            let mut position = None;
            if !elements.is_empty() {
                let wanted = parts[1].value(frame)?;
                position = elements.iter().position(|element| *element == *wanted);
            }
            return Ok(match operation {
                StandardOperation::Contains => Value::Bool(position.is_some()),
                _ => position.map_or_else(|| Value::int(-1), Value::int),
            });
        }
        _ => {}
    }
    let operands = evaluate_all(&parts[1..], frame)?;
    match on_values(operation, first.into_owned(), operands) {
        None => Err(Undefined::NoValue(source.term())),
        Some(value) => check_length(value, source).map(Cow::into_owned),
    }
}
