//! Explains why a purpose cannot be reached, in words about the user's own models.

use std::collections::{BTreeMap, BTreeSet};

use coreach_analyses::DomainKind;
use coreach_analyses::check::guards;
use coreach_analyses::solver::may_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::TestCase;
use coreach_execution::constants::ConstantsError;
use coreach_model::excerpt::shortened;
use coreach_model::iosts::{ActionId, Aim, Iosts, LocationId, TestPurpose, Transition};
use coreach_model::limits::FEW_SHOWN;
use coreach_model::{Datum, Diagnostic, Numbered, Term};
use coreach_pipeline::Generation;
use coreach_pipeline::online::OnlineTest;
use coreach_pipeline::stages::complete::rejected_residuals;

/// Says where the way to Accept ends. There are three cases. The product has no path to Accept, or each of
/// its paths has a guard that never holds, or the initial data exclude all paths. Of a property it only says
/// that nothing violates it.
pub fn explain(generation: &Generation, purpose: &TestPurpose, domain: DomainKind) -> Diagnostic {
    let name = &purpose.iosts.name;
    if purpose.aim == Aim::Violate {
        let message = format!(
            "nothing can violate the property `{name}`: neither an allowed output nor a forbidden one leads to `Violate`"
        );
        return Diagnostic::warning("unreachable-purpose", message)
            .at(purpose.iosts.origin.clone(), "this property")
            .help("the outputs that lead to Violate never come where the property waits for them");
    }
    let visible = &generation.visible;
    let start = visible.iosts.initial;
    let label = &visible.iosts.location(start).label;
    let unreachable = |why: String| {
        Diagnostic::warning("unreachable-purpose", format!("the purpose `{name}` cannot be reached: {why}"))
    };
    let product = &generation.product;
    let completed = &generation.complete_purpose.purpose.iosts;
    // A location of the product is a pair. This is the name of the purpose's half.
    let half = |location: LocationId| completed.location(product.pairs[location].1).name.as_str();
    if !reaches(&product.iosts, &product.accepting) {
        let diagnostic = unreachable(format!("no sequence of transitions leads from {label} to Accept"));
        return add_entries_of_accept(diagnostic, purpose).help(explain_wait(&product.iosts, half, purpose));
    }
    if !visible.accepting.contains(&true) {
        let mut diagnostic =
            unreachable(format!("on every way from {label} to Accept is a guard that never holds"));
        let never = guards::check(&purpose.iosts, &mut Z3Solver::default());
        diagnostic.labels.extend(never.into_iter().flat_map(|guard| guard.labels));
        let (no_fact, accepting) = (|_| Term::yes(), &product.accepting);
        let diagnostic = add_blocked_steps(diagnostic, &product.iosts, purpose, accepting, no_fact, |_| true);
        let diagnostic = explain_old_values(diagnostic, &product.iosts, purpose, |_| true);
        // If such steps are known, they say all.
        if !diagnostic.notes.is_empty() {
            return diagnostic;
        }
        return add_entries_of_accept(diagnostic, purpose)
            .help("compare these guards with those of the specification's transitions of the same action");
    }
    let mut solver = Z3Solver::default();
    // The visible behaviours lack steps that never hold, so these are looked for in the product.
    let no_data = || unreachable(format!("from {label} no data lead to Accept"));
    let never = explain_old_values(no_data(), &product.iosts, purpose, |goal| {
        let (place, action) =
            (&purpose.iosts.location(goal.source).name, &purpose.iosts.action(goal.action).name);
        let mut steps =
            product.iosts.transitions.iter().filter(|step| {
                half(step.source) == place && product.iosts.action(step.action).name == *action
            });
        !steps.any(|step| may_hold(&mut solver, &[step.guard.clone(), goal.guard.clone()]))
    });
    if !never.labels.is_empty() {
        return never;
    }
    let graph = &generation.test_graph;
    let condition = &visible.iosts.initial_condition;
    let coreach = graph.coreach.first().filter(|coreach| !coreach.is_false() && !coreach.is_true());
    let diagnostic = match coreach {
        Some(coreach) => unreachable(format!(
            "from {label} Accept can be reached only where `{coreach}`, and the initial condition excludes that"
        ))
        .note(format!("the initial condition is `{condition}`")),
        None => no_data()
            .note(format!("this is what the domain {domain} finds from the initial condition `{condition}`")),
    };
    let mut diagnostic = diagnostic.at(visible.iosts.origin.clone(), "the run begins here");
    if !purpose.iosts.initial_condition.is_true() {
        diagnostic = diagnostic.at(purpose.iosts.origin.clone(), "and here, for the purpose");
    }
    let fact = |location| graph.decided.reach[location].clone();
    let diagnostic =
        add_blocked_steps(diagnostic, &visible.iosts, purpose, &visible.accepting, fact, |_| true);
    let closed = &generation.closed;
    let place = |location| half(closed.given[location]);
    // Each guard of the closed graph can hold, so each of its transitions counts.
    let rejected = find_rejections(&closed.iosts, purpose, place, |_| true);
    add_rejected_actions(add_entries_of_accept(diagnostic, purpose), purpose, &rejected)
}

