//! A context: where the system may be, on the path or off it, and what is known of its data.
//!
//! **Problem.** A trace does not tell everything: which of several transitions was taken, what the data were
//! in the beginning, what the constants are. The publication of 2012 keeps nodes of a symbolic tree, whose
//! conditions grow with every event.
//!
//! **Method.** Events bring values, so nearly all data of a context are values soon: those it keeps as
//! values, and what happens next is evaluated. The others are terms over *symbols* (what a datum was in the
//! beginning), with a condition on these. A symbol that the condition leaves one value, by whatever
//! equations, becomes it; one that no datum stands for any more is taken out of the condition, where that can
//! be done without a quantifier; a part of the condition that the others imply goes. So a context is as large
//! as what is not known yet, and not as long as the trace.
//!
//! The solver is asked only where the answer hangs on a symbol. What it does not know is taken for possible:
//! a context too many makes no Fail.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::solver::{Solver, Witness, may_hold, must_hold};
use coreach_analyses::symbolic::eliminate::without;
use coreach_analyses::symbolic::sum::folded;
use coreach_analyses::symbolic::{System, symbol};
use coreach_model::iosts::{LocationId, TransitionId};
use coreach_model::obligation::defined;
use coreach_model::term::evaluate::{Undefined, Valuation, evaluate};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term, Type, Value};

/// The most parts of a term for a datum that is not known, or of what is known of it.
pub const MOST_PARTS: u64 = 10_000;

/// Where a context is, seen from the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// So many transitions of the path have been taken, and no others.
    On(usize),
    /// Another one was taken.
    Off,
}

/// A context.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Context {
    /// Seen from the path.
    pub place: Place,
    /// Where in the model.
    pub location: LocationId,
    /// The data whose values are known: as they were after the last event.
    pub known: Valuation,
    /// The others, over symbols.
    pub open: BTreeMap<Datum, Term>,
    /// What is known of the symbols; satisfiable, as far as the solver can tell.
    pub condition: Vec<Term>,
}

/// What a condition is in a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// True.
    Always,
    /// False, or without a value.
    Never,
    /// Where the symbols are so.
    Where(Term),
}

impl Holds {
    /// Can it hold? Errs towards yes. The condition itself can.
    pub fn may_be(self, condition: &[Term], solver: &mut dyn Solver) -> bool {
        match self {
            Holds::Always => true,
            Holds::Never => false,
            Holds::Where(term) => {
                let mut all = condition.to_vec();
                all.extend(term.conjuncts());
                may_hold(solver, &all)
            }
        }
    }
}

impl Context {
    /// The initial context, with constants that are given; `None` where they do not suit the initial
    /// condition.
    pub fn initial(system: &System<'_>, given: &Valuation, solver: &mut dyn Solver) -> Option<Self> {
        let iosts = system.iosts;
        let data = iosts.variables.iter().chain(&iosts.constants);
        let open = data.filter(|datum| !given.contains_key(*datum));
        let open: BTreeMap<Datum, Term> =
            open.map(|datum| (datum.clone(), Term::datum(&symbol(datum, 0)))).collect();
        let context = Context {
            place: Place::On(0),
            location: iosts.initial,
            known: given.clone(),
            open,
            condition: Vec::new(),
        };
        let condition = &iosts.initial_condition;
        let condition = Term::and([defined(condition), condition.clone()]);
        match context.meaning(&condition, &context.known) {
            Holds::Always => Some(context),
            Holds::Never => None,
            Holds::Where(term) => context.with(&term, solver),
        }
    }

    /// What a condition is where these data have values; the rest stands at its terms, or for itself.
    pub(super) fn meaning(&self, condition: &Term, known: &Valuation) -> Holds {
        match evaluate(condition, known) {
            Ok(Value::Bool(true)) => Holds::Always,
            Err(Undefined::Unbound(_)) => {
                let term = substitute(condition, &self.standing(known));
                if term.is_true() {
                    Holds::Always
                } else if term.is_false() {
                    Holds::Never
                } else {
                    Holds::Where(term)
                }
            }
            _ => Holds::Never,
        }
    }

