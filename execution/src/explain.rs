//! Why a verdict was given, in the user's own names.
//!
//! It says what was expected and what came, the location in which it came, and for each transition of the
//! same action the part of its guard that does not hold, with the values that make it fail.
//!
//! All of it is computed again from the trace: a judge that is shown the same says the same.

mod evidence;

use std::collections::BTreeSet;

use coreach_model::iosts::{Iosts, Transition};
use coreach_model::limits::LONGEST_VALUE;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{evaluate, holds};
use coreach_model::{Datum, Term, Value, Verdict, Violated, number};
use serde::{Deserialize, Serialize};

pub use self::evidence::find_evident_cause;
use self::evidence::{
    describe_exchange, describe_silence, describe_twice, describe_twice_at_start, explain_missing_key,
};
use crate::bucket::Bucket;
pub use crate::judge::Guard;
use crate::judge::crossing::MOST_UNDER_WAY;
pub use crate::judge::differences::REORDERED;
use crate::judge::expected::decided_guard;
use crate::judge::guards::{transitions_of, with_event, without_purpose};
use crate::judge::{Judge, Judged, Reasons};
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};
use crate::timed::words;
use crate::times;

/// The explanation of the end of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// What was expected and what came, in a line. What else may be said, and each remedy, has a line below.
    pub summary: String,
    /// The label of the location where the last event came, or where the run ended.
    pub location: String,
    /// The last event, if an event decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The guards of that event's action that did not hold, or that decided by holding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// The guard of the step before that event, if no guard of the event's action explains the Fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<Guard>,
    /// The observations with which the test case would have gone on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
}

impl Reason {
    /// Adds the places of guards from an explanation of the same run that was made where they were known.
    #[must_use]
    pub fn with_places_of(mut self, kept: &Reason) -> Self {
        let known: Vec<&Guard> = kept.guards.iter().chain(&kept.entered).collect();
        for guard in self.guards.iter_mut().chain(&mut self.entered) {
            let same =
                known.iter().find(|kept| (&kept.transition, &kept.part) == (&guard.transition, &guard.part));
            guard.place = guard.place.take().or_else(|| same?.place.clone());
        }
        self
    }

    /// Lists the lines after the summary: the guards that decided, and what is allowed.
    pub fn lines(&self) -> Vec<String> {
        let is_in_summary = |name: &str, text: &str| {
            text.chars().count() >= LONGEST_VALUE / 2
                && self.summary.starts_with(&format!("expected {name} "))
                && self.summary.contains(&format!("got {text}"))
        };
        let mut shown: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut lines = Vec::new();
        for guard in &self.guards {
            // Not again: a long value of the summary, and a value that an earlier guard shows.
            let is_known =
                |name: &str, text: &str| is_in_summary(name, text) || shown.contains(&(name, text));
            lines.push(format!("  {}", guard.describe(is_known)));
            // `the left side` of another comparison is another value.
            let named = guard.values.iter().filter(|(name, _)| !name.starts_with("the "));
            shown.extend(named.map(|(name, text)| (name.as_str(), text.as_str())));
        }
        lines.extend(self.entered.iter().map(|guard| format!("  the step before: {guard}")));
        fn action_name(event: &str) -> &str {
            event.split(['(', ' ']).next().unwrap_or_default()
        }
        // The observed action is no news if the summary says which values it may have, or if no other event
        // is allowed.
        let is_no_news = self.summary.starts_with("expected ") || self.expected.len() == 1;
        let observed = self.event.as_deref().map(action_name).filter(|_| is_no_news);
        let is_new =
            |event: &String| !self.summary.contains(event.as_str()) && Some(action_name(event)) != observed;
        // The list is complete or absent: a part of it would look like all that is allowed.
        if self.expected.iter().any(is_new) {
            lines.push("  the specification allows here".to_owned());
            lines.extend(self.expected.iter().map(|event| format!("    {event}")));
        }
        lines
    }
}

/// Explains the end of a run, by showing the run to a judge of its kind again.
pub fn reason_of(judge: &mut dyn Judge, run: &Run) -> Reason {
    explain_end(judge, run).0
}

/// Makes the bucket of a run: what failed, or how it went.
pub fn bucket_of(judge: &mut dyn Judge, run: &Run) -> Bucket {
    explain_end(judge, run).1
}

