//! Writes terms as SMT-LIB 2.6 text, for users that have a solver of their own.
//!
//! A formula over data consists of the [`declarations`], an assertion for each of the [`type_constraints`],
//! and an assertion for each term. Enumerations and records are datatypes. `nat`, ranges and ids are `Int`.
//! Shared subterms are bound by `let`, so the text is no longer than the shared term is large.
//!
//! Names stay as they are, quoted if SMT-LIB asks for it (`|x'|`). A name that SMT-LIB or a common solver
//! uses itself is followed by a `!` ([`symbol`]). Data that are printed together must differ in name, like
//! those of one model. There is one inexact case: a literal over a finite index type of more than 4096
//! values, with another default than the element type's simplest value, has this default also outside the
//! index type. So equality with it is too strict.

use std::collections::{BTreeSet, HashMap, HashSet};

use coreach_model::regular::RegularExpression;
use coreach_model::term::node::{Comparison, Node, Operator, StringOperation};
use coreach_model::term::strings;
use coreach_model::{Datum, Term, Type, Value};

use super::typing::{self, cells_of_literal, spelled_out};
use coreach_model::ids;

/// The words that names of a model must not be in a script, separated by blanks.
const TAKEN: &str = "Array BINARY Bool DECIMAL HEXADECIMAL Int NUMERAL Real RegLan STRING Seq Set String _ abs \
                     and as assert concat const default distinct div exists exit exp extract false forall if \
                     iff implies is is_int ite lambda let map match max min mod not or par pi pop push rem \
                     repeat root select sin store subset to_int to_real true union xor";

/// The commands that declare every sort and every datum of the terms, in an order in which they can be read.
pub fn declarations(terms: &[Term]) -> Vec<String> {
    let mut data = BTreeSet::new();
    let mut sorts = Sorts::default();
    // A hash set, because an order of deep terms would walk through them at each comparison.
    let mut seen = HashSet::new();
    for term in terms {
        let facts = typing::collect_facts(term);
        data.extend(facts.data);
        data.extend(facts.auxiliary);
        sorts.collect_from(term, &mut seen);
    }
    for datum in &data {
        sorts.add(datum.ty());
    }
    let mut lines = sorts.lines;
    lines.extend(data.iter().map(declaration));
    lines
}

pub fn declaration(datum: &Datum) -> String {
    format!("(declare-const {} {})", symbol(datum.name()), sort_to_smtlib(datum.ty()))
}

/// The assertions that data, and the cells that are read, lie in their types.
pub fn type_constraints(terms: &[Term]) -> Vec<String> {
    let mut constraints = Vec::new();
    for term in terms {
        let facts = typing::collect_facts(term);
        for (place, ty) in &facts.places {
            collect_membership(&term_to_smtlib(place), ty, &mut constraints);
        }
        constraints.extend(facts.side.iter().map(term_to_smtlib));
    }
    let mut seen = BTreeSet::new();
    constraints.retain(|constraint| seen.insert(constraint.clone()));
    constraints
}

/// Writes the question whether the terms can hold together.
pub fn script(terms: &[Term]) -> String {
    let mut lines = declarations(terms);
    lines.extend(type_constraints(terms).iter().map(|constraint| format!("(assert {constraint})")));
    lines.extend(terms.iter().map(|term| format!("(assert {})", term_to_smtlib(term))));
    lines.push("(check-sat)\n".to_owned());
    lines.join("\n")
}

pub fn term_to_smtlib(term: &Term) -> String {
    let mut printer = Printer::default();
    printer.count(term);
    let body = printer.print(term);
    let close = ")".repeat(printer.bindings.len());
    let open: String =
        printer.bindings.iter().map(|(name, text)| format!("(let (({name} {text})) ")).collect();
    format!("{open}{body}{close}")
}

