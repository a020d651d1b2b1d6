//! The reasons why a path has no test case, in the user's terms.

use coreach_model::diagnostic::Origin;
use coreach_model::limits::MANY_SHOWN;
use coreach_model::timed::Timed;
use coreach_model::{Diagnostic, TransitionId, Value};

/// A transition, as messages show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub called: String,
    /// The transition as text, for instance `Busy -Reply-> Idle`.
    pub text: String,
    pub origin: Option<Origin>,
}

impl Named {
    pub fn of(timed: &Timed, number: TransitionId) -> Self {
        let transition = &timed.graph().transitions[number];
        Named {
            called: timed.called(number),
            text: timed.graph().describe(transition),
            origin: transition.origin.whole.clone(),
        }
    }
}

/// A reason why a path has no test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathStop {
    Empty,
    Text {
        why: String,
    },
    NoTransition {
        called: String,
        known: Vec<String>,
    },
    /// A step leaves another location than the one where the path is.
    NoPath {
        /// Its place in the path, from 0.
        step: usize,
        transition: Box<Named>,
        is_at: String,
        leaves: String,
    },
    /// The path cannot be taken: the steps before can, and this step cannot follow them.
    Unsatisfiable {
        /// Its place in the path, from 0.
        step: usize,
        transition: Named,
    },
    /// The path ends in something other than an output.
    NoOutput(Named),
    SilenceAfter(Value),
    /// One trace may be the path's and may also end in another transition.
    NotDeterministic {
        /// The step's place in the path, from 0.
        step: usize,
        choice: Box<[Named; 2]>,
        trace: Option<Vec<String>>,
        /// Is this known? Otherwise the solver could not exclude it.
        is_certain: bool,
    },
    /// Internal actions on the path or beside it.
    Internal(Vec<Named>),
    /// A condition cannot be said without a quantifier.
    Quantifier {
        /// The step's place in the path, from 0.
        step: usize,
        /// The transition whose condition it is.
        transition: Named,
    },
}

impl PathStop {
    /// Writes the diagnostic, with help where there is some.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let error = |code: &'static str, message: String| Diagnostic::error(code, message);
        match self {
            PathStop::Empty => error("path", "the path has no transition".to_owned())
                .help("name the transitions in their order, for example `open,reply`"),
            PathStop::Text { why } => error("path", format!("the path cannot be read: {why}"))
                .help("write names of transitions with commas between them; `(open reply)*3` is a repetition"),
            PathStop::NoTransition { called, known } => {
                let found = error("path", format!("no transition is called `{called}`"));
                let near = coreach_model::diagnostic::nearest(called, known.iter().map(String::as_str));
                match near {
                    Some(name) => found.help(format!("did you mean `{name}`?")),
                    None => found.help(format!("there are {}", list_names(known))),
                }
            }
            PathStop::NoPath { step, transition, is_at, leaves } => error(
                "path",
                format!(
                    "step {} of the path, `{}`, leaves {leaves}, but the path is at {is_at}",
                    step + 1,
                    transition.called
                ),
            )
            .at(transition.origin.clone(), format!("leaves {leaves}"))
            .help("a path begins in the initial location, and each step leaves the location to which the one before it leads"),
            PathStop::Unsatisfiable { step, transition } => {
                let place = match step {
                    0 => "at the beginning".to_owned(),
                    _ => format!("after the first {step} steps"),
                };
                error(
                    "path-unsatisfiable",
                    format!("no run takes the path: step {}, `{}`, cannot follow {place}", step + 1, transition.called),
                )
                .at(transition.origin.clone(), "this cannot be taken here, at any time, with any values")
                .note(&transition.text)
            }
            PathStop::NoOutput(transition) => error(
                "path-no-output",
                format!("the path ends in `{}`, which is not an output", transition.called),
            )
            .at(transition.origin.clone(), "the last step")
            .help("a test can only pass on an output: end the path with an output"),
            PathStop::SilenceAfter(value) => error(
                "silence-after",
                format!("the time after which the system counts as silent must be greater than 0, not {value}"),
            ),
            PathStop::NotDeterministic { step, choice, trace, is_certain } => {
                not_deterministic(*step, choice, trace.as_deref(), *is_certain)
            }
            PathStop::Internal(internal) => {
                let mut found = error(
                    "path-internal",
                    "an internal action can be taken on the path, or beside it".to_owned(),
                );
                for transition in internal {
                    found = found.at(transition.origin.clone(), "internal").note(&transition.text);
                }
                found.help("a path-guided test case must know the location of the model after each event: make the action visible, or remove it")
            }
            PathStop::Quantifier { step, transition } => error(
                "path-quantifier",
                format!(
                    "step {} of the path: the times at which `{}` is possible cannot be expressed without a quantifier",
                    step + 1,
                    transition.called
                ),
            )
            .at(transition.origin.clone(), "for which values of unobserved data is this possible?")
            .note(&transition.text)
            .help("give unobserved data by equations, or by linear bounds with coefficient 1"),
        }
    }
}

/// Writes the diagnostic of a path that is not trace-deterministic.
fn not_deterministic(
    step: usize,
    choice: &[Named; 2],
    trace: Option<&[String]>,
    is_certain: bool,
) -> Diagnostic {
    let [of_path, rival] = choice;
    let message = format!(
        "the path is not trace-deterministic: at step {} an event {} `{}` and `{}`",
        step + 1,
        if is_certain { "may be both" } else { "could not be shown not to be both" },
        of_path.called,
        rival.called
    );
    let mut diagnostic = Diagnostic::error("trace-determinism", message)
        .at(of_path.origin.clone(), "the path's")
        .at(rival.origin.clone(), "and this one can show the same trace")
        .note(format!("first:  {}", of_path.text))
        .note(format!("second: {}", rival.text));
    if let Some(trace) = trace {
        diagnostic = diagnostic.note(format!("for example {}", trace.join(", ")));
    }
    diagnostic.help("let the guards or the values of the two exclude each other")
}

/// Lists the first names, and says how many more there are.
fn list_names(known: &[String]) -> String {
    let mut shown = known.iter().take(MANY_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if known.len() > MANY_SHOWN {
        shown += &format!(" and {} more", known.len() - MANY_SHOWN);
    }
    shown
}
