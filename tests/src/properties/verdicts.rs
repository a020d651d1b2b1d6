//! The test case against implementations: the specification itself, mutants of it, and mutants of its
//! explicit states. Each is classified by brute force (ioc, ioc_TP), then meets the test case in all possible
//! runs.

use std::cell::Cell;

use coreach_model::writer::write_yaml;
use coreach_pipeline::artifact::{CaseGraph, Verdict};

use super::queues::{LONGEST, behind};
use super::silence::blames_silence;
use super::test_case::tester;
use super::{ACCURATE, EXHAUSTIVE, Known, QUEUES, Report, SILENCE, SOUND, Settings, THEOREM_6_2};
use crate::brute::artifact;
use crate::brute::conformance::{ioc, ioc_tp};
use crate::brute::execution::{Tester, execute, input_complete};
use crate::brute::explore::{Concrete, Graph, State, System};
use crate::brute::machine::Machine;
use crate::brute::pair::Instance;
use crate::brute::text::specification;
use crate::brute::walk::Outcome;
use crate::generator::random::Random;
use crate::mutants::{explicit, mutant};
use crate::source::{Input, declared};

/// Checks all verdict properties on the specification and on so many mutants.
pub fn implementations(
    pair: &Input,
    case: &CaseGraph,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if ![SOUND, EXHAUSTIVE, ACCURATE, QUEUES, SILENCE, THEOREM_6_2]
        .into_iter()
        .any(|property| settings.wants(property))
    {
        return;
    }
    let machine = artifact::machine(&case.iosts);
    // The test case is explored once for each instance, not once for each implementation.
    let tests: Vec<(&Instance, System<State>)> = known
        .instances
        .iter()
        .filter_map(|instance| {
            let concrete = Concrete::new(&machine, &instance.constants, &known.alphabet);
            Some((instance, concrete.explore(settings.limits.states * 2).ok()?))
        })
        .collect();
    let against = Against {
        tests: &tests,
        case,
        known,
        limit: settings.limits.walk,
        queues: settings.wants(QUEUES) || settings.wants(SILENCE),
        turn: Cell::new(settings.seed as usize % 4),
    };
    let explored = |iut: &Machine, instance: &Instance| {
        let concrete = Concrete::new(iut, &instance.constants, &known.alphabet);
        Some(concrete.explore(settings.limits.states).ok()?.graph)
    };
    against.meet("the specification", &SYMBOLIC, report, |_, instance| {
        explored(&known.pair.specification, instance)
    });
    let mut random = Random::new(settings.seed ^ 0x006d_7574);
    for _ in 0..settings.mutants {
        let Some(mutant) = mutant(&mut random, &pair.specification) else { continue };
        // Judged is what the writer prints of it.
        let text = write_yaml(&mutant.iosts, &declared(&pair.specification));
        let iut = match specification(&text) {
            Ok(iut) => iut.machine,
            // An initial value that is a record or an array has no spelling: that mutant is taken over term
            // by term.
            Err(_) => {
                report.count("implementations: mutants that cannot be written", 1);
                artifact::machine(&mutant.iosts)
            }
        };
        let name = format!("a mutant ({}: {})", mutant.operator.name(), mutant.change);
        against.meet(&name, &SYMBOLIC, report, |_, instance| explored(&iut, instance));
    }
    for number in 0..settings.explicit_mutants as u64 {
        // One fault in each instance, not the same in all: there is no relation between their states.
        let seed = settings.seed ^ 0x6578_706c ^ (number << 40);
        against.meet(&format!("explicit mutant {number}"), &EXPLICIT, report, |at, instance| {
            let mut random = Random::new(seed ^ ((at as u64) << 48));
            let graph = &instance.specification.graph;
            Some(explicit::mutant(&mut random, graph, &known.alphabet)?.1)
        });
    }
}

/// Under which names a kind of implementations is counted.
struct Counts {
    all: &'static str,
    not_ioc: &'static str,
    not_ioc_tp: &'static str,
    can_fail: &'static str,
    can_pass: &'static str,
}

const SYMBOLIC: Counts = Counts {
    all: "implementations",
    not_ioc: "implementations: not ioc",
    not_ioc_tp: "implementations: not ioc_TP",
    can_fail: "implementations: can get Fail",
    can_pass: "implementations: can get Pass",
};

const EXPLICIT: Counts = Counts {
    all: "implementations: explicit",
    not_ioc: "implementations: explicit, not ioc",
    not_ioc_tp: "implementations: explicit, not ioc_TP",
    can_fail: "implementations: explicit, can get Fail",
    can_pass: "implementations: explicit, can get Pass",
};

/// What is counted of those that are not ioc, for each length of the queues: all, with Fail where nothing
/// lies between, with Fail behind the queues.
const BEHIND: [[&str; 3]; LONGEST + 1] = [
    ["not ioc, no queue", "not ioc, no queue: Fail without the link", "not ioc, no queue: Fail"],
    ["not ioc, queues of 1", "not ioc, queues of 1: Fail without them", "not ioc, queues of 1: Fail"],
    ["not ioc, queues of 2", "not ioc, queues of 2: Fail without them", "not ioc, queues of 2: Fail"],
    ["not ioc, queues of 3", "not ioc, queues of 3: Fail without them", "not ioc, queues of 3: Fail"],
];