pub fn sort_to_smtlib(ty: &Type) -> String {
    match ty {
        Type::Bool => "Bool".to_owned(),
        Type::Int | Type::Nat | Type::Range(..) | Type::Id(_) => "Int".to_owned(),
        Type::Real => "Real".to_owned(),
        Type::String => "String".to_owned(),
        Type::Enum(enumeration) => symbol(&enumeration.name),
        Type::Array(array) => {
            format!("(Array {} {})", sort_to_smtlib(&array.index), sort_to_smtlib(&array.element))
        }
        Type::Record(record) => symbol(&record.name),
    }
}

pub fn value_to_smtlib(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => write_signed(&value.to_string(), ""),
        Value::Real(value) => {
            let numerator = write_signed(&value.numerator().to_string(), ".0");
            match value.denominator().to_string().as_str() {
                "1" => numerator,
                denominator => format!("(/ {numerator} {denominator}.0)"),
            }
        }
        Value::String(text) => string_to_smtlib(text),
        Value::Id(_, text) => ids::number_of_text(text).to_string(),
        Value::Enum(enumeration, position) => symbol(&enumeration.literals[*position]),
        Value::Array(array) => {
            let sort = sort_to_smtlib(&Type::Array(array.ty.clone()));
            let (default, cells) = cells_of_literal(array);
            let empty = format!("((as const {sort}) {})", value_to_smtlib(&default));
            cells.iter().fold(empty, |text, (index, cell)| {
                format!("(store {text} {} {})", value_to_smtlib(index), value_to_smtlib(cell))
            })
        }
        Value::Record(record, fields) => {
            let fields: Vec<String> = fields.iter().map(value_to_smtlib).collect();
            format!("({} {})", constructor(&record.name), fields.join(" "))
        }
    }
}

/// A name as it is written in a script: quoted, and distinguished from words of the language.
pub fn symbol(name: &str) -> String {
    let name = if TAKEN.split(' ').any(|taken| taken == name) { format!("{name}!") } else { name.to_owned() };
    quote_symbol(name)
}

fn quote_symbol(name: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "~!$%^&*_-+=<>.?/".contains(c);
    if !name.is_empty()
        && name.chars().all(is_plain)
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.')
    {
        name
    } else {
        format!("|{}|", name.replace(['|', '\\'], "?"))
    }
}

fn constructor(record: &str) -> String {
    quote_symbol(format!("make!{record}"))
}

fn selector(record: &str, field: &str) -> String {
    quote_symbol(format!("{record}.{field}"))
}

fn write_signed(digits: &str, suffix: &str) -> String {
    match digits.strip_prefix('-') {
        Some(digits) => format!("(- {digits}{suffix})"),
        None => format!("{digits}{suffix}"),
    }
}

/// Collects the assertions that a value lies in its type.
fn collect_membership(text: &str, ty: &Type, constraints: &mut Vec<String>) {
    match ty {
        Type::Nat | Type::Id(_) => constraints.push(format!("(<= 0 {text})")),
        Type::Range(low, high) => constraints.push(format!(
            "(<= {} {text} {})",
            write_signed(&low.to_string(), ""),
            write_signed(&high.to_string(), "")
        )),
        Type::Record(record) => {
            for (name, ty) in &record.fields {
                collect_membership(&format!("({} {text})", selector(&record.name, name)), ty, constraints);
            }
        }
        Type::Bool | Type::Int | Type::Real | Type::String | Type::Enum(_) | Type::Array(_) => {}
    }
}

/// The datatypes found so far, each after those that it uses.
#[derive(Default)]
struct Sorts {
    known: BTreeSet<Type>,
    lines: Vec<String>,
}

impl Sorts {
    fn collect_from(&mut self, term: &Term, seen: &mut HashSet<Term>) {
        coreach_model::budget::ask();
        if !seen.insert(term.clone()) {
            return;
        }
        self.add(term.sort());
        for child in term.children() {
            self.collect_from(child, seen);
        }
    }

