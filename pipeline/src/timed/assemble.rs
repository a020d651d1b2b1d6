//! Puts the transitions that the rules made together: one IOSTS with verdicts.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::symbolic::eliminate::eliminate_data;
use coreach_analyses::timed::PathContext;
use coreach_model::iosts::{Iosts, Location, Transition, TransitionOrigin};
use coreach_model::obligation::defined;
use coreach_model::term::Substitution;
use coreach_model::term::node::Comparison;
use coreach_model::timed::delayed::Delayed;
use coreach_model::{
    ActionId, Datum, LocationId, Number, Numbered, Term, TransitionId, Type, Value, Verdict,
};

use super::rules::{Ends, LeadsTo, MadeByRules};
use super::{MadeBy, PathGuided, RuleCounts, SilenceAfter};
use crate::lateness::{LatenessTiming, with_silence_action};
use crate::names::names_in_scope;
use coreach_artifact::document::Origins;

/// The name of TM as a constant, if no datum has it.
const TM: &str = "TM";

/// Names the location of the path's context with this number, from 0.
pub fn context_name(number: usize) -> String {
    format!("ec{number}")
}

/// A test case that is being put together.
pub struct Assemble<'a> {
    delayed: &'a Delayed,
    iosts: Iosts,
    quiescence: ActionId,
    /// The number here of each action of the delayed form.
    new_numbers: Numbered<ActionId, ActionId>,
    timing: LatenessTiming,
    verdicts: Numbered<LocationId, Option<Verdict>>,
    known: Numbered<LocationId, Vec<Term>>,
    origins: Numbered<LocationId, Origins>,
    made_by: Numbered<TransitionId, MadeBy>,
    counts: Vec<RuleCounts>,
    /// The transitions into verdicts, with the verdicts. Their locations come after the contexts.
    ending: Vec<(TransitionId, Ends)>,
    /// The contexts at which the path's step has no transition.
    unseen: Vec<usize>,
    leading_on: Vec<TransitionId>,
    registers: BTreeSet<Datum>,
}

impl<'a> Assemble<'a> {
    /// Begins a test case that has only the data and the actions.
    pub fn new(delayed: &'a Delayed, silence_after: &SilenceAfter) -> Self {
        let given = &delayed.iosts;
        let mut scope = names_in_scope(given);
        let mut constants = given.constants.clone();
        let silence_after = match silence_after {
            SilenceAfter::Time(time) => Term::literal(Value::Real(time.clone())),
            SilenceAfter::Constant => {
                let constant = Datum::new(scope.unique(TM), Type::Real);
                constants.push(constant.clone());
                Term::datum(&constant)
            }
        };
        let timing = LatenessTiming {
            delay: delayed.delay.clone(),
            clocks: delayed.clocks.clone(),
            uncontrollable: delayed.uncontrollable.iter().map(|id| given.action(*id).name.clone()).collect(),
            silence_after,
        };
        let (with_delta, quiescence, new_numbers) = with_silence_action(given, &timing);
        let iosts = Iosts {
            constants,
            variables: Vec::new(),
            initial_condition: Term::yes(),
            locations: Numbered::new(),
            initial: LocationId(0),
            transitions: Numbered::new(),
            ..with_delta
        };
        Assemble {
            delayed,
            iosts,
            quiescence,
            new_numbers,
            timing,
            verdicts: Numbered::new(),
            known: Numbered::new(),
            origins: Numbered::new(),
            made_by: Numbered::new(),
            counts: Vec::new(),
            ending: Vec::new(),
            unseen: Vec::new(),
            leading_on: Vec::new(),
            registers: BTreeSet::new(),
        }
    }

    pub fn silence_after(&self) -> &Term {
        &self.timing.silence_after
    }

    pub fn constants(&self) -> &[Datum] {
        &self.iosts.constants
    }

