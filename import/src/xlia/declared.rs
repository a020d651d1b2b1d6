//! Translates the declarations of a machine of XLIA: types, data, clocks, ports.
//!
//! A declaration with a mistake stays known without a meaning, so that its uses are not reported again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, nearest};
use coreach_model::iosts::Action;
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::{Collector, inventory};
use coreach_model::timed::clock;
use coreach_model::types::EnumType;
use coreach_model::{ActionId, ActionKind, Datum, Term, Type, Value};

use super::parse::{Machine, Name, Port, XliaDeclared, XliaStep};
use crate::expression::typing::{ForeignScope, ForeignTyping};
use crate::expression::{Dialect, ForeignExpression};
use crate::names::Naming;
use crate::options::Options;
use crate::piece::Piece;

pub(super) struct DeclaredData {
    pub(super) types: Vec<(String, Type)>,
    pub(super) constants: Vec<Datum>,
    pub(super) variables: Vec<Datum>,
    pub(super) clocks: Vec<Datum>,
    pub(super) scope: ForeignScope,
    pub(super) actions: Numbered<ActionId, Action>,
    /// The action of each port by its name in the file. `None`, if its declaration was a mistake.
    pub(super) ports: BTreeMap<String, Option<ActionId>>,
    /// For each port's action, the parameters that are not negative by their type.
    pub(super) unsigned: BTreeMap<ActionId, Vec<bool>>,
    pub(super) internal: ActionId,
    pub(super) uncontrollable: BTreeSet<ActionId>,
    pub(super) first: Vec<(Datum, ForeignExpression)>,
}

/// The names of types, each with its type here. The flag says that its values are not negative.
const TYPES: [(&str, Type, bool); 16] = [
    ("bool", Type::Bool, false),
    ("boolean", Type::Bool, false),
    ("int", Type::Int, false),
    ("integer", Type::Int, false),
    ("uint", Type::Nat, false),
    ("uinteger", Type::Nat, false),
    ("natural", Type::Nat, false),
    ("rational", Type::Real, false),
    ("real", Type::Real, false),
    ("float", Type::Real, false),
    ("double", Type::Real, false),
    ("urational", Type::Real, true),
    ("ureal", Type::Real, true),
    ("ufloat", Type::Real, true),
    ("udouble", Type::Real, true),
    ("time", Type::Real, true),
];

impl DeclaredData {
    /// Translates all declarations of a machine. `taken` are names that other machines have.
    pub(super) fn of(
        collector: &mut Collector,
        options: &Options,
        machine: &Machine,
        piece: &Piece,
        taken: &BTreeSet<String>,
    ) -> Self {
        check_distinct(collector, machine);
        let type_names =
            give_names(collector, machine.types.iter().map(|(name, _)| name), "types", "t", taken);
        let names = give_names(collector, names_of_data(machine), "data", "v", taken);
        let mut declared = DeclaredData {
            types: Vec::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            clocks: Vec::new(),
            scope: ForeignScope::new(),
            actions: Numbered::new(),
            ports: BTreeMap::new(),
            unsigned: BTreeMap::new(),
            internal: ActionId(0),
            uncontrollable: BTreeSet::new(),
            first: Vec::new(),
        };
        // The types by their names in the file.
        let mut types = Vec::new();
        for (name, literals) in &machine.types {
            let enumeration = Arc::new(EnumType {
                name: type_names.get(&name.text).to_owned(),
                literals: literals.iter().map(|literal| names.get(&literal.text).to_owned()).collect(),
            });
            for (number, literal) in literals.iter().enumerate() {
                let term = Term::literal(Value::Enum(enumeration.clone(), number));
                declared.scope.insert(format!("{}.{}", name.text, literal.text), Some(term.clone()));
                declared.scope.insert(literal.text.clone(), Some(term));
            }
            types.push((name.text.clone(), Type::Enum(enumeration)));
        }
        for constant in &machine.constants {
            let term = find_type(collector, &constant.ty, &types)
                .and_then(|(ty, _)| declared.translate_constant(collector, piece, constant, ty, &names));
            declared.scope.insert(constant.name.text.clone(), term);
        }
        declared.add_variables(collector, machine, &types, &names);
        for declaration in &machine.clocks {
            if find_type(collector, &declaration.ty, &types).is_some_and(|(ty, _)| ty != Type::Real) {
                let diagnostic =
                    Diagnostic::warning("clock", "clocks are real here, but this one counts whole units");
                collector.push(diagnostic.at(collector.origin(&declaration.ty.span), "a clock of integers"));
            }
            let datum = clock(names.get(&declaration.name.text));
            declared.scope.insert(declaration.name.text.clone(), Some(Term::datum(&datum)));
            declared.clocks.push(datum);
        }
        let taken = names.all().union(taken).cloned().collect();
        declared.add_ports(collector, machine, &types, &taken);
        declared.add_internal_action(machine);
        declared.add_uncontrollable(collector, options, machine);
        declared.types = types.into_iter().map(|(name, ty)| (type_names.get(&name).to_owned(), ty)).collect();
        declared
    }

