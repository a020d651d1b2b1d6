//! Makes a model of a machine of XLIA.
//!
//! **Meaning.** The statements of a transition are done in their order. A guard after `input c(x)` is about
//! the received value, an output sends the value of its expression at that point, and later statements see an
//! assignment. So the translation follows the statements with a term for each variable. The result is one
//! guard and one parallel assignment, both over the data before the step. `cl := 0` sets a clock back.
//!
//! - A transition without `input` and `output` is an internal step. A transition with two of them is not
//!   translated.
//! - Numbers: `urational` and similar types are reals. Received values must not be negative, and the guard
//!   demands that. Assigned values are not checked, with a warning. `uint` is `nat`.
//! - A variable without a first value that is read before it is assigned gets its first value from a constant
//!   ([`crate::finish`]). In a timed model it may stay open.
//! - A constant without a value is a constant of the specification.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Iosts, Location, Transition as Edge, TransitionOrigin};
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute};
use coreach_model::timed::Clocks;
use coreach_model::{ActionId, ActionKind, Datum, LocationId, Term, TransitionId, Type, Value, budget};
use dashu_ratio::RBig;

use super::declared::{DeclaredData, give_names, report_mistakes};
use super::parse::{Machine, Name, XliaState, XliaStep, XliaTransition};
use crate::expression::typing::ForeignTyping;
use crate::expression::{Dialect, ForeignExpression, ForeignKind};
use crate::finish::Model;
use crate::names::Naming;
use crate::options::Options;
use crate::piece::Piece;

/// Makes the model with this name, and without the taken names. Reports mistakes, and is `None` then.
pub fn translate(
    collector: &mut Collector,
    options: &Options,
    machine: &Machine,
    name: &str,
    taken: &BTreeSet<String>,
) -> Option<Model> {
    let file = collector.file.clone();
    let piece = Piece::plain(&file.text, 0);
    let declared = DeclaredData::of(collector, options, machine, &piece, taken);
    let mut translation = Translation { collector, machine, piece: &piece, declared: &declared };
    translation.translate_machine(name)
}

/// Turns a model without clocks into one without time, whatever the file says.
pub fn drop_unused_time(collector: &mut Collector, is_timed: bool, model: Model) -> Model {
    let Some((clocks, uncontrollable)) = &model.time else { return model };
    if !clocks.clocks.is_empty() {
        return model;
    }
    if is_timed {
        let message = "the system is `timed` but has no clock: the specification has no time";
        collector.push(Diagnostic::warning("not-taken", message));
    }
    if !uncontrollable.is_empty() {
        let message = "only models with clocks can have inputs that the tester does not send";
        collector.push(Diagnostic::error("contradiction", message).help("remove --uncontrollable"));
    }
    if clocks.names.iter().any(Option::is_some) {
        let message = "only models with clocks can name transitions: the names are left out";
        collector.push(Diagnostic::warning("not-taken", message));
    }
    Model { time: None, ..model }
}

struct Translation<'a> {
    collector: &'a mut Collector,
    machine: &'a Machine,
    piece: &'a Piece,
    declared: &'a DeclaredData,
}

