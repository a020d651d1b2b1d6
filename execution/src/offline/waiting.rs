//! Decides how long a state may wait, and whether it may wait for ever.
//!
//! **Problem.** A delay is an observation: a system that stays silent for longer than the model allows fails.
//! A state may wait as long as something can still happen later, and for ever if it is quiescent.
//!
//! **Source.** 2012, *Next* for delays, and Definition 12. A state that was entered d ago survives a further
//! delay a if a transition leaves it that can be taken at some delay of at least d + a, or if no output can
//! be taken at any delay. In the delayed form the delay is a parameter, so both are conditions on the data
//! without quantifiers, made once for each transition and place ([`eliminate_data`]). Otherwise the solver is
//! asked.
//!
//! **We differ** in two points. The publication asks only about the time whether a transition can still be
//! taken, so a transition that the data exclude lets a system wait that must answer. And it asks whether the
//! time excludes all outputs, or the data exclude all of them. So it does not see that a state is quiescent
//! in which the time excludes some outputs and the data the others. Here both are asked together.
//! [`Rules::Published`] keeps the published rules, for their figures: a conjunct that mentions the delay is
//! about the time, any other one about the data. Internal steps count like outputs here.
//!
//! A state that survives a delay has survived every smaller one, and an event that is taken later was
//! possible. So only the sum of the delays has to be remembered.

use std::sync::Arc;

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::bounds::GivenValues;
use coreach_analyses::symbolic::eliminate::eliminate_data;
use coreach_analyses::symbolic::{Holds, SymbolicState, System};
use coreach_model::iosts::{ActionKind, Iosts, LocationId, TransitionId};
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute};
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Datum, Numbered, Term, Type, Value};
use dashu_ratio::RBig;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Rules {
    /// Time and data together.
    #[default]
    Corrected,
    /// Time and data apart, as in the publication: for comparison. A verdict may be wrong by these rules.
    Published,
}

/// The condition that some values of the bound data make all parts hold.
#[derive(Clone, Debug)]
struct Possible {
    bound: Vec<Datum>,
    /// All parts, with the bound data in them.
    whole: Term,
    /// The condition without the bound data, and its negation. `None` if they cannot be eliminated.
    simple: Option<Term>,
    never: Option<Term>,
}

impl Possible {
    fn new(bound: Vec<Datum>, parts: Vec<Term>) -> Self {
        let simple = eliminate_data(&bound, &parts);
        let never = simple.as_ref().map(Term::not);
        Possible { bound, whole: Term::and(parts), simple, never }
    }

    /// Makes the condition that one of these transitions is possible, by these parts of their conditions.
    fn any_of(
        iosts: &Iosts,
        transitions: &[TransitionId],
        parts_of: impl Fn(TransitionId) -> Vec<Term>,
    ) -> Self {
        let (mut bound, mut cases) = (Vec::new(), Vec::new());
        for number in transitions {
            // Each transition has parameters with names of their own.
            let mut renaming = Substitution::new();
            for datum in &iosts.action_of(*number).parameters {
                let renamed = Datum::new(format!("{}#{}", datum.name(), number.0), datum.ty().clone());
                renaming.insert(datum.clone(), Term::datum(&renamed));
                bound.push(renamed);
            }
            cases.push(substitute(&Term::and(parts_of(*number)), &renaming));
        }
        Possible::new(bound, vec![Term::or(cases)])
    }

    /// Can it hold with the data of this state? Errs towards yes.
    fn may_be(&self, state: &SymbolicState, given: GivenValues<'_>, solver: &mut dyn Solver) -> bool {
        // The bound data are no symbols of the state: in the parts they may have any value.
        let condition = self.simple.as_ref().unwrap_or(&self.whole);
        may_be(state, condition, given, solver)
    }

    /// May no values make it hold? Errs towards yes.
    fn may_not_be(&self, state: &SymbolicState, solver: &mut dyn Solver) -> bool {
        if let Some(condition) = &self.never {
            return may_be(state, condition, &[], solver);
        }
        match state.meaning(&self.whole, &state.known) {
            Holds::Always => false,
            Holds::Never => true,
            Holds::Where(parts) => {
                solver.check_none(&state.condition, &self.bound, &parts.conjuncts()) != Answer::Unsat
            }
        }
    }
}

