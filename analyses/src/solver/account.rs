//! How hard a solver tries where the answers are wanted, and not needed.
//!
//! **Problem.** Each question has a limit. A stage asks thousands of them, and where most are hard each takes its second: nine
//! transitions and two integers were a minute of saying in fewer words what had long been found. **Method.** Each question is first tried
//! with a little effort, which is more than enough for all but the hard ones. Of those some are tried again with the whole of it; others
//! stay open, and once too many were, the rest is tried with the least effort. What stays open is [`Answer::Unknown`], which every
//! decision survives.
//!
//! Effort is counted in the solver's own units and in questions, never timed, so that the result is the same everywhere.
//!
//! [`Answer::Unknown`]: super::Answer::Unknown

use super::Solver;

/// How hard a question is tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effort {
    /// Some milliseconds.
    Least,
    /// Some ten milliseconds.
    Little,
    /// What the solver's own limits allow.
    Whole,
}

/// Questions that may stay open with each effort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Account {
    least: u32,
    little: u32,
    whole: u32,
}

impl Default for Account {
    /// With Z3's default limits a dozen seconds, where all of it is used.
    fn default() -> Self {
        Account { least: 1_000, little: 100, whole: 6 }
    }
}

impl Account {
    /// How a question is tried first; none where it is not.
    pub fn first(&self) -> Option<Effort> {
        match self {
            Account { little: 1.., .. } => Some(Effort::Little),
            Account { least: 1.., .. } => Some(Effort::Least),
            _ => None,
        }
    }

    /// An effort did not do: the one that may do.
    pub fn after(&mut self, effort: Effort) -> Option<Effort> {
        match effort {
            Effort::Least => self.least = self.least.saturating_sub(1),
            Effort::Little => {
                self.little = self.little.saturating_sub(1);
                self.whole = self.whole.checked_sub(1)?;
                return Some(Effort::Whole);
            }
            Effort::Whole => {}
        }
        None
    }
}

/// Does work all of whose hard questions draw on one account.
pub fn sparingly<R>(solver: &mut dyn Solver, work: impl FnOnce(&mut dyn Solver) -> R) -> R {
    solver.set_account(Some(Account::default()));
    let result = work(solver);
    solver.set_account(None);
    result
}

#[cfg(test)]
mod tests {
    use coreach_model::term::node::Comparison;
    use coreach_model::{Datum, Term, Type};

    use super::*;
    use crate::solver::Answer;
    use crate::solver::z3::{QueryLimits, Z3Solver};

    fn int(name: &str) -> Term {
        Term::datum(&Datum::new(name, Type::Int))
    }

    /// `a^3 + b^3 + c^3 == 33`: nobody solves it in a second.
    fn hard() -> Term {
        let cube = |name: &str| Term::multiply(&Term::multiply(&int(name), &int(name)), &int(name));
        Term::equal(&Term::add(&Term::add(&cube("a"), &cube("b")), &cube("c")), &Term::int(33))
    }

    fn easy() -> Term {
        Term::compare(Comparison::Less, &int("a"), &int("b"))
    }

    #[test]
    fn efforts_end() {
        let mut account = Account::default();
        let mut tried = [0; 3];
        while let Some(mut effort) = account.first() {
            tried[effort as usize] += 1;
            while let Some(more) = account.after(effort) {
                tried[more as usize] += 1;
                effort = more;
            }
        }
        let Account { least, little, whole } = Account::default();
        assert_eq!(tried, [least, little, whole]);
    }

    #[test]
    fn what_stays_open_is_unknown_while_there_is_an_account() {
        let mut solver = Z3Solver::new(QueryLimits { rlimit: 200_000, milliseconds: 0 });
        solver.set_account(Some(Account { least: 1, little: 1, whole: 0 }));
        assert_eq!(solver.check(&[hard()]), Answer::Unknown);
        assert_eq!(solver.check(&[easy()]), Answer::Sat, "the least effort does for it");
        assert_eq!(solver.check(&[hard(), easy()]), Answer::Unknown);
        let other = Term::compare(Comparison::Greater, &int("a"), &int("b"));
        assert_eq!(solver.check(&[other.clone()]), Answer::Unknown, "nothing is left");
        assert_eq!(solver.check(&[easy()]), Answer::Sat, "it is known");
        assert_eq!(solver.statistics().unknown, 3);
        solver.set_account(None);
        assert_eq!(solver.check(&[other]), Answer::Sat);
    }
}