impl Translation<'_> {
    /// Translates the states and transitions of the machine.
    fn translate_machine(&mut self, name: &str) -> Option<Model> {
        let (machine, declared) = (self.machine, self.declared);
        let state_names = machine.states.iter().map(|state| &state.name);
        let naming = give_names(self.collector, state_names, "locations", "l", &BTreeSet::new());
        let mut locations: Numbered<LocationId, Location> = Numbered::new();
        let mut by_name: BTreeMap<&str, LocationId> = BTreeMap::new();
        for state in &machine.states {
            let mut location = Location::named(naming.get(&state.name.text));
            location.label.clone_from(&state.name.text);
            by_name.insert(&state.name.text, locations.push(location));
        }
        let starts: Vec<&XliaState> = machine.states.iter().filter(|state| state.is_start).collect();
        let [start] = starts.as_slice() else {
            let message = format!("a machine begins in one state, but {} states are marked", starts.len());
            let mut diagnostic = Diagnostic::error("no-start", message);
            for state in starts {
                diagnostic = diagnostic.at(self.collector.origin(&state.name.span), "it begins here");
            }
            self.collector.push(diagnostic.help("mark it with `state< start > name`"));
            return None;
        };
        let (initial_condition, known) = self.translate_initial(start);
        let mut transitions: Numbered<TransitionId, Edge> = Numbered::new();
        let mut resets = Numbered::new();
        let mut transition_names: Numbered<TransitionId, Option<String>> = Numbered::new();
        // The names have the order of the two loops.
        let (foreign_names, naming) = self.name_transitions();
        let mut foreign_names = foreign_names.into_iter();
        for state in &machine.states {
            for transition in &state.transitions {
                budget::ask();
                let name = foreign_names.next().flatten();
                let Some(target) = by_name.get(transition.target.text.as_str()) else {
                    let states = by_name.keys().copied();
                    self.report_unknown(&transition.target, "state", "no such state", states);
                    continue;
                };
                let source = by_name[state.name.text.as_str()];
                if let Some((edge, reset)) = self.translate_transition(transition, source, *target) {
                    transitions.push(edge);
                    resets.push(reset);
                    transition_names.push(name.map(|name| naming.get(&name).to_owned()));
                }
            }
        }
        if self.collector.errors() > 0 {
            return None;
        }
        let name = Naming::of([(name, None)], &BTreeSet::new(), "model").get(name).to_owned();
        let iosts = Iosts {
            name,
            constants: declared.constants.clone(),
            variables: declared.variables.clone(),
            initial_condition,
            initial: *by_name.get(start.name.text.as_str())?,
            locations,
            actions: declared.actions.clone(),
            transitions,
            origin: None,
        };
        let open = declared.variables.iter().filter(|variable| !known.contains(*variable)).cloned().collect();
        let clocks = Clocks { clocks: declared.clocks.clone(), resets, names: transition_names };
        let time = Some((clocks, declared.uncontrollable.clone()));
        Some(Model { iosts, types: declared.types.clone(), time, open })
    }

    /// Names the transitions, in the order of the file. A name that transitions of several states have gets
    /// the state's name before it. Also returns what becomes of these names.
    fn name_transitions(&mut self) -> (Vec<Option<String>>, Naming) {
        let mut named: Vec<(&XliaState, Option<Name>)> = Vec::new();
        for state in &self.machine.states {
            named.extend(state.transitions.iter().map(|transition| (state, transition.name.clone())));
        }
        // The states of each name.
        let mut states: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (state, name) in &named {
            let Some(name) = name else { continue };
            if !states.entry(name.text.clone()).or_default().insert(&state.name.text) {
                let message = format!("two transitions of `{}` are called `{}`", state.name.text, name.text);
                let diagnostic = Diagnostic::error("duplicate-declaration", message);
                self.collector.push(diagnostic.at(self.collector.origin(&name.span), "the second one"));
            }
        }
        let full_name = |state: &XliaState, name: Name| match states[&name.text].len() {
            1 => name,
            _ => Name { text: format!("{}.{}", state.name.text, name.text), span: name.span },
        };
        let names: Vec<Option<Name>> =
            named.into_iter().map(|(state, name)| name.map(|name| full_name(state, name))).collect();
        let naming = give_names(self.collector, names.iter().flatten(), "transitions", "t", &BTreeSet::new());
        (names.into_iter().map(|name| name.map(|name| name.text)).collect(), naming)
    }

    fn translate_typed(&mut self, tree: &ForeignExpression, ty: &Type, whose: &str) -> Option<Term> {
        let mut typing = ForeignTyping::new(&self.declared.scope, Dialect::Xlia);
        let term = typing.of_type(tree, ty, whose);
        report_mistakes(self.collector, self.piece, typing.mistakes);
        term
    }

    /// Reports a name that is not one of the known names, with the one that may be meant.
    fn report_unknown<'n>(
        &mut self,
        name: &Name,
        what: &str,
        label: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let message = format!("there is no {what} `{}`", name.text);
        let diagnostic =
            Diagnostic::error("unknown-name", message).at(self.collector.origin(&name.span), label);
        let diagnostic = match self.collector.nearest(&name.text, known) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic,
        };
        self.collector.push(diagnostic);
    }

    /// Finds the variable or clock of this name. Reports any other name.
    fn find_variable(&mut self, name: &Name) -> Option<Datum> {
        let datum_of = |term: &Option<Term>| match term.as_ref().map(Term::node) {
            Some(Node::Data(datum)) => Some(datum.clone()),
            _ => None,
        };
        match self.declared.scope.get(&name.text) {
            // Its declaration was a mistake, which has been reported.
            Some(None) => None,
            Some(term) if datum_of(term).is_some_and(|datum| !self.declared.constants.contains(&datum)) => {
                datum_of(term)
            }
            Some(_) => {
                let message = format!("`{}` is not a variable", name.text);
                self.collector.error("not-a-variable", message, &name.span, "cannot be assigned");
                None
            }
            None => {
                let tree =
                    ForeignExpression { kind: ForeignKind::Name(name.text.clone()), span: name.span.clone() };
                // This reports the name.
                self.translate_typed(&tree, &Type::Int, "this");
                None
            }
        }
    }

    /// Turns first values and `@init` into the initial condition. Also returns their variables.
    fn translate_initial(&mut self, start: &XliaState) -> (Term, BTreeSet<Datum>) {
        let mut state = Substitution::new();
        for (datum, tree) in &self.declared.first {
            if let Some(value) = self.translate_typed(tree, datum.ty(), "the first value") {
                self.set_first(&mut state, datum, &value, tree);
            }
        }
        for step in &start.first {
            match step {
                XliaStep::Assign(name, tree) => {
                    let Some(datum) = self.find_variable(name) else { continue };
                    if self.declared.clocks.contains(&datum) {
                        let is_zero = matches!(&tree.kind, ForeignKind::Number(digits) if digits.trim_matches(['0', '.']).is_empty());
                        if !is_zero {
                            self.collector.error("clock", "clocks begin at 0", &tree.span, "another value");
                        }
                        continue;
                    }
                    if let Some(value) = self.translate_typed(tree, datum.ty(), &format!("`{}`", name.text)) {
                        self.set_first(&mut state, &datum, &value, tree);
                    }
                }
                XliaStep::Guard(tree) => {
                    let message = "cannot translate a guard in `@init`";
                    self.collector.error("untranslatable", message, &tree.span, "here");
                }
                XliaStep::Input(name, _) | XliaStep::Output(name, _) => {
                    let message = "cannot translate a message in `@init`";
                    self.collector.error("untranslatable", message, &name.span, "here");
                }
            }
        }
        for other in self.machine.states.iter().filter(|state| !state.is_start && !state.first.is_empty()) {
            let message = "`@init` can be translated only in the first state";
            self.collector.error("untranslatable", message, &other.name.span, "this state");
        }
        let condition = Term::and(state.iter().map(|(datum, value)| Term::equal(&Term::datum(datum), value)));
        (condition, state.into_keys().collect())
    }

    /// Sets the first value of a variable. It may not depend on a variable without a value.
    fn set_first(&mut self, state: &mut Substitution, datum: &Datum, value: &Term, tree: &ForeignExpression) {
        let value = substitute(value, state);
        if self.declared.variables.iter().any(|other| value.mentions(other)) {
            let message = "a first value uses a variable that has none";
            self.collector.error("first-value", message, &tree.span, "not known yet");
            return;
        }
        state.insert(datum.clone(), value);
    }

    /// Finds the action of a port that must have this direction.
    fn find_action(&mut self, name: &Name, kind: ActionKind) -> Option<ActionId> {
        match self.declared.ports.get(&name.text).copied() {
            // Its declaration was a mistake, which has been reported.
            Some(None) => None,
            Some(Some(number)) if self.declared.actions[number].kind == kind => Some(number),
            Some(Some(_)) => {
                let message = format!("the port `{}` has the other direction", name.text);
                self.collector.error("contradiction", message, &name.span, "not this direction");
                None
            }
            None => {
                let ports = self.declared.ports.keys().map(String::as_str);
                self.report_unknown(name, "port", "not declared", ports);
                None
            }
        }
    }

    /// Translates a transition. Also returns the clocks that it sets back. `None` after a mistake.
    fn translate_transition(
        &mut self,
        transition: &XliaTransition,
        source: LocationId,
        target: LocationId,
    ) -> Option<(Edge, Vec<Datum>)> {
        // The value of each variable so far, over the data before the step.
        let mut state = Substitution::new();
        let mut guards: Vec<Term> = Vec::new();
        let mut action: Option<ActionId> = None;
        for step in &transition.steps {
            match step {
                XliaStep::Guard(tree) => {
                    let guard = self.translate_typed(tree, &Type::Bool, "a guard")?;
                    guards.push(substitute(&guard, &state));
                }
                XliaStep::Assign(name, tree) => {
                    let datum = self.find_variable(name)?;
                    let value = self.translate_typed(tree, datum.ty(), &format!("`{}`", name.text))?;
                    if self.declared.clocks.contains(&datum) && value != Term::int(0).to_real() {
                        let message = "a clock can be set only to 0";
                        self.collector.error("untranslatable", message, &tree.span, "another value");
                        return None;
                    }
                    state.insert(datum, substitute(&value, &state));
                }
                XliaStep::Input(name, values) | XliaStep::Output(name, values) => {
                    let is_input = matches!(step, XliaStep::Input(..));
                    let kind = if is_input { ActionKind::Input } else { ActionKind::Output };
                    let number = self.find_action(name, kind)?;
                    if action.replace(number).is_some() {
                        let message = "a transition with two messages cannot be translated";
                        let diagnostic = Diagnostic::error("untranslatable", message)
                            .at(self.collector.origin(&name.span), "the second one");
                        self.collector.push(diagnostic.help("put a state between them"));
                        return None;
                    }
                    self.translate_values(number, name, values, &mut state, &mut guards)?;
                }
            }
        }
        let action = action.unwrap_or(self.declared.internal);
        let kind = self.declared.actions[action].kind;
        if kind == ActionKind::Input {
            self.bound_received(action, &mut guards);
        }
        // A clock is only set back to 0.
        let is_set_back = |clock: &&Datum| state.remove(*clock).is_some();
        let resets: Vec<Datum> = self.declared.clocks.iter().filter(is_set_back).cloned().collect();
        state.retain(|datum, value| *value != Term::datum(datum));
        let guard = Term::and(guards);
        if kind == ActionKind::Internal {
            let has_clock = |term: &Term| self.declared.clocks.iter().any(|clock| term.mentions(clock));
            if !resets.is_empty() || has_clock(&guard) || state.values().any(has_clock) {
                let message = "an internal step takes no time: it cannot use clocks";
                let diagnostic = Diagnostic::error("internal-time", message)
                    .at(self.collector.origin(&transition.span), "it has no message");
                self.collector.push(
                    diagnostic.help("let it send something, or move its conditions into the steps around it"),
                );
                return None;
            }
        }
        let origin =
            TransitionOrigin { whole: Some(self.collector.origin(&transition.span)), ..Default::default() };
        Some((Edge { source, action, guard, assignments: state, target, origin }, resets))
    }

    /// Puts the received values into variables, or demands that the action carries the sent values.
    fn translate_values(
        &mut self,
        number: ActionId,
        name: &Name,
        values: &[ForeignExpression],
        state: &mut Substitution,
        guards: &mut Vec<Term>,
    ) -> Option<()> {
        let action = &self.declared.actions[number];
        if action.parameters.len() != values.len() {
            let (given, declared) = (values.len(), action.parameters.len());
            let message = format!("`{}` has {given} values here, but its port has {declared}", name.text);
            self.collector.error("contradiction", message, &name.span, "not as declared");
            return None;
        }
        for (parameter, tree) in action.parameters.iter().zip(values) {
            if action.kind == ActionKind::Input {
                self.receive_into(parameter, tree, state)?;
            } else {
                let value = self.translate_typed(tree, parameter.ty(), "the sent value")?;
                guards.push(Term::equal(&Term::datum(parameter), &substitute(&value, state)));
            }
        }
        Some(())
    }

    /// Demands that received values are not negative, if their type says so and no guard does.
    fn bound_received(&self, action: ActionId, guards: &mut Vec<Term>) {
        let parameters = self.declared.actions[action].parameters.iter();
        let zero = Term::int(0).to_real();
        let mut bounds = Vec::new();
        for (parameter, is_unsigned) in parameters.zip(&self.declared.unsigned[&action]) {
            if *is_unsigned && !guards.iter().any(|guard| is_bounded(guard, parameter)) {
                bounds.push(Term::compare(Comparison::AtLeast, &Term::datum(parameter), &zero));
            }
        }
        guards.splice(0..0, bounds);
    }

    /// Puts a received value into a variable of a fitting type.
    fn receive_into(
        &mut self,
        parameter: &Datum,
        tree: &ForeignExpression,
        state: &mut Substitution,
    ) -> Option<()> {
        let ForeignKind::Name(name) = &tree.kind else {
            let message = "a received value needs a variable";
            self.collector.error("untranslatable", message, &tree.span, "not a variable");
            return None;
        };
        let name = Name { text: name.clone(), span: tree.span.clone() };
        let variable = self.find_variable(&name)?;
        if self.declared.clocks.contains(&variable) {
            self.collector.error("clock", "a clock cannot receive a value", &tree.span, "a clock");
            return None;
        }
        let (sent, wanted) = (parameter.ty().sort(), variable.ty().sort());
        let value = Term::datum(parameter);
        let value = match (sent == wanted, &sent, &wanted) {
            (true, ..) => value,
            (_, Type::Int, Type::Real) => value.to_real(),
            _ => {
                let message =
                    format!("`{}` is {}, but it receives {}", name.text, variable.ty(), parameter.ty());
                self.collector.error("type-mismatch", message, &tree.span, "of another type");
                return None;
            }
        };
        state.insert(variable, value);
        Some(())
    }
}

/// Does the guard imply that the parameter is not negative?
fn is_bounded(guard: &Term, parameter: &Datum) -> bool {
    let is_datum = |term: &Term| matches!(term.node(), Node::Data(datum) if datum == parameter);
    let not_negative = |term: &Term| match term.as_literal() {
        Some(Value::Real(value)) => *value >= RBig::ZERO,
        _ => false,
    };
    match guard.node() {
        Node::And(parts) => parts.iter().any(|part| is_bounded(part, parameter)),
        Node::Compare(Comparison::Less | Comparison::AtMost | Comparison::Equal, low, high) => {
            not_negative(low) && is_datum(high)
        }
        Node::Compare(Comparison::Greater | Comparison::AtLeast, high, low) => {
            not_negative(low) && is_datum(high)
        }
        _ => false,
    }
}
