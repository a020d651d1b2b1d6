//! Applies the ten rules of Definition 6 at one context of the path.
//!
//! **Source.** Bannour, Lapitre, Le Gall, Nguyen (2024), Definition 6. With z the delay, TM the time after
//! which silence is a fact, and `ec'` a successor:
//!
//! | rule | event | condition | leads to |
//! |---|---|---|---|
//! | R1 | the path's next event, a stimulus | the rest of the path is possible | the next context |
//! | R2 | the path's next event, an output | `z < TM`, allowed | the next context |
//! | R3 | the same, the path's last | `z < TM`, allowed | PASS |
//! | R4 | another output | `z < TM`, allowed | INCout |
//! | R5 | any output | `z < TM`, not allowed | FAILout |
//! | R6 | the path's next event, an uncontrollable input | `z < TM`, specified | the next context |
//! | R7 | another uncontrollable input | `z < TM`, specified | INCucIn_spec |
//! | R8 | any uncontrollable input | `z < TM`, not specified | INCucIn_uspec |
//! | R9 | silence | `z >= TM`, allowed | INCdur |
//! | R10 | silence | `z >= TM`, not allowed | FAILdur |
//!
//! A rule makes a transition where its condition can hold.
//!
//! **Late events.** By the rules nothing is seen from TM on: there the tester takes the silence. In reality
//! an event may still be measured then. So there are additional transitions for what is seen at `z >= TM`
//! ([`LATE`]). They lead to INCdur if the model allows the event then, since it came too late for this test.
//! Otherwise they lead to FAILout, or for uncontrollable inputs to INCucIn_uspec. They are not counted with
//! the rules.
//!
//! **Silence** of z is allowed if an output or an uncontrollable input may still come, at some `z' > z`, or
//! if no output can come at any time. The publication asks for `z' = z` instead. Then a system that may
//! answer between 10 and 12 fails by a silence of 5, which Theorem 5.1 of the same publication excludes. Its
//! formula is kept behind an option. The values of the outputs were free there. Here they are quantified, as
//! in its Definition 3. **Stimuli** that the tester could send do not allow silence (as published).
//!
//! **Resets** of the tester's clock do not matter here: a delay counts from the event before it.
//!
//! **Deterministic**: the path's next event excludes every other transition on its channel
//! (trace-determinism, Definition 5), or there is no test case. If two others overlap, they lead to one
//! verdict, and the first one takes what both could.
//!
//! **Idle** transitions. The publication's conditions contain the whole path. So a rule's condition may hold
//! only for values with which the path cannot have come here. Its transition would never be taken. It is
//! counted, for comparison with counts by the published formulas, and not made.
//!
//! **Cost**: a question to the solver for each transition made, and one for each pair on the path's channel.

use std::collections::BTreeMap;
use std::fmt;

use coreach_analyses::solver::{Answer, Solver, may_hold};
use coreach_analyses::symbolic::System;
use coreach_analyses::symbolic::eliminate::eliminate_data;
use coreach_analyses::timed::PathContext;
use coreach_analyses::timed::context::not_negative;
use coreach_model::iosts::ActionKind;
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::timed::delayed::Delayed;
use coreach_model::{ActionId, Datum, Term, TransitionId, Verdict, budget};

use crate::simplify::simplify;

/// A rule by its number, from 1 to 10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rule(pub u8);

impl Rule {
    pub const ALL: [Rule; 10] =
        [Rule(1), Rule(2), Rule(3), Rule(4), Rule(5), Rule(6), Rule(7), Rule(8), Rule(9), Rule(10)];
}

/// Stands in the place of a rule for the transitions for events that are seen when silence is a fact. It is
/// not among [`Rule::ALL`].
pub const LATE: Rule = Rule(0);

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == LATE {
            return f.write_str("late");
        }
        write!(f, "R{}", self.0)
    }
}

