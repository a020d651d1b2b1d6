//! Hints after a run: the line of the IUT file that it is about, and a mistake that may have ended it.
//!
//! Each hint asks for evidence in the run, its messages, the model or the IUT file, else it is `None`. The
//! first one with evidence is shown.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use coreach_adapters::blocks::FitStop;
use coreach_adapters::description::{Encoding, Response, Transport};
use coreach_adapters::evidence::{EvidenceItem, EvidenceKind};
use coreach_adapters::reply::Reply;
use coreach_adapters::template::{Template, TemplatePart};
use coreach_adapters::{Failure, Iut};
use coreach_execution::explain::{REORDERED, find_evident_cause};
use coreach_execution::judge::make_judge;
use coreach_execution::record::Record;
use coreach_execution::run::{Cause, Occurrence, RunStep};
use coreach_execution::{Outcome, Run};
use coreach_model::excerpt::{join_words, shortened};
use coreach_model::iosts::{ActionKind, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Origin, Term, Type, Value as ModelValue, Verdict};
use coreach_project::cases::Case;
use coreach_project::configuration::Instantiation;

use super::value_hints::{explain_byte_order, explain_form_of_value};
use crate::execution_arguments::{Chooser, TestArguments};

/// Finds the line of the IUT file that a run has ended about: `iut.yaml:4: within: 200 ms`.
pub(super) fn find_iut_line(path: &Path, run: &Run) -> Option<String> {
    // Words of messages, each with the keys that such a message is about. The first words that occur count.
    let words: [(&str, &[&str]); 9] = [
        ("`{port}`", &["command"]),
        ("which was not captured", &["captures"]),
        ("`reset`", &["reset"]),
        (" connection", &["base", "address"]),
        (" listens on ", &["base", "address"]),
        ("no answer", &["base"]),
        (" cannot be started", &["command"]),
        ("` ended with status", &["command"]),
        ("` was killed by signal", &["command"]),
    ];
    let (keys, detail): (&[&str], _) = match &run.outcome {
        // A silence that is no Fail and has no evident cause may only be a wait that was too short.
        Outcome::Verdict(verdict, Cause::Silence(_))
            if *verdict != Verdict::Fail && find_evident_cause(run).is_none() =>
        {
            (&["within"], None)
        }
        Outcome::RunError(failure) => {
            let text = failure.text();
            let (_, keys) = words.into_iter().find(|(word, _)| text.contains(word))?;
            // The missing capture, as in "has `{token}`", or the path of a request, as in "`: `GET /items`".
            let capture = text.split_once("has `{").and_then(|(_, rest)| Some(rest.split_once('}')?.0));
            let path = || text.split_once("`: `").and_then(|(_, request)| request.split([' ', '`']).nth(1));
            (keys, capture.or_else(path))
        }
        Outcome::Verdict(..) => return None,
    };
    let file = std::fs::read_to_string(path).ok()?;
    let lines = || file.lines().enumerate();
    let has_key = |line: &str, key: &str| {
        let mut words = line.split([' ', '{', ',', '-']).filter_map(|word| word.strip_suffix(':'));
        words.any(|word| word == key)
    };
    let key_line = keys.iter().find_map(|key| lines().find(|(_, line)| has_key(line, key)))?;
    // Below the key, a line with the capture or path says more, for example the step of `reset` that failed.
    let detail_line = detail.and_then(|text| lines().skip(key_line.0).find(|(_, line)| line.contains(text)));
    let (number, line) = detail_line.unwrap_or(key_line);
    Some(format!("{}:{}: {}", path.display(), number + 1, shortened(line.trim())))
}