/// Names the first action for which the purpose waits in vain, and where the specification takes it. `iosts`
/// is a graph that was made with the purpose, whose location there has the name `place`.
fn explain_wait<'a>(
    iosts: &'a Iosts,
    place: impl Fn(LocationId) -> &'a str,
    purpose: &TestPurpose,
) -> String {
    let name = |location: LocationId| purpose.iosts.location(location).name.as_str();
    let reached = iosts.reachable_from(iosts.initial);
    let locations_at = |wanted: &str| {
        let at = iosts.locations.numbered().filter(|(id, _)| reached[*id] && place(*id) == wanted);
        at.map(|(id, _)| id).collect::<Vec<_>>()
    };
    let is_vain = |goal: &&Transition| {
        !locations_at(name(goal.source)).is_empty() && locations_at(name(goal.target)).is_empty()
    };
    let Some(goal) = purpose.iosts.transitions.iter().find(is_vain) else {
        return "the specification never takes these actions where the purpose waits for them".to_owned();
    };
    let (action, place) = (&purpose.iosts.action(goal.action).name, name(goal.source));
    let here = locations_at(place);
    let labels = here.iter().map(|location| iosts.location(*location).label.as_str());
    let labels: Vec<&str> = labels.take(FEW_SHOWN).collect();
    let steps = || iosts.transitions.iter();
    let is_end = !steps().any(|step| here.contains(&step.source) && step.source != step.target);
    let end = if is_end { ", which no transition leaves" } else { "" };
    let taken = steps().filter(|step| reached[step.source] && iosts.action(step.action).name == *action);
    let lines: BTreeSet<String> =
        taken.filter_map(|step| Some(step.origin.whole.as_ref()?.file_and_line())).collect();
    let lines: Vec<String> = lines.into_iter().take(FEW_SHOWN).collect();
    let elsewhere = match lines.is_empty() {
        true => format!("The specification never takes `{action}`"),
        false => format!("The specification takes `{action}` only at {}", lines.join(", ")),
    };
    format!(
        "in `{place}` the purpose waits for `{action}`, but the run is in {}{end}. {elsewhere}",
        labels.join(", ")
    )
}