/// Can the condition hold with these values in addition? Errs towards yes.
fn may_be(state: &SymbolicState, condition: &Term, given: GivenValues<'_>, solver: &mut dyn Solver) -> bool {
    let decided = state.decide(condition, given).can_hold;
    decided.unwrap_or_else(|| {
        let mut known = state.known.clone();
        known.extend(given.iter().cloned());
        state.meaning(condition, &known).may_be(&state.condition, solver)
    })
}

pub struct Waiting {
    /// The time since the last event, in the conditions.
    since: Datum,
    /// For each transition: the condition that it can still be taken.
    later: Numbered<TransitionId, Possible>,
    /// For each location: a state is quiescent if one of these is not possible.
    answers: Numbered<LocationId, Vec<Possible>>,
    /// For each location: the transitions that may be taken when time has passed.
    lasting: Numbered<LocationId, Vec<TransitionId>>,
}

impl Waiting {
    /// Makes the conditions for each transition and location of a model.
    pub fn new(form: &Delayed, system: &System<'_>, rules: Rules) -> Self {
        let iosts = &form.iosts;
        let since = Datum::new(format!("{}#since", form.delay.name()), Type::Real);
        let is_later = Term::compare(Comparison::AtLeast, &Term::datum(&form.delay), &Term::datum(&since));
        let kind = |number: TransitionId| iosts.action_of(number).kind;
        let parameters = |number: TransitionId| iosts.action_of(number).parameters.clone();
        let parts = |number: TransitionId| system.enabled(number).conjuncts();
        let parts_about = |number: TransitionId, is_about_time: bool| {
            let mut parts = parts(number);
            parts.retain(|part| part.mentions(&form.delay) == is_about_time);
            parts
        };
        let later = iosts.transitions.numbers().map(|number| {
            let mut parts = match rules {
                Rules::Corrected => parts(number),
                Rules::Published => parts_about(number, true),
            };
            parts.push(is_later.clone());
            Possible::new(parameters(number), parts)
        });
        let answers = iosts.location_ids().map(|location| {
            let mut answers = system.outgoing[location].clone();
            answers.retain(|number| kind(*number) != ActionKind::Input);
            let answers_about = |is_about_time| {
                Possible::any_of(iosts, &answers, |number| parts_about(number, is_about_time))
            };
            match rules {
                Rules::Corrected => vec![Possible::any_of(iosts, &answers, parts)],
                Rules::Published => [true, false].map(answers_about).to_vec(),
            }
        });
        let lasting = system.outgoing.map(|outgoing| {
            outgoing.iter().copied().filter(|number| !parameters(*number).is_empty()).collect()
        });
        Waiting { since, later: later.collect(), answers: answers.collect(), lasting }
    }

    /// May the state wait until so much time has passed since the last event? Errs towards yes.
    pub fn may_wait(&self, state: &SymbolicState, until: &RBig, solver: &mut dyn Solver) -> bool {
        let given = [(self.since.clone(), Value::Real(until.clone()))];
        self.lasting[state.location].iter().any(|number| self.later[*number].may_be(state, &given, solver))
            || self.may_be_quiescent(state, solver)
    }

    /// May the state wait so long, if the time is a term over its symbols? Errs towards yes.
    pub fn may_wait_so_long(&self, state: &SymbolicState, since: &Term, solver: &mut dyn Solver) -> bool {
        let mut later_state = state.clone();
        Arc::make_mut(&mut later_state.open).insert(self.since.clone(), since.clone());
        let later_state = later_state.remembering();
        let may_follow = |number: &TransitionId| self.later[*number].may_be(&later_state, &[], solver);
        self.lasting[state.location].iter().any(may_follow) || self.may_be_quiescent(state, solver)
    }

    /// May the state wait for ever, since nothing answers? Errs towards yes.
    pub fn may_be_quiescent(&self, state: &SymbolicState, solver: &mut dyn Solver) -> bool {
        self.answers[state.location].iter().any(|answer| answer.may_not_be(state, solver))
    }
}