/// Hints at a mistake in the IUT file or the model that may have ended the run.
pub(super) fn explain_run(
    arguments: &TestArguments,
    case: &Case,
    iut: &Iut,
    initial: &State,
    run: &Run,
    record: &Record,
) -> Option<String> {
    match run.outcome.verdict() {
        Some(Verdict::Pass | Verdict::WeakPass) => None,
        Some(Verdict::Fail) => explain_shadowed_output(iut, run, record)
            .or_else(|| explain_split_output(iut, run, record))
            .or_else(|| explain_http_answer(case, iut, run, record))
            .or_else(|| explain_order(case, initial, run, record))
            .or_else(|| explain_byte_order(case, iut, initial, run))
            .or_else(|| explain_form_of_value(case, initial, run))
            .or_else(|| explain_chosen_constant(arguments, case, iut, run, record))
            .or_else(|| explain_cookie(iut, run))
            .or_else(|| explain_missing_reset(iut, run))
            .or_else(|| explain_second_answer(case, initial, run, record))
            .or_else(|| explain_reordering(case, run, record))
            .or_else(|| explain_line_ending(case, iut, run))
            .or_else(|| explain_unused_parameter(case, run, record))
            .or_else(|| explain_unassigned_variable(case, record))
            .or_else(|| explain_address_as_value(run)),
        Some(Verdict::Inconclusive) => explain_limit(arguments, run)
            .or_else(|| explain_cookie(iut, run))
            .or_else(|| explain_running_clock(case, run, record))
            .or_else(|| explain_rejected_event(case, initial, run, record)),
        None => explain_fixed_constant(case, run)
            .or_else(|| explain_cookie(iut, run))
            .or_else(|| explain_address_as_value(run))
            .or_else(|| explain_loss(run)),
    }
}

/// Hints at a system that nothing resets before a run, after an output that is wrong in its state.
fn explain_missing_reset(iut: &Iut, run: &Run) -> Option<String> {
    let is_suspect = matches!(run.outcome, Outcome::Verdict(_, Cause::Event));
    if !is_suspect || !iut.way.outlives_runs() || iut.way.is_reset() {
        return None;
    }
    let example = match (&iut.way, iut.way.encoding()) {
        (Transport::Http(_), _) => "[{ method: POST, path: /reset }]",
        (_, Some(Encoding::Binary(_))) => "[{ send: \"00 01\", expect: '^00.*$' }]",
        _ => "[{ send: RESET, expect: '^OK$' }]",
    };
    Some(format!(
        "hint: coreach does not start this system anew for each run, and there is no `reset`: it may still have the state of \
         earlier runs. Write what resets it, for example `reset: {example}` with the system's own words ({}). Without \
         such a command, let coreach start it for each run with `launch`\n",
        iut.place
    ))
}

/// Hints at the guards of a purpose that the last event did not meet, so that it led to Reject. There is no
/// hint if the purpose itself has a transition to Reject for it, or if a guard may have been met.
fn explain_rejected_event(case: &Case, initial: &State, run: &Run, record: &Record) -> Option<String> {
    if run.outcome != Outcome::Verdict(Verdict::Inconclusive, Cause::Event) {
        return None;
    }
    let (last, before) = run.trace.split_last()?;
    let (purpose, event) = (case.purpose.as_ref()?, last.what.event()?);
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    before.iter().for_each(|step| drop(judge.take(&step.what)));
    let state = judge.shown().data.into_iter().collect();
    // The location of a test case is `<of the specification,of the purpose>`.
    let source = record.reason.location.strip_suffix('>')?.rsplit_once(',')?.1;
    let (model, location) = (&purpose.iosts, purpose.iosts.find_location(source)?);
    let is_of_event =
        |step: &&Transition| step.source == location && model.action(step.action).name == event.action;
    let steps: Vec<&Transition> = model.transitions.iter().filter(is_of_event).collect();
    let guards: Vec<String> = steps.iter().map(|step| format!("`{}`", step.guard)).collect();
    let missed = |step: &&Transition| {
        let parameters = model.action(step.action).parameters.iter().cloned();
        let mut values: Valuation = Valuation::clone(&state);
        values.extend(parameters.zip(event.values.iter().cloned()));
        Some(step.target) != purpose.reject && holds(&step.guard, &values) == Ok(false)
    };
    if guards.is_empty() || !steps.iter().all(missed) {
        return None;
    }
    let place = steps[0]
        .origin
        .guard_or_whole()
        .map_or_else(String::new, |place| format!(" ({})", place.file_and_line()));
    let other = Term::and(steps.iter().map(|step| step.guard.not())).to_string().replace('\'', "\'\'");
    Some(format!(
        "hint: in `{source}`, the purpose goes on with `{0}` only if {1} holds{place}. Any other `{0}` leads to Reject. To stay \
         there instead, add `{{ from: {source}, to: {source}, on: {0}, when: '{other}' }}`\n",
        event.action,
        join_words(&guards, "or")
    ))
}

