//! The solver: Z3, kept running, with a memory.
//!
//! Coreach asks thousands of small questions, many of them again and again. So there is one Z3 solver per
//! object. Each query is a `push`, its conjuncts as separate assertions, a `check` and a `pop`. Terms are
//! translated once (`translate`). Answers are remembered by the *set* of conjuncts. The first `push` is never
//! undone: at level zero Z3 would start another, slower solver for every query.
//!
//! **Limits.** Every query is limited in Z3's own resource units, so it ends in the same way on every
//! machine. A wall clock costs about as much per query as a small query itself. So only queries beyond linear
//! arithmetic have one in addition, and these go to a second Z3 solver.
//!
//! **Witnesses** are small if that is cheap: numbers from -10 to 10 are tried first. A witness is believed
//! only after the terms have been evaluated under it. A division by zero or an irrational number makes it
//! [`Witness::Unknown`].
//!
//! Cost: about 65 microseconds for a small linear query that was not asked before, less than 1 for one that
//! was, and about 200 for a witness.

pub mod horn;
mod parts;
mod path;
mod quantified;
mod read;
mod strings;
#[cfg(test)]
mod tests;
mod translate;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use coreach_model::budget::{self, Budget, Passed};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::{literals, substitute_all};
use coreach_model::{Datum, Term, Type, Value, journal};
use z3::ast::{Bool, Dynamic};
use z3::{Params, SatResult};

use crate::solver::tried::{are_plain, try_strings};
use crate::solver::{Answer, Solver, Statistics, Witness, with_negation};
use parts::{check_parts, find_parts, split_into_parts, try_string_values};
use translate::{PreparedTerm, Translator};

/// The oldest version that is known to work.
const OLDEST: (u32, u32, u32) = (4, 13, 3);

/// The greatest absolute value of numbers that are tried first for a witness, and drawn first for a run.
pub const SMALL: i64 = 10;

/// The most resource units of a question about strings. Five times as many would decide half of the undecided
/// questions, in three times the time.
const MOST_OF_STRINGS: u32 = 200_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueryLimits {
    /// Z3's resource units per query, the same on every machine. 0 means no limit. A small query takes some
    /// hundreds, and a million take about a second.
    pub rlimit: u32,
    /// In addition, milliseconds per query beyond linear arithmetic. 0 means no limit.
    pub milliseconds: u32,
}

impl Default for QueryLimits {
    fn default() -> Self {
        QueryLimits { rlimit: 2_000_000, milliseconds: 10_000 }
    }
}

pub struct Z3Solver {
    limits: QueryLimits,
    translator: Translator,
    /// Writes numbers for strings that are only compared.
    with_numbers: Translator,
    // `Rc`, because a clone of Z3's solver translates all that it holds, which takes milliseconds.
    linear: Rc<z3::Solver>,
    nonlinear: Option<Rc<z3::Solver>>,
    strings: Option<Rc<z3::Solver>>,
    path: Option<path::Path>,
    quantified: Option<Rc<z3::Solver>>,
    answers: HashMap<Box<[Term]>, Answer>,
    witnesses: HashMap<Box<[Term]>, Witness>,
    /// If the memory has more answers or terms than this, it starts anew.
    most: usize,
    statistics: Statistics,
}

impl Drop for Z3Solver {
    fn drop(&mut self) {
        let Statistics { queries, remembered, unknown, .. } = self.statistics;
        if queries > 0 {
            journal::note(|| {
                format!("solver: {queries} queries, {remembered} of them from memory, {unknown} unknown")
            });
        }
    }
}

impl Default for Z3Solver {
    fn default() -> Self {
        Z3Solver::new(QueryLimits::default())
    }
}

/// A level of a Z3 solver. Its assertions are forgotten when it is dropped, also if a budget unwinds.
struct AssertionLevel(Rc<z3::Solver>);

impl AssertionLevel {
    fn on(solver: Rc<z3::Solver>) -> Self {
        solver.push();
        AssertionLevel(solver)
    }
}

impl Drop for AssertionLevel {
    fn drop(&mut self) {
        self.0.pop(1);
    }
}

enum Simplified {
    Known(Answer),
    /// The conjuncts without doubles, in the order of the question, and the same as a key, in an order of its
    /// own.
    Open(Vec<Term>, Box<[Term]>),
}

