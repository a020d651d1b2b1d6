//! Simplifies a condition in a context in which something is already known.
//!
//! **Problem.** Most of a fact is known when a guard is read, and nobody can read a guard that repeats it.
//!
//! **Method.** Contextual simplification: a conjunct that the context and its neighbours imply is dropped. A
//! disjunct that they exclude, or that its neighbours cover, is dropped. The remaining parts are simplified
//! in the context of their neighbours. The result is equivalent to the condition wherever the context holds.
//!
//! **Unknown** answers leave the text as it is. **Ends** by structural recursion, which is exponential for a
//! term that shares. So at most `MOST_QUESTIONS` parts are looked at, and the others stay as they are.
//! **Cost**: two queries per part, also for nested parts, each with the context and the neighbours asserted.
//! For a fact of hundreds of faces this would be quadratic, and mostly the context alone implies each face.
//! So if there are many conjuncts, each is first asked about with the context alone.

use std::sync::Arc;

use coreach_analyses::solver::{Solver, may_hold, must_hold, must_hold_along};
use coreach_model::Term;
use coreach_model::budget::{self, Budget, Limit};
use coreach_model::obligation::defined;
use coreach_model::term::node::Node;

/// The most questions that one simplification may ask. Parts that are not reached stay as they are.
const MOST_QUESTIONS: usize = 2_000;

/// The work of the questions about one long conjunction, in steps (about a million a second). One face of a
/// polyhedron may be a hard question, and a shorter text is not worth more.
const MOST_WORK: u64 = 4_000_000;

/// Makes a condition that equals the given one wherever the context holds, and is mostly shorter.
pub fn simplify(condition: &Term, context: &[Term], solver: &mut dyn Solver) -> Term {
    let simple = Simplifier::new(solver).simplify_term(condition, context);
    still_defined(simple, condition, context, solver)
}

/// Returns the new condition, unless it can reach an operation without a value: a conjunct that guards a
/// division may be implied by one after it, and must stay all the same. Then it returns the old condition.
fn still_defined(new: Term, old: &Term, context: &[Term], solver: &mut dyn Solver) -> Term {
    if must_hold(solver, context, &defined(&new)) { new } else { old.clone() }
}

struct Simplifier<'a> {
    solver: &'a mut dyn Solver,
    remaining_questions: usize,
    /// The work that long conjunctions may still cost.
    work: Arc<Budget>,
}

impl<'a> Simplifier<'a> {
    fn new(solver: &'a mut dyn Solver) -> Self {
        Simplifier {
            solver,
            remaining_questions: MOST_QUESTIONS,
            work: Budget::new("simplify", Some(Limit::Work(MOST_WORK)), false),
        }
    }

    /// Simplifies a condition with all its parts.
    fn simplify_term(&mut self, condition: &Term, context: &[Term]) -> Term {
        // Each part of a shared term is met as often as it is printed, so this counter must end the walk.
        let Some(remaining) = self.remaining_questions.checked_sub(1) else { return condition.clone() };
        self.remaining_questions = remaining;
        match condition.written() {
            Some(Node::And(parts)) => Term::and(self.simplify_conjuncts(parts.clone(), context)),
            Some(Node::Or(parts)) => {
                let mut disjuncts = parts.clone();
                self.simplify_each(&mut disjuncts, context, false);
                condition.with_disjuncts(disjuncts)
            }
            Some(Node::Literal(_)) => condition.clone(),
            _ if must_hold(self.solver, context, condition) => Term::yes(),
            _ if must_hold(self.solver, context, &condition.not()) => Term::no(),
            _ => condition.clone(),
        }
    }

    /// Simplifies conjuncts. If there are many, those that are not reached within the work stay as they are.
    fn simplify_conjuncts(&mut self, mut parts: Vec<Term>, context: &[Term]) -> Vec<Term> {
        if parts.len() <= 16 {
            self.simplify_each(&mut parts, context, true);
            return parts;
        }
        // Each of them costs one question more.
        self.remaining_questions = self.remaining_questions.saturating_sub(parts.len());
        let work = self.work.clone();
        // If the work is used up, the result so far is kept: each step keeps the meaning.
        if budget::within(&work, || self.simplify_many_conjuncts(&mut parts, context)).is_err() {
            self.remaining_questions = 0;
        }
        parts
    }