/// Lists the names of the expected actions.
fn list_expected(record: &Record) -> BTreeSet<&str> {
    record.reason.expected.iter().filter_map(|event| event.split(['(', ' ']).next()).collect()
}

/// Finds the last stimulus of a run.
fn find_last_stimulus(run: &Run) -> Option<&Event> {
    run.trace.iter().rev().find_map(|step| match &step.what {
        Occurrence::Stimulus(event) => Some(event),
        _ => None,
    })
}

/// Hints at an expected output whose pattern also fits the last line, but comes after the seen pattern.
fn explain_shadowed_output(iut: &Iut, run: &Run, record: &Record) -> Option<String> {
    let Some(Encoding::Lines(lines)) = iut.way.encoding() else { return None };
    let seen = &run.trace.last()?.what.event()?.action;
    let received = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Received)?;
    let text = String::from_utf8_lossy(&received.bytes);
    let line = text.lines().last()?;
    let mut observations = lines.observations.iter().skip_while(|(name, _)| name != seen);
    // The seen output may be of an earlier line of the same message.
    let (_, shape) = observations.next()?;
    shape.first().filter(|pattern| pattern.is_match(line))?;
    let expected = list_expected(record);
    let (other, _) = observations.find(|(name, shape)| {
        expected.contains(name.as_str())
            && is_over_same_connection(run, name, seen)
            && shape.first().is_some_and(|pattern| pattern.is_match(line))
    })?;
    Some(format!(
        "hint: the line `{}` also fits `{other}`, which comes after `{seen}` in `observations`. The first pattern that \
         fits counts: write `{other}` before `{seen}`\n",
        shortened(line)
    ))
}

/// Hints at the line that keeps several lines from being one expected output, so that another was seen.
fn explain_split_output(iut: &Iut, run: &Run, record: &Record) -> Option<String> {
    let Some(Encoding::Lines(lines)) = iut.way.encoding() else { return None };
    let seen = &run.trace.last()?.what.event()?.action;
    let after_sent = run.wire.iter().rposition(|item| item.kind == EvidenceKind::Sent).map_or(0, |at| at + 1);
    let over = &run.wire.iter().rfind(|item| item.kind == EvidenceKind::Received)?.over;
    let is_answer = |item: &&EvidenceItem| item.kind == EvidenceKind::Received && item.over == *over;
    let answer: Vec<u8> =
        run.wire[after_sent..].iter().filter(is_answer).flat_map(|item| item.bytes.iter().copied()).collect();
    let mut unread: VecDeque<String> = String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect();
    let expected_names = list_expected(record);
    let is_expected = |name: &String| name != seen && expected_names.contains(name.as_str());
    while !unread.is_empty() {
        let others = lines.observations.iter().filter(|(name, _)| is_expected(name));
        let mut stops = others.filter_map(|(name, shape)| Some((name, shape.stop(&unread)?)));
        // An output of which not even the first line fits was not meant.
        if let Some((name, FitStop { at: (at, _), expected })) = stops.find(|(_, stop)| stop.at.0 > 0)
            && let Some(line) = unread.get(at)
        {
            return Some(format!(
                "hint: these lines are not `{name}`, since line {}, `{}`, does not fit {expected}. Lines within an output \
                 are not ignored\n",
                at + 1,
                shortened(line.trim_end())
            ));
        }
        unread.pop_front();
    }
    None
}