impl Z3Solver {
    pub fn new(limits: QueryLimits) -> Self {
        leave_signals_alone();
        Z3Solver {
            limits,
            translator: Translator::default(),
            with_numbers: Translator::with_numbers(),
            linear: start_solver(limits.rlimit, /* milliseconds */ 0),
            nonlinear: None,
            strings: None,
            path: None,
            quantified: None,
            answers: HashMap::new(),
            witnesses: HashMap::new(),
            most: 1 << 18,
            statistics: Statistics::default(),
        }
    }

    /// Limits the memory to so many answers and terms, for questions that are not repeated.
    pub fn remembering(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Forgets the translations if they are too many, and with them the path in which they are asserted.
    fn make_room(&mut self) {
        if self.translator.size() > self.most {
            self.translator = Translator::default();
            self.with_numbers = Translator::with_numbers();
            self.path = None;
        }
    }

    fn prepare(&mut self, conjuncts: &[Term]) -> Vec<Rc<PreparedTerm>> {
        self.make_room();
        conjuncts.iter().map(|conjunct| self.translator.prepare(conjunct)).collect()
    }

    /// Writes numbers for the strings if they are only compared.
    fn write_numbers(&mut self, conjuncts: &[Term], given: Vec<Rc<PreparedTerm>>) -> Vec<Rc<PreparedTerm>> {
        let only_compared = given.iter().any(|one| one.strings) && !given.iter().any(|one| one.computed);
        if !only_compared {
            return given;
        }
        conjuncts.iter().map(|conjunct| self.with_numbers.prepare(conjunct)).collect()
    }

    /// Asserts the conjuncts and the constraints of their types, on a new level of the Z3 solver that fits
    /// them.
    fn assert_all(&mut self, prepared: &[Rc<PreparedTerm>]) -> AssertionLevel {
        let limits = self.limits;
        let solver = if prepared.iter().any(|conjunct| conjunct.strings) {
            // With a history, a solver decides fewer and fewer questions about strings, so each begins anew.
            let rlimit = if limits.rlimit > 0 { limits.rlimit.min(MOST_OF_STRINGS) } else { MOST_OF_STRINGS };
            let solver =
                self.strings.get_or_insert_with(|| start_solver(rlimit, limits.milliseconds)).clone();
            solver.reset();
            solver.push();
            solver
        } else if prepared.iter().any(|conjunct| conjunct.nonlinear) {
            self.nonlinear.get_or_insert_with(|| start_solver(limits.rlimit, limits.milliseconds)).clone()
        } else {
            self.linear.clone()
        };
        let level = AssertionLevel::on(solver);
        let constraints: BTreeSet<usize> =
            prepared.iter().flat_map(|conjunct| conjunct.constraints.iter().copied()).collect();
        let has_numbers = prepared.iter().any(|conjunct| conjunct.has_numbers);
        let translator = if has_numbers { &self.with_numbers } else { &self.translator };
        for number in constraints {
            level.0.assert(translator.constraint(number));
        }
        for conjunct in prepared {
            level.0.assert(&conjunct.assertion);
        }
        level
    }

    /// Asks whether the assertions can hold, and counts a timeout.
    fn ask(&mut self, solver: &Rc<z3::Solver>) -> Answer {
        let start = Instant::now();
        let answer = check_and_count(solver);
        if answer == SatResult::Unknown {
            // If a budget has interrupted the question, this unwinds: there is no answer to remember.
            budget::ask_now();
        }
        match answer {
            SatResult::Sat => Answer::Sat,
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown => {
                // Z3 says "canceled" at both limits, and sometimes "timeout" at the clock's. So the time
                // decides.
                let mut clocks = [&self.nonlinear, &self.strings].into_iter().flatten();
                let clocked = clocks.any(|other| Rc::ptr_eq(other, solver));
                let limit = Duration::from_millis(self.limits.milliseconds.into());
                if clocked && !limit.is_zero() && start.elapsed() >= limit {
                    self.statistics.timed_out += 1;
                }
                Answer::Unknown
            }
        }
    }

    /// Finds values by Z3. Errors: its answer, if that is not "sat" or gives no values.
    fn find_by_z3(&mut self, conjuncts: &[Term], prepared: &[Rc<PreparedTerm>]) -> Result<Valuation, Answer> {
        let level = self.assert_all(prepared);
        match prepared.iter().any(|conjunct| conjunct.beyond) {
            true => Err(Answer::Unknown),
            false => self.find(&level.0, prepared, are_plain(conjuncts)),
        }
    }

    /// Finds values with strings that the conjuncts mention. Z3 finds the others, in a question without
    /// strings. So the answer is the same in each process, which Z3 does not promise for strings.
    fn find_with_mentioned_strings(
        &mut self,
        conjuncts: &[Term],
        prepared: &[Rc<PreparedTerm>],
    ) -> Option<Valuation> {
        if !prepared.iter().any(|conjunct| conjunct.strings) {
            return None;
        }
        let mut others = Valuation::new();
        let strings = try_strings(conjuncts, |strings| {
            let rest = substitute_all(conjuncts, &literals(strings));
            let Simplified::Open(rest, _) = simplify(&rest) else { return false };
            let prepared = self.prepare(&rest);
            if prepared.iter().flat_map(|one| &one.data).any(|datum| datum.ty().contains(&Type::String)) {
                return false;
            }
            let prepared = self.write_numbers(&rest, prepared);
            let has_strings = prepared.iter().any(|conjunct| conjunct.strings);
            let found = if has_strings { Err(Answer::Unknown) } else { self.find_by_z3(&rest, &prepared) };
            found.map(|values| others = values).is_ok()
        })?;
        others.extend(strings);
        Some(others)
    }

    /// Finds a model of the assertions, as values: one with small numbers and plain strings if there is one.
    /// If the conjuncts mention strings that are not plain, plain strings are not tried. Errors: Z3's answer.
    fn find(
        &mut self,
        solver: &Rc<z3::Solver>,
        prepared: &[Rc<PreparedTerm>],
        is_plain: bool,
    ) -> Result<Valuation, Answer> {
        let data: BTreeSet<&Datum> = prepared.iter().flat_map(|conjunct| &conjunct.data).collect();
        let has_numbers = prepared.iter().any(|conjunct| conjunct.has_numbers);
        let translator = if has_numbers { &mut self.with_numbers } else { &mut self.translator };
        let constants: Vec<(&Datum, Dynamic)> =
            data.into_iter().map(|datum| (datum, translator.constant(datum))).collect();
        let bounds: Vec<Bool> = constants
            .iter()
            .filter(|(datum, _)| is_plain || *datum.ty() != Type::String)
            .flat_map(|(_, constant)| small_bounds(constant))
            .collect();
        // First with the bounds of small values, and then without them.
        let mut level = AssertionLevel::on(solver.clone());
        bounds.iter().for_each(|bound| solver.assert(bound));
        if check_and_count(solver) != SatResult::Sat {
            budget::ask_now();
            drop(level);
            level = AssertionLevel::on(solver.clone());
            match self.ask(solver) {
                Answer::Sat => {}
                answer => return Err(answer),
            }
        }
        let model = solver.get_model().ok_or(Answer::Unknown)?;
        let values = constants.iter().map(|(datum, constant)| {
            Some(((*datum).clone(), read::read_value(&model, constant, datum.ty())?))
        });
        let values = values.collect::<Option<Valuation>>();
        drop(level);
        values.ok_or(Answer::Unknown)
    }

    /// Answers from the terms alone or from memory. Errors: the conjuncts, and their key in the memory.
    fn recall(&mut self, formula: &[Term]) -> Result<Answer, (Vec<Term>, Box<[Term]>)> {
        let answer = match simplify(formula) {
            Simplified::Known(answer) => answer,
            Simplified::Open(conjuncts, key) => match self.answers.get(&key) {
                Some(&answer) => answer,
                None => return Err((conjuncts, key)),
            },
        };
        self.count(answer, /* remembered */ true);
        Ok(answer)
    }

    fn remember(&mut self, key: Box<[Term]>, answer: Answer) {
        if self.answers.len() >= self.most {
            self.answers.clear();
        }
        self.answers.insert(key, answer);
    }

    fn count(&mut self, answer: Answer, remembered: bool) {
        self.statistics.queries += 1;
        self.statistics.remembered += u64::from(remembered);
        self.statistics.unknown += u64::from(answer == Answer::Unknown);
    }
}

impl Solver for Z3Solver {
    fn check(&mut self, formula: &[Term]) -> Answer {
        budget::ask();
        let (conjuncts, key) = match self.recall(formula) {
            Ok(answer) => return answer,
            Err(open) => open,
        };
        let prepared = self.prepare(&conjuncts);
        let answer = match split_into_parts(&conjuncts, &prepared) {
            Some(parts) => check_parts(self, &parts),
            None if try_string_values(&conjuncts, &prepared).is_some() => {
                self.count(Answer::Sat, /* remembered */ true);
                Answer::Sat
            }
            None => {
                let prepared = self.write_numbers(&conjuncts, prepared);
                let level = self.assert_all(&prepared);
                let beyond = prepared.iter().any(|conjunct| conjunct.beyond);
                let answer = if beyond { Answer::Unknown } else { self.ask(&level.0) };
                drop(level);
                self.count(answer, /* remembered */ false);
                answer
            }
        };
        self.remember(key, answer);
        answer
    }