    fn add(&mut self, ty: &Type) {
        if !self.known.insert(ty.clone()) {
            return;
        }
        match ty {
            Type::Enum(enumeration) => {
                let literals: Vec<String> =
                    enumeration.literals.iter().map(|name| format!("({})", symbol(name))).collect();
                let (name, literals) = (symbol(&enumeration.name), literals.join(" "));
                self.lines.push(format!("(declare-datatypes (({name} 0)) (({literals})))"));
            }
            Type::Array(array) => {
                self.add(&array.index);
                self.add(&array.element);
            }
            Type::Record(record) => {
                let mut fields = String::new();
                for (name, ty) in &record.fields {
                    self.add(ty);
                    fields += &format!(" ({} {})", selector(&record.name, name), sort_to_smtlib(ty));
                }
                let (name, make) = (symbol(&record.name), constructor(&record.name));
                self.lines.push(format!("(declare-datatypes (({name} 0)) ((({make}{fields}))))"));
            }
            Type::Bool | Type::Int | Type::Nat | Type::Range(..) | Type::Real => {}
            Type::String | Type::Id(_) => {}
        }
    }
}

#[derive(Default)]
struct Printer {
    /// For each subterm: how often it is used, and how many nodes it has without sharing (saturating).
    uses: HashMap<Term, (usize, usize)>,
    names: HashMap<Term, String>,
    bindings: Vec<(String, String)>,
}

impl Printer {
    /// Counts the uses of a term and of its parts. Returns the number of its nodes.
    fn count(&mut self, term: &Term) -> usize {
        if let Some((uses, size)) = self.uses.get_mut(term) {
            *uses += 1;
            return *size;
        }
        let size = operands(term).iter().fold(1usize, |size, child| size.saturating_add(self.count(child)));
        self.uses.insert(term.clone(), (1, size));
        size
    }

    /// Prints a term after its parts, or the name to which it is bound.
    fn print(&mut self, term: &Term) -> String {
        coreach_model::budget::ask();
        if let Some(name) = self.names.get(term) {
            return name.clone();
        }
        let text = self.print_root(term);
        match self.uses.get(term) {
            // A subterm of at least four nodes that is used more than once is bound by `let`.
            Some(&(uses, size)) if uses > 1 && size >= 4 => {
                // Names of a model contain no `!`.
                let name = format!("shared!{}", self.bindings.len());
                self.bindings.push((name.clone(), text));
                self.names.insert(term.clone(), name.clone());
                name
            }
            _ => text,
        }
    }

    /// Prints a term by its root, after its operands.
    fn print_root(&mut self, term: &Term) -> String {
        match term.node() {
            Node::Literal(value) => return value_to_smtlib(value),
            Node::Data(datum) => return symbol(datum.name()),
            _ => {}
        }
        let parts: Vec<String> = operands(term).iter().map(|child| self.print(child)).collect();
        if let Node::OnStrings(operation, arguments) = term.node() {
            if let Some(expression) = strings::expression(arguments)
                && *operation == StringOperation::Matches
            {
                return format!("(str.in_re {} {})", parts[0], regular_to_smtlib(&expression));
            }
            return string_operation_to_smtlib(*operation, &parts);
        }
        let parts = parts.join(" ");
        match term.node() {
            Node::Literal(_) | Node::Data(_) | Node::OnStrings(..) => parts,
            Node::Compare(comparison, a, _) if *a.sort() == Type::String => match comparison {
                Comparison::Equal => format!("(= {parts})"),
                Comparison::NotEqual => format!("(not (= {parts}))"),
                Comparison::Less => format!("(str.< {parts})"),
                Comparison::AtMost => format!("(str.<= {parts})"),
                Comparison::Greater => format!("(not (str.<= {parts}))"),
                Comparison::AtLeast => format!("(not (str.< {parts}))"),
            },
            Node::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual), a, b) => {
                let equal = if spelled_out(a, b).is_some() { parts } else { format!("(= {parts})") };
                if *comparison == Comparison::Equal { equal } else { format!("(not {equal})") }
            }
            Node::Compare(comparison, ..) => format!("({comparison} {parts})"),
            Node::Not(_) => format!("(not {parts})"),
            Node::And(_) => format!("(and {parts})"),
            Node::Or(_) => format!("(or {parts})"),
            Node::IfThenElse(..) => format!("(ite {parts})"),
            Node::Arithmetic(operator, ..) => format!("({} {parts})", name_of_operator(*operator)),
            Node::Negate(_) => format!("(- {parts})"),
            Node::ToReal(_) => format!("(to_real {parts})"),
            Node::Select(..) => format!("(select {parts})"),
            Node::Store(..) => format!("(store {parts})"),
            Node::Record(record, _) => format!("({} {parts})", constructor(&record.name)),
            Node::Field(a, position) => {
                let Type::Record(record) = a.sort() else { unreachable!("{a} is not a record") };
                format!("({} {parts})", selector(&record.name, &record.fields[*position].0))
            }
        }
    }
}