/// Hints at an expected output that the answer is not, since a value is missing, since the output stands too
/// late in `observations`, or since it has another status.
fn explain_http_answer(case: &Case, iut: &Iut, run: &Run, record: &Record) -> Option<String> {
    let Transport::Http(http) = &iut.way else { return None };
    let asked = &find_last_stimulus(run)?.action;
    let received = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Received)?;
    let answer = String::from_utf8_lossy(&received.bytes);
    let status: u16 = answer.split(' ').nth(1)?.parse().ok().filter(|status| (200..300).contains(status))?;
    let expected = list_expected(record);
    // An output that needs no values fits any answer with its status.
    let needs_status_only = |(name, response): &&(String, Response)| {
        let is_asked = response.to.is_empty() || response.to.contains(asked);
        let is_plain = response.values.is_empty() && response.headers.is_empty() && response.each.is_none();
        expected.contains(name.as_str()) && is_asked && is_plain
    };
    let remedy = |name: &str| format!("`{name}: {{ status: {status}, to: {asked} }}`");
    match &run.outcome {
        Outcome::Verdict(_, Cause::Event) => {
            let seen = &run.trace.last()?.what.event()?.action;
            let place = http.observations.iter().position(|(name, _)| name == seen)?;
            // The first observation that fits counts. An expected one before the seen one lacks a value.
            let (earlier, later) = http.observations.split_at(place);
            let mut lacking = earlier.iter().filter(|(name, _)| expected.contains(name.as_str()));
            let (_, body) = answer.split_once("\r\n\r\n")?;
            let reply = Reply { to: asked.clone(), status, body: body.into(), ..Reply::default() };
            let iosts = &case.test.iosts;
            let explain = |(name, response): &(String, Response)| {
                let action = iosts.action(iosts.find_action(name)?);
                let lack = response.explain_lack(&reply, &action.parameters)?;
                Some(format!("hint: the answer is not `{name}`: {lack}\n"))
            };
            if let Some(hint) = lacking.find_map(explain) {
                return Some(hint);
            }
            let mut later = later.iter().skip(1).filter(needs_status_only);
            let (name, _) = later.find(|(_, response)| response.status == status)?;
            Some(format!(
                "hint: the answer also fits `{name}`, which comes after `{seen}` in `observations`. The first that fits \
                 counts: write {} before `{seen}`\n",
                remedy(name)
            ))
        }
        Outcome::Verdict(_, Cause::Alien(text)) if !text.contains("except for the status") => {
            let mut observations = http.observations.iter();
            let (name, response) = observations.find(needs_status_only).filter(|_| expected.len() == 1)?;
            (response.status != status).then(|| {
                format!(
                    "hint: `{name}` was expected, which has the status {}. If the system is right, write {}, behind all \
                     others\n",
                    response.status,
                    remedy(name)
                )
            })
        }
        _ => None,
    }
}

/// Hints at the strategy that looks for a way to the goal, after a run that was too long.
fn explain_limit(arguments: &TestArguments, run: &Run) -> Option<String> {
    if matches!(run.outcome, Outcome::Verdict(_, Cause::Time(_)))
        && matches!(arguments.strategy, Chooser::Plan)
    {
        return Some(
            "hint: a plan is computed within the time of the run. `--strategy random` computes little, and `--time` allows \
             longer runs\n"
                .to_owned(),
        );
    }
    let is_limit = matches!(run.outcome, Outcome::Verdict(_, Cause::Steps(_)));
    (is_limit && matches!(arguments.strategy, Chooser::Random)).then(|| {
        "hint: messages were chosen at random. `--strategy plan` looks for a way to the goal, and `--events` allows longer \
         runs\n"
            .to_owned()
    })
}