    /// First drops the conjuncts that the context alone implies, so that later questions are shorter.
    fn simplify_many_conjuncts(&mut self, parts: &mut Vec<Term>, context: &[Term]) {
        for index in (0..parts.len()).rev() {
            if !has_parts(&parts[index]) && must_hold_along(self.solver, context, &parts[index]) {
                parts.remove(index);
            }
        }
        self.simplify_each(parts, context, true);
    }

    /// Simplifies each conjunct or disjunct in the context of the others. A part that decides the whole is
    /// then the only one.
    fn simplify_each(&mut self, parts: &mut Vec<Term>, context: &[Term], are_conjuncts: bool) {
        // Later parts are dropped first, since the user's own words come first.
        for index in (0..parts.len()).rev() {
            if self.remaining_questions == 0 {
                return;
            }
            let known_of_others = if are_conjuncts { Term::clone } else { Term::not };
            let surroundings = with_other_parts(context, parts, index, known_of_others);
            let simple = self.simplify_term(&parts[index], &surroundings);
            let (is_neutral, decides) = match are_conjuncts {
                true => (simple.is_true(), simple.is_false()),
                false => (simple.is_false(), simple.is_true()),
            };
            if is_neutral {
                parts.remove(index);
            } else if decides {
                *parts = vec![simple];
                return;
            } else {
                parts[index] = simple;
            }
        }
    }
}

/// Does the condition have parts that are looked at one by one?
fn has_parts(condition: &Term) -> bool {
    matches!(condition.written(), Some(Node::Or(_) | Node::And(_)))
}

/// Adds to the context what is known of the parts other than this one: in a disjunction, their negations.
fn with_other_parts(context: &[Term], parts: &[Term], index: usize, known: fn(&Term) -> Term) -> Vec<Term> {
    let (earlier, later) = (&parts[..index], &parts[index + 1..]);
    context.iter().cloned().chain(earlier.iter().chain(later).map(known)).collect()
}

/// Drops the conjuncts of a guard that its other conjuncts imply. Nothing outside the guard is used, so the
/// result is equivalent everywhere. Earlier conjuncts are kept before later, stronger ones before weaker.
pub fn without_repetition(guard: &Term, solver: &mut dyn Solver) -> Term {
    let mut parts = guard.conjuncts();
    let mut index = 0;
    while index < parts.len() {
        let others = with_other_parts(&[], &parts, index, Term::clone);
        if parts.len() > 1 && must_hold(solver, &others, &parts[index]) {
            parts.remove(index);
        } else {
            index += 1;
        }
    }
    still_defined(Term::and(parts), guard, &[], solver)
}

/// Simplifies the user's guard in the context. Comparisons and flags stay as the user wrote them. Parts that
/// stages have made (disjunctions, negated guards) are simplified.
pub fn simplify_guard(guard: &Term, context: &[Term], solver: &mut dyn Solver) -> Term {
    let (plain, made): (Vec<Term>, Vec<Term>) =
        guard.conjuncts().into_iter().partition(|part| !has_parts(part));
    let mut known = context.to_vec();
    known.extend(plain.iter().cloned());
    let mut parts = plain;
    parts.extend(Simplifier::new(solver).simplify_conjuncts(made, &known));
    still_defined(Term::and(parts), guard, context, solver)
}

/// The part of a fact that the guard and the context do not imply, as a condition to add. `true` if nothing
/// is to be added, `false` if the fact cannot hold.
pub fn missing_part(fact: &Term, guard: &Term, context: &[Term], solver: &mut dyn Solver) -> Term {
    let mut known = context.to_vec();
    known.extend(guard.conjuncts());
    let mut formula = known.clone();
    formula.extend(fact.conjuncts());
    if !may_hold(solver, &formula) {
        return Term::no();
    }
    simplify(fact, &known, solver)
}

