//! The programs of `examples/numerical`: what is never true there is proved unreachable, where
//! `expected.csv` says so, and what is sometimes true never is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::domains::suited::suited;
use coreach_analyses::reachability::Loops;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind};
use coreach_model::SourceFile;
use coreach_model::reader::{read_purpose, read_specification};
use coreach_pipeline::{StageOptions, generate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/numerical")
}

/// Is the purpose taken for reachable? Each stage is checked, the facts among them.
fn is_reachable(program: &str, purpose: &str, analysis: &Analysis) -> bool {
    let source = |name: String| {
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
        Arc::new(SourceFile { name, text })
    };
    let (specification, _) = read_specification(source(format!("{program}.yaml"))).unwrap();
    let (purpose, _) = read_purpose(source(format!("{program}.{purpose}.yaml")), &specification).unwrap();
    let mut analysis = analysis.clone();
    if analysis.domain == Analysis::default().domain {
        analysis.domain = suited([&specification.iosts, &purpose.iosts]);
    }
    let options = StageOptions { max_lookahead: 8, analysis, limits: Default::default(), check: true };
    let made =
        generate(&specification.iosts, purpose, &options, &mut Z3Solver::default(), &mut |_| {}).unwrap();
    assert!(made.unsettled.is_empty(), "{program}: {:?}", made.unsettled);
    made.test_graph.is_purpose_reachable()
}

fn guided() -> Analysis {
    Analysis { loops: Loops::Guided, ..Analysis::default() }
}

/// The first of these that proves it; `-` where none does.
fn prover(program: &str) -> &'static str {
    let congruences = Analysis { domain: DomainKind::PolyhedraCongruence, ..Analysis::default() };
    let techniques = [
        ("default", Analysis::default()),
        ("polyhedra+congruence", congruences),
        ("loops: guided", guided()),
    ];
    let found = techniques.iter().find(|(_, analysis)| !is_reachable(program, "never", analysis));
    found.map_or("-", |(name, _)| name)
}

fn programs(ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> =
        names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    found.sort();
    found
}

/// *Soundness*: what a run reaches is never taken for unreachable.
#[test]
fn sound_what_is_sometimes_true_is_reachable() {
    let programs = programs(".some.yaml");
    assert!(programs.len() > 50, "{programs:?}");
    for analysis in [Analysis::default(), guided()] {
        let wrong: Vec<&String> =
            programs.iter().filter(|program| !is_reachable(program, "some", &analysis)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

/// *Precision*, of the default first; `COREACH_BLESS=1` writes what is found.
#[test]
fn precise_what_is_never_true_is_proved() {
    let programs = programs(".never.yaml");
    assert!(programs.len() > 50, "{programs:?}");
    let mut found = "program,proved by\n".to_owned();
    for program in programs {
        let by = prover(&program);
        writeln!(found, "{program},{by}").unwrap();
    }
    let path = folder().join("expected.csv");
    if std::env::var_os("COREACH_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(path).unwrap());
}