/// Hints at an output that came before the one that the model demands first.
fn explain_order(case: &Case, initial: &State, run: &Run, record: &Record) -> Option<String> {
    let (last, before) = run.trace.split_last().filter(|_| run.timing.is_none())?;
    let (came, model) = (&last.what.event()?.action, case.specification.as_ref()?);
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    before.iter().for_each(|step| drop(judge.take(&step.what)));
    let possible = judge.specification_locations();
    let location_name = |location| model.location(location).name.as_str();
    let action_name = |step: &Transition| model.action(step.action).name.as_str();
    let expected = list_expected(record);
    let is_expected = |step: &&Transition| {
        let name = action_name(step);
        name != came && possible.contains(location_name(step.source)) && expected.contains(name)
    };
    // The expected step, and the step after it, with the output that came.
    let (first, second) = model.transitions.iter().filter(is_expected).find_map(|first| {
        let is_second = |step: &&Transition| step.source == first.target && action_name(step) == came;
        Some((first, model.transitions.iter().find(is_second)?))
    })?;
    let (first_place, second_place) = (first.origin.whole.as_ref()?, second.origin.whole.as_ref()?);
    // Both may be steps of one item, as `in_any_order`.
    if first_place.span == second_place.span || !is_over_same_connection(run, action_name(first), came) {
        return None;
    }
    let write_step = |step: &Transition| {
        let guard = Some(&step.guard).filter(|guard| !guard.is_true());
        let when = guard.map(|guard| format!(", when: '{}'", guard.to_string().replace('\'', "''")));
        let assign = step.assignments.iter().map(|(datum, term)| format!("{datum}: '{term}'"));
        let assign = Some(assign.collect::<Vec<_>>().join(", ")).filter(|assign| !assign.is_empty());
        let assign = assign.map(|assign| format!(", assign: {{ {assign} }}"));
        let (when, assign) = (when.unwrap_or_default(), assign.unwrap_or_default());
        // A line to copy is not wrapped: `\0` is a blank that stays.
        format!("{{ on: {}{when}{assign} }}", action_name(step)).replace(' ', "\0")
    };
    let place = second_place.file_and_line();
    let hint =
        format!("hint: by {place}, `{came}` comes only after `{}`, which has not come.", action_name(first));
    // In the other order, a step must not change what the other one reads.
    let reads = |step: &Transition, datum: &Datum| {
        step.guard.mentions(datum) || step.assignments.values().any(|term| term.mentions(datum))
    };
    let changes =
        |step: &Transition, other: &Transition| step.assignments.keys().any(|datum| reads(other, datum));
    if changes(first, second) || changes(second, first) {
        return Some(hint + "\n");
    }
    let line_range = |origin: &Origin| {
        let (first, text) = (origin.line_and_column().0, origin.file.text[origin.span.clone()].trim_end());
        match text.lines().count() {
            0 | 1 => first.to_string(),
            count => format!("{first}-{}", first + count - 1),
        }
    };
    Some(format!(
        "{hint} If both may come in any order, replace lines {} and {} by\n  - from: {}\n    to: {}\n    in_any_order:\n      \
         - {}\n      - {}\n",
        line_range(first_place),
        line_range(second_place),
        location_name(first.source),
        location_name(second.target),
        write_step(first),
        write_step(second)
    ))
}

/// Are two actions on one connection? Only then has their order been seen.
fn is_over_same_connection(run: &Run, one: &str, other: &str) -> bool {
    run.link.as_ref().is_none_or(|link| link.number(one) == link.number(other))
}

/// Hints at two outputs after the last input, if the model expected no observation after the first one.
fn explain_second_answer(case: &Case, initial: &State, run: &Run, record: &Record) -> Option<String> {
    let (last, before) = run.trace.split_last()?;
    // The explanation says already that a system with two equal outputs may answer twice.
    if !record.reason.expected.is_empty() || record.reason.summary.contains("does the system answer twice?") {
        return None;
    }
    let [.., asked, answered] = before else { return None };
    let (asked, answered, came) = (asked.what.event()?, answered.what.event()?, last.what.event()?);
    let model = case.specification.as_ref()?;
    let kind = |event: &Event| Some(model.action(model.find_action(&event.action)?).kind);
    let are_outputs = [answered, came].iter().all(|event| kind(event) == Some(ActionKind::Output));
    if kind(asked) != Some(ActionKind::Input) || !are_outputs {
        return None;
    }
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    before.iter().for_each(|step| drop(judge.take(&step.what)));
    let possible = judge.specification_locations();
    // If several locations are possible, the first one stands for all.
    let mut names = model.locations.iter().map(|location| location.name.as_str());
    let name = names.find(|name| possible.contains(name))?;
    Some(format!(
        "hint: `{came}` is a second answer to `{asked}`. If the system is right, add the transition `- {{ from: {name}, to: \
         {name}, on: {} }}`\n",
        came.action
    ))
}

