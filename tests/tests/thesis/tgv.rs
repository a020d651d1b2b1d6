//! Chapters 2 and 3: transition systems without data. The test case is TGV's complete test graph (Definition
//! 3.15), before controllability is resolved; so a textbook TGV over sets of states is held against it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_model::{LocationId, Numbered, SourceFile, TestPurpose, Verdict};
use coreach_pipeline::{Conformance, Generation, generate_for};

use super::support::{options, solver};

const DELTA: &str = "quiescence";

/// Transitions of a graph by source and event; `None` is an internal step.
type Edges = Vec<(LocationId, Option<String>, LocationId)>;

fn edges(iosts: &Iosts) -> Edges {
    let name = |action| {
        let action = iosts.action(action);
        match action.kind {
            ActionKind::Internal => None,
            ActionKind::Quiescence => Some(DELTA.to_owned()),
            ActionKind::Input | ActionKind::Output => Some(action.name.clone()),
        }
    };
    iosts.transitions.iter().map(|t| (t.source, name(t.action), t.target)).collect()
}

/// The textbook's graph: a state is a set of the specification's with one of the purpose's.
struct Tgv<'a> {
    specification: &'a Iosts,
    purpose: &'a TestPurpose,
    is_ioco: bool,
    steps: Edges,
    aims: Edges,
}

type Set = (BTreeSet<LocationId>, LocationId);

impl Tgv<'_> {
    fn closed(&self, mut set: BTreeSet<LocationId>) -> BTreeSet<LocationId> {
        loop {
            let new = self
                .steps
                .iter()
                .filter(|(from, by, to)| by.is_none() && set.contains(from) && !set.contains(to));
            let new: Vec<LocationId> = new.map(|(.., to)| *to).collect();
            if new.is_empty() {
                return set;
            }
            set.extend(new);
        }
    }

    fn kind(&self, event: &str) -> ActionKind {
        self.specification
            .find_action(event)
            .map_or(ActionKind::Quiescence, |at| self.specification.action(at).kind)
    }

    fn is_quiet(&self, state: LocationId) -> bool {
        let mut leaving = self.steps.iter().filter(|(from, ..)| *from == state);
        leaving.all(|(_, by, _)| by.as_ref().is_some_and(|by| self.kind(by) == ActionKind::Input))
    }

    fn events(&self) -> Vec<String> {
        let visible = self.specification.actions.iter().filter(|action| action.is_visible());
        let delta = self.is_ioco.then(|| DELTA.to_owned());
        visible.map(|action| action.name.clone()).chain(delta).collect()
    }

    /// The deterministic product with the purpose, which stays where it says nothing.
    fn after(&self, (set, aim): &Set, event: &str) -> Option<Set> {
        let behind: BTreeSet<LocationId> = match event {
            DELTA => set.iter().copied().filter(|state| self.is_quiet(*state)).collect(),
            _ => {
                let taken = self
                    .steps
                    .iter()
                    .filter(|(from, by, _)| set.contains(from) && by.as_deref() == Some(event));
                taken.map(|(.., to)| *to).collect()
            }
        };
        let next = self.aims.iter().find(|(from, by, _)| from == aim && by.as_deref() == Some(event));
        (!behind.is_empty()).then(|| (self.closed(behind), next.map_or(*aim, |(.., to)| *to)))
    }

    fn initial(&self) -> Set {
        (self.closed(BTreeSet::from([self.specification.initial])), self.purpose.iosts.initial)
    }

    /// The states from which an accepting one is reached.
    fn coreach(&self) -> BTreeSet<Set> {
        let mut known: BTreeMap<Set, Vec<Set>> = BTreeMap::new();
        let mut open = vec![self.initial()];
        while let Some(state) = open.pop() {
            if known.contains_key(&state) {
                continue;
            }
            let next: Vec<Set> = self.events().iter().filter_map(|event| self.after(&state, event)).collect();
            open.extend(next.iter().cloned());
            known.insert(state, next);
        }
        let mut good: BTreeSet<Set> =
            known.keys().filter(|(_, aim)| *aim == self.purpose.accept).cloned().collect();
        loop {
            let new = known.iter().filter(|(state, next)| {
                Some(state.1) != self.purpose.reject
                    && !good.contains(*state)
                    && next.iter().any(|next| good.contains(next))
            });
            let new: Vec<Set> = new.map(|(state, _)| state.clone()).collect();
            if new.is_empty() {
                return good;
            }
            good.extend(new);
        }
    }
}

