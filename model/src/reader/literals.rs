//! Literals of records and arrays, `r with { ... }`, and `(e: T)`.
//!
//! `{ a: 1 }`, `[1, 2]` and `[0 for all]` do not show their types: the operand beside them does, or the place
//! where they stand. So the type that is expected of an operand is handed down, if one is known, and
//! [`Typing::fit`] checks the result as before.
//!
//! A record is a node of its own. An array is a literal of the known values, changed in the other cells. So
//! all cells can have an unknown value only if there are few cells.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::limits::MOST_VALUES;
use crate::reader::elsewhere;
use crate::reader::syntax::{Expression, ExpressionKind, RecordFields, is_found, says_type};
use crate::reader::types::Types;
use crate::reader::typing::Typing;
use crate::reader::variants::spell_alternative;
use crate::term::Term;
use crate::types::{Alternative, ArrayType, RecordForm, RecordType, Type};
use crate::value::{ArrayValue, Value};

/// The most cells of an array for each of which a term is made.
pub(super) const MAX_CELLS: usize = 100;

/// The record type whose fields a user may give. The fields of a set or a map with a bound have an order, so
/// a user cannot give them.
fn as_record(ty: &Type) -> Option<Arc<RecordType>> {
    match ty {
        Type::Record(ty) if !matches!(ty.form, RecordForm::Entries(..)) => Some(ty.clone()),
        _ => None,
    }
}

impl Typing<'_, '_> {
    /// Types an expression whose form shows in its sign or its first word.
    pub(super) fn type_form(&mut self, tree: &Expression) -> Option<Term> {
        match &tree.kind {
            ExpressionKind::Call(call) => self.type_call(call, &tree.span),
            ExpressionKind::Slice(string, from, to) => self.type_slice(string, from, to.as_deref()),
            ExpressionKind::Quantified(quantified) => self.type_quantifier(quantified, &tree.span, None),
            ExpressionKind::Fields(record) => self.type_record(record, &tree.span, None),
            ExpressionKind::Ascribed(inner, span) => self.type_ascribed(inner, span),
            ExpressionKind::Match(choice) => self.type_match(choice, &tree.span, None),
            ExpressionKind::Is(value, name, span) => self.type_question(value, name, span),
            ExpressionKind::Member(key, table) => self.type_member(key, table),
            _ => self.report_untyped(&tree.span),
        }
    }