/// Hints at a system that takes the CR for a part of the text at the end of a line. The evidence: whenever
/// the stimulus before the Fail was sent, the same output followed.
fn explain_line_ending(case: &Case, iut: &Iut, run: &Run) -> Option<String> {
    let Some(Encoding::Lines(lines)) = iut.way.encoding() else { return None };
    let [.., asked, came] = &run.trace[..] else { return None };
    let (Occurrence::Stimulus(asked), came) = (&asked.what, came.what.event()?) else { return None };
    let is_action = |step: &RunStep, name: &str| step.what.event().is_some_and(|event| event.action == name);
    let mut exchanges = run.trace.windows(2).filter(|pair| is_action(&pair[0], &asked.action));
    let is_always_same = exchanges.all(|pair| is_action(&pair[1], &came.action));
    if lines.line_ending != "\r\n" || !is_always_same {
        return None;
    }
    let (_, template) = lines.stimuli.iter().find(|(name, _)| *name == asked.action)?;
    let Some(TemplatePart::Hole(_, hole)) = template.parts().last() else { return None };
    let model = case.specification.as_ref()?;
    let mut parameters = model.action(model.find_action(&asked.action)?).parameters.iter();
    let is_text = |datum: &&Datum| datum.name() == hole && matches!(datum.ty(), Type::Enum(_) | Type::String);
    let place = &iut.place;
    parameters.find(is_text).map(|datum| {
        format!("hint: the line for `{asked}` ends with `{datum}` and `\\r\\n`. If the system removes `\\n` only, leave out `line_ending` ({place})\n")
    })
}

/// Hints at a list that came in another order than expected, if a set can take its place.
fn explain_reordering(case: &Case, run: &Run, record: &Record) -> Option<String> {
    let is_reordered = record.reason.summary.contains(REORDERED);
    let model = case.specification.as_ref().filter(|_| is_reordered)?;
    let event = run.trace.last()?.what.event()?;
    let parameters = model.action(model.find_action(&event.action)?).parameters.iter();
    parameters.zip(&event.values).find_map(|(datum, came)| {
        let (Type::Record(list), ModelValue::Record(_, fields)) = (datum.ty(), came) else { return None };
        let (_, element) = list.fields.last().filter(|_| list.form == RecordForm::List)?;
        // A set would lose an element that came twice.
        let mut seen = BTreeSet::new();
        let is_set = list.counting(fields).all(|element| seen.insert(element));
        let help = || format!("hint: if the order is free, declare `{datum}: set[{element}]` in the model\n");
        (is_set && matches!(element, Type::Enum(_))).then(help)
    })
}

/// Hints at a variable that the failing guard reads and no transition assigns.
fn explain_unassigned_variable(case: &Case, record: &Record) -> Option<String> {
    let guard = record.reason.guards.first().filter(|guard| !guard.holds)?;
    let model = case.specification.as_ref()?;
    let is_assigned =
        |datum: &Datum| model.transitions.iter().any(|step| step.assignments.contains_key(datum));
    // The initial condition fills a catalogue, which nothing shall change.
    let initial = model.initial_condition.conjuncts();
    let is_filled =
        |value: &Term, ty: &Type| value.as_literal().is_some_and(|value| *value != ModelValue::any(ty));
    let is_catalogue = |datum: &Datum| {
        matches!(datum.ty(), Type::Record(_) | Type::Array(_))
            && initial.iter().any(|part| {
                matches!(part.written(), Some(Node::Compare(Comparison::Equal, a, b))
                    if *a == Term::datum(datum) && is_filled(b, datum.ty()))
            })
    };
    let is_missing = |datum: &&Datum| guard.names(datum) && !is_assigned(datum) && !is_catalogue(datum);
    let variable = model.variables.iter().find(is_missing)?;
    Some(format!(
        "hint: no transition assigns `{variable}`, which the guard reads: is an assignment missing?\n"
    ))
}

