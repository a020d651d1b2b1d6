//! The programs of `examples/numerical`, technique by technique: which of the purposes that cannot be met are
//! proved unreachable, and what selection takes, in milliseconds of the processor.
//!
//! `cargo run --release -p coreach-pipeline --example numerical [PROGRAM]...`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, of files that are ours")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use coreach_analyses::domains::suited::suited;
use coreach_analyses::reachability::Loops;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, Thresholds};
use coreach_model::SourceFile;
use coreach_model::budget::Budget;
use coreach_model::reader::{read_purpose, read_specification};
use coreach_pipeline::{Stage, StageOptions, generate};

/// What is done where nothing is said: the domain is the one that suits the program.
const DEFAULT: &str = "default";

/// What is tried: the default, with one thing changed.
fn techniques() -> Vec<(&'static str, Analysis)> {
    let with = |change: &dyn Fn(&mut Analysis)| {
        let mut options = Analysis::default();
        change(&mut options);
        options
    };
    let domain = |domain| with(&|options| options.domain = domain);
    let disjuncts = |disjuncts| with(&|options| options.disjuncts = disjuncts);
    vec![
        ("interval", domain(DomainKind::Interval)),
        ("octagon", domain(DomainKind::Octagon)),
        ("no summaries", with(&|options| options.arrays = options.arrays.without_summaries())),
        ("no thresholds", with(&|options| options.thresholds = Thresholds::List(Vec::new()))),
        ("widened", with(&|options| options.loops = Loops::Widened)),
        ("guided", with(&|options| options.loops = Loops::Guided)),
        ("polyhedra", with(&|_| ())),
        (DEFAULT, with(&|_| ())),
        ("congruence", domain(DomainKind::PolyhedraCongruence)),
        ("disjuncts 1", disjuncts(1)),
        ("disjuncts 8", disjuncts(8)),
        ("all", with(&|options| (options.domain, options.disjuncts) = (DomainKind::PolyhedraCongruence, 8))),
    ]
}

/// Is the purpose taken for reachable, and how long did selection take?
fn selected(program: &str, purpose: &str, technique: &str, analysis: &Analysis) -> (bool, Duration) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/numerical");
    let source = |name: String| {
        Arc::new(SourceFile { text: std::fs::read_to_string(folder.join(&name)).unwrap(), name })
    };
    let (specification, _) = read_specification(source(format!("{program}.yaml"))).unwrap();
    let (purpose, _) = read_purpose(source(format!("{program}.{purpose}.yaml")), &specification).unwrap();
    let mut analysis = analysis.clone();
    if technique == DEFAULT {
        analysis.domain = suited([&specification.iosts, &purpose.iosts]);
    }
    let options = StageOptions { max_lookahead: 8, analysis, limits: Default::default(), check: false };
    let budget = Budget::new("measured", None, false);
    let (mut began, mut ended) = (None, None);
    let mut watch = |stage| match stage {
        Stage::Select => began = Some(budget.used().processor),
        Stage::InputComplete => ended = Some(budget.used().processor),
        _ => {}
    };
    let made =
        generate(&specification.iosts, purpose, &options, &mut Z3Solver::default(), &mut watch).unwrap();
    (made.test_graph.is_purpose_reachable(), ended.unwrap() - began.unwrap())
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/numerical");
    let files =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut programs: Vec<String> =
        files.filter_map(|file| file.strip_suffix(".never.yaml").map(str::to_owned)).collect();
    programs.sort();
    programs.retain(|program| wanted.is_empty() || wanted.contains(program));
    let techniques = techniques();
    let names: Vec<&str> = techniques.iter().map(|(name, _)| *name).collect();
    println!("{:16} {}", "", names.iter().map(|name| format!("{name:>14}")).collect::<String>());
    let mut sums = vec![(0, 0, Duration::ZERO); techniques.len()];
    for program in &programs {
        let mut line = format!("{program:16} ");
        for ((name, analysis), (proved, wrong, all)) in techniques.iter().zip(&mut sums) {
            let (never, time) = selected(program, "never", name, analysis);
            let (some, _) = selected(program, "some", name, analysis);
            *proved += usize::from(!never);
            *wrong += usize::from(!some);
            *all += time;
            let answer = if !some {
                "WRONG"
            } else if never {
                "-"
            } else {
                "proved"
            };
            line += &format!("{answer:>8} {:>5}", time.as_millis());
        }
        println!("{line}");
    }
    let line = |cell: &dyn Fn(&(usize, usize, Duration)) -> String| {
        sums.iter().map(|sum| format!("{:>14}", cell(sum))).collect::<String>()
    };
    println!("{:16} {}", "proved", line(&|(proved, ..)| proved.to_string()));
    println!("{:16} {}", "wrong", line(&|(_, wrong, _)| wrong.to_string()));
    println!("{:16} {}", "milliseconds", line(&|(.., all)| all.as_millis().to_string()));
}