/// Walks through both graphs; how many pairs of states were compared, and how many of them may both send and
/// wait.
fn compare(
    specification: &Specification,
    purpose: &TestPurpose,
    made: &Generation,
    is_ioco: bool,
) -> (usize, usize) {
    let (model, graph) = (&specification.iosts, &made.test_case.iosts);
    let tgv =
        Tgv { specification: model, purpose, is_ioco, steps: edges(model), aims: edges(&purpose.iosts) };
    let good = tgv.coreach();
    assert_eq!(good.contains(&tgv.initial()), made.test_graph.is_purpose_reachable());
    if !good.contains(&tgv.initial()) || tgv.initial().1 == purpose.accept {
        return (0, 0);
    }
    let leaving = edges(graph);
    let verdicts: &Numbered<LocationId, Option<Verdict>> = &made.test_case.verdicts;
    let mut seen = BTreeSet::from([(tgv.initial(), graph.initial)]);
    let mut open = vec![(tgv.initial(), graph.initial)];
    let mut conflicts = 0;
    while let Some((state, at)) = open.pop() {
        let (mut sends, mut waits) = (false, false);
        for event in tgv.events() {
            let mut found =
                leaving.iter().filter(|(from, by, _)| *from == at && by.as_deref() == Some(&event));
            let (target, another) = (found.next().map(|(.., to)| *to), found.next());
            assert!(another.is_none(), "{event} twice");
            let next = tgv.after(&state, &event);
            let is_good = next.as_ref().is_some_and(|next| good.contains(next));
            let verdict = target.or(made.test_case.others_fail).and_then(|target| verdicts[target]);
            match (tgv.kind(&event), next) {
                // What is sent keeps Accept in reach.
                (ActionKind::Input, _) if !is_good => assert_eq!(target, None, "{event}"),
                (_, None) => assert_eq!(verdict, Some(Verdict::Fail), "{event}"),
                (_, Some(_)) if !is_good => assert_eq!(verdict, Some(Verdict::Inconclusive), "{event}"),
                (kind, Some(next)) => {
                    sends |= kind == ActionKind::Input;
                    waits |= kind != ActionKind::Input;
                    let expected = (next.1 == purpose.accept).then_some(Verdict::Pass);
                    assert_eq!(verdict, expected, "{event}");
                    let pair = (next, target.unwrap());
                    if expected.is_none() && seen.insert(pair.clone()) {
                        open.push(pair);
                    }
                }
            }
        }
        conflicts += usize::from(sends && waits);
    }
    (seen.len(), conflicts)
}

fn read(specification: &str, purpose: &str) -> Option<(Specification, TestPurpose)> {
    let file = |text: &str| Arc::new(SourceFile { name: "t.yaml".to_owned(), text: text.to_owned() });
    let (specification, _) = read_specification(file(specification)).ok()?;
    let (purpose, _) = read_purpose(file(purpose), &specification).ok()?;
    Some((specification, purpose))
}

fn compared(specification: &str, purpose: &str) -> Option<(usize, usize)> {
    let (specification, purpose) = read(specification, purpose)?;
    let mut sum = (0, 0);
    for conformance in [Conformance::Ioc, Conformance::Ioco] {
        let made = generate_for(
            conformance,
            &specification.iosts,
            purpose.clone(),
            &options("location"),
            &mut solver(),
            &mut |_| {},
        );
        let is_ioco = conformance == Conformance::Ioco;
        let (pairs, conflicts) = compare(&specification, &purpose, &made.ok()?, is_ioco);
        sum = (sum.0 + pairs, sum.1 + conflicts);
    }
    Some(sum)
}

/// Figure 3.9 (Example 3.8), with coins, and milk instead of a choice, put in by its user.
const COFFEE: &str = "
iosts: coffee
initial: { location: s0 }
inputs: { coin: {}, milk: {} }
outputs: { coffee: {}, tea: {}, chocolate: {} }
internals: [tau]
transitions:
  - { from: s0, on: coin, to: s1 }
  - { from: s0, on: coin, to: s3 }
  - { from: s3, on: tea, to: s6 }
  - { from: s1, on: tau, to: s4 }
  - { from: s4, on: coffee, to: s0 }
  - { from: s1, on: milk, to: s5 }
  - { from: s5, on: tau, to: s4 }
  - { from: s5, on: tau, to: s7 }
  - { from: s7, on: chocolate, to: s2 }
  - { from: s2, on: tau, to: s0 }
";

/// Soundness and precision: Fail, Inconclusive and Pass are where Definition 3.15 has them, and nothing is
/// sent that it does not send.
#[test]
fn the_test_case_of_a_transition_system_is_the_complete_test_graph() {
    let purpose = "
purpose: chocolate
of: coffee
initial: { location: Begin }
transitions:
  - { from: Begin, on: chocolate, to: Accept }
  - { from: Begin, on: tea, to: Reject }
";
    let (pairs, conflicts) = compared(COFFEE, purpose).unwrap();
    // Behind `coin` the tester may send `milk`, and may wait: nobody chooses for it.
    assert!(pairs >= 6 && conflicts >= 2, "{pairs} {conflicts}");
}

#[test]
fn of_random_transition_systems_too() {
    let mut random = Random::new(315);
    let (mut made, mut pairs, mut conflicts) = (0, 0, 0);
    for _ in 0..240 {
        let events = ["a", "b", "x", "y", "i"];
        let mut specification = "
iosts: s
initial: { location: l0 }
inputs: { a: {}, b: {} }
outputs: { x: {}, y: {} }
internals: [i]
transitions:
"
        .to_owned();
        let locations = random.between((2, 5));
        for _ in 0..random.between((4, 9)) {
            let (from, to) = (random.below(locations), random.below(locations));
            let on = events[random.below(events.len())];
            specification += &format!("  - {{ from: l{from}, on: {on}, to: l{to} }}\n");
        }
        let mut purpose = "purpose: p\nof: s\ninitial: { location: p0 }\ntransitions:\n".to_owned();
        for from in ["p0", "p1"] {
            for on in &events[..4] {
                let to = ["p0", "p1", "p1", "Accept", "Reject"][random.below(5)];
                if random.chance(50) {
                    purpose += &format!("  - {{ from: {from}, on: {on}, to: {to} }}\n");
                }
            }
        }
        let Some(sum) = compared(&specification, &purpose) else { continue };
        made += usize::from(sum.0 > 0);
        (pairs, conflicts) = (pairs + sum.0, conflicts + sum.1);
    }
    assert!(made > 20 && pairs > 100 && conflicts > 20, "{made} {pairs} {conflicts}");
}