    /// Types an operand of which this type is expected.
    pub(super) fn term_as(&mut self, tree: &Expression, expected: &Type) -> Option<Term> {
        match (&tree.kind, expected) {
            // `{A: 1}` for a map
            (ExpressionKind::Fields(record), Type::Record(ty))
                if expected.as_keyed().is_some()
                    && record.name.is_none()
                    && record.base.is_none()
                    && record.fields.iter().all(|(name, ..)| ty.field(name).is_none()) =>
            {
                self.report_unexpected("a record", tree, expected)
            }
            (ExpressionKind::Fields(record), _) => self.type_record(record, &tree.span, Some(expected)),
            (ExpressionKind::Entries(_), _) if self.scalar.text[tree.span.start..].starts_with('{') => {
                self.report_unexpected("written as in JSON", tree, expected)
            }
            (ExpressionKind::Listed(elements), Type::Array(ty)) => self.type_listed(elements, &tree.span, ty),
            (ExpressionKind::Filled(element), Type::Array(ty)) => self.type_filled(element, &tree.span, ty),
            (ExpressionKind::Listed(elements), Type::Record(ty)) if ty.form == RecordForm::List => {
                self.type_list(elements, &tree.span, ty)
            }
            (
                ExpressionKind::Listed(_) | ExpressionKind::Set(_) | ExpressionKind::Entries(_),
                Type::Record(ty),
            ) if expected.as_keyed().is_some() => self.type_keyed(tree, ty),
            (ExpressionKind::Name(_) | ExpressionKind::Call(_), Type::Record(ty))
                if ty.form == RecordForm::Option && !says_type(tree) =>
            {
                self.type_option(tree, ty)
            }
            // If a case shows its type, only the other cases get the expected type.
            (ExpressionKind::Match(choice), _) => self.type_match(choice, &tree.span, Some(expected)),
            // An operation on sets or maps has the type of its first operand.
            (ExpressionKind::Arithmetic(operator, a, b), _)
                if expected.as_keyed().is_some() && !says_type(tree) =>
            {
                let left = self.term_as(a, expected);
                let right = self.type_right_operand(*operator, &left, b);
                self.type_operation(*operator, (left, a), (right, b))
            }
            (ExpressionKind::Quantified(quantified), Type::Record(ty))
                if (quantified.element.is_some() && ty.form == RecordForm::List)
                    || (is_found(tree) && ty.form == RecordForm::Option) =>
            {
                self.type_quantifier(quantified, &tree.span, Some(ty))
            }
            (ExpressionKind::Listed(_) | ExpressionKind::Filled(_), _) => {
                self.report_unexpected("an array or a list", tree, expected)
            }
            (ExpressionKind::Set(_), _) => self.report_unexpected("a set", tree, expected),
            (ExpressionKind::Entries(_), _) => self.report_unexpected("a map", tree, expected),
            (ExpressionKind::IfThenElse(c, a, b), _) if !says_type(tree) => {
                let condition = self.type_condition(c, "if");
                let then = self.type_as(a, expected, "this case");
                let otherwise = self.type_as(b, expected, "this case");
                Some(Term::if_then_else(&condition?, &then?, &otherwise?))
            }
            (ExpressionKind::Store(array, index, element), Type::Array(ty)) if !says_type(array) => {
                let array = self.term_as(array, expected);
                let index_term = self.term_as(index, &ty.index);
                let element_term = self.term_as(element, &ty.element);
                let index = index_term.and_then(|term| self.fit(&term, &index.span, &ty.index, "the index"));
                let element = element_term
                    .and_then(|term| self.fit(&term, &element.span, &ty.element, "the new element"));
                Some(Term::store(&array?, &index?, &element?))
            }
            _ => self.term(tree),
        }
    }

    /// Reports that another type is expected, and shows how the given text is written for that type.
    pub(super) fn report_unexpected(
        &mut self,
        what: &str,
        tree: &Expression,
        expected: &Type,
    ) -> Option<Term> {
        let message = format!("this is {what}, but {expected} is expected");
        // The text of the given entries or fields. The names of fields have no quotes.
        let text = |tree: &Expression| self.text(&tree.span);
        let entries_text = |are_fields: bool| {
            let name = |key| if are_fields { text(key).trim_matches(['"', '\'']) } else { text(key) };
            let entries: Vec<String> = match &tree.kind {
                ExpressionKind::Entries(entries) => {
                    entries.iter().map(|(key, value)| format!("{}: {}", name(key), text(value))).collect()
                }
                ExpressionKind::Fields(record) => {
                    record.fields.iter().map(|(name, _, value)| format!("{name}: {}", text(value))).collect()
                }
                _ => Vec::new(),
            };
            entries.join(", ")
        };
        let is_plain_record = as_record(expected).is_some_and(|ty| ty.form == RecordForm::Plain);
        let help = match expected.as_keyed() {
            Some((ty, _)) if ty.map_value_type().is_none() => {
                Some("write a set in braces: `{A, B}`, `{}`".to_owned())
            }
            Some(_) if entries_text(false).is_empty() => {
                Some("write a map in brackets: `[A: 1, B: 2]`, `[]`".to_owned())
            }
            Some(_) => Some(format!("write a map in brackets: `[{}]`", entries_text(false))),
            None if is_plain_record && !entries_text(true).is_empty() => Some(format!(
                "write a record in braces, its fields without quotes: `{{ {} }}`",
                entries_text(true)
            )),
            None => None,
        };
        self.error("type-mismatch", message, &tree.span, what.to_owned(), help);
        None
    }

    /// Types two operands of one type. If only one of them shows its type, the other one gets it.
    pub(super) fn type_two(&mut self, a: &Expression, b: &Expression) -> (Option<Term>, Option<Term>) {
        if (!says_type(a) || is_found(a)) && says_type(b) {
            let right = self.term(b);
            return (self.type_neighbour(a, &right), right);
        }
        let left = self.term(a);
        let right = self.type_neighbour(b, &left);
        (left, right)
    }