/// Shows steps to a judge until it ends the run. Returns the possible states before the step `wanted`.
fn show_steps(judge: &mut dyn Judge, steps: &[RunStep], wanted: Option<usize>) -> Vec<State> {
    let mut states_before: Vec<State> = Vec::new();
    judge.begin();
    for (index, step) in steps.iter().enumerate() {
        if Some(index) == wanted {
            let states = judge.scene().map(|(_, states)| states).unwrap_or_default();
            states_before = states.into_iter().cloned().collect();
        }
        if let Judged::Ends(..) = judge.take(&step.what) {
            break;
        }
    }
    states_before
}

/// Returns the text of the step that decided, or of the event that nothing explains.
fn describe_event(run: &Run, last: Option<&Occurrence>, unexplained: Option<&Event>) -> Option<String> {
    match (&run.outcome, last, unexplained) {
        (Outcome::Verdict(_, Cause::Alien(text)), ..) => Some(text.clone()),
        (_, Some(what), _) if run.timing.is_some() => Some(words::describe_occurrence(what)),
        (_, Some(_), Some(event)) => Some(format!("{event:#}")),
        (_, Some(what), None) => Some(format!("{what:#}")),
        _ => None,
    }
}

/// Shows a run to a judge up to the step that decided, and explains that step from the state before it.
pub(crate) fn explain_end(judge: &mut dyn Judge, run: &Run) -> (Reason, Bucket) {
    let verdict = run.outcome.verdict();
    let event_decided = matches!(&run.outcome, Outcome::Verdict(_, Cause::Event));
    // The steps up to the state that explains: the one before the last step if that decided.
    let steps_before = &run.trace[..run.trace.len().saturating_sub(usize::from(event_decided))];
    let is_fail = verdict == Some(Verdict::Fail);
    // The last event that did not decide.
    let earlier_place = steps_before.iter().rposition(|step| step.what.event().is_some());
    let earlier_states = show_steps(judge, steps_before, earlier_place.filter(|_| is_fail));
    let location = judge.shown().place;
    let place = place_name(judge.specification_locations(), &location);
    let last_step = run.trace.last().filter(|_| event_decided).map(|step| &step.what);
    let last_event = last_step.and_then(Occurrence::event);
    let failed = last_event.filter(|_| is_fail);
    let unexplained = failed.and_then(|event| judge.unexplained(event));
    let either_order = match (&unexplained, last_event) {
        (Some(_), Some(last)) => format!(", be it before or after {last}"),
        _ => String::new(),
    };
    // The event that decided, or the one that nothing explains.
    let decisive = unexplained.as_ref().or(last_event);
    let event = describe_event(run, last_step, unexplained.as_ref());
    // The verdict's location in a timed test case, and whether the event came at a wrong time.
    let verdict_location = judge.scene().and_then(|(test, states)| {
        words::describe_verdict_location(test, states.first()?, decisive, &run.outcome)
    });
    let must_answer = verdict == Some(Verdict::Inconclusive)
        && matches!(run.outcome, Outcome::Verdict(_, Cause::Silence(_)))
        && judge.silence().is_none()
        && judge.must_answer();
    // The judge tells what had to come as if the silence were a Fail.
    let supposed_verdict = if must_answer { Some(Verdict::Fail) } else { verdict };
    let Reasons { instead, guards, expected, violated, violates } = judge.why(decisive, supposed_verdict);
    let earlier_event = earlier_place.and_then(|place| steps_before[place].what.event());
    let action = decisive.map(|event| event.action.as_str());
    // The judge says `got ACTION` if another action had to come.
    let is_same_action = action.is_some_and(|action| !instead.contains(&format!("got {action}")));
    let may_come = is_same_action || !guards.is_empty();
    let answered_twice = match failed.filter(|_| run.timing.is_none()) {
        Some(_) => describe_twice(run, may_come) + &describe_twice_at_start(run),
        None => String::new(),
    };
    let entered = earlier_event
        .filter(|_| guards.is_empty() && decisive.is_some() && answered_twice.is_empty())
        .and_then(|event| find_entry(judge, &earlier_states, event));
    let requirement = earlier_event.filter(|_| must_answer).map(|event| {
        format!("where the specification requires {instead} after {}", name_values(judge.iosts(), event))
    });
    let held_back = judge.held_back();
    let is_undecided = verdict == Some(Verdict::Inconclusive);
    let lacks_output = requirement.is_some() || is_undecided && held_back.is_some();
    let ground = requirement.or_else(|| {
        held_back.map(|event| format!("and {event} is allowed only after an output over another connection"))
    });
    let bucket = Bucket::new(&run.outcome, place, action, violated);
    // A long event that `instead` shows already is not shown twice.
    let is_shown = run.timing.is_none() && instead.contains("got ");
    let event_in_summary = match (event.as_deref(), action) {
        (Some(text), Some(action)) if is_shown && text.chars().count() > LONGEST_VALUE => {
            Some(format!("this {action}"))
        }
        _ => event.clone(),
    };
    // The last two explanations change the judge's state, so the one of `old_value` is computed first.
    let remedy = failed.and_then(|event| {
        let old_value = explain_order_of_assign(judge, run, event);
        explain_rounding(judge, run, event).or_else(|| find_excuse(judge, run)).or(old_value)
    });
    let reason = Reason {
        summary: write_expectation(&run.outcome, &instead)
            + &write_summary(run, &location, event_in_summary.as_deref(), violates, ground.as_deref())
            + &either_order
            + &verdict_location.map_or_else(String::new, |name| format!(" ({name})"))
            + &describe_exchange(run)
            + &answered_twice
            + &describe_silence(run, lacks_output)
            + &remedy.unwrap_or_default(),
        location,
        event,
        guards,
        entered,
        expected,
    };
    (reason, bucket)
}