coreach_model::words! {
    /// How a test case ends: the names of its verdict locations.
    pub enum Ends {
        Pass = "PASS",
        /// An output that the model does not allow, or not then.
        FailOut = "FAILout",
        /// A silence that the model does not allow.
        FailDur = "FAILdur",
        /// Another output than the path's, allowed.
        IncOut = "INCout",
        /// A silence that the model allows.
        IncDur = "INCdur",
        /// An uncontrollable input that the model takes, and the path does not.
        IncUcInSpec = "INCucIn_spec",
        /// An uncontrollable input that the model does not take.
        IncUcInUspec = "INCucIn_uspec",
    }
}

impl Ends {
    pub fn verdict(self) -> Verdict {
        match self {
            Ends::Pass => Verdict::Pass,
            Ends::FailOut | Ends::FailDur => Verdict::Fail,
            Ends::IncOut | Ends::IncDur | Ends::IncUcInSpec | Ends::IncUcInUspec => Verdict::Inconclusive,
        }
    }
}

/// Where a transition that a rule makes leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeadsTo {
    /// The path's next context.
    Next,
    Ends(Ends),
}

/// A transition that a rule made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MadeByRules {
    pub rule: Rule,
    /// The action; `None` is silence.
    pub action: Option<ActionId>,
    /// The guard, over registers, constants and parameters.
    pub guard: Term,
    /// The transition of the model that the rule is about, if there is one.
    pub through: Option<TransitionId>,
    pub target: LeadsTo,
}

/// A context with everything that its rules need.
pub struct RuleContext<'a> {
    /// The system of the delayed form.
    pub system: &'a System<'a>,
    pub delayed: &'a Delayed,
    pub context: &'a PathContext,
    /// The path's next transition.
    pub step: TransitionId,
    /// The condition that must hold behind the step, so that the rest of the path can be taken.
    pub ahead: &'a Term,
    pub is_last: bool,
    /// TM.
    pub silence_after: &'a Term,
    /// Is silence judged by the published formula?
    pub published: bool,
}

/// Why the rules make no test case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RulesStopped {
    /// The path's next event is not possible.
    Unsatisfiable,
    /// An event may be the path's and may also be another transition's.
    Shared {
        other: TransitionId,
        /// Is this known? Otherwise it could not be excluded.
        is_certain: bool,
    },
    /// A condition cannot be said without a quantifier.
    Quantifier { through: TransitionId },
}

/// The result of the rules at a context.
pub struct Applied {
    pub made: Vec<MadeByRules>,
    pub counts: RuleCounts,
    /// May the step's condition be false for some values?
    pub may_miss: bool,
}

/// Applies the rules at a context. `has_history`: could what was observed before also be off the path?
pub fn apply_rules(
    place: &RuleContext<'_>,
    has_history: bool,
    solver: &mut dyn Solver,
) -> Result<Applied, RulesStopped> {
    let mut applying =
        Applying { place, has_history, made: Vec::new(), counts: RuleCounts::default(), solver };
    let may_miss = applying.apply_to_step()?;
    for channel in place.channels() {
        budget::ask();
        applying.apply_to_channel(channel)?;
    }
    applying.apply_to_silence()?;
    Ok(Applied { made: applying.made, counts: applying.counts, may_miss })
}

