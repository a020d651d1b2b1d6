//! What the domain could not express, in sentences: one for each term, with the places where it stands.

use coreach_analyses::fixpoint::Stop;
use coreach_analyses::reachability::{Iterations, Loss, LossPlace};
use coreach_model::Term;
use coreach_model::iosts::Iosts;

/// The losses, in the order of their first place.
pub fn say(losses: &[Loss], iterations: &Iterations, iosts: &Iosts) -> Vec<String> {
    let mut grouped: Vec<(&Term, String, Vec<String>)> = Vec::new();
    for loss in losses {
        let place = match loss.place {
            LossPlace::Data => "everywhere".to_owned(),
            LossPlace::Initial => "in the initial condition".to_owned(),
            LossPlace::Transition(number) => format!("in {}", iosts.describe(&iosts.transitions[number])),
        };
        match grouped.iter_mut().find(|(term, ..)| **term == loss.term) {
            Some((.., places)) => places.push(place),
            None => grouped.push((&loss.term, loss.reason.to_string(), vec![place])),
        }
    }
    let mut lines: Vec<String> = grouped
        .into_iter()
        .map(|(term, reason, places)| {
            let more = match places.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("`{term}` is not analysed, since {reason}: {}{more}", places[0])
        })
        .collect();
    if iterations.coarsened > 0 {
        lines.push(format!(
            "{} sets were made coarser to stay within the domain's limits",
            iterations.coarsened
        ));
    }
    if iterations.shortened > 0 {
        lines.push(format!(
            "{} facts have too many different cases to be said in full, and say less than was found",
            iterations.shortened
        ));
    }
    if let Some(Stop::Steps(limit)) = iterations.stopped {
        lines.push(format!(
            "the analysis was stopped after {limit} evaluations of a location, with what it had"
        ));
    }
    lines
}