    /// Types an operand next to another one. If that one has a mistake, it has been reported.
    pub(super) fn type_neighbour(&mut self, tree: &Expression, other: &Option<Term>) -> Option<Term> {
        match other {
            // After an unknown type has been reported, an unknown name is most likely a literal of it.
            None if let ExpressionKind::Name(name) = &tree.kind
                && self.collector.has_found("unknown-type")
                && self.collector.nearest(name, self.scope.usable()).is_none() =>
            {
                None
            }
            _ if says_type(tree) && !is_found(tree) => self.term(tree),
            Some(other) => self.term_as(tree, &other.sort().clone()),
            None => None,
        }
    }

    /// Reports that nothing shows the type of the expression.
    pub(super) fn report_untyped(&mut self, span: &Range<usize>) -> Option<Term> {
        let help = "write the type: `Parcel { weight: 3 }` for a record, `([0 for all]: array[nat] of int)` for an array, `([1]: list[8] of int)` for a list, `({A}: set[Kind])` for a set, `([A: 1]: map[Kind] of int)` for a map, `(none: option[int])` for an option".to_owned();
        let (message, label) = ("the type of this value is not known", "which type?".to_owned());
        self.error("unknown-type-of-literal", message.to_owned(), span, label, Some(help));
        None
    }

    /// Types `(e: T)`. `span` is the place of the type. A string literal of an id type is the id with this
    /// text.
    pub(super) fn type_ascribed(&mut self, inner: &Expression, span: &Range<usize>) -> Option<Term> {
        let mut types = Types::of(&self.scope.names.types);
        let ty = types.read_part(self.collector, self.scalar, span)?;
        if let (ExpressionKind::Text(text), Type::Id(name)) = (&inner.kind, &ty) {
            return Some(Term::literal(Value::id(name, text)));
        }
        self.type_as(inner, &ty, "this")
    }

    /// Types a record literal, or a record with other values of some fields.
    pub(super) fn type_record(
        &mut self,
        literal: &RecordFields,
        whole: &Range<usize>,
        expected: Option<&Type>,
    ) -> Option<Term> {
        let base = match &literal.base {
            None => None,
            Some(tree) => Some(match expected {
                Some(expected) => self.term_as(tree, expected)?,
                None => self.term(tree)?,
            }),
        };
        let ty = match (&literal.name, &base, expected) {
            (Some((name, place)), ..) => self.find_record_type(name, place, literal)?,
            (None, Some(base), _) => base.sort().clone(),
            (None, None, Some(expected)) => expected.clone(),
            (None, None, None) => return self.report_untyped(whole),
        };
        let Some(ty) = as_record(&ty) else {
            let message = match base {
                Some(_) => format!("`with` changes fields of a record, but this is {ty}"),
                None => format!("this is a record, but {ty} is expected"),
            };
            let (place, label) = match &literal.base {
                Some(tree) => (&tree.span, format!("this is {ty}")),
                None => (whole, "a record".to_owned()),
            };
            self.error("type-mismatch", message, place, label, None);
            return None;
        };
        // The given fields by position, without a term after a mistake in the value.
        let mut given: BTreeMap<usize, Option<Term>> = BTreeMap::new();
        for (name, place, value) in &literal.fields {
            let Some(position) = ty.field(name) else {
                self.report_unknown_field(&ty, name, place, literal.base.as_ref().map(|tree| &tree.span));
                continue;
            };
            let (_, field_type) = &ty.fields[position];
            let term = self.type_as(value, field_type, &format!("`{name}`"));
            if given.insert(position, term).is_some() {
                let message = format!("the field `{name}` appears twice");
                self.error("duplicate-declaration", message, place, "the second time".to_owned(), None);
            }
        }
        // After an unknown or a repeated field, the field that is meant must not be reported as missing.
        if given.len() < literal.fields.len() {
            return None;
        }
        let mut missing = ty.fields.iter().enumerate().filter(|(position, _)| !given.contains_key(position));
        if let (None, Some((_, (name, _)))) = (&base, missing.next()) {
            let message = format!("a value of {} has a field `{name}`, which is missing here", ty.name);
            let help = "give a record all its fields; `p with { weight: 3 }` changes only one field of `p`";
            let (label, help) = (format!("`{name}` is missing"), Some(help.to_owned()));
            self.error("missing-field", message, whole, label, help);
            return None;
        }
        let field = |position: usize| match (given.get(&position), &base) {
            (Some(term), _) => term.clone(),
            (None, Some(base)) => Some(Term::field(base, position)),
            (None, None) => None,
        };
        let fields = (0..ty.fields.len()).map(field).collect::<Option<Vec<Term>>>()?;
        Some(Term::record(&ty, fields))
    }