/// Adds steps on a way to Accept that can never be taken, with the facts about the data before them. `blocks`
/// says which steps count.
fn add_blocked_steps(
    mut diagnostic: Diagnostic,
    iosts: &Iosts,
    purpose: &TestPurpose,
    accepting: &Numbered<LocationId, bool>,
    fact: impl Fn(LocationId) -> Term,
    blocks: impl Fn(&Transition) -> bool,
) -> Diagnostic {
    let reached = iosts.reachable_from(iosts.initial);
    // The locations from which a path leads to an accepting one.
    let mut leads = accepting.clone();
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        for step in iosts.transitions.iter().rev().filter(|step| step.source != step.target) {
            if leads[step.target] && !leads[step.source] {
                leads[step.source] = true;
                has_grown = true;
            }
        }
    }
    let mut solver = Z3Solver::default();
    let steps = iosts.transitions.iter().filter(|step| reached[step.source] && !accepting[step.source]);
    // At most ten times as many as are shown are asked about, since each is a question to the solver.
    let steps = steps.filter(|step| !step.guard.is_true() && leads[step.target]).take(10 * FEW_SHOWN);
    let impossible = steps.filter(|step| {
        let known = fact(step.source);
        !known.is_false() && blocks(step) && !may_hold(&mut solver, &[known, step.guard.clone()])
    });
    let impossible: Vec<&Transition> = impossible.take(FEW_SHOWN).collect();
    for step in impossible {
        let known = fact(step.source);
        let why = if known.is_true() {
            "never holds".to_owned()
        } else {
            format!("does not hold there, where `{}`", shortened(&known.to_string()))
        };
        let never_changes = |datum: &&Datum| {
            step.guard.mentions(datum)
                && iosts.transitions.iter().all(|other| !other.assignments.contains_key(*datum))
        };
        if let Some(datum) = iosts.variables.iter().find(never_changes) {
            let note = format!(
                "no transition that can be reached assigns `{datum}`, so it always has its first value"
            );
            // Other steps may read it, too.
            if !diagnostic.notes.contains(&note) {
                diagnostic = diagnostic.note(note);
            }
        }
        let (shown, guard) = (iosts.describe(step), shortened(&step.guard.to_string()));
        let place = step.origin.guard.clone().or(step.origin.whole.clone());
        // Labels are pairs, such as `<Asked,Begin>`.
        let is_half =
            |location: LocationId, name: &str| iosts.location(location).label.ends_with(&format!(",{name}>"));
        let goals = purpose.iosts.transitions.iter().filter(|goal| {
            purpose.iosts.action(goal.action).name == iosts.action(step.action).name
                && is_half(step.source, &purpose.iosts.location(goal.source).name)
                && is_half(step.target, &purpose.iosts.location(goal.target).name)
        });
        let asked = goals.filter_map(|goal| goal.origin.guard.clone()).next();
        if let Some(asked) = asked.filter(|asked| place.as_ref() != Some(asked)) {
            let guard = place.as_ref().map_or_else(String::new, |place| {
                format!(", or the guard of the specification ({})", place.file_and_line())
            });
            let help = format!("change `{}` ({}){guard}", shortened(asked.text()), asked.file_and_line());
            diagnostic = diagnostic.at(Some(asked), "the purpose asks for this").help(help);
        }
        diagnostic =
            diagnostic.at(place, "this step").note(format!("`{shown}` needs `{guard}`, which {why}"));
        // The guard of the only step before it may be the cause.
        let mut entries = iosts.transitions.iter().filter(|entry| entry.target == step.source);
        if let (Some(entry), None) = (entries.next(), entries.next())
            && entry.assignments.keys().any(|datum| step.guard.mentions(datum))
            && let Some(place) = entry.origin.guard.as_ref()
        {
            let (place, needed) = (place.file_and_line(), shortened(place.text()));
            let action = &iosts.action(entry.action).name;
            diagnostic = diagnostic.note(format!("only `{action}` leads there, if `{needed}` ({place})"));
        }
    }
    diagnostic
}

/// Marks guards of the purpose that read data which the specification assigns at the same step: it reads the
/// old values. Only transitions that are suspected count.
fn explain_old_values(
    mut diagnostic: Diagnostic,
    product: &Iosts,
    purpose: &TestPurpose,
    mut is_suspect: impl FnMut(&Transition) -> bool,
) -> Diagnostic {
    for goal in &purpose.iosts.transitions {
        let action = &purpose.iosts.action(goal.action).name;
        let assigned = product.transitions.iter().filter(|step| product.action(step.action).name == *action);
        let mut assigned = assigned.flat_map(|step| step.assignments.keys());
        let is_observed = |datum: &&Datum| !purpose.iosts.variables.contains(*datum);
        let read = assigned.find(|datum| is_observed(datum) && goal.guard.mentions(datum));
        let Some(datum) = read else { continue };
        if !is_suspect(goal) {
            continue;
        }
        let label = format!("reads `{datum}` before `{action}` changes it");
        if let Some(place) = &goal.origin.guard {
            // Other labels at the same place say less.
            let labels = &mut diagnostic.labels;
            let first = labels.iter().position(|(own, _)| own == place).unwrap_or(labels.len());
            labels.retain(|(own, _)| own != place);
            labels.insert(first, (place.clone(), label));
        }
        diagnostic =
            diagnostic.help(format!("in a purpose, `{datum}` has the value that it has before the step"));
    }
    diagnostic
}

/// Explains a test case without a run to Pass, as a search through all its paths has proved.
pub fn explain_by_search(purpose: &TestPurpose, domain: DomainKind) -> Diagnostic {
    let name = &purpose.iosts.name;
    let message = format!("the purpose `{name}` cannot be reached: no path of its test case leads to Pass");
    let diagnostic = Diagnostic::warning("unreachable-purpose", message)
        .note("this is proved by a search that went through all paths of the test case, with polyhedra of their data")
        .note(format!("the facts of the domain {domain} alone do not exclude it"));
    add_entries_of_accept(diagnostic, purpose)
}

