//! The conditions under which facts are inductive.
//!
//! **Problem.** `reach` and `coreach` are computed by a fixpoint over abstract values. A user should be able
//! to believe them without believing the engine, the domains or the writer of terms: inductive facts contain
//! what they promise, whatever computed them. Several parts need the same list of conditions: the engine
//! ([`crate::reachability`]), an independent check, a certificate, and a solver that searches better facts.
//! The list is defined here, once. Nothing here asks a solver: each reader of the list proves the conditions
//! by its own means.
//!
//! **Source.** Floyd's method, on the equations (7.7) and (7.9) of the thesis (p. 181-184), within bounds `W`
//! as in the alternation of Cousot & Cousot (JLP 1992, <https://doi.org/10.1016/0743-1066(92)90030-7>). They
//! are written as constrained Horn clauses (Bjørner et al., 2015,
//! <https://doi.org/10.1007/978-3-319-23534-9_2>) over one predicate `F` for each point:
//!
//! ```text
//! forward   entry                Θ && W[l0] => F[l0]
//!           step   l -G,A-> l'   F[l] && W[l] && G && W[l'][A] => F[l'][A]
//! backward  entry                W[l] => F[l], if l is accepting
//!           step   l -G,A-> l'   W[l] && G && W[l'][A] && F[l'][A] => F[l]
//! both      goal                 F[l] => the claim about l
//! ```
//!
//! Then `F` contains, forward, every state of a run that stays within `W`, and backward, every state from
//! which such a run goes on to an accepting location. `G` is the condition under which a transition can be
//! taken, with definedness and types. A chain of refinement iterations is a proof ([`chain`]) if each has the
//! facts of the one before as its `W`. By induction on the chain, every state of a run from an initial state
//! to an accepting location is in the facts of each refinement iteration, and so in the last.
//!
//! **Points.** A fact belongs to a [`Point`]: a location, and a token that tells apart separate facts about
//! it. If there is one fact for each location, the token is `()`. Regions of a location (`crate::regions`)
//! have numbers as tokens. **Cost**: one condition for each entry of the graph, and one for each transition
//! and pair of tokens between which it leads.

use coreach_model::iosts::LocationId;
use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Term, substitute};
use coreach_model::{Iosts, Number, Numbered, TransitionId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Orientation {
    /// From the initial states, along transitions.
    Forward,
    /// From the accepting locations, against transitions.
    Backward,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point<T = ()> {
    pub location: LocationId,
    pub token: T,
}

/// A flow of values from one point to another, through a transition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HornStep {
    pub from: u32,
    /// The number of the point to which they flow. In a backward orientation it is the transition's source.
    pub to: u32,
    pub transition: TransitionId,
}

/// The conditions on the facts of a graph, in one orientation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HornClauses<T = ()> {
    pub orientation: Orientation,
    pub points: Vec<Point<T>>,
    pub entries: Vec<u32>,
    pub steps: Vec<HornStep>,
}

/// The facts of one orientation, one for each point: a refinement iteration of the alternation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefinementIteration {
    pub orientation: Orientation,
    pub facts: Vec<Term>,
}

/// The condition from which an obligation comes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HornClause {
    Entry(u32),
    Step(u32),
    /// The claim about the point of this number.
    Goal(u32),
}

/// An implication: if all premises hold, so does the conclusion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obligation {
    pub clause: HornClause,
    pub premises: Vec<Term>,
    pub conclusion: Term,
}

impl HornClauses {
    /// The conditions under which facts contain the states that are reached from the initial ones.
    pub fn forward(iosts: &Iosts) -> Self {
        let is_entry = |point: &Point| point.location == iosts.initial;
        Self::over(iosts, Orientation::Forward, location_points(iosts), is_entry, |_, _, _| true)
    }

    /// The conditions under which facts contain the states from which an accepting location is reached.
    /// `accepting` has an entry for each location.
    pub fn backward(iosts: &Iosts, accepting: &[bool]) -> Self {
        let is_entry = |point: &Point| accepting[point.location.place()];
        Self::over(iosts, Orientation::Backward, location_points(iosts), is_entry, |_, _, _| true)
    }
}

fn location_points(iosts: &Iosts) -> Vec<Point> {
    iosts.location_ids().map(|location| Point { location, token: () }).collect()
}