    pub(super) fn standing(&self, known: &Valuation) -> Substitution {
        let literal = |(datum, value): (&Datum, &Value)| (datum.clone(), Term::literal(value.clone()));
        let open = self.open.iter().map(|(datum, term)| (datum.clone(), term.clone()));
        known.iter().map(literal).chain(open).collect()
    }

    /// The context after a transition that leaves its location, with these values for the parameters of its
    /// action; `None` where it cannot be taken.
    pub fn after(
        &self,
        system: &System<'_>,
        number: TransitionId,
        values: &[Value],
        path: &[TransitionId],
        solver: &mut dyn Solver,
    ) -> Option<Context> {
        let transition = &system.iosts.transitions[number];
        let parameters = &system.iosts.action(transition.action).parameters;
        let mut known = self.known.clone();
        known.extend(parameters.iter().cloned().zip(values.iter().cloned()));
        let more = match self.meaning(system.enabled(number), &known) {
            Holds::Always => None,
            Holds::Never => return None,
            Holds::Where(term) => Some(term),
        };
        let place = match self.place {
            Place::On(steps) if path.get(steps) == Some(&number) => Place::On(steps + 1),
            _ => Place::Off,
        };
        let mut next = Context { place, location: transition.target, ..self.clone() };
        for (variable, term) in &transition.assignments {
            let value = match evaluate(term, &known) {
                Ok(value) => Some(value),
                Err(_) => {
                    let term = folded(&substitute(term, &self.standing(&known)));
                    let value = term.as_literal().cloned();
                    if value.is_none() {
                        next.open.insert(variable.clone(), term);
                        next.known.remove(variable);
                    }
                    value
                }
            };
            if let Some(value) = value {
                next.open.remove(variable);
                next.known.insert(variable.clone(), value);
            }
        }
        match more {
            Some(term) => next.with(&term, solver),
            None if next.condition.is_empty() => Some(next),
            None => Some(next.settled()),
        }
    }

    /// The context where this holds besides; `None` where it cannot.
    fn with(mut self, term: &Term, solver: &mut dyn Solver) -> Option<Self> {
        for part in term.conjuncts() {
            if self.condition.contains(&part) || must_hold(solver, &self.condition, &part) {
                continue;
            }
            self.condition.push(part);
        }
        if !may_hold(solver, &self.condition) {
            return None;
        }
        let mut settled = self.settled().pinned(solver);
        // What is new may say more than what was there.
        let mut at = 0;
        while settled.condition.len() > 1 && at < settled.condition.len() {
            let part = settled.condition.remove(at);
            if !must_hold(solver, &settled.condition, &part) {
                settled.condition.insert(at, part);
                at += 1;
            }
        }
        Some(settled)
    }

    /// The same with values for the symbols that the condition fixes, and without those that nothing stands
    /// for any more.
    fn settled(mut self) -> Self {
        while let Some((symbol, value)) = self.condition.iter().find_map(fixed) {
            if !value.is_in(symbol.ty()) {
                // The condition says so itself, to the solver.
                break;
            }
            self.put(&Substitution::from([(symbol, Term::literal(value))]));
        }
        self.condition.sort();
        self.condition.dedup();
        self.without_apart();
        let mut idle: Vec<Datum> = self.condition.iter().flat_map(Term::data).collect();
        idle.sort();
        idle.dedup();
        idle.retain(|symbol| !self.open.values().any(|term| term.mentions(symbol)));
        for symbol in idle {
            if let Some(rest) = without(&[symbol], &self.condition) {
                self.condition = rest.conjuncts();
            }
        }
        self
    }