/// Hints at a parameter of the last stimulus that no transition reads, if the Fail may have to do with it.
fn explain_unused_parameter(case: &Case, run: &Run, record: &Record) -> Option<String> {
    let is_event = matches!(run.outcome, Outcome::Verdict(_, Cause::Event));
    let model = case.specification.as_ref().filter(|_| is_event)?;
    let event = find_last_stimulus(run)?;
    let action = model.find_action(&event.action)?;
    let steps = || model.transitions.iter().filter(|step| step.action == action);
    let is_read = |datum: &Datum| {
        steps().any(|step| {
            step.guard.mentions(datum) || step.assignments.values().any(|value| value.mentions(datum))
        })
    };
    let last_action = model.find_action(&run.trace.last()?.what.event()?.action)?;
    let last_parameters = &model.action(last_action).parameters;
    // The Fail may depend on any parameter if a guard decided it, else on one that the last event repeats.
    let has_guard = record.reason.guards.iter().any(|guard| !guard.values.is_empty());
    let may_decide =
        |datum: &Datum| has_guard || last_parameters.iter().any(|other| other.name() == datum.name());
    let datum = model.action(action).parameters.iter().find(|datum| !is_read(datum) && may_decide(datum))?;
    let place = steps().find_map(|step| step.origin.whole.as_ref())?.file_and_line();
    let shown = show_last_sent(run).filter(|sent| !sent.contains(char::is_control));
    let sent = shown.map_or_else(String::new, |sent| {
        format!("coreach has sent `{sent}`: does the system read these names? If so, the cause may be that ")
    });
    Some(format!(
        "hint: {sent}the specification never reads `{datum}` of `{event}`: perhaps a transition on `{}` lacks a guard or an \
         assignment ({place})\n",
        event.action
    ))
}

/// Hints at a clock that an output does not set back, though what comes after it reads the clock.
fn explain_running_clock(case: &Case, run: &Run, record: &Record) -> Option<String> {
    let delay = &case.test.timed.as_ref()?.delay;
    let model = case.specification.as_ref()?;
    let action = model.find_action(&run.trace.last()?.what.event()?.action)?;
    let is_read_after = |step: &Transition, clock: &Datum| {
        let decided = record.reason.guards.iter().any(|guard| guard.values.contains_key(clock.name()));
        let mut later = model.transitions.iter().filter(|later| later.source == step.target);
        decided && later.any(|later| later.guard.mentions(clock))
    };
    let (step, clock) = model.transitions.iter().filter(|step| step.action == action).find_map(|step| {
        // A clock that is not set back grows by the delay.
        let is_running = |clock: &Datum, value: &Term| value.mentions(delay) && value.mentions(clock);
        let mut running = step.assignments.iter().filter(|(clock, value)| is_running(clock, value));
        running.find(|(clock, _)| is_read_after(step, clock)).map(|(clock, _)| (step, clock))
    })?;
    let (place, name) = (step.origin.whole.as_ref()?.file_and_line(), &model.action(action).name);
    Some(format!(
        "hint: {place}: `{name}` does not set the clock `{clock}` back, and what comes after it reads the clock. If it counts \
         from `{name}` on, write `reset: [{clock}]` there\n"
    ))
}

/// Hints at a path in which a whole address stands for an id that the system has chosen.
fn explain_address_as_value(run: &Run) -> Option<String> {
    let sent = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent)?;
    let line = String::from_utf8_lossy(&sent.bytes).lines().next()?.to_owned();
    line.contains("%3A%2F%2F").then(|| {
        "hint: a whole address stands in the path. To read only its end, write `{ pointer: /id, match: '.*/([^/]+)' }` in \
         `observations`\n"
            .to_owned()
    })
}

/// Shows the last message to a system whose connection was lost after it.
fn explain_loss(run: &Run) -> Option<String> {
    let Outcome::RunError(Failure::Lost(_)) = &run.outcome else { return None };
    Some(format!("hint: the last that coreach sent was `{}`\n", show_last_sent(run)?))
}

