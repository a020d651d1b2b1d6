//! Why a verdict was given, in the user's own names.
//!
//! It says what was expected and what came, the location in which it came, and for each transition of the
//! same action the part of its guard that does not hold, with the values that make it fail.
//!
//! All of it is computed again from the trace: a judge that is shown the same says the same.

use std::collections::BTreeSet;

use coreach_adapters::evidence::{
    EvidenceItem, EvidenceKind, IGNORED, INCOMPLETE, MAYBE, NO_ANSWER, ON_STDERR, Phase,
};
use coreach_model::excerpt::shortened;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{evaluate, holds};
use coreach_model::{Datum, Term, Value, Verdict, Violated, number};
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
pub use crate::judge::Guard;
use crate::judge::crossing::MOST_UNDER_WAY;
use crate::judge::decisive::LONGEST_VALUE;
use crate::judge::expected::decided_guard;
use crate::judge::guards::{transitions_of, with_event, without_purpose};
use crate::judge::{Judge, Judged, Why};
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

    /// The lines after the summary: the guards that decided, and what is allowed.
    pub fn lines(&self) -> Vec<String> {
        // A long value that the summary tells is not told again.
        let is_untold = |name: &str, text: &str| {
            text.chars().count() < LONGEST_VALUE / 2
                || !self.summary.starts_with(&format!("expected {name} "))
                || !self.summary.contains(&format!("got {text}"))
        };
        let shown = |guard: &Guard| {
            let mut guard = guard.clone();
            guard.values.retain(|name, value| is_untold(name, value));
            format!("  {guard}")
        };
        let mut lines: Vec<String> = self.guards.iter().map(shown).collect();
        lines.extend(self.entered.iter().map(|guard| format!("  the step before: {guard}")));
        fn action(text: &str) -> &str {
            text.split(['(', ' ']).next().unwrap_or_default()
        }
        // The observed action is no news, unless other values of it are allowed as well.
        let is_told = self.summary.starts_with("expected ") || self.expected.len() == 1;
        let came = self.event.as_deref().map(action).filter(|_| is_told);
        let is_new = |one: &String| !self.summary.contains(one.as_str()) && Some(action(one)) != came;
        // The list is complete or absent: a part of it would look like all that is allowed.
        if self.expected.iter().any(is_new) {
            lines.push("  the specification allows here".to_owned());
            lines.extend(self.expected.iter().map(|one| format!("    {one}")));
        }
        lines
    }
}

/// Explains the end of a run, by showing the run to a judge of its kind again.
pub fn reason_of(judge: &mut dyn Judge, run: &Run) -> Reason {
    explain_end(judge, run).0
}

/// The bucket of a run: what failed, or how it went.
pub fn bucket_of(judge: &mut dyn Judge, run: &Run) -> Bucket {
    explain_end(judge, run).1
}

/// Shows steps to a judge. Returns the possible states before the step with this index.
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