/// Says where the way to Accept ends in a test that is judged on line.
pub fn explain_online(test: &OnlineTest, purpose: &TestPurpose, domain: DomainKind) -> Diagnostic {
    let name = &purpose.iosts.name;
    let iosts = &test.iosts;
    let label = &iosts.location(iosts.initial).label;
    let accepting = test.verdicts.map(|verdict| verdict.is_some());
    let why = match reaches(iosts, &accepting) {
        false => format!("no sequence of transitions leads from {label} to Accept"),
        true => format!("from {label} no data lead to Accept, as the domain {domain} finds"),
    };
    let message = format!("the purpose `{name}` cannot be reached: {why}");
    let mut diagnostic = Diagnostic::warning("unreachable-purpose", message);
    let mut solver = Z3Solver::default();
    let fact = |location: LocationId| test.reach[location].clone();
    let place = |location: LocationId| test.origins[location].purpose.first().map_or("", String::as_str);
    if !reaches(iosts, &accepting) {
        diagnostic = diagnostic.help(explain_wait(iosts, place, purpose));
    }
    let names =
        |step: &Transition| (place(step.source), iosts.action(step.action).name.as_str(), place(step.target));
    // Each transition of the purpose was put together with several of the specification.
    let may_be_taken = |step: &&Transition| may_hold(&mut solver, &[fact(step.source), step.guard.clone()]);
    let possible: BTreeSet<_> = iosts.transitions.iter().filter(may_be_taken).map(names).collect();
    let blocks = |step: &Transition| !possible.contains(&names(step));
    let diagnostic = add_blocked_steps(diagnostic, iosts, purpose, &accepting, fact, blocks);
    let diagnostic = add_entries_of_accept(diagnostic, purpose);
    let diagnostic = explain_old_values(diagnostic, iosts, purpose, |goal| {
        let name = |location: LocationId| purpose.iosts.location(location).name.as_str();
        let action = purpose.iosts.action(goal.action).name.as_str();
        !possible.contains(&(name(goal.source), action, name(goal.target)))
    });
    let rejected = find_rejections(iosts, purpose, place, |step| {
        may_hold(&mut solver, &[test.reach[step.source].clone(), step.guard.clone()])
    });
    add_rejected_actions(diagnostic, purpose, &rejected)
}

/// Finds the actions that lead to Reject, by name, each with the location of the purpose (`place`) where they
/// do. `iosts` is a graph that was made with the purpose, and only steps that `may_enter` accepts count.
fn find_rejections<'a>(
    iosts: &'a Iosts,
    purpose: &TestPurpose,
    place: impl Fn(LocationId) -> &'a str,
    mut may_enter: impl FnMut(&Transition) -> bool,
) -> BTreeSet<(&'a str, &'a str)> {
    let name = |location: LocationId| purpose.iosts.locations[location].name.as_str();
    // If the user's purpose has no Reject, completion gave it a name that no location of the user has.
    let is_reject = |place: &str| match purpose.reject {
        Some(reject) => name(reject) == place,
        None => purpose.iosts.locations.iter().all(|location| location.name != place),
    };
    let entering =
        iosts.transitions.iter().filter(|t| is_reject(place(t.target)) && !is_reject(place(t.source)));
    let entered = entering.filter(|t| may_enter(t));
    entered.map(|t| (place(t.source), iosts.action(t.action).name.as_str())).collect()
}

/// Is there a path in the graph from the initial location to an accepting one, whatever the guards?
fn reaches(iosts: &Iosts, accepting: &Numbered<LocationId, bool>) -> bool {
    let reached = iosts.reachable_from(iosts.initial);
    reached.numbered().any(|(location, reached)| *reached && accepting[location])
}

fn add_entries_of_accept(mut diagnostic: Diagnostic, purpose: &TestPurpose) -> Diagnostic {
    let into = purpose.iosts.transitions.iter();
    for transition in into.filter(|t| t.target == purpose.accept && t.source != purpose.accept) {
        diagnostic = diagnostic.at(transition.origin.whole.clone(), "Accept is entered here");
    }
    diagnostic
}