    fn check_along(&mut self, path: &[Term]) -> Answer {
        let (conjuncts, key) = match self.recall(path) {
            Ok(answer) => return answer,
            Err(open) => open,
        };
        let answer = match self.ask_along(&conjuncts) {
            Some(answer) => answer,
            // The path's own solver is for linear conjuncts only, and may know less after a long history.
            None => return self.check(path),
        };
        self.count(answer, /* remembered */ false);
        self.remember(key, answer);
        answer
    }

    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        if bound.is_empty() {
            return self.check(&with_negation(formula, &Term::and(parts.iter().cloned())));
        }
        let answer = self.ask_quantified(formula, bound, parts);
        self.count(answer, /* remembered */ false);
        answer
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        budget::ask();
        let (conjuncts, key) = match simplify(formula) {
            Simplified::Known(Answer::Unsat) => {
                self.count(Answer::Unsat, /* remembered */ true);
                return Witness::None;
            }
            Simplified::Known(_) => {
                self.count(Answer::Sat, /* remembered */ true);
                return Witness::Found(Valuation::new());
            }
            Simplified::Open(conjuncts, key) => (conjuncts, key),
        };
        let remembered = match self.answers.get(&key) {
            Some(Answer::Unsat) => Some(Witness::None),
            Some(Answer::Sat | Answer::Unknown) | None => self.witnesses.get(&key).cloned(),
        };
        if let Some(witness) = remembered {
            self.count(answer_of(&witness), /* remembered */ true);
            return witness;
        }
        let prepared = self.prepare(&conjuncts);
        let mut values = match split_into_parts(&conjuncts, &prepared) {
            Some(parts) => find_parts(self, &parts),
            None => try_string_values(&conjuncts, &prepared)
                .or_else(|| self.find_with_mentioned_strings(&conjuncts, &prepared))
                .map_or_else(|| self.find_by_z3(&conjuncts, &prepared), Ok),
        };
        // The form of an operation need not mention all its data. These get any value.
        if let Ok(valuation) = &mut values {
            for datum in formula.iter().flat_map(Term::data) {
                if !valuation.contains_key(&datum) {
                    valuation.insert(datum.clone(), Value::any(datum.ty()));
                }
            }
        }
        let witness = match values {
            // The terms are evaluated in the caller's order, because the first may imply that the next are
            // defined.
            Ok(valuation)
                if formula.iter().all(|term| evaluate(term, &valuation) == Ok(Value::Bool(true))) =>
            {
                self.remember(key.clone(), Answer::Sat);
                Witness::Found(valuation)
            }
            Err(Answer::Unsat) => {
                self.remember(key.clone(), Answer::Unsat);
                Witness::None
            }
            Ok(_) | Err(Answer::Sat | Answer::Unknown) => Witness::Unknown,
        };
        self.count(answer_of(&witness), /* remembered */ false);
        if self.witnesses.len() >= self.most {
            self.witnesses.clear();
        }
        self.witnesses.insert(key, witness.clone());
        witness
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

fn answer_of(witness: &Witness) -> Answer {
    match witness {
        Witness::Found(_) => Answer::Sat,
        Witness::None => Answer::Unsat,
        Witness::Unknown => Answer::Unknown,
    }
}

/// Asks Z3, and counts the work if a budget counts work.
fn check_and_count(solver: &z3::Solver) -> SatResult {
    let before = used_resources(solver);
    let answer = solver.check();
    if let (Some(before), Some(after)) = (before, used_resources(solver)) {
        budget::spend(after.saturating_sub(before));
    }
    answer
}

/// The resource units that Z3 has used in this thread (about a million per second). `None`: no work is
/// counted.
fn used_resources(solver: &z3::Solver) -> Option<u64> {
    if !budget::counts_work() {
        return None;
    }
    match solver.get_statistics().value("rlimit count")? {
        z3::StatisticsValue::UInt(count) => Some(count.into()),
        z3::StatisticsValue::Double(count) => Some(count as u64),
    }
}

/// Does the work within the budget, as [`budget::within`] does. In addition, a query that runs when the
/// budget is passed is interrupted by a second thread. It borrows this thread's context, so it ends before
/// this thread.
pub fn within<R>(budget: &Arc<Budget>, work: impl FnOnce() -> R) -> Result<R, Passed> {
    leave_signals_alone();
    let context = z3::Context::thread_local();
    let handle = context.handle();
    std::thread::scope(|scope| {
        // The end of the channel tells the second thread that the work is done.
        let (done, end_of_work) = channel::<()>();
        let interrupter = move || {
            while end_of_work.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
                // Again and again, because an interrupt between two queries has no effect.
                if budget.is_passed() {
                    handle.interrupt();
                }
            }
        };
        // Without that thread a query ends at its own limit.
        let _ = std::thread::Builder::new().name("interrupter".to_owned()).spawn_scoped(scope, interrupter);
        let result = budget::within(budget, work);
        drop(done);
        result
    })
}

/// Switches off Z3's own handler of SIGINT. With it, the signal would end only the question. This must happen
/// before the first context of the process, which reads the parameter.
fn leave_signals_alone() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| z3::set_global_param("ctrl_c", "false"));
}