/// Finds the guard by which an event led from an earlier state to the location of a present one. `None` if
/// no transition has a condition, or several explain the step.
fn find_entry(judge: &dyn Judge, earlier_states: &[State], event: &Event) -> Option<Guard> {
    let (test, states) = judge.scene()?;
    let iosts = &test.iosts;
    let mut entries: Vec<Guard> = Vec::new();
    for state in earlier_states {
        let values = with_event(iosts, state, event);
        let is_entry = |transition: &&Transition| {
            states.iter().any(|present| present.location == transition.target)
                && holds(&transition.guard, &values) == Ok(true)
        };
        for transition in transitions_of(iosts, state, event).filter(is_entry) {
            let siblings: Vec<&Transition> = transitions_of(iosts, state, event).collect();
            // If the event leads to one place only, its guard decides nothing.
            let leads_elsewhere = |sibling: &&Transition| {
                test.verdict(sibling.target) != Some(Verdict::Fail)
                    && test.origins[sibling.target] != test.origins[transition.target]
            };
            if !siblings.iter().any(leads_elsewhere) {
                continue;
            }
            let plain = without_purpose(test, transition, &siblings, None);
            entries.extend(decided_guard(iosts, &plain, values.clone()));
        }
    }
    entries.dedup();
    <[Guard; 1]>::try_from(entries).ok().map(|[entry]| entry)
}

/// Returns the names of the specification's locations; if they are not known, the text that people are shown.
fn place_name(locations: BTreeSet<&str>, shown: &str) -> String {
    match locations.is_empty() {
        true => shown.to_owned(),
        false => locations.into_iter().collect::<Vec<_>>().join(" or "),
    }
}

/// `Coin(pCoinValue = 3)`
pub fn name_values(iosts: &Iosts, event: &Event) -> String {
    let parameters = iosts.find_action(&event.action).map(|id| &iosts.action(id).parameters);
    let pairs = parameters.into_iter().flatten().zip(&event.values);
    let values: Vec<String> = pairs.map(|(parameter, value)| format!("{parameter} = {value:#}")).collect();
    format!("{}({})", event.action, values.join(", "))
}

/// Advises on the link if the run would be no Fail with the last stimuli under way for longer. `None` if it
/// would be one, or has no link. The judge's state changes.
fn find_excuse(judge: &mut dyn Judge, run: &Run) -> Option<String> {
    let delay = run.link.as_ref()?.delay().unwrap_or_default();
    let is_stimulus = |number: &usize| matches!(run.trace[*number].what, Occurrence::Stimulus(_));
    let latest_first: Vec<usize> = (0..run.trace.len()).rev().filter(is_stimulus).collect();
    // Few late stimuli are tried first, since they have few orders.
    let is_explained = [1, 2, 4, MOST_UNDER_WAY - 1].into_iter().any(|count| {
        let first_late = latest_first.get(count - 1).or(latest_first.last());
        first_late.is_some_and(|step| is_excused(judge, run, *step))
    });
    is_explained.then(|| match delay.is_zero() {
        true => "\nhelp: it does if the event has crossed a stimulus on its way. If that can happen, remove \
                 `link: synchronous` from the IUT file"
            .to_owned(),
        false => format!(
            "\nhelp: it does if a stimulus was taken more than {} ms after it was sent: then say a longer \
             `link: {{ ordered: true, delay: ... }}` in the IUT file, or a longer `within` or `--quiescence`",
            times::milliseconds(delay)
        ),
    })
}