/// Adds why actions lead to Reject. `rejected` has each action after its location, by name. Either the
/// purpose says so itself, or completion sends there what the guards leave out.
fn add_rejected_actions(
    mut diagnostic: Diagnostic,
    purpose: &TestPurpose,
    rejected: &BTreeSet<(&str, &str)>,
) -> Diagnostic {
    // A property has no Reject: an event that it does not mention leaves it in its location.
    if purpose.aim == Aim::Violate {
        return diagnostic;
    }
    let conditional = find_conditional(purpose);
    let written = rejected.iter().filter(|entry| !conditional.contains(entry));
    for (location, action) in written.take(FEW_SHOWN) {
        diagnostic = diagnostic.note(format!(
            "in `{location}` the purpose rejects `{action}`: perhaps each way to Accept needs it"
        ));
    }
    // Authors may not expect what completion adds, so these notes come before all others.
    let (mut notes, mut additions) = (Vec::new(), Vec::new());
    for (source, action, rest) in rejected_residuals(purpose, &mut Z3Solver::default()) {
        let (location, name) = (&purpose.iosts.location(source).name, &purpose.iosts.action(action).name);
        let entry = (location.as_str(), name.as_str());
        if conditional.contains(&entry) && rejected.contains(&entry) && notes.len() < FEW_SHOWN {
            notes.push(format!("in `{location}`, `{name}` leads to Reject if none of its guards holds"));
            additions.push(write_stay(location, name, &rest));
        }
    }
    if !additions.is_empty() {
        let otherwise = diagnostic.help.take().map_or_else(String::new, |help| format!("; if not: {help}"));
        diagnostic.help = Some(format!("to stay there instead, add {}{otherwise}", additions.join(", ")));
    }
    diagnostic.notes.splice(0..0, notes);
    diagnostic
}

/// Writes the transition that stays in a location of the purpose.
fn write_stay(location: &str, action: &str, guard: &Term) -> String {
    let guard = guard.to_string().replace('\'', "''");
    format!("`{{ from: {location}, to: {location}, on: {action}, when: '{guard}' }}`")
}

/// Explains why a test case has no run with these constants. `models` are its specification and its purpose.
pub fn explain_constants(
    error: &ConstantsError,
    test: &TestCase,
    models: Option<(&Iosts, &TestPurpose)>,
) -> Diagnostic {
    // The name that the user gave it.
    let name = models.map_or(&test.iosts.name, |(_, purpose)| &purpose.iosts.name);
    let refuse = |message: String| Diagnostic::error("no-constants", message);
    let (ConstantsError::Unsatisfiable { given, part, needs }, Some((specification, purpose))) =
        (error, models)
    else {
        return refuse(format!("the test case `{name}` has no run: {error}"));
    };
    let has = |iosts: &Iosts| iosts.initial_condition.conjuncts().iter().any(|own| own.to_string() == *part);
    // The test case's initial condition is the specification's and that of the purpose.
    if given.is_empty() || !has(&test.iosts) || has(specification) {
        return refuse(format!("the test case `{name}` has no run: {error}"))
            .at(specification.origin.clone(), "the initial condition")
            .help("give other values, or leave them out: coreach chooses constants that fit");
    }
    let mut found =
        refuse(format!("the purpose `{name}` needs `{needs}`, so it cannot be reached with `{given}`"));
    let mut help = format!("give constants with `{needs}`");
    // The constants are needed since completion sends to Reject what a guard of the purpose leaves out.
    for (source, action, rest) in rejected_residuals(purpose, &mut Z3Solver::default()).iter().take(FEW_SHOWN)
    {
        let iosts = &purpose.iosts;
        let (place, action_name) = (&iosts.locations[*source].name, &iosts.action(*action).name);
        let is_same = |step: &&Transition| step.source == *source && step.action == *action;
        let written = iosts.transitions.iter().find(is_same).and_then(|step| step.origin.guard.clone());
        // An action that the purpose names without a condition is no slip.
        let Some(written) = written else { continue };
        found =
            found.at(written, format!("otherwise `{action_name}` leads to Reject, and the goal is missed"));
        if found.labels.len() == 1 {
            help = format!(
                "to stay in `{place}` otherwise, add {}; or {help}",
                write_stay(place, action_name, rest)
            );
        }
    }
    found.help(help)
}

/// Finds the locations and actions whose transitions all have conditions, and do not all lead to Reject. If
/// no condition holds, completion rejects the action (algorithm 7.1, p. 170). Authors may not expect it.
fn find_conditional(purpose: &TestPurpose) -> Vec<(&str, &str)> {
    let iosts = &purpose.iosts;
    let mut conditions: BTreeMap<(LocationId, ActionId), (bool, bool)> = BTreeMap::new();
    for t in iosts.transitions.iter().filter(|t| t.source != purpose.accept) {
        let (is_partial, leads_on) = conditions.entry((t.source, t.action)).or_insert((true, false));
        *is_partial &= !t.guard.is_true();
        *leads_on |= Some(t.target) != purpose.reject;
    }
    conditions.retain(|_, (is_partial, leads_on)| *is_partial && *leads_on);
    let names = |&(location, action): &(LocationId, ActionId)| {
        (iosts.locations[location].name.as_str(), iosts.actions[action].name.as_str())
    };
    conditions.keys().map(names).collect()
}