fn start_solver(rlimit: u32, milliseconds: u32) -> Rc<z3::Solver> {
    limit_solver(z3::Solver::new(), rlimit, milliseconds)
}

fn limit_solver(solver: z3::Solver, rlimit: u32, milliseconds: u32) -> Rc<z3::Solver> {
    let mut parameters = Params::new();
    if rlimit > 0 {
        parameters.set_u32("rlimit", rlimit);
    }
    if milliseconds > 0 {
        parameters.set_u32("timeout", milliseconds);
    }
    solver.set_params(&parameters);
    // This level stays: at level zero Z3 would start a slower solver for every query.
    solver.push();
    Rc::new(solver)
}

/// Splits a formula into its set of conjuncts, or answers at once.
fn simplify(formula: &[Term]) -> Simplified {
    let mut conjuncts: Vec<Term> = Vec::with_capacity(formula.len());
    let mut seen = HashSet::new();
    for conjunct in formula.iter().flat_map(Term::conjuncts) {
        if conjunct.is_false() {
            return Simplified::Known(Answer::Unsat);
        }
        if seen.insert(conjunct.clone()) {
            conjuncts.push(conjunct);
        }
    }
    if conjuncts.is_empty() {
        // Types are never empty.
        return Simplified::Known(Answer::Sat);
    }
    // The key is sorted by hash, since the structural order walks the terms. If two terms have one hash, a
    // question may be asked twice.
    let mut key = conjuncts.clone();
    key.sort_by_cached_key(hash_of);
    Simplified::Open(conjuncts, key.into())
}