/// The text of the step that decided, or of the event that nothing explains.
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
    let decided = matches!(&run.outcome, Outcome::Verdict(_, Cause::Event));
    // The steps up to the state that explains: the one before the last step if that decided.
    let before = run.trace.len().saturating_sub(usize::from(decided));
    let is_fail = verdict == Some(Verdict::Fail);
    // The last event that did not decide.
    let last_event = run.trace[..before].iter().rposition(|step| step.what.event().is_some());
    let earlier_states = show_steps(judge, &run.trace[..before], last_event.filter(|_| is_fail));
    let location = judge.shown().place;
    let place = place_name(judge.specification_locations(), &location);
    // The event that decided, or the one that nothing explains.
    let last = run.trace.last().filter(|_| decided).map(|step| &step.what);
    let decisive = last.and_then(Occurrence::event);
    let failed = decisive.filter(|_| is_fail);
    let unexplained = failed.and_then(|event| judge.unexplained(event));
    let either_order = match (&unexplained, decisive) {
        (Some(_), Some(last)) => format!(", be it before or after {last}"),
        _ => String::new(),
    };
    let decisive = unexplained.as_ref().or(decisive);
    let event = describe_event(run, last, unexplained.as_ref());
    // The verdict's location in a timed test case, and whether the event came at a wrong time.
    let missed = judge.scene().and_then(|(test, states)| {
        words::describe_verdict_location(test, states.first()?, decisive, &run.outcome)
    });
    let is_required = verdict == Some(Verdict::Inconclusive)
        && matches!(run.outcome, Outcome::Verdict(_, Cause::Silence(_)))
        && judge.silence().is_none()
        && judge.must_answer();
    // The judge tells what had to come as if the silence were a Fail.
    let asked = if is_required { Some(Verdict::Fail) } else { verdict };
    let Why { instead, guards, expected, violated, violates } = judge.why(decisive, asked);
    let last_event = last_event.and_then(|index| run.trace[index].what.event());
    let action = decisive.map(|event| event.action.as_str());
    let is_same_action = action.is_some_and(|action| !instead.contains(&format!("got {action}")));
    let may_come = is_same_action || !guards.is_empty();
    let twice = match failed.filter(|_| run.timing.is_none()) {
        Some(_) => describe_twice(&run.trace, may_come) + &describe_twice_at_start(run),
        None => String::new(),
    };
    let entered = last_event
        .filter(|_| guards.is_empty() && decisive.is_some() && twice.is_empty())
        .and_then(|event| find_entry(judge, &earlier_states, event));
    let required = last_event.filter(|_| is_required);
    let required = required.map(|event| {
        format!("where the specification requires {instead} after {}", name_values(judge.iosts(), event))
    });
    let held_back = judge.held_back();
    let is_undecided = verdict == Some(Verdict::Inconclusive);
    let is_required = required.is_some() || is_undecided && held_back.is_some();
    let ground = required.or_else(|| {
        held_back.map(|event| format!("and {event} is allowed only after an output over another connection"))
    });
    let bucket = Bucket::new(&run.outcome, place, action, violated);
    // A long event is not told twice.
    let told = match (event.as_deref(), action) {
        (Some(text), Some(action))
            if run.timing.is_none() && instead.contains("got ") && text.chars().count() > LONGEST_VALUE =>
        {
            Some(format!("this {action}"))
        }
        _ => event.clone(),
    };
    // The other explanations change the judge's state.
    let old_value = failed.and_then(|event| explain_order_of_assign(judge, run, event));
    let excuse =
        failed.and_then(|event| explain_rounding(judge, run, event).or_else(|| find_excuse(judge, run)));
    let excuse = excuse.or(old_value);
    let reason = Reason {
        summary: write_expectation(&run.outcome, &instead)
            + &write_summary(run, &location, told.as_deref(), violates, ground.as_deref())
            + &either_order
            + &missed.map_or_else(String::new, |name| format!(" ({name})"))
            + &describe_exchange(run)
            + &twice
            + &describe_silence(run, is_required)
            + &excuse.unwrap_or_default(),
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
            let leads_elsewhere = |one: &&Transition| {
                test.verdict(one.target) != Some(Verdict::Fail)
                    && test.origins[one.target] != test.origins[transition.target]
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

/// The names of the specification's locations; if they are not known, the text that people are shown.
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

/// For a run that ended in silence: what may be wrong, and how to wait longer.
fn describe_silence(run: &Run, is_required: bool) -> String {
    let Outcome::Verdict(_, Cause::Silence(waited)) = &run.outcome else { return String::new() };
    if run.timing.is_some() {
        return String::new();
    }
    let time = waited.as_millis();
    if let Some(cause) = find_evident_cause(run) {
        return format!("\nhelp: {cause}");
    }
    // So few were hardly meant.
    let (mut causes, longer) = match time < 20 {
        true => (
            vec![format!("a number without a unit is milliseconds: are {time} ms what you mean?")],
            format!("{time} s"),
        ),
        false => (guess_causes(run), format!("{} s", (5 * time).div_ceil(1000))),
    };
    let within = format!(
        "if it needs more than {time} ms, raise `within` in the IUT file, as in `within: {longer}` \
         (`--quiescence` replaces it)"
    );
    // Few systems need half a second, and one that has answered may be late now.
    let is_late = has_observed(run) || (20..500).contains(&time);
    causes.insert(if is_late { 0 } else { causes.len() }, within);
    if is_required && (has_observed(run) || causes.len() == 1) {
        let fault = "if a missing answer is a fault of the system, write the line `silence: fail` into the IUT file, \
                     next to `iut`: then this is a Fail";
        causes.insert(0, fault.to_owned());
    }
    causes.iter().map(|cause| format!("\nhelp: {cause}")).collect()
}

/// Says why nothing was observed, if the evidence shows it: more time would not help.
pub fn find_evident_cause(run: &Run) -> Option<String> {
    if let Some(why) = find_mark(run, NO_ANSWER).map(text_of) {
        return Some(why);
    }
    let mark = |note| find_mark(run, note).map(item_text);
    if let Some(text) = mark(INCOMPLETE) {
        let ends = [("\\r", "CR", "0d"), ("\\0", "NUL", "00"), (";", "`;`", "3b"), ("|", "`|`", "7c")];
        if let Some((end, name, hex)) = ends.into_iter().find(|(end, ..)| text.ends_with(end)) {
            return Some(format!(
                "it has sent `{text}`, which ends with {name}: lines end with a line feed, so send `\\n` in place of \
                 `{end}`. If it cannot, write `encoding: binary` with `frame: {{ delimiter: \"{hex}\" }}`"
            ));
        }
        return Some(format!(
            "it has sent `{text}`, which is no whole message yet: the end of the line or more lines are missing"
        ));
    }
    if let Some(text) = mark(ON_STDERR) {
        return Some(format!(
            "it has written `{text}` to standard error, and nothing to standard output: write messages to \
             standard output"
        ));
    }
    if let Some(text) = mark(IGNORED).filter(|_| !has_observed(run)) {
        return Some(format!(
            "all that it has sent is ignored, as `ignore` and `unmatched` say: at last `{text}`"
        ));
    }
    let has_sent = run.trace.iter().any(|step| matches!(step.what, Occurrence::Stimulus(_)));
    (!has_sent && !has_observed(run)).then(|| {
        "the tester has sent nothing, and waits for an output: are `inputs`, which the implementation receives, and \
         `outputs` swapped in the model?"
            .to_owned()
    })
}

fn has_observed(run: &Run) -> bool {
    run.trace.iter().any(|step| matches!(step.what, Occurrence::Observation(_)))
}

/// Guesses what may be wrong if nothing has been observed. The likeliest cause comes first.
fn guess_causes(run: &Run) -> Vec<String> {
    let sent = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent);
    if has_observed(run) {
        return sent.filter(|_| is_unheard_of(run)).map(refusal).into_iter().collect();
    }
    let Some(item @ EvidenceItem { bytes, .. }) = sent else { return Vec::new() };
    let head = String::from_utf8_lossy(bytes);
    if let Some(request) = head.lines().next().and_then(|line| line.strip_suffix(" HTTP/1.1")) {
        return vec![format!(
            "it has not answered `{}`, and coreach keeps the connection open: a server that reads until its end \
             waits for ever. It must read up to the empty line, and as many bytes more as `Content-Length` says",
            shortened(request)
        )];
    }
    if let Some(maybe) = find_mark(run, MAYBE) {
        return vec![text_of(maybe), refusal(item)];
    }
    if !bytes.ends_with(b"\n") {
        return Vec::new();
    }
    let buffer =
        "its output may wait in a buffer: flush it after each line, in Python with `print(..., flush=True)`";
    // In JSON, `start` has been answered line by line.
    if bytes.starts_with(b"{") {
        let wait = "it may wait for the next message, or its output may wait in a buffer: flush each answer at once, in Python \
                    with `print(..., flush=True)`";
        return vec![refusal(item), wait.to_owned()];
    }
    let end = "it may wait for the end of its input: read and answer line by line";
    vec![buffer.to_owned(), end.to_owned(), refusal(item)]
}

/// Supposes that the system has not understood what was sent last.
fn refusal(sent: &EvidenceItem) -> String {
    let text = item_text(sent).replace("\\\"", "\"");
    let text = text.trim_end_matches("\\n").trim_end_matches("\\r");
    match text.starts_with("{\"input\":") {
        true => format!("it may not know `{text}`, which was sent: does the system read these names?"),
        false => {
            format!("it may not know `{text}`, which was sent: compare `stimuli` with what the system takes")
        }
    }
}

/// Did the last stimulus go over a line, and was none like it answered before?
fn is_unheard_of(run: &Run) -> bool {
    let Some(Occurrence::Stimulus(last)) = run.trace.last().map(|step| &step.what) else { return false };
    let is_line = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent);
    let is_line = is_line.is_some_and(|item| item.bytes.ends_with(b"\n"));
    let mut pairs = run.trace.windows(2).map(|pair| (&pair[0].what, &pair[1].what));
    is_line
        && !pairs.any(|(one, next)| {
            matches!((one, next), (Occurrence::Stimulus(event), Occurrence::Observation(_)) if event.action == last.action)
        })
}