/// Shows the last message to a system, or request without its headers, on a line.
fn show_last_sent(run: &Run) -> Option<String> {
    let sent = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent)?;
    let text = String::from_utf8_lossy(&sent.bytes);
    // The headers of a request say little.
    let shown = match text.split_once("\r\n\r\n") {
        Some((head, body)) => format!("{} {body}", head.split(" HTTP/1.1").next().unwrap_or_default()),
        None => text.into_owned(),
    };
    Some(shortened(shown.trim_end()))
}

/// Hints at a cookie that answers set, and that no request sends back.
fn explain_cookie(iut: &Iut, run: &Run) -> Option<String> {
    let Transport::Http(http) = &iut.way else { return None };
    let sends =
        |headers: &[(String, Template)]| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    if sends(&http.headers) || http.stimuli.iter().any(|(_, request)| sends(&request.headers)) {
        return None;
    }
    let last = run.wire.iter().rposition(|item| item.kind == EvidenceKind::Sent)?;
    let earlier = run.wire[..last].iter().filter(|item| item.kind == EvidenceKind::Received);
    let name = earlier.map(|item| String::from_utf8_lossy(&item.bytes)).find_map(|head| {
        let mut headers =
            head.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
        let (_, cookie) = headers.find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))?;
        Some(cookie.split_once('=')?.0.trim().to_owned())
    })?;
    let header = match http.headers.is_empty() {
        true => format!("`headers: {{ Cookie: \"{name}={{session}}\" }}`"),
        false => format!("`Cookie: \"{name}={{session}}\"` among its `headers`"),
    };
    Some(format!(
        "hint: the answers set the cookie `{name}`, which no request sends back: coreach keeps no cookies. Write \
         `captures: {{ session: {{ cookie: {name} }} }}` and {header} ({})\n",
        iut.place
    ))
}

/// Hints at a constant that coreach has chosen, that decided a Fail, and that the system is not told.
fn explain_chosen_constant(
    arguments: &TestArguments,
    case: &Case,
    iut: &Iut,
    run: &Run,
    record: &Record,
) -> Option<String> {
    // In JSON, `start` tells the constants. A simulated model is given them.
    let is_simulated = matches!(iut.way, Transport::Simulated(_) | Transport::SimulatedTimed(_));
    if is_simulated || matches!(iut.way.encoding(), Some(Encoding::Json)) {
        return None;
    }
    // A constant that the specification fixes is not chosen.
    let conditions = case.test.iosts.initial_condition.conjuncts();
    let chosen = run.constants.iter().filter(|(datum, value)| {
        let is_fixed = conditions.contains(&Term::equal(&Term::datum(datum), &Term::literal(value.clone())));
        let name = datum.name();
        let is_given = arguments.constant.iter().any(|(given, _)| given == name);
        !is_given && !is_fixed && record.reason.guards.iter().any(|guard| guard.values.contains_key(name))
    });
    let chosen: Vec<_> = chosen.collect();
    if chosen.is_empty() {
        return None;
    }
    let file = std::fs::read_to_string(&arguments.iut).ok()?;
    let (datum, value) = chosen.into_iter().find(|(datum, _)| !file.contains(datum.name()))?;
    Some(format!(
        "hint: coreach has chosen `{datum} = {value}`, but the IUT file does not tell the system: write `\"{{{datum}}}\"` into \
         `command`, or give the value that the system has, with `--constant {datum}=VALUE`\n"
    ))
}

/// Hints at a constant that the configuration fixes, and that a system without it names on standard error.
fn explain_fixed_constant(case: &Case, run: &Run) -> Option<String> {
    let errors = run.wire.iter().filter(|item| item.kind == EvidenceKind::Stderr);
    let words: Vec<_> = errors.map(|item| String::from_utf8_lossy(&item.bytes)).collect();
    let is_named = |fixed: &&Instantiation| words.iter().any(|words| words.contains(fixed.name.as_str()));
    let fixed = case.fixed.iter().find(is_named)?;
    let (name, value, place) = (&fixed.name, &fixed.text, fixed.name_origin.file_and_line());
    Some(format!(
        "hint: {place}: `instantiate` puts `{name}: {value}` into the test case, but coreach does not tell the system: remove it \
         there, and give `--constant {name}={value}`\n"
    ))
}