fn hash_of(term: &Term) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

/// The conditions of a small number, or of a short plain string.
fn small_bounds(constant: &Dynamic) -> Vec<Bool> {
    if let Some(constant) = constant.as_int() {
        vec![constant.ge(-SMALL), constant.le(SMALL)]
    } else if let Some(constant) = constant.as_real() {
        let bound = z3::ast::Real::from_rational(SMALL, 1);
        vec![constant.ge(bound.unary_minus()), constant.le(bound)]
    } else if let Some(constant) = constant.as_string() {
        // Printable strings of at most 12 characters are tried first.
        strings::plain_conditions(&constant, 12).to_vec()
    } else {
        Vec::new()
    }
}

/// If the library is too old: two lines for the program's start that say what to do.
pub fn version_problem() -> Option<String> {
    problem_of_version(z3::full_version())
}

fn problem_of_version(version: &str) -> Option<String> {
    let word = version.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let mut numbers = word.unwrap_or_default().split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next_number = || numbers.next().unwrap_or(0);
    if (next_number(), next_number(), next_number()) >= OLDEST {
        return None;
    }
    let (major, minor, patch) = OLDEST;
    Some(format!(
        "the Z3 library at run time is {version}; coreach needs {major}.{minor}.{patch} or newer\nrun scripts/setup, which installs one in native/z3, and build again"
    ))
}