/// A test case, and what is known of it.
struct Against<'a> {
    tests: &'a [(&'a Instance, System<State>)],
    case: &'a CaseGraph,
    known: &'a Known,
    limit: usize,
    /// Are implementations put behind queues as well?
    queues: bool,
    /// How many were met.
    turn: Cell<usize>,
}

impl Against<'_> {
    /// One implementation, a graph for each instance, meets the test case.
    fn meet(
        &self,
        name: &str,
        counts: &Counts,
        report: &mut Report,
        iut: impl Fn(usize, &Instance) -> Option<Graph>,
    ) {
        let (limit, alphabet) = (self.limit, &self.known.alphabet);
        let (mut conforms, mut conforms_relatively) = (true, true);
        let (mut can_fail, mut can_pass, mut met) = (false, false, false);
        // Each implementation gets queues of another length.
        let longest = self.turn.replace(self.turn.get() + 1) % (LONGEST + 1);
        let (mut behind_fails, mut silent_fails) = (false, false);
        for (at, (instance, tests)) in self.tests.iter().enumerate() {
            let Some(iut) = iut(at, instance) else { continue };
            met = true;
            let iut = input_complete(&iut, alphabet);
            let tester: Tester<'_> = tester(tests, &self.case.verdicts);
            let broken = ioc(&instance.specification.graph, &iut, alphabet, limit);
            let relatively = ioc_tp(instance, &iut, alphabet, limit);
            let runs = execute(instance, &tester, &iut, alphabet, limit);
            let about = |text: String| format!("{name}, with {:?}: {text}", instance.constants);
            if let (Outcome::Done, Outcome::Found(trace, message)) = (&broken, &relatively) {
                let text = format!("ioc, and not ioc_TP after {}: {message}", alphabet.show(trace));
                report.note(THEOREM_6_2, Err(about(text)));
            } else {
                report.note(THEOREM_6_2, Ok(()));
            }
            if let Some((trace, message)) = &runs.wrong {
                let text = format!("after {}: {message}", alphabet.show(trace));
                report.note(ACCURATE, Err(about(text)));
                continue;
            }
            report.note(ACCURATE, Ok(()));
            let fail = runs.verdicts.get(&Verdict::Fail);
            if self.queues {
                let limits = (longest, limit / 20);
                let blames = blames_silence(self.case, &instance.constants, tests, &tester, alphabet);
                let both = (&tester, blames.as_slice());
                let seen = behind(&self.case.iosts, instance, both, &iut, alphabet, limits);
                silent_fails |= seen.silence_fails;
                behind_fails |= seen.fail.is_some();
                let told = |what: &str, trace: &Vec<_>| {
                    about(format!("queues of {longest}: conforms, and {what} after {}", alphabet.show(trace)))
                };
                let outcome = match (&seen.fail, &seen.undeserved) {
                    (Some(trace), _) => Err(told("Fail", trace)),
                    (None, Some(trace)) => Err(told("Pass that is not deserved", trace)),
                    (None, None) => Ok(()),
                };
                // Of any that is silent where the specification may be.
                let silenced = |trace: &Vec<_>| {
                    let trace = alphabet.show(trace);
                    about(format!("queues of {longest}: silence fails after {trace}, where it is allowed"))
                };
                report.note(SILENCE, seen.silenced.as_ref().map_or(Ok(()), |trace| Err(silenced(trace))));
                // Of one that does not conform, nothing is promised.
                if broken == Outcome::Done {
                    report.note(QUEUES, outcome);
                }
            }
            if broken == Outcome::Done {
                let blamed = |trace: &Vec<_>| format!("conforms, and Fail after {}", alphabet.show(trace));
                let outcome = fail.map_or(Ok(()), |trace| Err(blamed(trace)));
                report.note(SOUND, outcome.map_err(about));
            }
            if let Outcome::Found(trace, message) = &relatively {
                let trace = alphabet.show(trace);
                let missed = || format!("does not conform relatively: after {trace}: {message}; never Fail");
                let outcome = if fail.is_some() || runs.cut { Ok(()) } else { Err(missed()) };
                report.note(EXHAUSTIVE, outcome.map_err(about));
            }
            conforms &= broken == Outcome::Done;
            conforms_relatively &= relatively == Outcome::Done;
            can_fail |= fail.is_some();
            can_pass |= runs.verdicts.contains_key(&Verdict::Pass);
        }
        if self.queues && met && !conforms {
            let [all, alone, behind] = BEHIND[longest];
            report.count(all, 1);
            report.count(alone, usize::from(can_fail));
            report.count(behind, usize::from(behind_fails));
        }
        report.count("implementations: silence can fail", usize::from(silent_fails));
        report.count(
            "implementations: conform (ioc), and silence can fail",
            usize::from(silent_fails && conforms),
        );
        report.count(counts.all, usize::from(met));
        report.count(counts.not_ioc, usize::from(!conforms));
        report.count(counts.not_ioc_tp, usize::from(!conforms_relatively));
        report.count(counts.can_fail, usize::from(can_fail));
        report.count(counts.can_pass, usize::from(can_pass));
    }
}