/// Would the specification allow this event in place of the run's last one? The judge's state changes.
pub fn allows_instead(judge: &mut dyn Judge, run: &Run, event: Event) -> bool {
    let Some((_, before)) = run.trace.split_last() else { return false };
    judge.begin();
    before.iter().all(|step| matches!(judge.take(&step.what), Judged::Followed(_)))
        && matches!(judge.take(&Occurrence::Observation(event)), Judged::Followed(_))
        && judge.verdict() != Some(Verdict::Fail)
}

/// Explains a Fail by a guard that reads a number before its own transition assigns it, and would hold with
/// the new value. No earlier event of the action may be there: then a guard held, so it is right. The new
/// value of a collection proves little, since it holds other elements.
fn explain_order_of_assign(judge: &dyn Judge, run: &Run, event: &Event) -> Option<String> {
    let (_, before) = run.trace.split_last()?;
    let is_same_action =
        |step: &RunStep| step.what.event().is_some_and(|earlier| earlier.action == event.action);
    if before.iter().any(is_same_action) {
        return None;
    }
    let (test, states) = judge.scene()?;
    for state in states {
        let values = with_event(&test.iosts, state, event);
        for Transition { guard, assignments, target, .. } in transitions_of(&test.iosts, state, event) {
            if test.verdict(*target) == Some(Verdict::Fail) || holds(guard, &values) == Ok(true) {
                continue;
            }
            let explains = |(datum, term): &(&Datum, &Term)| {
                let mut later = values.clone();
                let new_value = evaluate(term, &values).ok().filter(|_| datum.ty().is_number());
                later.extend(new_value.map(|value| ((*datum).clone(), value)));
                holds(guard, &later) == Ok(true)
            };
            if let Some((datum, term)) = assignments.iter().find(explains) {
                return Some(format!(
                    "\nhelp: the guard reads `{datum}` before `assign` changes it, and would hold with the new value: if you mean \
                     that value, write `{term}` in the guard"
                ));
            }
        }
    }
    None
}

/// Explains a Fail by numbers that are right but for an error of rounding. The judge's state changes.
fn explain_rounding(judge: &mut dyn Judge, run: &Run, event: &Event) -> Option<String> {
    let parameters = &judge.iosts().action(judge.iosts().find_action(&event.action)?).parameters;
    let names: Vec<String> = parameters.iter().map(ToString::to_string).collect();
    let values: Vec<Value> = event.values.iter().map(round_value).collect();
    let rounded = Event::new(event.action.clone(), values);
    let pairs = event.values.iter().zip(&rounded.values);
    let (name, (got, meant)) = names.iter().zip(pairs).find(|(_, (got, meant))| got != meant)?;
    let text = format!(
        "\nhelp: `{got:#}` is `{meant:#}` with the error of binary fractions, and coreach computes exactly. Let the system \
         round, or allow a difference in the guard: `{name} >= VALUE - 0.001 && {name} <= VALUE + 0.001`"
    );
    allows_instead(judge, run, rounded).then_some(text)
}

/// Rounds the numbers in a value to fewer digits than a binary fraction holds.
fn round_value(value: &Value) -> Value {
    match value {
        Value::Real(number) => {
            let text = format!("{:.11e}", number.to_f64_fast());
            number::real(&text, number::WIRE_DIGITS).map_or_else(|_| value.clone(), Value::Real)
        }
        Value::Record(record, fields) => {
            Value::Record(record.clone(), fields.iter().map(round_value).collect())
        }
        other => other.clone(),
    }
}

/// Is the trace no Fail if the stimuli from this step on may be under way for ever?
fn is_excused(judge: &mut dyn Judge, run: &Run, from: usize) -> bool {
    judge.begin();
    for (number, step) in run.trace.iter().enumerate() {
        if number == from && !judge.loosen() {
            return false;
        }
        // A delay would end the time that stimuli may be under way.
        if number >= from && step.what.event().is_none() {
            continue;
        }
        if let Judged::Ends(..) = judge.take(&step.what) {
            return false;
        }
    }
    judge.verdict() != Some(Verdict::Fail)
}

