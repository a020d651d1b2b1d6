//! Imprecisions in sentences: one for each term that the domain could not express, with its places.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use coreach_analyses::fixpoint::Exhausted;
use coreach_analyses::reachability::{Coarseness, Imprecision, ImprecisionPlace, Iterations};
use coreach_model::iosts::Iosts;
use coreach_model::{Number, Term, TransitionId};

/// Describes the imprecisions, in the order of their first places, and the limits that the analysis met.
pub fn describe_imprecisions(
    imprecisions: &[Imprecision],
    iterations: &Iterations,
    iosts: &Iosts,
) -> Vec<String> {
    // Each term, why it is not analysed, and its places.
    let mut grouped: Vec<(&Term, String, Vec<String>)> = Vec::new();
    let mut group_of: HashMap<&Term, usize> = HashMap::new();
    for imprecision in imprecisions {
        let place = match imprecision.place {
            ImprecisionPlace::Data => "everywhere".to_owned(),
            ImprecisionPlace::Initial => "in the initial condition".to_owned(),
            ImprecisionPlace::Transition(number) => {
                let transition = &iosts.transitions[TransitionId::of(number)];
                format!("in {}", iosts.describe(transition))
            }
        };
        let group = *group_of.entry(&imprecision.term).or_insert(grouped.len());
        match grouped.get_mut(group) {
            Some((.., places)) => places.push(place),
            None => grouped.push((&imprecision.term, imprecision.reason.to_string(), vec![place])),
        }
    }
    let mut lines: Vec<String> = grouped
        .into_iter()
        .map(|(term, reason, places)| {
            let more = match places.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("`{}` is not analysed, since {reason}: {}{more}", excerpt(term), places[0])
        })
        .collect();
    if iterations.coarsened > 0 {
        lines.push(format!(
            "coreach approximated {} sets to stay within the limits of the domain",
            iterations.coarsened
        ));
    }
    if iterations.shortened > 0 {
        lines.push(format!(
            "{} facts have too many cases and are less precise than the analysis (`analysis: fact_limit`)",
            iterations.shortened
        ));
    }
    if iterations.undecided > 0 {
        lines.push(format!(
            "for {} transitions the exact reference does not know whether they are on a run to Accept (`analysis: refine`)",
            iterations.undecided
        ));
    }
    let left_out = match iterations.coarseness {
        Coarseness::AsGiven => None,
        Coarseness::FewCells => Some("most flags"),
        Coarseness::NoCells => Some("all flags, cells of arrays and slots of lists"),
        Coarseness::LocationsOnly => Some("all data"),
    };
    if let Some(what) = left_out {
        lines.push(format!("the analysis left out {what}, because they took too much work"));
    }
    if let Some(Exhausted::Steps(limit)) = iterations.stopped {
        lines.push(format!(
            "the analysis stopped after {limit} evaluations of a location, with the result so far (`analysis: step_limit`)"
        ));
    }
    lines
}

/// The most bytes that a sentence shows of a term.
const MOST_SHOWN: usize = 1000;

/// The text of a term, cut after [`MOST_SHOWN`] bytes. It costs no more than the shown text: the text of a
/// term with shared parts can be exponentially long.
fn excerpt(term: &Term) -> String {
    let mut cut = CutText(String::new());
    if write!(cut, "{term}").is_err() {
        cut.0 += "...";
    }
    cut.0
}

/// Ends the writing by an error when enough is written.
struct CutText(String);

impl fmt::Write for CutText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MOST_SHOWN - self.0.len();
        self.0 += &text[..text.floor_char_boundary(room)];
        if text.len() <= room { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use coreach_analyses::scope::ImprecisionReason;
    use coreach_model::{Datum, Type};

    use super::*;

    #[test]
    fn a_term_that_shares_is_said_in_part() {
        let mut sum = Term::datum(&Datum::new("x", Type::Int));
        for _ in 0..60 {
            sum = Term::add(&sum, &sum);
        }
        let imprecision =
            Imprecision { place: ImprecisionPlace::Initial, term: sum, reason: ImprecisionReason::Cases };
        let said = describe_imprecisions(&[imprecision], &Iterations::default(), &Iosts::default());
        assert!(said.len() == 1 && said[0].len() < 1200 && said[0].contains("..."), "{said:?}");
    }
}
