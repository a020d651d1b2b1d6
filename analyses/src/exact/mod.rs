//! The exact reference: does a transition lie on a run to Accept? Each answer is proved, or shown by a run.
//!
//! **Problem.** Selection keeps the transitions that an over-approximation cannot exclude. To see whether a
//! domain is precise enough, we need the truth. No procedure finds it for all models, but one finds it for
//! most. **Source.** Constrained Horn clauses of the analysis' own problem ([`crate::inductive`]), answered
//! by Spacer (Komuravelli, Gurfinkel, Chaki, CAV 2014, <https://doi.org/10.1007/978-3-319-08867-9_2>) with
//! global guidance (Vediramana Krishnan et al., CAV 2020, <https://doi.org/10.1007/978-3-030-53291-8_7>).
//!
//! **Method.** For a transition t there are two predicates at each location: `P` holds in the states that are
//! reached before t was taken, and `Q` in those that are reached after it. t itself leads from `P` to `Q`
//! (`script`).
//!
//! - If an accepting location is reached in `Q`, the answer has the states of such a run. The transitions and
//!   parameters between them are searched, and each step is replayed in the concrete semantics (`replay`).
//!   The run answers the question for all its transitions.
//! - If none is reached, the answer defines the predicates. `P` is inductive forward, and the complement of
//!   `Q` is inductive backward. So these are facts like those of every analysis. They are checked by the
//!   conditions of [`crate::inductive`], each by a query. Such a pair often answers for other transitions
//!   too.
//!
//! The facts of the abstract domains are conjoined to the bodies, if their own conditions hold.
//!
//! **Direction.** Nothing that Spacer says is believed. A claim that does not check becomes
//! [`ExactAnswer::Unknown`], and is counted in [`ExactReference::refused`].
//!
//! **Ends**: there are at most as many questions as transitions, and each has the engine's limits. **Cost**:
//! each question starts a process and searches, which takes milliseconds for small graphs. The checks are
//! some queries per transition.

mod expression;
mod reading;
mod refine;
mod replay;
mod script;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use coreach_model::iosts::Transition;
use coreach_model::obligation::enabling_condition;
use coreach_model::semantics::State;
use coreach_model::term::{have_values, substitute};
use coreach_model::{Iosts, LocationId, Number, Numbered, Term, TransitionId, Type, budget};

use crate::inductive::{HornClauses, RefinementIteration, chain};
use crate::solver::horn::{HornEngine, HornReply};
use crate::solver::{Answer, Solver, must_hold};
pub use refine::refine_facts;
pub use replay::AcceptingRun;
pub use script::Refutation;

/// The answer to: does it lie on a run from an initial state to an accepting location?
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExactAnswer {
    /// It does: a run of this number shows it.
    Yes(usize),
    /// It does not: facts of this number prove it.
    No(usize),
    Unknown(String),
}

#[derive(Clone, Debug)]
pub struct ExactReference {
    /// Is there a run to an accepting location at all?
    pub purpose: ExactAnswer,
    pub transitions: Numbered<TransitionId, ExactAnswer>,
    pub runs: Vec<AcceptingRun>,
    pub refutations: Vec<Refutation>,
    pub questions: u64,
    pub refused: u64,
    /// Were the given facts left out, because their own conditions were not proved?
    pub facts_left_out: bool,
}

impl ExactReference {
    /// The answer for a location. It lies on a run if one of its transitions does, or if it is initial and
    /// there is a run at all.
    pub fn of_location(&self, iosts: &Iosts, location: LocationId) -> ExactAnswer {
        let touches =
            |transition: &Transition| transition.source == location || transition.target == location;
        let with_answers = iosts.transitions.iter().zip(&self.transitions);
        let mut answers: Vec<&ExactAnswer> =
            with_answers.filter(|(transition, _)| touches(transition)).map(|(_, answer)| answer).collect();
        if location == iosts.initial {
            answers.push(&self.purpose);
        }
        let yes = answers.iter().find(|answer| matches!(answer, ExactAnswer::Yes(_)));
        let unknown = answers.iter().find(|answer| matches!(answer, ExactAnswer::Unknown(_)));
        // Only if all answers are "no" is the answer "no".
        match yes.or(unknown).or(answers.first()) {
            Some(answer) => (*answer).clone(),
            None => ExactAnswer::Unknown("no transition leads to it or away from it".to_owned()),
        }
    }
}

