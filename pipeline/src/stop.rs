//! The reasons why a stage stopped without a result. They are no mistakes in the text, and no bugs. Each says
//! what happened, shows it on the user's own model, and names the limit that can be raised, if there is one.

use coreach_model::budget::{Limit, Passed, WAITS};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::{Datum, Diagnostic, Term};

use crate::limits::{Limits, MOST, Quantity};
use crate::stage::Stage;

/// Checks that each guard and each assigned value of the transition is small enough to be written.
pub fn check_writable(stage: Stage, transition: &Transition, limits: &Limits) -> Result<(), Stop> {
    check_terms_writable(stage, transition.terms(), limits)
}

/// Checks that the expressions are small enough to be written.
pub fn check_terms_writable<'a>(
    stage: Stage,
    terms: impl Iterator<Item = &'a Term>,
    limits: &Limits,
) -> Result<(), Stop> {
    let limit = limits.of(Quantity::Nodes);
    match terms.map(Term::written_size).max().filter(|size| *size > limit) {
        Some(size) => Err(Stop::TooMany { stage, quantity: Quantity::Nodes, limit, needed: Some(size) }),
        None => Ok(()),
    }
}

/// Checks that there is no more of something than its limit.
pub fn check_limit(stage: Stage, quantity: Quantity, count: usize, limits: &Limits) -> Result<(), Stop> {
    let limit = limits.of(quantity);
    if count as u64 > limit { Err(Stop::TooMany { stage, quantity, limit, needed: None }) } else { Ok(()) }
}

/// A transition as a stop shows it: in one line, with its place in the user's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownTransition {
    /// `Pay -Return-> Choose`, with its guard if it has one.
    pub text: String,
    pub origin: Option<coreach_model::Origin>,
}