#[cfg(test)]
mod tests {
    use coreach_analyses::solver::z3::Z3Solver;
    use coreach_analyses::solver::{Answer, Statistics, Witness};
    use coreach_model::term::node::{Comparison, Operator};
    use coreach_model::{Datum, Type};

    use super::*;

    #[test]
    fn a_condition_that_shares_is_left_as_it_is_where_it_is_too_long() {
        let x = Term::datum(&Datum::new("x", Type::Int));
        let above = |least: i64| Term::compare(Comparison::Greater, &x, &Term::int(least));
        let mut shared = above(0);
        for level in 0..60 {
            let flag = Term::datum(&Datum::new(format!("f{}", level % 3), Type::Bool));
            shared = Term::or([Term::and([flag, shared.clone()]), Term::and([above(-level), shared])]);
        }
        let mut solver = Z3Solver::default();
        let simple = simplify(&shared, &[above(-3)], &mut solver);
        let differ = Term::or([Term::and([simple.clone(), shared.not()]), Term::and([shared, simple.not()])]);
        assert!(!may_hold(&mut solver, &[above(-3), differ]));
    }

    #[derive(Default)]
    struct CountingSolver {
        solver: Z3Solver,
        conjuncts: usize,
    }

    impl Solver for CountingSolver {
        fn check(&mut self, formula: &[Term]) -> Answer {
            self.conjuncts += formula.len();
            self.solver.check(formula)
        }

        fn witness(&mut self, formula: &[Term]) -> Witness {
            self.solver.witness(formula)
        }

        fn statistics(&self) -> Statistics {
            self.solver.statistics()
        }
    }

    #[test]
    fn a_fact_of_many_faces_that_the_guard_implies_costs_a_short_question_for_each() {
        let [x, y] = ["x", "y"].map(|name| Term::datum(&Datum::new(name, Type::Int)));
        let above = |slope: i64| {
            let line = Term::arithmetic(Operator::Multiply, &Term::int(slope), &x);
            Term::compare(Comparison::AtLeast, &y, &line)
        };
        let zero = |term: &Term| Term::equal(term, &Term::int(0));
        let guard = Term::and([zero(&x), Term::compare(Comparison::Greater, &y, &Term::int(0))]);
        let faces = 200;
        let fact = Term::and((1..=faces).map(above));
        let mut solver = CountingSolver::default();
        assert!(missing_part(&fact, &guard, &[], &mut solver).is_true());
        // The fact once with the guard, and each face with it.
        assert!(solver.conjuncts < 6 * faces as usize, "{} conjuncts", solver.conjuncts);
    }

    /// Every question is hard, and none is answered with what was hoped for.
    #[derive(Default)]
    struct Costly(usize);

    impl Solver for Costly {
        fn check(&mut self, _: &[Term]) -> Answer {
            budget::ask_now();
            budget::spend(MOST_WORK / 5);
            self.0 += 1;
            Answer::Unknown
        }

        fn witness(&mut self, _: &[Term]) -> Witness {
            Witness::Unknown
        }

        fn statistics(&self) -> Statistics {
            Statistics::default()
        }
    }

    #[test]
    fn a_fact_of_many_hard_faces_is_left_as_it_is_once_that_has_cost_enough() {
        let [x, y] = ["x", "y"].map(|name| Term::datum(&Datum::new(name, Type::Int)));
        let above = |slope: i64| {
            let line = Term::arithmetic(Operator::Multiply, &Term::int(slope), &x);
            Term::compare(Comparison::AtLeast, &y, &line)
        };
        let fact = Term::and((1..=200).map(above));
        let mut solver = Costly::default();
        assert_eq!(simplify(&fact, &[], &mut solver), fact);
        assert!(solver.0 < 10, "{} questions", solver.0);
    }
}