    /// Adds the path's next context, with the transitions that its rules made; the assignments are those of
    /// the path's step.
    pub fn add_context(
        &mut self,
        context: &PathContext,
        made: &[MadeByRules],
        assignments: &Substitution,
        counts: RuleCounts,
    ) {
        let source = self.iosts.locations.next_number();
        let model_location = self.delayed.iosts.location(context.state.location);
        let name = context_name(source.place());
        self.iosts.locations.push(Location {
            label: format!("{name}: {}", model_location.label),
            name,
            description: model_location.description.clone(),
        });
        self.verdicts.push(None);
        self.known.push(context.state.condition.clone());
        self.origins
            .push(Origins { specification: [model_location.name.clone()].into(), ..Origins::default() });
        self.counts.push(counts);
        let is_step = |made: &MadeByRules| matches!(made.target, LeadsTo::Next | LeadsTo::Ends(Ends::Pass));
        if !made.iter().any(is_step) {
            self.unseen.push(source.place());
        }
        for made in made {
            let leads_on = made.target == LeadsTo::Next;
            let origin = made.through.map(|through| TransitionOrigin {
                whole: self.delayed.iosts.transitions[through].origin.whole.clone(),
                ..TransitionOrigin::default()
            });
            let number = self.iosts.transitions.push(Transition {
                source,
                action: made.action.map_or(self.quiescence, |action| self.new_numbers[action]),
                guard: made.guard.clone(),
                assignments: if leads_on { assignments.clone() } else { Substitution::new() },
                // `finish` sets the target, when all locations have their numbers.
                target: source,
                origin: origin.unwrap_or_default(),
            });
            self.made_by.push(MadeBy { rule: made.rule, through: made.through });
            match made.target {
                LeadsTo::Next => self.leading_on.push(number),
                LeadsTo::Ends(ends) => self.ending.push((number, ends)),
            }
        }
        self.registers.extend(assignments.keys().cloned());
    }

    /// Finishes the test case: adds the locations of the verdicts and the registers, and sets the targets of
    /// the transitions.
    pub fn finish(mut self, mut imprecisions: Vec<String>) -> PathGuided {
        for number in std::mem::take(&mut self.leading_on) {
            let next = LocationId(self.iosts.transitions[number].source.0 + 1);
            self.iosts.transitions[number].target = next;
        }
        let ends_in_use: BTreeSet<Ends> = self.ending.iter().map(|(_, ends)| *ends).collect();
        let mut location_of: BTreeMap<Ends, LocationId> = BTreeMap::new();
        for ends in ends_in_use {
            location_of.insert(ends, self.iosts.locations.push(Location::named(ends.name())));
            self.verdicts.push(Some(ends.verdict()));
            self.known.push(Vec::new());
            self.origins.push(Origins::default());
        }
        for (number, ends) in std::mem::take(&mut self.ending) {
            self.iosts.transitions[number].target = location_of[&ends];
        }
        self.iosts.variables = self.variables();
        let initial = self.initial_condition(&mut imprecisions);
        self.iosts.initial_condition = initial;
        PathGuided {
            iosts: self.iosts,
            verdicts: self.verdicts,
            timing: self.timing,
            made_by: self.made_by,
            counts: self.counts,
            known: self.known,
            origins: self.origins,
            unseen: self.unseen,
            imprecisions,
        }
    }

    /// Lists the registers: those of the model's variables in its order, then the others.
    fn variables(&self) -> Vec<Datum> {
        let model_variables = &self.delayed.iosts.variables;
        let mut registers: Vec<Datum> =
            model_variables.iter().filter(|datum| self.registers.contains(*datum)).cloned().collect();
        registers.extend(self.registers.iter().filter(|datum| !model_variables.contains(datum)).cloned());
        registers
    }

    /// Gives the initial condition: the model's condition on the constants; the condition that TM is a time;
    /// and a first value for each register, which nothing reads.
    fn initial_condition(&self, imprecisions: &mut Vec<String>) -> Term {
        let given = &self.delayed.iosts;
        let condition = &given.initial_condition;
        let conjuncts = Term::and([defined(condition), condition.clone()]).conjuncts();
        let of_constants = eliminate_data(&given.variables, &conjuncts).unwrap_or_else(|| {
            imprecisions.push("the constants that the initial condition allows cannot be expressed without a quantifier: none is excluded".to_owned());
            Term::yes()
        });
        let mut parts = vec![of_constants];
        if self.timing.silence_after.as_datum().is_some() {
            let zero = Term::int(0).to_real();
            parts.push(Term::compare(Comparison::Greater, &self.timing.silence_after, &zero));
        }
        // Arrays and records have no literals, so their first values stay open. Nothing reads them.
        for datum in &self.iosts.variables {
            if !matches!(datum.ty(), Type::Array(_) | Type::Record(_)) {
                parts.push(Term::equal(&Term::datum(datum), &Term::literal(Value::any(datum.ty()))));
            }
        }
        Term::and(parts)
    }
}