impl ShownTransition {
    pub fn transition(iosts: &Iosts, transition: &Transition) -> Self {
        let guard =
            if transition.guard.is_true() { String::new() } else { format!(" [{}]", transition.guard) };
        let assigned = |(variable, value): (&Datum, &Term)| format!("{variable} := {value}");
        let assignments: Vec<String> = transition.assignments.iter().map(assigned).collect();
        let effects =
            if assignments.is_empty() { String::new() } else { format!(" {{{}}}", assignments.join(", ")) };
        ShownTransition {
            text: format!("{}{guard}{effects}", iosts.describe(transition)),
            origin: transition.origin.whole.clone(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A cycle of internal actions (Definition A.4): the closure is not defined.
    Livelock {
        /// The transitions of the cycle, in order.
        cycle: Vec<ShownTransition>,
    },
    /// Two transitions can be taken together, and no bounded number of further events tells them apart
    /// (Definition A.15).
    NoLookahead {
        choice: Box<[ShownTransition; 2]>,
        /// Data with which both can be taken, by name. Empty if the solver does not know any.
        witness: Vec<(String, String)>,
        /// Actions that both sides can follow for ever: the way into the cycle, and the cycle.
        prefix: Vec<String>,
        cycle: Vec<String>,
        /// The quantity that passes its limit if both are followed side by side, each with its own data.
        quantity: Quantity,
        limit: u64,
    },
    /// The lookahead exists and is larger than the limit.
    LookaheadLimit { limit: usize, needed: usize, choice: Box<[ShownTransition; 2]> },
    /// A stage would make more of something than its limit.
    TooMany {
        stage: Stage,
        quantity: Quantity,
        limit: u64,
        /// The least limit that gets beyond this place, if it is known.
        needed: Option<u64>,
    },
    /// It cannot be said when the specification is quiescent.
    Quiescence {
        /// The output's transition, or the location.
        shown: Box<ShownTransition>,
        why: String,
    },
    /// The work needs more than its budget, or the user ended it.
    Budget(Passed),
}

impl From<Passed> for Stop {
    fn from(passed: Passed) -> Self {
        Stop::Budget(passed)
    }
}

/// The code of the diagnostic for [`Stop::Budget`].
pub const BUDGET: &str = "budget";

/// The code of the diagnostic for work that a signal has ended.
pub const INTERRUPTED: &str = "interrupted";

/// Does a diagnostic of this code say that work was stopped, and nothing about its input?
pub fn says_work_was_stopped(code: &str) -> bool {
    matches!(code, BUDGET | INTERRUPTED)
}

/// Writes a time: `60 s`, `1500 ms`. Without the space, `--time` reads it.
fn time_text(time: std::time::Duration, space: &str) -> String {
    match time.as_millis() {
        whole if whole % 1000 == 0 => format!("{}{space}s", whole / 1000),
        other => format!("{other}{space}ms"),
    }
}

/// Writes an amount of memory: `4 GB`, `1500 MB`. Without the space, `--memory` reads it.
fn memory_text(bytes: u64, space: &str) -> String {
    const MEGABYTE: u64 = 1_000_000;
    match bytes {
        whole if whole % (1000 * MEGABYTE) == 0 => format!("{}{space}GB", whole / (1000 * MEGABYTE)),
        other => format!("{}{space}MB", other.div_ceil(MEGABYTE)),
    }
}

/// The diagnostic for work that needs more than its budget, or that the user ended.
fn budget_diagnostic(passed: &Passed) -> Diagnostic {
    let Passed { limit, stage, doing } = passed;
    let doing = if doing.is_empty() { String::new() } else { format!(", {doing}") };
    let at = format!("in stage {stage}{doing}");
    let explain_option = |name: &str, now: &str, more: String| {
        format!(
            "`--{name} {more}` allows more; in a configuration or campaign `budget: {{ {name}: {more} }}` (it was {now})"
        )
    };
    match limit {
        Limit::Time(limit) => {
            // So little time is most likely meant in seconds.
            let factor = if limit.as_millis() <= 300 { 1000 } else { 4 };
            let (now, more) = (time_text(*limit, ""), time_text(limit.saturating_mul(factor), ""));
            let to_raise = explain_option("time", &now, more);
            Diagnostic::error(
                BUDGET,
                format!("stopped after {} of processor time: {at}", time_text(*limit, " ")),
            )
            .help(match limit.as_millis() {
                ..=300 => format!("{to_raise}; a number without a unit is milliseconds"),
                _ if *stage == "constants" => {
                    format!("`--constant NAME=VALUE` gives a value without a search; {to_raise}")
                }
                _ => to_raise,
            })
        }
        Limit::Clock(limit) => {
            Diagnostic::error(BUDGET, format!("stopped after {} by the clock: {at}", time_text(*limit, " ")))
        }
        Limit::Waiting(limit) => {
            let (now, more) =
                (time_text(*limit / WAITS, ""), time_text((*limit / WAITS).saturating_mul(4), ""));
            let message = format!(
                "stopped after {} by the clock, with almost no computation: {at}",
                time_text(*limit, " ")
            );
            Diagnostic::error(BUDGET, message)
                .note("the machine was busy, or coreach waited for something, such as a file")
                .help(explain_option("time", &now, more))
        }
        Limit::Work(limit) => {
            Diagnostic::error(BUDGET, format!("stopped after {limit} steps of a search: {at}"))
        }
        Limit::Memory(limit) => {
            let (now, more) = (memory_text(*limit, ""), memory_text(limit.saturating_mul(2), ""));
            Diagnostic::error(BUDGET, format!("stopped at {} of memory: {at}", memory_text(*limit, " ")))
                .help(explain_option("memory", &now, more))
        }
        Limit::Digits(limit) => Diagnostic::error(
            BUDGET,
            format!("stopped at a number or a string of more than {limit} digits or characters: {at}"),
        )
        .help("the values of the model grow without bound: give numbers a range, and strings a guard such as `len(s) < 100`"),
        Limit::Signal(name) => Diagnostic::error(INTERRUPTED, format!("stopped by {name}: {at}")),
    }
}

impl Stop {
    /// The diagnostic, with places in the user's text and a help.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Stop::Livelock { cycle } => {
                let mut diagnostic =
                    Diagnostic::error("livelock", "internal actions can follow each other for ever");
                for shown in cycle {
                    diagnostic = diagnostic.at(shown.origin.clone(), "a step of the cycle").note(&shown.text);
                }
                diagnostic.help(
                    "make one of these actions visible, or remove a step: a test cannot observe this cycle",
                )
            }
            Stop::NoLookahead { choice, witness, prefix, cycle, quantity, limit } => {
                let way =
                    if prefix.is_empty() { String::new() } else { format!("{} then ", prefix.join(" ")) };
                let message = "the choice between two transitions is never resolved".to_owned();
                let mut diagnostic = choice_diagnostic("no-lookahead", message, choice);
                if !witness.is_empty() {
                    let values: Vec<String> =
                        witness.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    diagnostic = diagnostic.note(format!("both can be taken with: {}", values.join(", ")));
                }
                diagnostic
                    .note(format!("both can continue for ever with: {way}({})", cycle.join(" ")))
                    .note(format!("together they make more than {limit} {}", quantity.words()))
                    .help(instead_of_a_lookahead(*quantity, *limit).join("; or "))
            }
            Stop::LookaheadLimit { limit, needed, choice } => {
                let message =
                    format!("a choice is resolved only after {needed} events, but the limit is {limit}");
                let help =
                    format!("set `determinization: {{ max_lookahead: {needed} }}` in the configuration");
                choice_diagnostic("lookahead-limit", message, choice).help(help)
            }
            Stop::Quiescence { shown, why } => {
                let diagnostic = Diagnostic::error(
                    "quiescence",
                    format!("ioco needs to know when the specification is silent: {why}"),
                );
                let diagnostic =
                    diagnostic.at(shown.origin.clone(), "when is this possible?").note(&shown.text);
                diagnostic.help("give the output's parameters by equations or linear bounds; or remove `conformance: ioco`")
            }
            Stop::Budget(passed) => budget_diagnostic(passed),
            Stop::TooMany { stage, quantity, limit, needed } => {
                let words = quantity.words();
                Diagnostic::error(
                    "limit",
                    format!("stage {} would make more than {limit} {words}", stage.name()),
                )
                .help(set_limit(*quantity, *limit, *needed))
            }
        }
    }
}