    /// Finds the record type of this name. Reports an unknown one, and shows how an alternative is written.
    fn find_record_type(&mut self, name: &str, span: &Range<usize>, literal: &RecordFields) -> Option<Type> {
        let types = &self.scope.names.types;
        let is_record = |ty: &Type| matches!(ty, Type::Record(_));
        if let Some((_, ty)) = types.iter().find(|(known, ty)| known == name && is_record(ty)) {
            return Some(ty.clone());
        }
        let is_plain = |ty: &Type| matches!(ty, Type::Record(record) if record.form == RecordForm::Plain);
        let known = || types.iter().filter(|(_, ty)| is_plain(ty)).map(|(name, _)| name.as_str());
        let help = match self.find_alternative(name) {
            Some((variant, number)) => {
                let alternative = &variant.alternatives()[number];
                let data = (0..alternative.count).map(|place| {
                    let field = variant.field_of(alternative, place);
                    let given = literal.fields.iter().find(|(name, ..)| name == field);
                    given.map_or(field, |(_, _, value)| self.text(&value.span))
                });
                let value = format!("{name}({})", data.collect::<Vec<_>>().join(", "));
                format!("it is an alternative of {}: write `{}`", variant.name, value.trim_end_matches("()"))
            }
            None => self.collector.suggest(name, "record types", known),
        };
        let message = format!("no record type is called `{name}`");
        self.error("unknown-type", message, span, "no record type".to_owned(), Some(help));
        None
    }

    /// Reports a field that the type does not have. `base` is the place of the value whose field it would be.
    pub(super) fn report_unknown_field(
        &mut self,
        ty: &RecordType,
        field: &str,
        span: &Range<usize>,
        base: Option<&Range<usize>>,
    ) {
        if ty.form != RecordForm::Plain {
            let help = explain_parts(ty, field, base.map_or("x", |base| self.text(base)));
            let message = format!("{} has no field `{field}`: only records have fields", ty.name);
            self.error("unknown-field", message, span, "no such field".to_owned(), Some(help));
            return;
        }
        let fields = || ty.fields.iter().map(|(name, _)| name.as_str());
        let help = self.collector.suggest(field, &format!("fields of {}", ty.name), fields);
        let message = format!("the record type {} has no field `{field}`", ty.name);
        self.error("unknown-field", message, span, "no such field".to_owned(), Some(help));
    }

    /// Types the literal of an array with all its cells.
    fn type_listed(
        &mut self,
        elements: &[Expression],
        span: &Range<usize>,
        ty: &Arc<ArrayType>,
    ) -> Option<Term> {
        let terms: Vec<Option<Term>> =
            elements.iter().map(|tree| self.type_as(tree, &ty.element, "an element")).collect();
        let Some(indices) = Value::enumerate(&ty.index, MOST_VALUES) else {
            self.report_too_many_cells(span, ty, MOST_VALUES, "its cells cannot be listed");
            return None;
        };
        if indices.len() != elements.len() {
            let (cells, given) = (indices.len(), elements.len());
            let message = format!("an array over {} has {cells} cells, but here it has {given}", ty.index);
            let help = "`[0 for all]` gives all cells one value, and `[0 for all][i := 1]` changes one";
            self.error("wrong-arity", message, span, format!("expected {cells}"), Some(help.to_owned()));
            return None;
        }
        let terms = terms.into_iter().collect::<Option<Vec<Term>>>()?;
        self.build_array(ty, Value::any(&ty.element), indices.into_iter().zip(terms), span)
    }

