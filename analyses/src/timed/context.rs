//! The context of a path with its knowledge, and the context after a step.
//!
//! **Notation.** λ gives each needed variable a term over registers, constants and unknown data. Within a
//! step, `x#was` is a register's value before it, and `p#now` is the value of a parameter. No name of a model
//! contains `#`. **Ends** after one pass over the parts. **Costs**, for each step, the elimination of data
//! that are no longer needed. The formulas do not grow with the path, unless the knowledge does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::iosts::{Iosts, TransitionId};
use coreach_model::obligation::{defined, in_type};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term, Type, budget};

use crate::solver::Solver;
use crate::symbolic::eliminate::{cancel_sums, eliminate_data, solve_equation};
use crate::symbolic::followed::drop_implied;
use crate::symbolic::inclusion::{data_of_terms as data_of, depending_parts};
use crate::symbolic::{SymbolicState, System};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathContext {
    /// Its σ is λ, for the variables that are needed from here on. Its condition is the established
    /// knowledge: it holds in every state that is possible here, with some values of the unknown data and of
    /// ghosts. Steps are not counted, so a periodic path comes back to an equal context.
    pub state: SymbolicState,
    pub unknown: BTreeSet<Datum>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextContext {
    pub context: PathContext,
    /// The new values of registers: terms over the old registers, the constants and the action's parameters.
    pub assignments: Substitution,
}

/// The names of registers and their types. A name has one type in the whole test case.
#[derive(Clone, Default, Debug)]
pub struct Registers {
    used: BTreeSet<String>,
    made: BTreeMap<String, Type>,
    ghosts: usize,
}

impl Registers {
    /// Starts without registers. Names of the model are not used for registers.
    pub fn without_names_of(iosts: &Iosts) -> Self {
        let mut used = BTreeSet::new();
        let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
        for datum in iosts.variables.iter().chain(&iosts.constants).chain(parameters) {
            used.insert(datum.name().to_owned());
            collect_literals(datum.ty(), &mut used);
        }
        used.extend(iosts.actions.iter().map(|action| action.name.clone()));
        Registers { used, ..Registers::default() }
    }

    pub fn reserve(&mut self, data: &[Datum]) {
        self.used.extend(data.iter().map(|datum| datum.name().to_owned()));
    }

    /// Makes a register for a value that no variable of the model has: `amount_1`, or the next free number.
    fn make_extra(&mut self, symbol: &Datum, taken: &BTreeSet<Datum>) -> Datum {
        // The name begins with at most 100 characters of the original name.
        let base: String = symbol.name().split('#').next().unwrap_or_default().chars().take(100).collect();
        let is_free = |name: &String| {
            !self.used.contains(name)
                && self.made.get(name).is_none_or(|ty| ty == symbol.ty())
                && taken.iter().all(|register| register.name() != name)
        };
        let free_name = (1..).map(|number: u32| format!("{base}_{number}")).find(is_free);
        let name = free_name.unwrap_or(base);
        self.made.insert(name.clone(), symbol.ty().clone());
        Datum::new(name, symbol.ty().clone())
    }

    /// Makes a symbol for a value that nothing holds any more.
    fn ghost(&mut self, symbol: &Datum) -> Datum {
        self.ghosts += 1;
        let base = symbol.name().split('#').next().unwrap_or_default();
        Datum::new(format!("{base}#ghost{}", self.ghosts), symbol.ty().clone())
    }
}

/// Collects the names of literals in a type.
fn collect_literals(ty: &Type, names: &mut BTreeSet<String>) {
    match ty {
        Type::Enum(enumeration) => names.extend(enumeration.literals.iter().cloned()),
        Type::Array(array) => {
            collect_literals(&array.index, names);
            collect_literals(&array.element, names);
        }
        Type::Record(record) => record.fields.iter().for_each(|(_, field)| collect_literals(field, names)),
        Type::Bool | Type::Int | Type::Nat | Type::Range(..) | Type::Real | Type::String | Type::Id(_) => {}
    }
}

/// Finds the variables that are needed at each place of the path, including its end: those that a condition
/// from there on reads. `read` lists the transitions whose conditions are used at a place, with the path's
/// own.
pub fn needed_variables(
    system: &System<'_>,
    path: &[TransitionId],
    read: &[Vec<TransitionId>],
) -> Vec<BTreeSet<Datum>> {
    let iosts = system.iosts;
    let variables: BTreeSet<Datum> = iosts.variables.iter().cloned().collect();
    let read_by = |number| system.enabled(number).data().intersection(&variables).cloned().collect();
    let read_by_condition: Vec<BTreeSet<Datum>> = iosts.transitions.numbers().map(read_by).collect();
    // From the end, because what is needed before a step depends on what is needed after it.
    let mut needed_from_end = vec![BTreeSet::new()];
    let mut needed_after: BTreeSet<Datum> = BTreeSet::new();
    for (step, read) in path.iter().zip(read).rev() {
        budget::ask();
        let transition = &iosts.transitions[*step];
        let mut needed_before: BTreeSet<Datum> = BTreeSet::new();
        for variable in &needed_after {
            let data = Iosts::effect(transition, variable).data();
            needed_before.extend(data.intersection(&variables).cloned());
        }
        for number in read {
            needed_before.extend(read_by_condition[number.0 as usize].iter().cloned());
        }
        needed_from_end.push(needed_before.clone());
        needed_after = needed_before;
    }
    needed_from_end.reverse();
    needed_from_end
}

impl PathContext {
    /// The context at the beginning of paths. Each needed variable has an unknown first value, unless the
    /// initial condition determines it.
    pub fn initial(
        system: &System<'_>,
        needed: &BTreeSet<Datum>,
        registers: &mut Registers,
        solver: &mut dyn Solver,
    ) -> Self {
        let iosts = system.iosts;
        let first_value = |datum: &Datum| Datum::new(format!("{}#0", datum.name()), datum.ty().clone());
        let first_values: Substitution =
            iosts.variables.iter().map(|datum| (datum.clone(), Term::datum(&first_value(datum)))).collect();
        let mut state = SymbolicState::initial(iosts);
        state.condition = flat(substitute_all(&state.condition, &first_values));
        let needed_values = first_values.into_iter().filter(|(datum, _)| needed.contains(datum));
        state.open = Arc::new(needed_values.collect());
        let mut context = PathContext { state, unknown: iosts.variables.iter().map(first_value).collect() };
        context.solve();
        context.assign_registers(&Substitution::new(), registers, solver);
        context
    }

    /// Lists the conjuncts of a transition's condition here, over registers, constants, unknown data and its
    /// action's parameters. Known conjuncts are left out, and "the delay is not negative", which each event
    /// satisfies.
    pub fn open_conjuncts(&self, system: &System<'_>, number: TransitionId, delay: &Datum) -> Vec<Term> {
        let parts = self.express(system.enabled(number)).lowered().conjuncts();
        let not_negative = not_negative(delay);
        let is_open = |part: &Term| *part != not_negative && !self.state.condition.contains(part);
        parts.into_iter().filter(is_open).collect()
    }

    /// Writes a term over the model's variables in terms of this context.
    pub fn express(&self, term: &Term) -> Term {
        substitute(term, &self.state.data_terms())
    }

    /// Makes the condition that the parts hold together for some values of the bound and the unknown data.
    /// Knowledge about unknown data in them is conjoined. It is exact. `None`: it needs a quantifier.
    pub fn for_some(&self, bound: &[Datum], parts: &[Term]) -> Option<Term> {
        let (tied, _) = self.split_knowledge(data_of(parts));
        let unknown: Vec<Datum> = bound.iter().chain(&self.unknown).cloned().collect();
        // The knowledge comes first, because the parts may have a value only where it holds.
        eliminate_data(&unknown, &[&tied, parts].concat())
    }

    /// Splits the knowledge into the parts about unknown data that these data depend on, and the rest.
    fn split_knowledge(&self, data: BTreeSet<Datum>) -> (Vec<Term>, Vec<Term>) {
        depending_parts(data, &self.state.condition, |part| {
            part.data().intersection(&self.unknown).cloned().collect()
        })
    }

    /// Returns the context after a transition from this location. `needed` are the variables needed there.
    pub fn after(
        &self,
        system: &System<'_>,
        number: TransitionId,
        needed: &BTreeSet<Datum>,
        registers: &mut Registers,
        solver: &mut dyn Solver,
    ) -> NextContext {
        budget::ask();
        let transition = &system.iosts.transitions[number];
        let parameters = &system.iosts.action(transition.action).parameters;
        let now = |datum: &Datum| Datum::new(format!("{}#now", datum.name()), datum.ty().clone());
        let was = |datum: &Datum| Datum::new(format!("{}#was", datum.name()), datum.ty().clone());
        let old_registers = self.registers(system.iosts);
        let old_values: Substitution =
            old_registers.iter().map(|datum| (datum.clone(), Term::datum(&was(datum)))).collect();
        // Within the step, λ is over the values that registers had before it.
        let mut state = self.state.clone();
        for value in Arc::make_mut(&mut state.open).values_mut() {
            *value = substitute(value, &old_values);
        }
        state.condition = substitute_all(&state.condition, &old_values);
        let parameters_now = parameters.iter().map(|datum| (datum.clone(), Term::datum(&now(datum))));
        let after = state.after_transition(transition, system.enabled(number), [], parameters_now);
        // The condition can hold: a path with a false condition has no test case.
        let mut state = after.unwrap_or_else(|| SymbolicState { location: transition.target, ..state });
        Arc::make_mut(&mut state.open).retain(|variable, _| needed.contains(variable));
        state.known.retain(|variable, _| needed.contains(variable));
        state.depth = 0;
        let mut context = PathContext { state, unknown: self.unknown.clone() };
        context.solve();
        // The symbols that do not outlive the step, and the data that they stand for.
        let register_names = old_registers.iter().map(|datum| (was(datum), Term::datum(datum)));
        let parameter_names = parameters.iter().map(|datum| (now(datum), Term::datum(datum)));
        let names: Substitution = register_names.chain(parameter_names).collect();
        let assignments = context.assign_registers(&names, registers, solver);
        NextContext { context, assignments }
    }

    pub fn registers(&self, iosts: &Iosts) -> BTreeSet<Datum> {
        let mut data = data_of(self.state.open.values().chain(&self.state.condition));
        data.retain(|datum| !datum.name().contains('#') && !iosts.constants.contains(datum));
        data
    }

    /// Eliminates unknown data that an equation determines.
    fn solve(&mut self) {
        loop {
            let determined = self.unknown.iter().find_map(|datum| {
                let value = self.state.condition.iter().find_map(|part| solve_equation(part, datum))?;
                Some((datum.clone(), value))
            });
            let Some((datum, value)) = determined else { return };
            let values = Substitution::from([(datum.clone(), value.clone())]);
            let mut condition = vec![defined(&value), in_type(&value, datum.ty())];
            condition.extend(substitute_all(&self.state.condition, &values));
            self.state.condition = flat(condition.iter().map(cancel_sums).collect());
            for term in Arc::make_mut(&mut self.state.open).values_mut() {
                *term = substitute(term, &values);
            }
            self.unknown.remove(&datum);
        }
    }

    /// Gives registers to the needed values, and projects the rest away. `names` has the symbols of the step,
    /// which do not outlive it, and what the returned assignments write for them.
    fn assign_registers(
        &mut self,
        names: &Substitution,
        registers: &mut Registers,
        solver: &mut dyn Solver,
    ) -> Substitution {
        // A value that the symbols of the step determine is held in a register with the variable's own name.
        // The symbols of all other values are kept, one by one.
        let mut held: Vec<(Datum, Term)> = Vec::new();
        let mut kept_symbols: BTreeSet<Datum> = BTreeSet::new();
        for (variable, value) in &*self.state.open {
            let data = value.data();
            if data.iter().any(|symbol| names.contains_key(symbol)) && data.is_disjoint(&self.unknown) {
                held.push((variable.clone(), value.clone()));
            } else {
                kept_symbols.extend(data);
            }
        }
        let (tied, untied) = self.split_knowledge(kept_symbols.clone());
        kept_symbols.extend(data_of(&tied));
        let (continued, extra) = continue_symbols(&held, &kept_symbols, names, registers);
        let write = |(register, value): &(Datum, Term)| (register.clone(), substitute(value, names));
        let written = held.iter().chain(&extra).map(write);
        let assignments: Substitution =
            written.filter(|(register, value)| value.as_datum() != Some(register)).collect();
        // λ over the new registers.
        for (variable, value) in Arc::make_mut(&mut self.state.open) {
            *value = match held.iter().any(|(register, _)| register == variable) {
                true => Term::datum(variable),
                false => substitute(value, &continued),
            };
        }
        // Project the other knowledge, with the values of registers, to the symbols that stay.
        let mut projected = substitute_all(&untied, &continued);
        for (register, value) in &held {
            let value = substitute(value, &continued);
            if value != Term::datum(register) {
                projected.push(Term::equal(&Term::datum(register), &value));
            }
        }
        let mut knowledge = substitute_all(&tied, &continued);
        self.unknown = data_of(&knowledge)
            .union(&kept_symbols)
            .filter(|datum| self.unknown.contains(*datum))
            .cloned()
            .collect();
        for group in group_parts(flat(projected), |datum| is_passing(datum, &self.unknown)) {
            knowledge.extend(project_group(group, &self.unknown, registers));
        }
        self.state.condition = drop_implied_of_few(flat(knowledge), solver);
        assignments
    }
}

/// Gives registers to the symbols of a step that stay: the register of a variable that holds just the symbol,
/// or else its own register if that is free, or else a new one. Returns the terms of the symbols after the
/// step, and the registers that hold no variable, with the symbols that they hold.
fn continue_symbols(
    held: &[(Datum, Term)],
    kept_symbols: &BTreeSet<Datum>,
    names: &Substitution,
    registers: &mut Registers,
) -> (Substitution, Vec<(Datum, Term)>) {
    let (mut continued, mut extra) = (Substitution::new(), Vec::new());
    for (variable, value) in held {
        if let Some(symbol) = value.as_datum().filter(|symbol| symbol.ty() == variable.ty()) {
            continued.entry(symbol.clone()).or_insert_with(|| Term::datum(variable));
        }
    }
    let mut taken: BTreeSet<Datum> = held.iter().map(|(variable, _)| variable.clone()).collect();
    for symbol in kept_symbols {
        let Some(name) = names.get(symbol).filter(|_| !continued.contains_key(symbol)) else { continue };
        let is_free = |register: &&Datum| taken.iter().all(|other| other.name() != register.name());
        let own_register = name.as_datum().filter(|_| symbol.name().ends_with("#was")).filter(is_free);
        let register = own_register.cloned().unwrap_or_else(|| registers.make_extra(symbol, &taken));
        taken.insert(register.clone());
        continued.insert(symbol.clone(), Term::datum(&register));
        extra.push((register, Term::datum(symbol)));
    }
    (continued, extra)
}

pub fn not_negative(delay: &Datum) -> Term {
    use coreach_model::term::node::Comparison;
    Term::compare(Comparison::AtLeast, &Term::datum(delay), &Term::int(0).to_real())
}

/// Is it a symbol of a step, a ghost, or an unknown datum that is no longer needed?
fn is_passing(datum: &Datum, kept: &BTreeSet<Datum>) -> bool {
    datum.name().contains('#') && !kept.contains(datum)
}

/// The conjuncts of some parts, each once and without nested conjunctions.
fn flat(parts: Vec<Term>) -> Vec<Term> {
    Term::and(parts).lowered().conjuncts()
}

/// Groups the parts: those that share a symbol for which `is_passing` holds are in one group.
fn group_parts(parts: Vec<Term>, is_passing: impl Fn(&Datum) -> bool) -> Vec<Vec<Term>> {
    let mut groups: Vec<(BTreeSet<Datum>, Vec<Term>)> = Vec::new();
    for part in parts {
        let mut symbols: BTreeSet<Datum> = part.data().into_iter().filter(&is_passing).collect();
        let (connected, mut apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(others, _)| !others.is_disjoint(&symbols));
        let mut joined = Vec::new();
        for (others, group) in connected {
            symbols.extend(others);
            joined.extend(group);
        }
        joined.push(part);
        apart.push((symbols, joined));
        groups = apart;
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Eliminates the passing symbols of a group. If the result would be long, they become ghosts.
fn project_group(group: Vec<Term>, kept: &BTreeSet<Datum>, registers: &mut Registers) -> Vec<Term> {
    let data = data_of(&group);
    let passing: Vec<Datum> = data.iter().filter(|datum| is_passing(datum, kept)).cloned().collect();
    if passing.is_empty() {
        return group;
    }
    // The group mentions nothing that stays, and it is known to hold. So it says nothing.
    if passing.len() == data.len() {
        return Vec::new();
    }
    // If the projection has more than 400 parts, the old value stays as a ghost.
    if let Some(short) = eliminate_data(&passing, &group).filter(|term| term.written_size() <= 400) {
        return short.lowered().conjuncts();
    }
    let without_ghost = passing.iter().filter(|datum| !datum.name().contains("#ghost"));
    let ghosts: Substitution =
        without_ghost.map(|datum| (datum.clone(), Term::datum(&registers.ghost(datum)))).collect();
    substitute_all(&group, &ghosts)
}

/// Drops parts that the others imply, unless there are too many parts.
pub(super) fn drop_implied_of_few(parts: Vec<Term>, solver: &mut dyn Solver) -> Vec<Term> {
    // With more than 60 parts, the questions would take too long.
    if parts.len() > 60 { parts } else { drop_implied(parts, solver) }
}