impl RuleContext<'_> {
    fn action(&self, transition: TransitionId) -> ActionId {
        self.system.iosts.transitions[transition].action
    }

    /// Lists the outputs, then the uncontrollable inputs, each in the order of the model.
    fn channels(&self) -> Vec<ActionId> {
        let iosts = self.system.iosts;
        let outputs = iosts.action_ids().filter(|id| iosts.action(*id).kind == ActionKind::Output);
        outputs.chain(self.delayed.uncontrollable.iter().copied()).collect()
    }

    /// Lists the transitions of an action that leave the context's location, the path's first.
    fn leaving(&self, action: ActionId) -> Vec<TransitionId> {
        let outgoing = self.system.outgoing[self.context.state.location].iter().copied();
        let mut of_action: Vec<TransitionId> =
            outgoing.filter(|number| self.action(*number) == action).collect();
        // `false` comes before `true`.
        of_action.sort_by_key(|number| *number != self.step);
        of_action
    }

    fn conditions_of(&self, transition: TransitionId) -> Vec<Term> {
        self.context.open_conjuncts(self.system, transition, &self.delayed.delay)
    }

    /// Says when an event may be this transition's: `∃ F_ini. π(ec')`, without established parts.
    fn allowed(&self, transition: TransitionId) -> Result<Term, RulesStopped> {
        // `for_some` always eliminates the unknown data (F_ini). The event's parameters stay.
        let condition = self.context.for_some(&[], &self.conditions_of(transition));
        condition.ok_or(RulesStopped::Quantifier { through: transition })
    }

    /// Says `z < TM`, or `z >= TM`.
    fn delay_against_tm(&self, comparison: Comparison) -> Term {
        Term::compare(comparison, &Term::datum(&self.delayed.delay), self.silence_after)
    }

    /// Lists the parameters other than the delay.
    fn parameters_of(&self, transition: TransitionId) -> Vec<Datum> {
        let parameters = &self.system.iosts.action(self.action(transition)).parameters;
        parameters.iter().filter(|datum| **datum != self.delayed.delay).cloned().collect()
    }
}

/// The rules at a context, while they are applied.
struct Applying<'a, 'b> {
    place: &'a RuleContext<'a>,
    has_history: bool,
    made: Vec<MadeByRules>,
    counts: RuleCounts,
    solver: &'b mut dyn Solver,
}

impl Applying<'_, '_> {
    /// Can the guard hold where the path has come?
    fn is_possible(&mut self, guard: &Term) -> bool {
        if guard.is_false() {
            return false;
        }
        let mut formula = self.place.context.state.condition.clone();
        // TM is greater than 0, also if it is a constant.
        let zero = Term::int(0).to_real();
        formula.push(Term::compare(Comparison::Greater, self.place.silence_after, &zero));
        formula.extend(guard.conjuncts());
        may_hold(self.solver, &formula)
    }

    /// Simplifies the condition where the path can have come.
    fn simplify_here(&mut self, condition: &Term, context: &[Term]) -> Term {
        let mut known = self.place.context.state.condition.clone();
        known.push(not_negative(&self.place.delayed.delay));
        known.extend_from_slice(context);
        simplify(condition, &known, self.solver)
    }

    /// Adds the transition of the rule with this number, if it can be taken. `guard` has two parts, to which
    /// `delay >= 0` is added.
    fn add_rule(
        &mut self,
        number: u8,
        action: Option<ActionId>,
        guard: [Term; 2],
        through: Option<TransitionId>,
        target: LeadsTo,
    ) {
        let rule = Rule(number);
        let guard = Term::and([not_negative(&self.place.delayed.delay)].into_iter().chain(guard));
        if self.is_possible(&guard) {
            *self.counts.made.entry(rule).or_default() += 1;
            self.made.push(MadeByRules { rule, action, guard, through, target });
        } else if matches!(number, 5 | 8 | 10) && self.has_history {
            // These negate conditions that, as published, contain the whole path (see "Idle").
            *self.counts.idle.entry(rule).or_default() += 1;
        }
    }

    /// Adds the transition for an event that is seen when silence is a fact, if it can be taken.
    fn add_late(&mut self, channel: ActionId, condition: &Term, ends: Ends) {
        let late = self.place.delay_against_tm(Comparison::AtLeast);
        let guard = Term::and([not_negative(&self.place.delayed.delay), late, condition.clone()]);
        if self.is_possible(&guard) {
            let (action, target) = (Some(channel), LeadsTo::Ends(ends));
            self.counts.late += 1;
            self.made.push(MadeByRules { rule: LATE, action, guard, through: None, target });
        }
    }

