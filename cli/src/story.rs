//! A run as people read it: the verdict, why, and the events as a table with the state after each.

use std::fmt::Write;

use coreach_execution::explain::{Reason, reason};
use coreach_execution::run::Direction;
use coreach_execution::tester::states;
use coreach_execution::{Run, TestCase};
use coreach_model::semantics::State;

use crate::visible::visible;

/// Why the run ended as it did, in some lines.
pub fn why(test: &TestCase, initial: &State, run: &Run) -> String {
    let Reason { summary, guards, expected, .. } = reason(test, initial.clone(), run);
    let mut text = format!("{}: {}\n", run.outcome.name(), visible(&summary));
    for guard in guards {
        let values: Vec<String> =
            guard.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let verb = if guard.holds { "holds" } else { "does not hold" };
        put(&mut text, &format!("  {}: `{}` {verb}: {}", guard.transition, guard.part, values.join(", ")));
    }
    if !expected.is_empty() {
        put(&mut text, "  the specification allows here");
        for one in expected {
            put(&mut text, &format!("    {one}"));
        }
    }
    text
}

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", visible(line));
}

/// The events of a run, one a line: who, what, where it led, and what it changed.
pub fn table(test: &TestCase, initial: &State, run: &Run) -> String {
    let states = states(test, initial.clone(), &run.trace);
    let place = |state: &State| test.iosts.location(state.location).label.clone();
    let mut rows = vec![["", "ms", "who", "event", "then in", "with"].map(str::to_owned).to_vec()];
    let all = |state: &State| -> String {
        let data = test.iosts.constants.iter().chain(&test.iosts.variables);
        let value = |datum| Some(format!("{datum} = {}", state.valuation.get(datum)?));
        data.filter_map(value).collect::<Vec<_>>().join(", ")
    };
    rows.push(vec!["0".into(), "0".into(), String::new(), String::new(), place(initial), all(initial)]);
    for (number, (step, pair)) in run.trace.iter().zip(states.windows(2)).enumerate() {
        let who = match step.direction {
            Direction::Stimulus => "tester sends",
            Direction::Observation => "tester sees",
        };
        let changed: Vec<String> = test
            .iosts
            .variables
            .iter()
            .filter_map(|datum| {
                let (before, after) = (pair[0].valuation.get(datum)?, pair[1].valuation.get(datum)?);
                (before != after).then(|| format!("{datum} = {after}"))
            })
            .collect();
        let parameters =
            test.iosts.find_action(&step.event.action).map(|id| &test.iosts.action(id).parameters);
        let values: Vec<String> = parameters
            .into_iter()
            .flatten()
            .zip(&step.event.values)
            .map(|(parameter, value)| format!("{parameter} = {value}"))
            .collect();
        rows.push(vec![
            (number + 1).to_string(),
            format!("{:.1}", step.at.as_secs_f64() * 1e3),
            who.to_owned(),
            format!("{}({})", step.event.action, values.join(", ")),
            place(&pair[1]),
            changed.join(", "),
        ]);
    }
    let shown: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| visible(cell).into_owned()).collect()).collect();
    crate::commands::table(&shown, 6)
}