/// The last request over HTTP, and the status of its answer. `None` if the evidence has none.
fn last_exchange(run: &Run) -> Option<(String, String)> {
    let first_line = |item: &EvidenceItem| {
        String::from_utf8_lossy(&item.bytes).lines().next().unwrap_or_default().to_owned()
    };
    let is = |item: &EvidenceItem, kind| item.kind == kind && item.phase == Phase::Run;
    let at = run.wire.iter().rposition(|item| is(item, EvidenceKind::Sent))?;
    let request = first_line(&run.wire[at]);
    let answer = run.wire[at..].iter().find(|item| is(item, EvidenceKind::Received)).map(first_line)?;
    let (_, status) = answer.split_once(' ').filter(|(version, _)| version.starts_with("HTTP/1."))?;
    Some((shortened(request.strip_suffix(" HTTP/1.1")?), shortened(status.trim_end())))
}

/// For a Fail by an answer over HTTP: the request, and the status of the answer.
fn describe_exchange(run: &Run) -> String {
    match (&run.outcome, run.trace.last().map(|step| &step.what)) {
        (Outcome::Verdict(Verdict::Fail, Cause::Event), Some(Occurrence::Observation(_))) => {
            last_exchange(run).map_or_else(String::new, |(request, status)| {
                format!(" (`{request}` was answered `{status}`)")
            })
        }
        _ => String::new(),
    }
}