impl<T: Copy> HornClauses<T> {
    /// The conditions on facts at these points. `is_entry` says which of them are entries. `may_lead` says
    /// whether a transition may lead from a token at its source to one at its target. The caller must know
    /// that every run has a way through the tokens: facts are proved only of the runs that have one.
    pub fn over(
        iosts: &Iosts,
        orientation: Orientation,
        points: Vec<Point<T>>,
        is_entry: impl Fn(&Point<T>) -> bool,
        may_lead: impl Fn(T, TransitionId, T) -> bool,
    ) -> Self {
        let mut points_at: Numbered<LocationId, Vec<u32>> = iosts.locations.map(|_| Vec::new());
        for (number, point) in points.iter().enumerate() {
            points_at[point.location].push(number as u32);
        }
        let mut steps = Vec::with_capacity(iosts.transitions.len());
        for (number, transition) in iosts.transitions.numbered() {
            for &source in &points_at[transition.source] {
                for &target in &points_at[transition.target] {
                    if !may_lead(points[source as usize].token, number, points[target as usize].token) {
                        continue;
                    }
                    let (from, to) = match orientation {
                        Orientation::Forward => (source, target),
                        Orientation::Backward => (target, source),
                    };
                    steps.push(HornStep { from, to, transition: number });
                }
            }
        }
        let entries = (0..points.len() as u32).filter(|number| is_entry(&points[*number as usize])).collect();
        HornClauses { orientation, points, entries, steps }
    }

    /// Groups facts, one for each point, by location.
    pub fn at_locations<F: Clone>(&self, iosts: &Iosts, facts: &[F]) -> Vec<Vec<F>> {
        let mut by_location: Numbered<LocationId, Vec<F>> = iosts.locations.map(|_| Vec::new());
        for (point, fact) in self.points.iter().zip(facts) {
            by_location[point.location].push(fact.clone());
        }
        by_location.into_iter().collect()
    }

    /// Lists the obligations that prove these facts inductive within others: first entries, then steps.
    /// Panics if there is not one fact, and one bound, for each point.
    pub fn obligations<'a>(
        &'a self,
        iosts: &'a Iosts,
        facts: &'a [Term],
        within: Option<&'a [Term]>,
    ) -> impl Iterator<Item = Obligation> + 'a {
        let points = self.points.len();
        assert!(
            facts.len() == points && within.is_none_or(|within| within.len() == points),
            "one for each point"
        );
        let bound = move |point: u32| within.map_or_else(Term::yes, |within| within[point as usize].clone());
        let entries = self.entries.iter().map(move |&point| {
            let mut premises = bound(point).lowered().conjuncts();
            if self.orientation == Orientation::Forward {
                premises.extend(iosts.initial_condition.lowered().conjuncts());
            }
            Obligation {
                clause: HornClause::Entry(point),
                premises,
                conclusion: facts[point as usize].clone(),
            }
        });
        let steps = self.steps.iter().enumerate().map(move |(number, step)| {
            let transition = &iosts.transitions[step.transition];
            let after = |fact: &Term| substitute(fact, &transition.assignments);
            let fact = |point: u32| &facts[point as usize];
            // `from` and `to` say how values flow. Backward, they flow from the target to the source.
            let (source, target, premise, conclusion) = match self.orientation {
                Orientation::Forward => (step.from, step.to, fact(step.from).clone(), after(fact(step.to))),
                Orientation::Backward => (step.to, step.from, after(fact(step.from)), fact(step.to).clone()),
            };
            let parts = [premise, bound(source), enabling_condition(transition), after(&bound(target))];
            let premises = parts.iter().flat_map(Term::conjuncts).collect();
            Obligation { clause: HornClause::Step(number as u32), premises, conclusion }
        });
        entries.chain(steps)
    }
}

/// Lists the obligations that prove a chain of refinement iterations: each is inductive within the one
/// before, and the last implies the claim about each location. Then the last contains every state of a run
/// from an initial state to an accepting location.
/// Panics if a refinement iteration, `accepting` or `claimed` has not one entry for each location.
pub fn chain<'a>(
    iosts: &'a Iosts,
    accepting: &'a [bool],
    refinements: &'a [RefinementIteration],
    claimed: &'a [Term],
) -> impl Iterator<Item = Obligation> + 'a {
    assert!(
        accepting.len() == iosts.locations.len() && claimed.len() == accepting.len(),
        "one for each location"
    );
    let inductive = refinements.iter().enumerate().flat_map(move |(number, refinement)| {
        let within = number.checked_sub(1).map(|previous| &refinements[previous].facts[..]);
        let clauses = match refinement.orientation {
            Orientation::Forward => HornClauses::forward(iosts),
            Orientation::Backward => HornClauses::backward(iosts, accepting),
        };
        clauses.obligations(iosts, &refinement.facts, within).collect::<Vec<_>>()
    });
    let last = refinements.last().map(|refinement| &refinement.facts[..]);
    let goals = claimed.iter().enumerate().map(move |(location, claim)| Obligation {
        clause: HornClause::Goal(location as u32),
        premises: last.map_or_else(Vec::new, |facts| facts[location].lowered().conjuncts()),
        conclusion: claim.clone(),
    });
    inductive.chain(goals)
}