    /// Types `[e for all]`.
    fn type_filled(
        &mut self,
        element: &Expression,
        span: &Range<usize>,
        ty: &Arc<ArrayType>,
    ) -> Option<Term> {
        let term = self.type_as(element, &ty.element, "an element")?;
        if let Some(value) = term.as_literal().filter(|value| value.is_in(&ty.element)) {
            return self.build_array(ty, value.clone(), std::iter::empty(), span);
        }
        // A value that is not known is stored into each cell.
        let Some(indices) = Value::enumerate(&ty.index, MAX_CELLS) else {
            let reason = "the value of all its cells must be known and in their type";
            self.report_too_many_cells(span, ty, MAX_CELLS, reason);
            return None;
        };
        let cells = indices.into_iter().map(|index| (index, term.clone()));
        self.build_array(ty, Value::any(&ty.element), cells, span)
    }

    /// Builds an array of these cells, and of the default in all other cells.
    fn build_array(
        &mut self,
        ty: &Arc<ArrayType>,
        default: Value,
        cells: impl Iterator<Item = (Value, Term)>,
        span: &Range<usize>,
    ) -> Option<Term> {
        let is_known = |cell: &Term| cell.as_literal().is_some_and(|value| value.is_in(&ty.element));
        // The known cells make a literal. The others are stored into it.
        let (known, unknown): (Vec<_>, Vec<_>) = cells.partition(|(_, cell)| is_known(cell));
        let known = known.into_iter().filter_map(|(index, cell)| Some((index, cell.as_literal()?.clone())));
        let array = ArrayValue { ty: ty.clone(), default, cells: known.collect() }.canonical();
        let array = Term::literal(Value::Array(Arc::new(array)));
        self.is_expanded = true;
        let store =
            |array: Term, (index, cell): (Value, Term)| Term::store(&array, &Term::literal(index), &cell);
        let term = unknown.into_iter().fold(array, store);
        self.check_size(term, span)
    }

    fn report_too_many_cells(&mut self, span: &Range<usize>, ty: &ArrayType, most: usize, why: &str) {
        let message = format!("an array over {} has more than {most} cells: {why}", ty.index);
        let help = "`[0 for all]`, with a number or a literal of an enumeration, fits any array";
        self.error("too-many-values", message, span, "too many cells".to_owned(), Some(help.to_owned()));
    }
}

/// Explains how the parts of a value are read that is no record. `text` is the value.
fn explain_parts(ty: &RecordType, field: &str, text: &str) -> String {
    let alternatives = ty.alternatives();
    let has_field = |alternative: &&Alternative| {
        (0..alternative.count).any(|place| ty.field_of(alternative, place) == field)
    };
    let with_data = || alternatives.iter().find(|alternative| alternative.count > 0);
    match alternatives.iter().find(has_field).or_else(with_data) {
        Some(alternative) => {
            let name = &alternative.name;
            let case = if name == "some" { "some(x)".to_owned() } else { spell_alternative(ty, alternative) };
            format!(
                "write `match {text}: {case} -> ... | _ -> false` to read its data; `{text} is {name}` asks whether it has them"
            )
        }
        None if let Some(first) = alternatives.first() => {
            format!("write `{text} is {}` to ask for an alternative", first.name)
        }
        None => match (field.strip_prefix("at"), ty.map_value_type()) {
            (Some(index), _) if ty.form == RecordForm::List && index.parse::<usize>().is_ok() => {
                format!("write `{text}[{index}]` for an element")
            }
            _ if let Some(help) = elsewhere::explain_operation(field) => help.to_owned(),
            _ if ty.form == RecordForm::List => {
                format!("write `{text}[0]` for its first element, and `len({text})` for its length")
            }
            (_, None) => format!("write `k in {text}` to ask for a key, and `len({text})` for their number"),
            _ => format!(
                "write `{text}[k]` for the value at the key `k`, `k in {text}` to ask for a key, and `len({text})` for their number"
            ),
        },
    }
}
