//! The test case against implementations: the specification itself, and mutants of it. Each is classified by brute
//! force (ioc, ioc_TP), then meets the test case in all possible runs.

use coreach_model::iosts::Iosts;
use coreach_pipeline::artifact::{TestCase, Verdict};

use super::test_case::tester;
use super::{ACCURATE, EXHAUSTIVE, Known, Report, SOUND, Settings, THEOREM_6_2};
use crate::brute::conformance::{ioc, ioc_tp};
use crate::brute::execution::{execute, input_complete};
use crate::brute::explore::Concrete;
use crate::brute::walk::Outcome;
use crate::generator::Pair;
use crate::generator::random::Random;
use crate::mutants::mutant;

/// Checks all verdict properties on the specification and on so many mutants.
pub fn implementations(
    pair: &Pair,
    case: &TestCase,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    if ![SOUND, EXHAUSTIVE, ACCURATE, THEOREM_6_2].into_iter().any(|property| settings.wants(property)) {
        return;
    }
    let specification = ("the specification".to_owned(), pair.specification.clone());
    let mut random = Random::new(settings.seed ^ 0x006d_7574);
    let mutants = (0..settings.mutants).filter_map(|_| {
        let mutant = mutant(&mut random, &pair.specification)?;
        Some((format!("a mutant ({}: {})", mutant.operator.name(), mutant.change), mutant.iosts))
    });
    for (name, iut) in [specification].into_iter().chain(mutants.collect::<Vec<_>>()) {
        implementation(&name, &iut, case, known, settings, report);
    }
}

fn implementation(
    name: &str,
    iut: &Iosts,
    case: &TestCase,
    known: &Known,
    settings: &Settings,
    report: &mut Report,
) {
    let limit = settings.limits.walk;
    let alphabet = &known.alphabet;
    report.count("implementations", 1);
    let (mut conforms, mut conforms_relatively, mut can_fail, mut can_pass) = (true, true, false, false);
    for instance in &known.instances {
        let concrete = Concrete::new(iut, &instance.constants, alphabet);
        let Ok(system) = concrete.explore(settings.limits.states) else { continue };
        let iut = input_complete(&system.graph, alphabet);
        let tester_concrete = Concrete::new(&case.iosts, &instance.constants, alphabet);
        let Ok(tests) = tester_concrete.explore(settings.limits.states * 2) else { continue };
        let tester = tester(&tests, &case.verdicts);
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
        if broken == Outcome::Done {
            let outcome = fail
                .map_or(Ok(()), |trace| Err(format!("conforms, and Fail after {}", alphabet.show(trace))));
            report.note(SOUND, outcome.map_err(about));
        }
        if let Outcome::Found(trace, message) = &relatively {
            let missed = || {
                format!("does not conform relatively: after {}: {message}; never Fail", alphabet.show(trace))
            };
            let outcome = if fail.is_some() || runs.cut { Ok(()) } else { Err(missed()) };
            report.note(EXHAUSTIVE, outcome.map_err(about));
        }
        conforms &= broken == Outcome::Done;
        conforms_relatively &= relatively == Outcome::Done;
        can_fail |= fail.is_some();
        can_pass |= runs.verdicts.contains_key(&Verdict::Pass);
    }
    report.count("implementations: not ioc", usize::from(!conforms));
    report.count("implementations: not ioc_TP", usize::from(!conforms_relatively));
    report.count("implementations: can get Fail", usize::from(can_fail));
    report.count("implementations: can get Pass", usize::from(can_pass));
}