    /// Applies rule 1 to the path's next event. Refuses an event that is impossible, or that another
    /// transition may take. Returns whether its condition may be false.
    fn apply_to_step(&mut self) -> Result<bool, RulesStopped> {
        let place = self.place;
        let action = place.action(place.step);
        let allowed = place.allowed(place.step)?;
        let possible = Term::and([not_negative(&place.delayed.delay), allowed.clone()]);
        if !self.is_possible(&possible) {
            return Err(RulesStopped::Unsatisfiable);
        }
        for rival in place.leaving(action).into_iter().filter(|rival| *rival != place.step) {
            let mut both = place.context.state.condition.clone();
            both.extend(possible.conjuncts());
            both.extend(place.allowed(rival)?.conjuncts());
            match self.solver.check(&both) {
                Answer::Unsat => {}
                answer => {
                    return Err(RulesStopped::Shared { other: rival, is_certain: answer == Answer::Sat });
                }
            }
        }
        if place.delayed.is_controllable(action) {
            let guard = self.simplify_here(&place.leads_on()?, &[]);
            let target = if place.is_last { LeadsTo::Ends(Ends::Pass) } else { LeadsTo::Next };
            self.add_rule(1, Some(action), [guard, Term::yes()], Some(place.step), target);
        }
        let missed = Term::and([not_negative(&place.delayed.delay), allowed.not()]);
        Ok(self.is_possible(&missed))
    }

    /// Applies rules 2 to 8 to one channel.
    fn apply_to_channel(&mut self, channel: ActionId) -> Result<(), RulesStopped> {
        let place = self.place;
        let is_output = place.system.iosts.action(channel).kind == ActionKind::Output;
        let in_time = place.delay_against_tm(Comparison::Less);
        // The path's step comes first. `apply_to_step` has shown that it excludes all others of its channel.
        let skipped_steps = usize::from(place.action(place.step) == channel);
        let mut conditions: Vec<Term> = Vec::new();
        for transition in place.leaving(channel) {
            let allowed = place.allowed(transition)?;
            let mut guard = allowed.clone();
            // An earlier transition takes what both could.
            for earlier in conditions.iter().skip(skipped_steps) {
                if self.is_possible(&Term::and([in_time.clone(), earlier.clone(), guard.clone()])) {
                    guard = Term::and([guard, earlier.not()]);
                }
            }
            let is_step = transition == place.step;
            let (rule, target) = match (is_output, is_step) {
                (true, true) if place.is_last => (3, LeadsTo::Ends(Ends::Pass)),
                (true, true) => (2, LeadsTo::Next),
                (true, false) => (4, LeadsTo::Ends(Ends::IncOut)),
                (false, true) => (6, LeadsTo::Next),
                (false, false) => (7, LeadsTo::Ends(Ends::IncUcInSpec)),
            };
            self.add_rule(rule, Some(channel), [in_time.clone(), guard], Some(transition), target);
            conditions.push(allowed);
        }
        let (rule, verdict) = if is_output { (5, Ends::FailOut) } else { (8, Ends::IncUcInUspec) };
        let allowed = Term::or(conditions);
        self.add_rule(rule, Some(channel), [in_time, allowed.not()], None, LeadsTo::Ends(verdict));
        self.add_late(channel, &allowed, Ends::IncDur);
        self.add_late(channel, &allowed.not(), verdict);
        Ok(())
    }

    /// Applies rules 9 and 10.
    fn apply_to_silence(&mut self) -> Result<(), RulesStopped> {
        let place = self.place;
        let late = place.delay_against_tm(Comparison::AtLeast);
        let mut reasons = Vec::new();
        for transition in place.channels().into_iter().flat_map(|channel| place.leaving(channel)) {
            budget::ask();
            reasons.push(place.still_comes(transition)?);
        }
        reasons.push(place.quiescent()?);
        let allowed = self.simplify_here(&Term::or(reasons), std::slice::from_ref(&late));
        self.add_rule(9, None, [late.clone(), allowed.clone()], None, LeadsTo::Ends(Ends::IncDur));
        self.add_rule(10, None, [late, allowed.not()], None, LeadsTo::Ends(Ends::FailDur));
        Ok(())
    }
}