/// Writes the beginning of a Fail's summary, with what was expected: `expected pNumber = 11, got 12: `.
fn write_expectation(outcome: &Outcome, instead: &str) -> String {
    match outcome {
        Outcome::Verdict(Verdict::Fail, cause) if !instead.is_empty() => match cause {
            Cause::Silence(_) => format!("expected {instead}, got nothing: "),
            // A wrong value in an output says itself what was expected.
            Cause::Alien(text) if text.contains(" with a wrong `") => "the implementation sent ".to_owned(),
            Cause::Alien(_) => format!("expected {instead}, got "),
            _ => format!("expected {instead}: "),
        },
        Outcome::Verdict(Verdict::Fail, Cause::Alien(_)) => "the implementation sent ".to_owned(),
        _ => String::new(),
    }
}

/// Writes how a run ended, by its verdict and its cause. `ground` says why silence ended it.
fn write_summary(
    run: &Run,
    location: &str,
    event: Option<&str>,
    violates: Option<Violated>,
    ground: Option<&str>,
) -> String {
    let event = event.unwrap_or("nothing");
    match &run.outcome {
        Outcome::Verdict(Verdict::Pass, _) if run.trace.is_empty() => {
            "the purpose is met before anything happens".to_owned()
        }
        Outcome::Verdict(Verdict::Pass, _) => format!("{event} in {location} meets the purpose"),
        Outcome::Verdict(_, Cause::Alien(_)) => event.to_owned(),
        Outcome::Verdict(Verdict::Fail, Cause::Silence(time)) => format!(
            "the specification does not allow silence in {location}, where it must answer: nothing was observed for {} ms{}",
            time.as_millis(),
            ground.map_or_else(String::new, |ground| format!(", {ground}"))
        ),
        Outcome::Verdict(Verdict::Fail, _) if violates == Some(Violated::Allowed) => {
            format!("{event} in {location} violates the property, and the specification allows it")
        }
        Outcome::Verdict(Verdict::Fail, _) if violates == Some(Violated::Forbidden) => {
            format!("{event} in {location} violates the property, and the specification does not allow it")
        }
        Outcome::Verdict(Verdict::Fail, _) => {
            format!("the specification does not allow {event} in {location}")
        }
        Outcome::Verdict(Verdict::WeakPass, _) => {
            format!(
                "{event} in {location} may meet the purpose: it does in some of the states that are possible, not in all"
            )
        }
        Outcome::Verdict(_, cause) => match cause {
            Cause::Event if run.crossed > 0 => {
                format!("{event} came in {location}, but messages have crossed, so their order is not known")
            }
            Cause::Event | Cause::Alien(_) => {
                format!("{event} in {location} is allowed, and puts the purpose out of reach")
            }
            // Between two HTTP requests, for example.
            Cause::Silence(limit) if limit.is_zero() => {
                format!("in {location} something must come, and nothing can come before the next stimulus")
            }
            Cause::Silence(limit) => {
                let ground = ground.unwrap_or("and there was nothing to send");
                format!("nothing was observed in {location} for {} ms, {ground}", limit.as_millis())
            }
            Cause::Unspecified => format!("the test does not specify what happened in {location}"),
            Cause::Crossed => {
                format!("the messages in {location} may have crossed in orders that coreach does not follow")
            }
            Cause::NothingToDo => format!("in {location} no stimulus has values that its guard allows"),
            Cause::States(limit) => {
                format!("the run ended in {location}: more than {limit} states were possible at once")
            }
            Cause::Walked => format!(
                "the walk ended the run in {location}: its goals are met, its time is over, or another run can meet more"
            ),
            Cause::Steps(limit) => format!("the run ended in {location} at its limit of {limit} events"),
            Cause::Time(limit) => {
                format!("the run ended in {location} at its limit of {} ms", limit.as_millis())
            }
            Cause::Digits(limit) => {
                format!(
                    "the run ended in {location} before a number or a string of more than {limit} digits or characters"
                )
            }
            Cause::Late(by) => {
                format!(
                    "the tester was {} ms too late for the last stimulus that could be sent in {location}",
                    times::milliseconds(*by)
                )
            }
            Cause::Jitter(by) => format!(
                "in {location} the instants fit only if this machine has moved them: it was up to {} ms late itself",
                times::milliseconds(*by)
            ),
            Cause::Ended => format!("the run was ended in {location} by hand"),
        },
        Outcome::RunError(failure) => {
            failure.text().to_owned() + &explain_missing_key(failure.text(), run).unwrap_or_default()
        }
    }
}