/// For a Fail by the same output as the last one: the system may answer twice. Between the two, inputs may
/// lie. If such an output may come here with other values or in other states (`may_come`), an equal answer
/// is rather a wrong one.
fn describe_twice(trace: &[RunStep], may_come: bool) -> String {
    let Some((last, before)) = trace.split_last() else { return String::new() };
    let input = |at: usize| match &before.get(at)?.what {
        Occurrence::Stimulus(event) => Some(&event.action),
        _ => None,
    };
    let earlier = (0..before.len()).rev().find(|at| input(*at).is_none());
    let is_output = matches!(last.what, Occurrence::Observation(_));
    let Some(at) = earlier.filter(|at| is_output && before[*at].what == last.what) else {
        return String::new();
    };
    let answered = at.checked_sub(1).and_then(input);
    match (input(at + 1), answered) {
        (None, _) => "\nhelp: the same came just before: does the system answer twice?".to_owned(),
        (Some(next), None) if may_come => {
            format!("\nhelp: the same came just before {next}: does the system answer twice?")
        }
        (Some(next), Some(answered)) if !may_come => format!(
            "\nhelp: the same came before {next}, as the answer to {answered}: does the system answer twice? Or does the model \
             lack this answer to {next}?"
        ),
        _ => String::new(),
    }
}

/// For a Fail by the first event of a run: the system may have answered a message of `reset` twice.
fn describe_twice_at_start(run: &Run) -> String {
    let received = |item: &&EvidenceItem| item.kind == EvidenceKind::Received;
    let (at_start, later): (Vec<_>, Vec<_>) =
        run.wire.iter().filter(received).partition(|item| item.phase == Phase::Start);
    let ([_], Some(EvidenceItem { bytes, .. })) = (run.trace.as_slice(), at_start.last()) else {
        return String::new();
    };
    // Two lines may have come at once.
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let is_twice = match later.last() {
        Some(last) => last.bytes == *bytes,
        None => one == other && one.ends_with(b"\n"),
    };
    match is_twice {
        true => "\nhelp: the same came as an answer to `reset`: does the system answer twice?".to_owned(),
        false => String::new(),
    }
}

fn find_mark<'r>(run: &'r Run, note: &str) -> Option<&'r EvidenceItem> {
    let is_it = |item: &&EvidenceItem| item.kind == EvidenceKind::Mark && item.note.as_deref() == Some(note);
    run.wire.iter().rfind(is_it)
}