    /// Translates a constant to its value. A constant without a value is one of the specification.
    fn translate_constant(
        &mut self,
        collector: &mut Collector,
        piece: &Piece,
        constant: &XliaDeclared,
        ty: Type,
        names: &Naming,
    ) -> Option<Term> {
        let Some(value) = &constant.value else {
            let datum = Datum::new(names.get(&constant.name.text), ty);
            let term = Term::datum(&datum);
            self.constants.push(datum);
            return Some(term);
        };
        let mut typing = ForeignTyping::new(&self.scope, Dialect::Xlia);
        let term = typing.of_type(value, &ty, &format!("`{}`", constant.name.text));
        report_mistakes(collector, piece, typing.mistakes);
        term
    }

    /// Declares the variables, with their first values. A time becomes a real.
    fn add_variables(
        &mut self,
        collector: &mut Collector,
        machine: &Machine,
        types: &[(String, Type)],
        names: &Naming,
    ) {
        // One warning for all variables names the first type without negative values.
        let mut unsigned: Option<&Name> = None;
        for variable in &machine.variables {
            let known = match variable.ty.text.strip_prefix("time ") {
                None => find_type(collector, &variable.ty, types),
                Some(numbers) => find_type_of_time(collector, &variable.ty, numbers, types),
            };
            let Some((ty, is_unsigned)) = known else {
                self.scope.insert(variable.name.text.clone(), None);
                continue;
            };
            unsigned = unsigned.or(Some(&variable.ty).filter(|_| is_unsigned));
            let datum = Datum::new(names.get(&variable.name.text), ty);
            self.scope.insert(variable.name.text.clone(), Some(Term::datum(&datum)));
            self.first.extend(variable.value.iter().map(|value| (datum.clone(), value.clone())));
            self.variables.push(datum);
        }
        if let Some(ty) = unsigned {
            let message = format!(
                "variables of the type `{}` become reals: nothing keeps assigned values from being negative",
                ty.text
            );
            let diagnostic = Diagnostic::warning("unsigned", message);
            collector.push(diagnostic.at(collector.origin(&ty.span), "may be negative here"));
        }
    }

    /// Makes an action of each port.
    fn add_ports(
        &mut self,
        collector: &mut Collector,
        machine: &Machine,
        types: &[(String, Type)],
        taken: &BTreeSet<String>,
    ) {
        let action_name = |port: &Port| Name {
            text: port.action.clone().unwrap_or_else(|| port.name.text.clone()),
            span: port.name.span.clone(),
        };
        let action_names: Vec<Name> = machine.ports.iter().map(action_name).collect();
        let names = give_names(collector, &action_names, "actions", "a", &BTreeSet::new());
        for port in &machine.ports {
            let numbers: Vec<String> = (1..=port.types.len()).map(|number| format!("p{number}")).collect();
            let parameters = Naming::of(numbers.iter().map(|name| (name.as_str(), None)), taken, "p");
            let mut unsigned = Vec::new();
            let mut data = Vec::new();
            for (number, ty) in numbers.iter().zip(&port.types) {
                if let Some((ty, is_unsigned)) = find_type(collector, ty, types) {
                    data.push(Datum::new(parameters.get(number), ty));
                    unsigned.push(is_unsigned);
                }
            }
            let kind = if port.is_input { ActionKind::Input } else { ActionKind::Output };
            let name = names.get(&action_name(port).text).to_owned();
            let number = self.actions.push(Action { name, kind, parameters: data });
            // A port with an unknown type has no meaning, and its uses are not reported.
            let meaning = Some(number).filter(|_| unsigned.len() == port.types.len());
            self.ports.insert(port.name.text.clone(), meaning);
            self.unsigned.insert(number, unsigned);
        }
    }

    /// Adds the action of internal steps, if the machine has a transition without a message.
    fn add_internal_action(&mut self, machine: &Machine) {
        let is_message = |step: &XliaStep| matches!(step, XliaStep::Input(..) | XliaStep::Output(..));
        let mut transitions = machine.states.iter().flat_map(|state| &state.transitions);
        self.internal = self.actions.next_number();
        if transitions.any(|transition| !transition.steps.iter().any(is_message)) {
            let taken = self.actions.iter().map(|action| action.name.clone()).collect();
            let name = Naming::of([("tau", None)], &taken, "tau").get("tau").to_owned();
            self.actions.push(Action { name, kind: ActionKind::Internal, parameters: Vec::new() });
        }
    }