/// The terms that are printed below a term's root.
fn operands(term: &Term) -> Vec<Term> {
    if let Node::Compare(Comparison::Equal | Comparison::NotEqual, a, b) = term.node()
        && let Some(conjunction) = spelled_out(a, b)
    {
        return vec![conjunction];
    }
    term.children().into_iter().cloned().collect()
}

/// The function of SMT-LIB for an operation on strings. Some take their arguments in another order.
pub(super) fn name_of_string_operation(operation: StringOperation) -> &'static str {
    match operation {
        StringOperation::Length => "str.len",
        StringOperation::Concatenate => "str.++",
        StringOperation::At => "str.at",
        StringOperation::Slice => "str.substr",
        StringOperation::StartsWith => "str.prefixof",
        StringOperation::EndsWith => "str.suffixof",
        StringOperation::Contains => "str.contains",
        StringOperation::IndexOf => "str.indexof",
        StringOperation::ToInteger => "str.to_int",
        StringOperation::FromInteger => "str.from_int",
        StringOperation::Matches => "str.in_re",
    }
}

/// Writes a regular expression. Its characters are those of SMT-LIB, without surrogates.
pub(super) fn regular_to_smtlib(expression: &RegularExpression) -> String {
    let apply = |name: &str, parts: Vec<String>| match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("({name} {})", parts.join(" ")),
    };
    let range = |low: char, high: char| {
        let [low, high] = [low, high].map(|c| string_to_smtlib(c.encode_utf8(&mut [0; 4])));
        format!("(re.range {low} {high})")
    };
    match expression {
        RegularExpression::Character(ranges) => {
            let characters = [('\0', '\u{d7ff}'), ('\u{e000}', '\u{2ffff}')];
            let parts = ranges.iter().flat_map(|(low, high)| {
                let within = characters.iter().map(|(from, to)| (*low.max(from), *high.min(to)));
                within.filter(|(low, high)| low <= high).map(|(low, high)| range(low, high))
            });
            let parts: Vec<String> = parts.collect();
            if parts.is_empty() { "re.none".to_owned() } else { apply("re.union", parts) }
        }
        RegularExpression::Sequence(parts) if parts.is_empty() => "(str.to_re \"\")".to_owned(),
        RegularExpression::Sequence(parts) => apply("re.++", parts.iter().map(regular_to_smtlib).collect()),
        RegularExpression::Either(parts) => apply("re.union", parts.iter().map(regular_to_smtlib).collect()),
        RegularExpression::Repeated(part, least, most) => {
            let part = regular_to_smtlib(part);
            match (least, most) {
                (0, None) => format!("(re.* {part})"),
                (1, None) => format!("(re.+ {part})"),
                (least, None) => format!("(re.++ ((_ re.^ {least}) {part}) (re.* {part}))"),
                (least, Some(most)) => format!("((_ re.loop {least} {most}) {part})"),
            }
        }
    }
}