/// Answers for every transition of a graph. No transition may leave its accepting locations. `iterations`
/// have the facts of an analysis, and may be empty.
/// Panics if `accepting` has not one entry for each location.
pub fn exact(
    iosts: &Iosts,
    accepting: &[bool],
    iterations: &[RefinementIteration],
    engine: &mut dyn HornEngine,
    solver: &mut dyn Solver,
) -> ExactReference {
    assert_eq!(accepting.len(), iosts.locations.len(), "one entry for each location");
    let proved = prove_facts(iosts, accepting, iterations, solver);
    let facts_left_out = proved.is_none() && !iterations.is_empty();
    let within = proved.unwrap_or_else(|| vec![Term::yes(); accepting.len()]);
    let mut questions = Questions { iosts, accepting, within, engine, solver, asked: 0, refused: 0 };
    // The first refutation is that of the domains alone, whose facts are inductive.
    let by_domains = Refutation { reach: questions.within.clone(), coreach: questions.within.clone() };
    let (mut runs, mut refutations) = (Vec::new(), vec![by_domains]);
    let mut transitions: Numbered<TransitionId, Option<ExactAnswer>> = iosts.transitions.map(|_| None);
    let purpose = match questions.find_refutation(None, &refutations) {
        Some(refutation) => ExactAnswer::No(refutation),
        None => questions.answer(None, &mut runs, &mut refutations),
    };
    // Without any run, no transition lies on one.
    if let ExactAnswer::No(_) = purpose {
        transitions = iosts.transitions.map(|_| Some(purpose.clone()));
    }
    let numbers: Vec<TransitionId> = transitions.numbers().collect();
    for &number in &numbers {
        // A run or a refutation that is known by now may answer without a question.
        for (place, run) in runs.iter().enumerate() {
            for (taken, _) in &run.steps {
                transitions[*taken].get_or_insert(ExactAnswer::Yes(place));
            }
        }
        if transitions[number].is_none() {
            transitions[number] = questions.find_refutation(Some(number), &refutations).map(ExactAnswer::No);
        }
        let is_unknown = |answer: &&Option<ExactAnswer>| matches!(answer, Some(ExactAnswer::Unknown(_)));
        // After six questions without an answer no more are asked: each took all the time that it may take.
        if transitions.iter().filter(is_unknown).count() >= 6 {
            continue;
        }
        if transitions[number].is_none() {
            transitions[number] = Some(questions.answer(Some(number), &mut runs, &mut refutations));
        }
    }
    let unanswered =
        || ExactAnswer::Unknown("not asked, since too many earlier questions had no answer".to_owned());
    ExactReference {
        purpose,
        transitions: transitions.map(|answer| answer.clone().unwrap_or_else(unanswered)),
        runs,
        refutations,
        questions: questions.asked,
        refused: questions.refused,
        facts_left_out,
    }
}

/// Can an accepting location be reached from this state of a run? `None`: that is not known.
pub fn leads_on(
    iosts: &Iosts,
    accepting: &[bool],
    state: &State,
    engine: &mut dyn HornEngine,
    solver: &mut dyn Solver,
) -> Option<bool> {
    let initial_condition = have_values(&state.valuation);
    let from = Iosts { initial: state.location, initial_condition, ..iosts.clone() };
    let within = vec![Term::yes(); accepting.len()];
    let mut questions = Questions { iosts: &from, accepting, within, engine, solver, asked: 0, refused: 0 };
    match questions.answer(None, &mut Vec::new(), &mut Vec::new()) {
        ExactAnswer::Yes(_) => Some(true),
        ExactAnswer::No(_) => Some(false),
        ExactAnswer::Unknown(_) => None,
    }
}

/// Proves a chain of refinement iterations. Returns its facts on all states of runs to an accepting location,
/// or `None` if a condition is not proved.
fn prove_facts(
    iosts: &Iosts,
    accepting: &[bool],
    iterations: &[RefinementIteration],
    solver: &mut dyn Solver,
) -> Option<Vec<Term>> {
    let last = iterations.last()?.facts.clone();
    let is_proved = chain(iosts, accepting, iterations, &last)
        .all(|condition| must_hold(solver, &condition.premises, &condition.conclusion));
    is_proved.then_some(last)
}

struct Questions<'a> {
    iosts: &'a Iosts,
    accepting: &'a [bool],
    /// Facts that were proved of every state of a run to an accepting location, by location.
    within: Vec<Term>,
    engine: &'a mut dyn HornEngine,
    solver: &'a mut dyn Solver,
    asked: u64,
    refused: u64,
}