    fn add_uncontrollable(&mut self, collector: &mut Collector, options: &Options, machine: &Machine) {
        let inputs = || machine.ports.iter().filter(|port| port.is_input).map(|port| port.name.text.as_str());
        for name in &options.uncontrollable {
            match self.ports.get(name).filter(|_| inputs().any(|input| input == name)) {
                Some(number) => self.uncontrollable.extend(*number),
                None => {
                    let message = format!("--uncontrollable names `{name}`, which is not an input");
                    let diagnostic = Diagnostic::error("unknown-name", message);
                    collector.push(diagnostic.help(match nearest(name, inputs()) {
                        Some(similar) => format!("did you mean `{similar}`?"),
                        None => inventory("inputs", inputs()),
                    }));
                }
            }
        }
    }
}

pub(super) fn give_names<'a>(
    collector: &mut Collector,
    names: impl IntoIterator<Item = &'a Name>,
    what: &str,
    plain: &str,
    taken: &BTreeSet<String>,
) -> Naming {
    let names: Vec<(&str, Option<coreach_model::Origin>)> =
        names.into_iter().map(|name| (name.text.as_str(), Some(collector.origin(&name.span)))).collect();
    let naming = Naming::of(names, taken, plain);
    naming.warn_of_changes(collector, what);
    naming
}

/// The names of literals, constants, variables and clocks, which share one namespace.
fn names_of_data(machine: &Machine) -> impl Iterator<Item = &Name> {
    let literals = machine.types.iter().flat_map(|(_, literals)| literals);
    let declared = [&machine.constants, &machine.variables, &machine.clocks].into_iter().flatten();
    literals.chain(declared.map(|declaration| &declaration.name))
}

/// Reports names that are declared twice.
fn check_distinct(collector: &mut Collector, machine: &Machine) {
    let lists: [(&str, Vec<&Name>); 4] = [
        ("datum", names_of_data(machine).collect()),
        ("port", machine.ports.iter().map(|port| &port.name).collect()),
        ("state", machine.states.iter().map(|state| &state.name).collect()),
        ("type", machine.types.iter().map(|(name, _)| name).collect()),
    ];
    for (kind, names) in lists {
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for name in names {
            if let Some(first) = seen.get(name.text.as_str()) {
                let message = format!("the {kind} `{}` is declared twice", name.text);
                let diagnostic = Diagnostic::error("duplicate-declaration", message)
                    .at(collector.origin(&name.span), "declared again")
                    .at(collector.origin(&first.span), "first declared here");
                collector.push(diagnostic);
            } else {
                seen.insert(&name.text, name);
            }
        }
    }
}

/// Finds the type of this name, or reports that there is none. The flag says that no value is negative.
fn find_type(collector: &mut Collector, name: &Name, types: &[(String, Type)]) -> Option<(Type, bool)> {
    let own = types.iter().find(|(known, _)| *known == name.text).map(|(_, ty)| (ty.clone(), false));
    let known = || {
        TYPES.iter().find(|(known, ..)| *known == name.text).map(|(_, ty, unsigned)| (ty.clone(), *unsigned))
    };
    let ty = own.or_else(known);
    if ty.is_none() {
        let known_names: Vec<&str> =
            types.iter().map(|(name, _)| name.as_str()).chain(TYPES.iter().map(|(name, ..)| *name)).collect();
        let message = format!("no type `{}` can be translated", name.text);
        let diagnostic =
            Diagnostic::error("unknown-type", message).at(collector.origin(&name.span), "no such type");
        let help = match nearest(&name.text, known_names.iter().copied()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => inventory("types", known_names),
        };
        collector.push(diagnostic.help(help));
    }
    ty
}

/// Finds the type of a time, which is a real. `numbers` are those in which it is counted. Warns of integers.
fn find_type_of_time(
    collector: &mut Collector,
    name: &Name,
    numbers: &str,
    types: &[(String, Type)],
) -> Option<(Type, bool)> {
    let type_name = Name { text: numbers.to_owned(), span: name.span.clone() };
    let (ty, _) = find_type(collector, &type_name, types)?;
    if ty != Type::Real {
        let diagnostic = Diagnostic::warning("clock", "times are real here, but this one counts whole units");
        collector.push(diagnostic.at(Some(collector.origin(&name.span)), "a time of integers"));
    }
    Some((Type::Real, true))
}

pub(super) fn report_mistakes(
    collector: &mut Collector,
    piece: &Piece,
    mistakes: Vec<crate::expression::ForeignMistake>,
) {
    for mistake in mistakes {
        let diagnostic = mistake.on(collector, piece);
        collector.push(diagnostic);
    }
}
