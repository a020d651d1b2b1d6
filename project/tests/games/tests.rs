//! A few runs of each game; the table of many is the example `planning`.

use coreach_execution::Strategy;
use coreach_execution::planner::SharedExperience;

use super::GAMES;

/// Precision: what can be made sure passes each time, and nothing passes less often than at random. That no
/// conforming system fails is held by every run (soundness).
#[test]
fn plan_passes_where_no_answer_can_keep_it_from_that() {
    for game in &GAMES {
        let played = game.made(None);
        // A run to 300 takes as long as many others.
        let runs = if game.name == "counter" { 1 } else { 4 };
        let experience = SharedExperience::default();
        let planned = played.passes(runs, || Strategy::planning(experience.clone()));
        assert!(planned >= played.passes(runs, Strategy::random), "{}: {planned} of {runs}", game.name);
        assert!(planned == runs || !game.is_sure, "{}: {planned} of {runs}", game.name);
    }
}

/// Precision: a run alone knows of no other, and what was answered in others weighs where it is known.
#[test]
fn answers_are_remembered_over_runs_and_only_where_they_are_shared() {
    let game = GAMES.iter().find(|game| game.name == "second_number").unwrap();
    let played = game.made(None);
    let told = |strategy: &mut dyn FnMut() -> Strategy<'static>| -> Vec<String> {
        let what = |seed| {
            format!(
                "{:?}",
                played
                    .once(seed, strategy())
                    .trace
                    .iter()
                    .map(|step| step.what.to_string())
                    .collect::<Vec<_>>()
            )
        };
        (1..=25).map(what).collect()
    };
    let alone = told(&mut Strategy::plan);
    assert_eq!(alone, told(&mut Strategy::plan));
    let shared = || {
        let experience = SharedExperience::default();
        told(&mut || Strategy::planning(experience.clone()))
    };
    let together = shared();
    assert_eq!(together, shared());
    assert_eq!(alone[0], together[0]);
    let passed = |runs: &[String]| runs.iter().filter(|run| run.contains("Done")).count();
    // One of eleven, and once it is known, nearly each.
    assert!(passed(&together) >= 12 && passed(&alone) <= 6, "{together:#?} {alone:#?}");
    // The first number matters to nobody, and varies.
    let firsts: std::collections::BTreeSet<&str> =
        together.iter().filter_map(|run| run.split(' ').next()).collect();
    assert!(firsts.len() >= 4, "{firsts:?}");
}