/// Makes a diagnostic about two transitions that can be taken together.
fn choice_diagnostic(code: &'static str, message: String, choice: &[ShownTransition; 2]) -> Diagnostic {
    let [first, second] = choice;
    Diagnostic::error(code, message)
        .at(first.origin.clone(), "this transition")
        .at(second.origin.clone(), "and this one can be taken together")
        .note(format!("first:  {}", first.text))
        .note(format!("second: {}", second.text))
}

/// The ways out if a choice is never resolved, the best first. The help lists them all.
fn instead_of_a_lookahead(quantity: Quantity, limit: u64) -> Vec<String> {
    vec![
        "let the guards of the two exclude each other".to_owned(),
        "let later events differ after finitely many steps, or let both lead to the same data"
            .to_owned(),
        "set `judge: online` in the configuration: coreach then judges runs by all possible states, without a test case".to_owned(),
        format!(
            "try `limits: {{ {}: {} }}` in the configuration",
            quantity.key(),
            limit.saturating_mul(4).clamp(1, MOST)
        ),
    ]
}

/// Says how to raise a limit: to the value that is enough, or to a next one to try.
fn set_limit(quantity: Quantity, limit: u64, needed: Option<u64>) -> String {
    let (key, advice) = (quantity.key(), quantity.advice());
    let set = |value: u64| format!("`limits: {{ {key}: {value} }}` in the configuration");
    match needed {
        Some(needed) if needed <= MOST => format!("set {}; or change the model: {advice}", set(needed)),
        None if limit < MOST => {
            let next = limit.saturating_mul(4).clamp(1, MOST);
            format!("try {}, which may take longer; or change the model: {advice}", set(next))
        }
        _ => format!("no value of `limits: {{ {key}: ... }}` is large enough (at most {MOST}): {advice}"),
    }
}