/// Returns the text of a mark that is an explanation.
fn text_of(item: &EvidenceItem) -> String {
    String::from_utf8_lossy(&item.bytes).into_owned()
}

fn item_text(item: &EvidenceItem) -> String {
    shortened(&String::from_utf8_lossy(&item.bytes)).escape_debug().to_string()
}

/// Says how the run would be no Fail if the last stimuli took longer. The judge's state changes.
fn find_excuse(judge: &mut dyn Judge, run: &Run) -> Option<String> {
    let delay = run.link.as_ref()?.delay().unwrap_or_default();
    let is_stimulus = |number: &usize| matches!(run.trace[*number].what, Occurrence::Stimulus(_));
    let last: Vec<usize> = (0..run.trace.len()).rev().filter(is_stimulus).collect();
    // Few late stimuli are tried first, since they have few orders.
    let from = |count: usize| last.get(count - 1).or(last.last());
    let mut explains = |count: usize| from(count).is_some_and(|from| is_excused(judge, run, *from));
    [1, 2, 4, MOST_UNDER_WAY - 1].into_iter().any(&mut explains).then(|| match delay.is_zero() {
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

/// Explains a Fail by a guard that would hold with the new value of one number that its own transition
/// assigns. If an event with the same values or others was allowed before, the guard is right. The new value
/// of a collection proves little, since it holds other elements.
fn explain_order_of_assign(judge: &dyn Judge, run: &Run, event: &Event) -> Option<String> {
    let (_, before) = run.trace.split_last()?;
    let has_held = |step: &RunStep| step.what.event().is_some_and(|one| one.action == event.action);
    if before.iter().any(has_held) {
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

/// The beginning of a Fail's summary, with what was expected: `expected pNumber = 11, got 12: `.
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

/// Writes the sentence that says how a run ended, by its verdict and its cause. `ground` says why silence
/// ended it.
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

/// Explains an error of a program that may miss a variable of its environment: a key that was never sent.
fn explain_missing_key(error: &str, run: &Run) -> Option<String> {
    let name = error.split_once(" error: KeyError: '")?.1.split('\'').next()?;
    let is_sent = |item: &EvidenceItem| {
        item.kind == EvidenceKind::Sent && String::from_utf8_lossy(&item.bytes).contains(name)
    };
    let is_name = |sign| matches!(sign, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let is_of_environment = !name.is_empty() && name.bytes().all(is_name) && !run.wire.iter().any(is_sent);
    is_of_environment.then(|| {
        format!("\nhelp: if it is a variable of the environment, write `environment: {{ {name}: \"...\" }}` next to `command`")
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_system_may_answer_twice_where_the_same_comes_again() {
        // Inputs begin with `?`.
        for (trace, may_come, told) in [
            (&["?Ask", "Yes", "Yes"][..], true, "just before: "),
            (&["?Ask", "Yes", "Yes"], false, "just before: "),
            (&["?Ask", "Yes", "?Ask", "Yes"], true, ""),
            (&["?Ask", "Yes", "?Go", "Yes"], false, "before Go, as the answer to Ask: "),
            (&["?Ask", "Yes", "?Go", "?Stop", "Yes"], false, "before Go, as the answer to Ask: "),
            (&["Yes", "?Go", "Yes"], true, "just before Go: "),
            (&["Yes", "?Go", "Yes"], false, ""),
            (&["?Ask", "No", "?Go", "Yes"], false, ""),
            (&["?Ask", "Yes"], false, ""),
        ] {
            let step = |text: &&str| {
                let what = match text.strip_prefix('?') {
                    Some(input) => Occurrence::Stimulus(Event::new(input, Vec::new())),
                    None => Occurrence::Observation(Event::new(*text, Vec::new())),
                };
                RunStep { what, transition: None, at: Duration::ZERO }
            };
            let steps: Vec<RunStep> = trace.iter().map(step).collect();
            let expected = match told {
                "" => String::new(),
                told => {
                    let lacks = " Or does the model lack this answer to Go?";
                    let lacks = if told.contains("to Ask") { lacks } else { "" };
                    format!("\nhelp: the same came {told}does the system answer twice?{lacks}")
                }
            };
            assert_eq!(describe_twice(&steps, may_come), expected, "{trace:?}");
        }
    }
}