fn string_operation_to_smtlib(operation: StringOperation, parts: &[String]) -> String {
    let name = name_of_string_operation(operation);
    match (operation, parts) {
        (StringOperation::StartsWith | StringOperation::EndsWith, [s, t]) => format!("({name} {t} {s})"),
        (StringOperation::IndexOf, [s, t]) => format!("({name} {s} {t} 0)"),
        // An argument that is needed twice is bound to a name that no model has.
        (StringOperation::Slice, [s, i, j]) => {
            format!("(let ((from! {i})) ({name} {s} from! (- {j} from!)))")
        }
        (StringOperation::FromInteger, [n]) => {
            format!("(let ((of! {n})) (ite (< of! 0) (str.++ \"-\" ({name} (- of!))) ({name} of!)))")
        }
        _ => format!("({name} {})", parts.join(" ")),
    }
}

fn string_to_smtlib(text: &str) -> String {
    format!("\"{}\"", escape(text).replace('"', "\"\""))
}

/// Escapes all characters that are not plain ASCII, and backslashes, with which escapes begin.
pub(super) fn escape(text: &str) -> String {
    let is_plain = |c: char| (' '..='~').contains(&c) && c != '\\';
    let escape_character =
        |c: char| if is_plain(c) { c.to_string() } else { format!("\\u{{{:x}}}", u32::from(c)) };
    text.chars().map(escape_character).collect()
}

fn name_of_operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::IntegerDivide => "div",
        Operator::Modulo => "mod",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::random::{RandomTerms, known_formulas};
    use crate::solver::z3::Z3Solver;
    use crate::solver::{Answer, Solver};

    /// Z3's answer to the printed text. Every assertion must have been read.
    fn answer_to_text(terms: &[Term]) -> Answer {
        let text = script(terms).replace("(check-sat)\n", "");
        let solver = z3::Solver::new();
        solver.push();
        solver.from_string(text.clone());
        assert_eq!(solver.get_assertions().len(), text.matches("(assert ").count(), "not read: {text}");
        match solver.check() {
            z3::SatResult::Sat => Answer::Sat,
            z3::SatResult::Unsat => Answer::Unsat,
            z3::SatResult::Unknown => Answer::Unknown,
        }
    }

    #[test]
    fn text_means_what_the_direct_translation_means() {
        let mut random = RandomTerms::new(7);
        let mut solver = Z3Solver::default();
        let mut counts = [0, 0];
        for _ in 0..150 {
            let terms = [random.boolean(3), random.boolean(3), random.boolean(2)];
            let direct = solver.check(&terms);
            counts[usize::from(direct == Answer::Sat)] += 1;
            assert_eq!(answer_to_text(&terms), direct, "{terms:?}");
        }
        assert!(counts[0] > 5 && counts[1] > 5, "one-sided test: {counts:?}");
    }

    #[test]
    fn hand_made_terms() {
        let mut solver = Z3Solver::default();
        for (terms, expected) in known_formulas() {
            assert_eq!(answer_to_text(&terms), expected, "{}", script(&terms));
            assert_eq!(solver.check(&terms), expected, "{terms:?}");
        }
    }

    #[test]
    fn sharing_does_not_explode() {
        let x = Term::datum(&Datum::new("x", Type::Int));
        let mut sum = Term::add(&x, &Term::datum(&Datum::new("y", Type::Int)));
        for _ in 0..60 {
            sum = Term::multiply(&sum, &sum);
        }
        let text = term_to_smtlib(&sum);
        assert!(text.len() < 4000, "{} characters", text.len());
    }

    #[test]
    fn names_are_quoted_where_needed() {
        assert_eq!(symbol("x"), "x");
        assert_eq!(symbol("x'"), "|x'|");
        assert_eq!(symbol("select"), "select!");
    }
}