impl RuleContext<'_> {
    /// Says when the stimulus leaves the rest of the path possible (φ_stim).
    fn leads_on(&self) -> Result<Term, RulesStopped> {
        let transition = &self.system.iosts.transitions[self.step];
        let ahead = substitute(self.ahead, &transition.assignments);
        let mut parts = self.conditions_of(self.step);
        let step_conditions = parts.clone();
        parts.extend(self.context.express(&ahead).conjuncts());
        // The path has established these.
        parts.retain(|part| !self.context.state.condition.contains(part));
        // The condition of a stimulus may be weaker than needed, but must contain that it may be sent.
        let for_some = |parts: &[Term]| self.context.for_some(&[], parts);
        let condition = for_some(&parts).or_else(|| for_some(&step_conditions));
        condition.ok_or(RulesStopped::Quantifier { through: self.step })
    }

    /// Says when a silence may still be ended by an event of this transition.
    fn still_comes(&self, transition: TransitionId) -> Result<Term, RulesStopped> {
        let delay = &self.delayed.delay;
        let mut bound = self.parameters_of(transition);
        let mut parts = self.conditions_of(transition);
        if !self.published {
            let later = Datum::new(format!("{}#later", delay.name()), delay.ty().clone());
            let with_later = Substitution::from([(delay.clone(), Term::datum(&later))]);
            parts = substitute_all(&parts, &with_later);
            parts.push(Term::compare(Comparison::Greater, &Term::datum(&later), &Term::datum(delay)));
            bound.push(later);
        }
        self.context.for_some(&bound, &parts).ok_or(RulesStopped::Quantifier { through: transition })
    }

    /// Says when no output can come, at any time: `∃ F_ini. π(ec^δ)`. For some values of the unknown data
    /// (F_ini), no output's condition holds with any values of its parameters and any delay.
    fn quiescent(&self) -> Result<Term, RulesStopped> {
        let mut impossible = Vec::new();
        let mut first_output = None;
        let iosts = self.system.iosts;
        for transition in self.system.outgoing[self.context.state.location].iter().copied() {
            if iosts.action(self.action(transition)).kind != ActionKind::Output {
                continue;
            }
            first_output.get_or_insert(transition);
            let mut bound = self.parameters_of(transition);
            bound.push(self.delayed.delay.clone());
            let mut conditions = vec![not_negative(&self.delayed.delay)];
            conditions.extend(self.conditions_of(transition));
            let possible = eliminate_data(&bound, &conditions);
            let possible = possible.ok_or(RulesStopped::Quantifier { through: transition })?;
            impossible.extend(possible.not().conjuncts());
        }
        // Without any output the location is always quiescent.
        let Some(through) = first_output else { return Ok(Term::yes()) };
        // Only the unknown data are left to eliminate.
        self.context.for_some(&[], &impossible).ok_or(RulesStopped::Quantifier { through })
    }
}

/// How often each rule made a transition at a context.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleCounts {
    /// How many transitions of the test case each rule made.
    pub made: BTreeMap<Rule, usize>,
    /// How many transitions each rule makes besides, if it is taken literally: their conditions hold only for
    /// values with which the path cannot have come here.
    pub idle: BTreeMap<Rule, usize>,
    /// How many transitions there are for events after silence is a fact. They do not belong to the rules.
    pub late: usize,
}

/// Sums the counts of all rules at all contexts.
pub fn sum_counts<'a>(counts: impl Iterator<Item = &'a BTreeMap<Rule, usize>>) -> usize {
    counts.flat_map(BTreeMap::values).sum()
}