impl Questions<'_> {
    /// Answers for the transition `through`, or without one, whether there is a run at all. The run or the
    /// facts of the answer are added to the others.
    fn answer(
        &mut self,
        through: Option<TransitionId>,
        runs: &mut Vec<AcceptingRun>,
        refutations: &mut Vec<Refutation>,
    ) -> ExactAnswer {
        budget::ask_now();
        let within = self.within.clone();
        let problem = script::Problem::new(self.iosts, self.accepting, &within, through);
        let definitions = match self.find_definitions(&problem, through, runs) {
            Ok(definitions) => definitions,
            Err(answer) => return answer,
        };
        // The engine leaves out predicates that it does not need. One term for all of them is enough as a
        // rule. Else neither candidate is proved, and the answer is `Unknown`.
        let candidates = [Term::yes(), Term::no()].map(|missing| problem.refutation(&definitions, &missing));
        for refutation in candidates {
            if self.is_inductive(&refutation) && self.excludes(&refutation, through) {
                refutations.push(refutation);
                return ExactAnswer::No(refutations.len() - 1);
            }
        }
        self.refuse("the engine's facts do not prove it")
    }

    /// Finds the definitions of the predicates if the engine claims that there is no run. Else the error is
    /// the answer: the number of a new run, or a reason.
    fn find_definitions(
        &mut self,
        problem: &script::Problem<'_>,
        through: Option<TransitionId>,
        runs: &mut Vec<AcceptingRun>,
    ) -> Result<BTreeMap<(script::Taken, LocationId), Term>, ExactAnswer> {
        if problem.is_cut() {
            // No path of the graph leads there. So no engine is asked, and no predicate has a definition.
            return Ok(BTreeMap::new());
        }
        if self.speaks_of_strings() {
            return Err(ExactAnswer::Unknown("the engine cannot reason about strings".to_owned()));
        }
        self.asked += 1;
        match self.engine.solve(&problem.to_smt_lib()) {
            HornReply::Unknown(why) => Err(ExactAnswer::Unknown(why)),
            HornReply::Derivable(proof) => {
                let run = reading::read_states(&proof, problem).and_then(|states| {
                    replay::replay(self.iosts, self.accepting, through, &states, self.solver)
                });
                let run = run.ok_or_else(|| self.refuse("the run that the engine gives is not a run"))?;
                runs.push(run);
                Err(ExactAnswer::Yes(runs.len() - 1))
            }
            HornReply::Underivable(definitions) => reading::read_definitions(&definitions, problem)
                .ok_or_else(|| self.refuse("the engine's facts cannot be read")),
        }
    }

    fn speaks_of_strings(&self) -> bool {
        let parameters = self.iosts.actions.iter().flat_map(|action| &action.parameters);
        let mut data = self.iosts.constants.iter().chain(&self.iosts.variables).chain(parameters);
        data.any(|datum| datum.ty().contains(&Type::String))
    }

    /// Counts a claim of the engine that does not check.
    fn refuse(&mut self, why: &str) -> ExactAnswer {
        self.refused += 1;
        ExactAnswer::Unknown(why.to_owned())
    }

    /// Are the facts inductive within what is proved of all runs: `reach` forward, and `coreach` backward?
    fn is_inductive(&mut self, refutation: &Refutation) -> bool {
        let forward = HornClauses::forward(self.iosts);
        let backward = HornClauses::backward(self.iosts, self.accepting);
        let within = Some(&self.within[..]);
        [(&forward, &refutation.reach), (&backward, &refutation.coreach)].into_iter().all(
            |(clauses, facts)| {
                clauses
                    .obligations(self.iosts, facts, within)
                    .all(|condition| must_hold(self.solver, &condition.premises, &condition.conclusion))
            },
        )
    }

    /// The number of the first refutation that excludes the transition.
    fn find_refutation(
        &mut self,
        through: Option<TransitionId>,
        refutations: &[Refutation],
    ) -> Option<usize> {
        refutations.iter().position(|refutation| self.excludes(refutation, through))
    }

    /// Do these facts, which are inductive, exclude the transition, or every initial state?
    fn excludes(&mut self, refutation: &Refutation, through: Option<TransitionId>) -> bool {
        let parts = match through {
            None => {
                let initial = self.iosts.initial.place();
                let (within, coreach) = (&self.within[initial], &refutation.coreach[initial]);
                vec![within.clone(), coreach.clone(), self.iosts.initial_condition.clone()]
            }
            Some(number) => {
                let transition = &self.iosts.transitions[number];
                let (source, target) = (transition.source.place(), transition.target.place());
                let after = |fact: &Term| substitute(fact, &transition.assignments);
                vec![
                    refutation.reach[source].clone(),
                    self.within[source].clone(),
                    enabling_condition(transition),
                    after(&self.within[target]),
                    after(&refutation.coreach[target]),
                ]
            }
        };
        let formula: Vec<Term> = parts.iter().flat_map(Term::conjuncts).collect();
        self.solver.check(&formula) == Answer::Unsat
    }
}