    /// The same with values for the symbols that the condition leaves one value, however it says so:
    /// `2 * a == 8`, or `a + b == 5` beside `a - b == 1`.
    fn pinned(mut self, solver: &mut dyn Solver) -> Self {
        if self.condition.is_empty() {
            return self;
        }
        let Witness::Found(possible) = solver.witness(&self.condition) else { return self };
        let mut there = Substitution::new();
        for (symbol, value) in possible {
            let stands = self.open.values().any(|term| term.mentions(&symbol));
            let (datum, value) = (Term::datum(&symbol), Term::literal(value));
            if stands
                && !has_array(symbol.ty())
                && must_hold(solver, &self.condition, &Term::equal(&datum, &value))
            {
                there.insert(symbol, value);
            }
        }
        self.put(&there);
        self.settled()
    }

    /// Puts values in the places of symbols.
    fn put(&mut self, there: &Substitution) {
        let parts = substitute_all(&self.condition, there);
        self.condition = parts.iter().flat_map(Term::conjuncts).filter(|part| !part.is_true()).collect();
        for (datum, term) in std::mem::take(&mut self.open) {
            let term = folded(&substitute(&term, there));
            match term.as_literal() {
                Some(value) => {
                    self.known.insert(datum, value.clone());
                }
                None => {
                    self.open.insert(datum, term);
                }
            }
        }
    }

    /// Takes those parts out of the condition that have nothing to do with any datum. They can hold, and that
    /// is all that they say.
    fn without_apart(&mut self) {
        let mut of_use: BTreeSet<Datum> = self.open.values().flat_map(Term::data).collect();
        let mut apart = std::mem::take(&mut self.condition);
        loop {
            let (reached, rest): (Vec<Term>, Vec<Term>) = apart.into_iter().partition(|part| {
                let symbols = part.data();
                symbols.is_empty() || !symbols.is_disjoint(&of_use)
            });
            apart = rest;
            if reached.is_empty() {
                break;
            }
            of_use.extend(reached.iter().flat_map(Term::data));
            self.condition.extend(reached);
        }
        self.condition.sort();
    }

    /// What takes more to say than the limit, if anything does: the datum, or none where it is the condition.
    pub(super) fn too_large(&self) -> Option<Option<String>> {
        let large = |term: &Term| term.written_size() > MOST_PARTS;
        if let Some((datum, _)) = self.open.iter().find(|(_, term)| large(term)) {
            return Some(Some(datum.name().to_owned()));
        }
        self.condition.iter().any(large).then_some(None)
    }

    /// Does it stand for the same states as the other one, but for the symbols' values?
    pub fn is_like(&self, other: &Context) -> bool {
        (self.place, self.location) == (other.place, other.location)
            && self.open == other.open
            && self.known == other.known
    }
}

/// Arrays that differ where nobody reads them are not told apart by what is read.
fn has_array(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Record(record) => record.fields.iter().any(|(_, field)| has_array(field)),
        _ => false,
    }
}

/// The symbol that a part of a condition fixes, and its value.
fn fixed(part: &Term) -> Option<(Datum, Value)> {
    match part.node() {
        Node::Data(flag) => Some((flag.clone(), Value::Bool(true))),
        Node::Not(inner) => Some((inner.as_datum()?.clone(), Value::Bool(false))),
        Node::Compare(Comparison::Equal, a, b) => {
            let one =
                |side: &Term, other: &Term| Some((side.as_datum()?.clone(), other.as_literal()?.clone()));
            one(a, b).or_else(|| one(b, a))
        }
        _ => None,
    }
}

/// One of two contexts that stand for the same data: the wider one, where one is within the other; else both
/// in one.
pub fn joined(one: Context, other: &Context, solver: &mut dyn Solver) -> Context {
    let whole = |context: &Context| Term::and(context.condition.iter().cloned());
    if must_hold(solver, &other.condition, &whole(&one)) {
        return one;
    }
    if must_hold(solver, &one.condition, &whole(other)) {
        return other.clone();
    }
    let either = Term::or([whole(&one), whole(other)]);
    Context { condition: either.conjuncts(), ..one }
}
