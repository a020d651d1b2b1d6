//! The documents that the program writes: results of stages, runs, summaries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use coreach_adapters::evidence::{self, Item, Phase};
use coreach_adapters::{Failure, Left};
use coreach_analyses::symbolic::{Quiescence, TreeLimits};
use coreach_execution::Bucket;
use coreach_execution::campaign::summary::{Counts, Failed, Group, Summary, Told};
use coreach_execution::campaign::{LeftOut, WhyLeftOut};
use coreach_execution::ending::{Cause, Ending, Outcome, cause};
use coreach_execution::mutation::Operator;
use coreach_execution::record::{GuardRecord, ReasonRecord, Record, SettledRecord, StepRecord, TimingRecord};
use coreach_execution::shrink::Stopped;
use coreach_execution::shrink::told::{OtherRecord, ShrunkRecord};
use coreach_execution::values::Source;
use coreach_execution::walk::{Until, Walk};
use coreach_execution::wire::WireRecord;
use coreach_model::Verdict;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_project::cover::{self, Criterion, Settings};
use coreach_project::coverage::report::{
    ClassCoverage, ConjunctCoverage, Figure, Figures, LocationCoverage, Met, ModelCoverage,
    ParameterCoverage, PurposeCoverage, SpecificationCoverage, Status, TransitionCoverage, Unmet,
};
use coreach_project::coverage::{Kind, Report, Requirement, Runs};
use coreach_project::exploration::{Purpose, document, explore};
use coreach_project::render::to_json;
use coreach_project::summary::{
    CAMPAIGN_FORMAT_VERSION, CampaignSummary, KilledSummary, MutantSummary, MutationSummary, ShortestSummary,
    TransitionSummary,
};
use coreach_project::walk::{self, PHASES};
use coreach_tests::schema;
use serde_json::{Map, Value, json};

use super::{below, inside, root, words};

/// Holds documents against a schema; together they must have every key of it.
fn follow(name: &str, documents: &[Value]) {
    let schema = schema::read(name);
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for document in documents {
        assert_eq!(schema::objections(&schema, document), Vec::<String>::new(), "{name}: {document:#}");
        for closed in schema::closed_in(&schema, document) {
            let mut here = document.clone();
            let keys = inside(&mut here, &closed.at).as_object().unwrap().keys().cloned();
            seen.entry(closed.object).or_default().extend(keys);
        }
    }
    for (object, keys) in schema::all_closed(&schema) {
        let keys: BTreeSet<String> = keys.into_iter().collect();
        assert_eq!(seen.get(&object), Some(&keys), "{object}");
    }
}

fn a_map() -> Map<String, Value> {
    Map::from_iter([("p".to_owned(), json!(3)), ("q".to_owned(), json!("1/3"))])
}

/// One with a place, one without.
fn diagnostics() -> [Diagnostic; 2] {
    let file = from_bytes("f".to_owned(), b"text".to_vec()).unwrap();
    let origin = coreach_model::Origin { file, span: 0..4 };
    let placed = Diagnostic::warning("w", "m").at(origin, "here").help("h").note("n");
    [placed, Diagnostic::error("e", "m")]
}

/// As if a budget had ended the work of it.
fn ended(mut document: Value) -> Value {
    document["exit_code"] = json!(6);
    document["diagnostics"] = to_json(&diagnostics());
    document
}

fn a_bucket() -> Bucket {
    Bucket {
        verdict: Ending::FAIL,
        place: "l".to_owned(),
        cause: "event".to_owned(),
        action: Some("a".to_owned()),
        violated: vec![vec!["p == 3".to_owned()]],
    }
}

/// Every word for how a run may end. The matches make this complain when one is added.
fn outcomes() -> Vec<Outcome> {
    let some = Duration::from_millis(7);
    let text = || "x".to_owned();
    let causes = [
        Cause::Event,
        Cause::Alien(text()),
        Cause::Silence(some),
        Cause::NothingToDo,
        Cause::Unspecified,
        Cause::Crossed,
        Cause::Steps(3),
        Cause::States(5),
        Cause::Time(some),
        Cause::Digits(4),
        Cause::Late(Duration::from_micros(137)),
        Cause::Jitter(some),
        Cause::Ended,
    ];
    let failures = [
        Failure::Start(text()),
        Failure::Lost(text()),
        Failure::Garbage(text()),
        Failure::Stuck(text()),
        Failure::Flood(text()),
        Failure::Untranslatable(text()),
        Failure::Dirty(text()),
    ];
    for cause in &causes {
        match cause {
            Cause::Event | Cause::Alien(_) | Cause::Silence(_) | Cause::NothingToDo | Cause::Unspecified => {}
            Cause::Crossed
            | Cause::Steps(_)
            | Cause::States(_)
            | Cause::Time(_)
            | Cause::Digits(_)
            | Cause::Late(_)
            | Cause::Jitter(_)
            | Cause::Ended => {}
        }
    }
    for failure in &failures {
        match failure {
            Failure::Start(_) | Failure::Lost(_) | Failure::Garbage(_) => {}
            Failure::Stuck(_) | Failure::Flood(_) | Failure::Untranslatable(_) => {}
            Failure::Dirty(_) => {}
        }
    }
    let verdicts = causes
        .into_iter()
        .flat_map(|cause| Verdict::ALL.map(|verdict| Outcome::Verdict(verdict, cause.clone())));
    verdicts.chain(failures.into_iter().map(Outcome::RunError)).collect()
}

fn item(kind: evidence::Kind, at: usize) -> WireRecord {
    let bytes: [&[u8]; 2] = [b"text\r\n", b"\x00"];
    coreach_execution::wire::write(&Item {
        kind,
        at: Duration::from_millis(3),
        phase: Phase::ALL[at % 3],
        bytes: bytes[at / 3].to_vec(),
        cut: 12,
        rest: b"rest".to_vec(),
        note: Some("n".to_owned()),
    })
}

fn records() -> Vec<Record> {
    let step = |direction: &str, event: bool| StepRecord {
        direction: direction.to_owned(),
        action: event.then(|| "Coin".to_owned()),
        values: event.then(a_map),
        ms: (!event).then_some(2.5),
        at_ms: 1.25,
    };
    let one = |(number, outcome): (usize, Outcome)| {
        let (cause, detail) = cause(&outcome);
        Record {
            format_version: coreach_execution::record::FORMAT_VERSION,
            test_case: "t".to_owned(),
            constants: a_map(),
            seed: u64::MAX,
            verdict: outcome.ending(),
            cause: cause.to_owned(),
            detail,
            reason: ReasonRecord {
                summary: "s".to_owned(),
                location: "l".to_owned(),
                event: Some("e".to_owned()),
                guards: vec![GuardRecord {
                    transition: "t".to_owned(),
                    part: "p".to_owned(),
                    holds: true,
                    values: Map::from_iter([("p".to_owned(), json!("3"))]),
                }],
                expected: vec!["x".to_owned()],
            },
            bucket: Some(a_bucket()),
            trace: vec![
                step("stimulus", true),
                step("observation", true),
                step("silence", false),
                step("delay", false),
            ],
            mix: Source::ALL.iter().map(|source| (source.name().to_owned(), json!(2))).collect(),
            link_ms: Some(50.0),
            crossed: 2,
            settled: Some(SettledRecord {
                awaited: "the answer to `Add`".to_owned(),
                ms: 1.5,
                left: Left::ALL[number % 3].name().to_owned(),
            }),
            shrunk: Some(ShrunkRecord {
                from_events: 9,
                events: 4,
                runs: 7,
                stopped: Some(Stopped::Time.name().to_owned()),
                repeated: 5,
                same: 4,
                others: vec![OtherRecord { bucket: a_bucket(), count: 1 }],
            }),
            retried: 2,
            timing: Some(TimingRecord {
                simulated: false,
                tolerance_ms: 10.0,
                moved: 1,
                jitter_ms: 3.25,
                jitter_p99_ms: 0.5,
                thought_ms: 12.0,
                longest_thought_ms: 8.0,
            }),
            wire: evidence::Kind::ALL.iter().enumerate().map(|(at, kind)| item(*kind, at)).collect(),
            seconds: 0.5,
        }
    };
    outcomes().into_iter().enumerate().map(one).collect()
}

#[test]
fn a_record_has_the_fields_and_words_of_its_schema() {
    let records = records();
    let documents: Vec<Value> = records.iter().map(|record| serde_json::to_value(record).unwrap()).collect();
    follow("run-record.schema.json", &documents);
    let schema = schema::read("run-record.schema.json");
    assert_eq!(words(&schema, "/properties/verdict/enum"), Ending::ALL.map(Ending::name));
    let mut causes: Vec<String> = Vec::new();
    records.into_iter().map(|record| record.cause).for_each(|cause| {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    });
    assert_eq!(words(&schema, "/properties/cause/enum"), causes);
    assert_eq!(words(&schema, "/properties/settled/properties/left/enum"), Left::ALL.map(Left::name));
    let wire = |key: &str| words(&schema, &format!("/properties/wire/items/properties/{key}/enum"));
    assert_eq!(wire("direction"), evidence::Kind::ALL.map(evidence::Kind::name));
    assert_eq!(wire("phase"), [Phase::Start, Phase::Settle].map(Phase::name));
    let stopped = [Stopped::Runs, Stopped::Time].map(Stopped::name);
    assert_eq!(words(&schema, "/properties/shrunk/properties/stopped/enum"), stopped);
    assert_eq!(words(&schema, "/$defs/bucket/properties/verdict/enum"), Ending::ALL.map(Ending::name));
    let sources: Vec<&str> = Source::ALL.iter().map(|source| source.name()).collect();
    assert_eq!(words(&schema, "/properties/mix/propertyNames/enum"), sources);
}

#[test]
fn summaries_have_the_fields_and_words_of_their_schemas() {
    let killed = |operator: &Operator| MutantSummary {
        operator: operator.name(),
        change: "c".to_owned(),
        fate: "killed",
        killed_by: Some("t".to_owned()),
        seed: Some(3),
        bucket: Some("b".to_owned()),
        trace: vec!["Coin(3)".to_owned()],
        visits: Some(2),
    };
    let mutation = MutationSummary {
        format_version: 1,
        exit_code: 6,
        specification: "s".to_owned(),
        killed: 1,
        survived: 0,
        equivalent_up_to_bound: 0,
        broken: 0,
        open: &["o".to_owned()],
        buckets: vec![KilledSummary {
            id: a_bucket().id(),
            bucket: a_bucket(),
            count: 1,
            mutants: vec!["c".to_owned()],
            shortest: ShortestSummary { mutant: "c".to_owned(), test: "t".to_owned(), seed: 3, events: 2 },
        }],
        mutants: Operator::ALL.iter().map(killed).collect(),
        transitions: vec![TransitionSummary { transition: "t".to_owned(), visits: 1 }],
    };
    follow("mutation-summary.schema.json", &[serde_json::to_value(mutation).unwrap()]);
    let schema = schema::read("mutation-summary.schema.json");
    let operators: Vec<&str> = Operator::ALL.iter().map(|operator| operator.name()).collect();
    assert_eq!(words(&schema, "/properties/mutants/items/properties/operator/enum"), operators);

    let counts = Counts { pass: 1, weak_pass: 5, inconclusive: 2, fail: 3, run_error: 4 };
    let group = |median_seconds| Group { test: "t".to_owned(), iut: "i".to_owned(), counts, median_seconds };
    let summary = Summary {
        campaign: "c".to_owned(),
        planned: 10,
        counts,
        groups: vec![group(None), group(Some(0.5))],
        buckets: vec![Failed {
            id: a_bucket().id(),
            bucket: a_bucket(),
            count: 3,
            iuts: BTreeMap::from([("i".to_owned(), 3)]),
            tests: BTreeMap::from([("t".to_owned(), 3)]),
            shortest: Told {
                run: 1,
                key: "k".to_owned(),
                test: "t".to_owned(),
                iut: "i".to_owned(),
                constants: a_map(),
                seed: 1,
                verdict: Ending::FAIL,
                cause: "event".to_owned(),
                reason: "r".to_owned(),
                events: 3,
                seconds: 0.5,
            },
        }],
        missing: 0,
        contested: counts,
        others: 0,
        repeats: 0,
        conflicts: 0,
        left_out: WhyLeftOut::ALL
            .map(|why| LeftOut { test: "t".to_owned(), why, message: "m".to_owned() })
            .to_vec(),
    };
    let campaign = CampaignSummary {
        format_version: CAMPAIGN_FORMAT_VERSION,
        exit_code: 1,
        store: "s".to_owned(),
        partition: "hash:1/4".to_owned(),
        executed: 3,
        diagnostics: to_json(&diagnostics()),
        summary: &summary,
    };
    follow("campaign-summary.schema.json", &[serde_json::to_value(campaign).unwrap()]);
    let told = schema::read("campaign-summary.schema.json");
    let shortest = "/properties/buckets/items/properties/shortest/properties/verdict/enum";
    for pointer in [shortest, "/$defs/bucket/properties/verdict/enum"] {
        assert_eq!(words(&told, pointer), Ending::ALL.map(Ending::name));
    }
}

#[test]
fn coverage_has_the_fields_and_words_of_its_schema() {
    let met = |status| Met { status, runs: 1, possible_runs: 2, times: 3, most_times: 4 };
    let figure =
        Figure { all: 3, covered: 1, possible: 1, unreachable: 1, rejected: 0, gaps: 0, percent: 50.0 };
    let figures = Figures { locations: figure, transitions: figure, conjuncts: figure, parameters: figure };
    let transition = |status| TransitionCoverage {
        name: "A -I-> B".to_owned(),
        line: 7,
        met: met(status),
        conjuncts: vec![ConjunctCoverage {
            text: "n > 0".to_owned(),
            holds: met(status),
            fails: met(status),
        }],
        parameters: vec![ParameterCoverage {
            name: "n".to_owned(),
            classes: vec![ClassCoverage { class: "low".to_owned(), met: met(status) }],
        }],
    };
    let location =
        |status| LocationCoverage { name: "A".to_owned(), line: 3, is_described: true, met: met(status) };
    let model = ModelCoverage {
        name: "s".to_owned(),
        file: "specification.yaml".to_owned(),
        runs: 9,
        figures,
        locations: Status::ALL.map(location).to_vec(),
        transitions: Status::ALL.map(transition).to_vec(),
    };
    let purpose =
        PurposeCoverage { own: model.clone(), of_specification: figures, specification: model.clone() };
    let unmet = |kind| Unmet {
        specification: "s".to_owned(),
        requirement: Requirement { kind, percent: 80 },
        covered: 33.3,
    };
    let report = Report {
        format_version: coreach_project::coverage::report::FORMAT_VERSION,
        exit_code: 5,
        runs: Runs { read: 9, repeated: 1, too_many_states: 1, cut: 1, stopped: 1 },
        domain: Some("interval"),
        specifications: vec![SpecificationCoverage { own: model, purposes: vec![purpose] }],
        unmet: Kind::ALL.map(unmet).to_vec(),
        diagnostics: Vec::new(),
    };
    let report = serde_json::to_value(report).unwrap();
    follow("coverage.schema.json", &[report.clone(), ended(report)]);
    let schema = schema::read("coverage.schema.json");
    let word = |value: Value| value.as_str().unwrap().to_owned();
    let statuses = Status::ALL.map(|status| word(serde_json::to_value(status).unwrap()));
    assert_eq!(words(&schema, "/$defs/met/properties/status/enum"), statuses);
    let kinds = Kind::ALL.map(|kind| word(serde_json::to_value(kind).unwrap()));
    assert_eq!(words(&schema, "/properties/unmet/items/properties/kind/enum"), kinds);
    assert_eq!(kinds, Kind::ALL.map(Kind::name));
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the program prints, as JSON.
fn printed(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_program"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn covers_follow_their_schema() {
    let path = root().join("examples/coffee_machine/specification.yaml");
    let file = from_bytes("coffee.yaml".to_owned(), fs::read(path).unwrap()).unwrap();
    let (specification, _) = read_specification(file).unwrap();
    let told = |nodes, criteria: Vec<Criterion>| {
        let limits = TreeLimits { nodes, is_restricted: true, ..TreeLimits::default() };
        let (analysis, conformance, stages) = Default::default();
        let settings = Settings { criteria, limits, analysis, conformance, stages, steps: 0 };
        let kept = cover::Cover::of(&specification, &settings).unwrap();
        let stop = cover::cover(&specification, &settings, &|_| {}, &kept);
        let found = kept.into_inner().unwrap();
        let exit = if found.is_whole() { 0 } else { 5 };
        serde_json::to_value(cover::report::document(limits, &found, stop.as_ref(), exit)).unwrap()
    };
    let documents =
        [told(500, vec![Criterion::Guards]), told(6, vec![Criterion::Pairs, Criterion::AllPaths(7)])];
    assert_eq!(documents.each_ref().map(|document| document["exit_code"].clone()), [0, 5]);
    let [whole, cut] = documents;
    follow("cover.schema.json", &[ended(whole.clone()), whole, cut]);
}

#[test]
fn explorations_follow_their_schema() {
    let path = root().join("tests/models/teller_machine.yaml");
    let text = fs::read_to_string(path).unwrap();
    let explored = |text: &str, limits: TreeLimits, purpose| {
        let file = from_bytes("teller_machine.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let found = explore(&iosts, limits, purpose);
        let exit = if found.missing.is_some() { 6 } else { 0 };
        serde_json::to_value(document(&iosts, limits, &found, exit)).unwrap()
    };
    let limits = TreeLimits { quiescence: Quiescence::Sink, ..TreeLimits::default() };
    let documents = [
        explored(&text, TreeLimits { is_restricted: true, ..limits }, Purpose::None),
        explored(&text, limits, Purpose::Inclusion(1)),
        explored(
            &text,
            TreeLimits { quiescence: Quiescence::Loop, nodes: 30, ..limits },
            Purpose::AllPaths(4),
        ),
        explored(&text, TreeLimits { nodes: 1, ..limits }, Purpose::Inclusion(1)),
        explored(
            &text.replace("initial: { location: q0 }", "initial: { location: q0, condition: m < m }"),
            limits,
            Purpose::None,
        ),
    ];
    assert_eq!(documents.each_ref().map(|document| document["exit_code"].clone()), [0, 0, 6, 6, 0]);
    follow("exploration.schema.json", &[&documents[..], &[ended(documents[0].clone())]].concat());
}

#[test]
fn walks_follow_their_schema() {
    let (walkable, _) = walk::read(&root().join("tests/models/teller_machine.yaml")).unwrap();
    let iosts = walkable.case.test.iosts.clone();
    let (until, phases) = (Until { events: 1, percent: None, deadline: None }, walk::phases(&iosts, &PHASES));
    let standing = Walk::new(iosts, &phases, until, true);
    let told = walk::document(&walkable, &PHASES, &standing, &[], &diagnostics(), 0);
    assert!(!told["uncovered"].as_array().unwrap().is_empty());
    follow("walk.schema.json", &[told]);
}

/// A path with transitions left out, one that silence cuts.
#[test]
fn path_guided_test_cases_follow_their_schema() {
    use coreach_analyses::solver::z3::Z3Solver;
    use coreach_project::guided;

    let path = root().join("examples/atm_timed/specification.yaml");
    let made = |steps: &str, time: &str| {
        let time = guided::parse_time(time).unwrap();
        let (wanted, _) = guided::wanted(&path, steps, Some(&time)).unwrap();
        let made = guided::make(&wanted, false, true, &mut Z3Solver::default()).unwrap();
        guided::document(&wanted, &made, &[PathBuf::from("out/test_case.json")], 0)
    };
    let documents =
        [made("(tr1,tr2,tr3,tr4)*2", "5"), made("tr1,tr2,tr6", "1/2"), made("tr8,tr9", guided::SYMBOLIC)];
    assert_eq!(documents[1]["unseen"], json!([3]));
    follow("path.schema.json", &documents);
}

/// Of a trace that goes wrong, one that takes an input that the model does not take, one that ends early, one that passes.
#[test]
fn verdicts_off_line_follow_their_schema() {
    use coreach_execution::offline::judge::MOST_CONTEXTS;
    use coreach_execution::offline::prepared::Offline;
    use coreach_execution::offline::read::Reader;
    use coreach_execution::offline::waiting::Rules;
    use coreach_model::term::evaluate::Valuation;
    use coreach_project::timed::verdict::{document, judge};
    use coreach_project::timed::{load, path};

    let (model, _) = load(&root().join("examples/trajectory/specification.yaml")).unwrap();
    let along = path(&model.timed, "1,2").unwrap();
    let offline = Offline::new(&model.timed, &model.form, along, Rules::Corrected, MOST_CONTEXTS);
    let told = |trace: &str| {
        let reader = Reader::new(model.timed.graph(), "trace", trace.as_bytes());
        let judged = judge(&offline, &Valuation::new(), reader).unwrap_or_else(|why| panic!("{why:?}"));
        document(&offline, &["1".to_owned(), "2".to_owned()], &judged, 0)
    };
    let documents = [
        told("1,location,4\n1\n"),
        told("1,askPlan,4\n"),
        told("1,location,4\n1/3,plan,4\n"),
        told("1,location,4\n1/3,askPlan,4\n3.5\n"),
        told("1,location,4\n0.5,askPlan,4\n2.5,error,1\n1,location,4\n0.5,askPlan,5\n"),
        told("1,location,4\n"),
        told("1,location,4\n0.5,askPlan,4\n"),
    ];
    assert_eq!(
        documents.each_ref().map(|document| document["rule"].clone()),
        ["R2", "R2", "R6", "R2", "R2", "R5", "R3"]
    );
    follow("offline-verdict.schema.json", &documents);
}

#[test]
fn what_the_program_writes_follows_its_schema() {
    let folder = Folder(std::env::temp_dir().join(format!("coreach-schemas-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    let example = root().join("examples/coffee_machine");
    for path in below(&example) {
        fs::copy(&path, folder.0.join(path.file_name().unwrap())).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(folder.0.join(name), text).unwrap();
    let model = fs::read_to_string(example.join("specification.yaml")).unwrap();
    let wrong = model.replace("== vPaid - cPrice", "== vPaid - cPrice - 1");
    assert_ne!(model, wrong);
    // Not beside the specification, whose name it has.
    fs::create_dir(folder.0.join("mutants")).unwrap();
    write("mutants/mutant.yaml", &wrong);
    write("wrong.yaml", "iut: wrong\nsimulated: { model: mutants/mutant.yaml }\n");
    write(
        "campaign.yaml",
        "campaign: c\ntests: { configuration: coreach.yaml }\niuts: [iut_model.yaml, wrong.yaml]\n",
    );
    let run = |arguments: &[&str]| printed(&folder.0, arguments);
    let against = |name: &str, documents: &[Value]| {
        let schema = schema::read(&format!("{name}.schema.json"));
        for document in documents {
            assert_eq!(schema::objections(&schema, document), Vec::<String>::new(), "{name}");
        }
    };

    run(&["run", "coreach.yaml", "--format", "json"]);
    let stages: Vec<PathBuf> =
        fs::read_dir(folder.0.join("out/deliver_coffee")).unwrap().map(|item| item.unwrap().path()).collect();
    let of_file = |path: &Path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
    let is_json = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut results: Vec<Value> = stages.iter().filter(is_json).map(|path| of_file(path)).collect();
    assert_eq!(results.len(), 6);
    for model in ["specification.yaml", "deliver_coffee.yaml"] {
        results.push(run(&["show", model, "--format", "json"]));
    }
    against("test-case", &results);

    for iut in ["iut_model.yaml", "wrong.yaml"] {
        let tested =
            run(&["test", "coreach.yaml", "--iut", iut, "--runs", "5", "--keep", "runs", "--format", "json"]);
        let runs = tested["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 5);
        against("run-record", runs);
        against("run-record", &[of_file(&folder.0.join("runs/deliver_coffee.1.json"))]);
    }
    against("run-record", &[run(&["explain", "runs/deliver_coffee.1.json", "--format", "json"])]);
    let again =
        ["replay", "runs/deliver_coffee.1.json", "--iut", "wrong.yaml", "--shrink", "--format", "json"];
    against("run-record", &[run(&again)]);

    let mutation = run(&[
        "mutate",
        "coreach.yaml",
        "--mutants",
        "8",
        "--walks",
        "10",
        "--runs",
        "2",
        "--format",
        "json",
    ]);
    let fate = |fate: &str| mutation["mutants"].as_array().unwrap().iter().any(|one| one["fate"] == fate);
    assert!(fate("killed") && fate("survived"), "{mutation:#}");
    against("mutation-summary", &[mutation]);

    let campaign = run(&["campaign", "campaign.yaml", "--format", "json"]);
    assert!(!campaign["buckets"].as_array().unwrap().is_empty(), "{campaign:#}");
    against("campaign-summary", &[campaign]);
    against("coverage", &[run(&["coverage", "campaign.yaml", "--format", "json"])]);

    run(&[
        "report",
        "campaign.yaml",
        "--domains",
        "location,polyhedra",
        "--out",
        "page.html",
        "--format",
        "json",
    ]);
    let page = fs::read_to_string(folder.0.join("page.html")).unwrap();
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    assert!(data["runs"].as_array().unwrap().len() > 2 && data["coverage"].is_object());
    against("page", &[data]);
}

/// A page with all that a page can have.
/// Requests as their schema says them are read, and answers are as theirs says.
#[test]
fn requests_and_answers_follow_their_schemas() {
    let folder = Folder(std::env::temp_dir().join(format!("coreach-requests-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    let model = fs::read_to_string(root().join("examples/coffee_machine/specification.yaml")).unwrap();
    let requests = [
        json!({ "id": 1, "arguments": ["check", "m.yaml"], "files": { "m.yaml": model }, "want": [] }),
        json!({ "id": null, "arguments": ["show", "m.yaml"], "files": { "m.yaml": "iosts: m" }, "want": ["a"] }),
        json!({ "id": "x", "arguments": ["check", "m.yaml"], "want": ["a/b"], "time": "20s" }),
    ];
    follow("json-request.schema.json", &requests);
    let request = schema::read("json-request.schema.json");
    let unread =
        [json!({ "arguments": [] }), json!({ "arguments": ["check"], "wants": [] }), json!({ "id": 1 })];
    for one in &unread {
        assert_ne!(schema::objections(&request, one), Vec::<String>::new(), "{one}");
    }
    let lines: Vec<String> = requests.iter().chain(&unread).map(|one| format!("{one}\n")).collect();
    fs::write(folder.0.join("requests"), lines.concat()).unwrap();
    let input = fs::File::open(folder.0.join("requests")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_program"));
    let output = command.arg("json").stdin(input).current_dir(&folder.0).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), requests.len() + unread.len(), "{text}");
    let refused = |answer: &&Value| answer.get("error").is_some();
    assert_eq!(answers.iter().filter(refused).count(), unread.len(), "{text}");
    follow("json-answer.schema.json", &answers);
}

#[test]
fn pages_follow_their_schema() {
    use coreach_project::page::document as page;
    let data = || page::Data { name: "d".to_owned(), ty: 0 };
    let types = json!([
        { "kind": "range", "text": "int[0..3]", "low": "0", "high": "3" },
        { "kind": "enum", "text": "E", "name": "E", "literals": ["A"] },
        { "kind": "array", "text": "array[E] of E", "index": 1, "element": 1 },
        { "kind": "record", "text": "R", "name": "R", "fields": [{ "name": "f", "type": 0 }] },
    ]);
    let graph = page::Graph {
        name: "g".to_owned(),
        purpose: Some("p".to_owned()),
        domain: Some("interval"),
        stage: "test_case",
        is_testers_side: true,
        constants: vec![data()],
        variables: vec![data()],
        actions: vec![page::Action {
            name: "a".to_owned(),
            kind: "output",
            sign: "?",
            parameters: vec![data()],
        }],
        initial: 0,
        condition: 0,
        start: a_map(),
        said_once: Some("s".to_owned()),
        others_fail: Some(1),
        reachable: Some(true),
        losses: vec!["l".to_owned()],
        size: Some([10, 20]),
        locations: vec![page::Location {
            name: "l".to_owned(),
            label: "<l>".to_owned(),
            description: Some("d".to_owned()),
            mark: Some("Pass"),
            must_answer: Some(0),
            reach: Some(0),
            coreach: Some(0),
            at: Some([1, 2]),
            size: Some([3, 4]),
        }],
        transitions: vec![page::Transition {
            source: 0,
            target: 0,
            action: 0,
            guard: Some(0),
            assignments: vec![page::Assignment { variable: "v".to_owned(), value: 0 }],
            origin: Some(page::Origin { file: 0, line: 1, last: 2 }),
            points: vec![[1, 2], [3, 4]],
            label: Some(1),
        }],
        asides: vec![page::Aside {
            location: 0,
            kind: "verdict",
            target: 0,
            transitions: vec![0],
            lines: vec!["Fail".to_owned()],
            at: [1, 2],
            size: [3, 4],
        }],
    };
    let record = records().swap_remove(0);
    let run = page::Run {
        name: "r".to_owned(),
        test: "t".to_owned(),
        iut: Some("i".to_owned()),
        verdict: "Fail".to_owned(),
        cause: "event".to_owned(),
        reason: record.reason,
        bucket: Some("b".to_owned()),
        failed: Some(a_bucket()),
        constants: a_map(),
        seed: Some("1".to_owned()),
        events: 1,
        started: Some("2026-01-01".to_owned()),
        seconds: Some(0.5),
        walk: Some(page::Walk {
            graph: 0,
            start: a_map(),
            steps: vec![page::Step {
                direction: "stimulus".to_owned(),
                action: Some("a".to_owned()),
                values: a_map(),
                transition: Some(0),
                at_ms: Some(1.5),
            }],
        }),
    };
    let whole = page::Document {
        format: "coreach-page",
        format_version: page::FORMAT_VERSION,
        version: "0",
        title: "t".to_owned(),
        notes: vec!["n".to_owned()],
        files: vec![page::File { name: "f".to_owned(), text: "x".to_owned() }],
        types: types.as_array().unwrap().clone(),
        terms: serde_json::from_value(json!([["data", "d", 0]])).unwrap(),
        expressions: vec![page::Expression { text: "d".to_owned(), term: 0 }],
        graphs: vec![graph],
        domains: vec![page::Domain {
            purpose: "p".to_owned(),
            domain: "interval",
            result: "made",
            reason: Some("r".to_owned()),
            stages: vec![page::Stage {
                stage: "product",
                locations: 1,
                transitions: 2,
                inconclusive: 3,
                fail: 4,
            }],
            pruned: Some(1),
            strengthened: Some(2),
            queries: Some(3),
        }],
        runs: vec![run],
        coverage: Some(json!({
            "format_version": 1, "exit_code": 0, "domain": null, "specifications": [], "unmet": [],
            "runs": { "read": 0, "repeated": 0, "too_many_states": 0, "cut": 0, "stopped": 0 },
        })),
    };
    follow("page.schema.json", &[serde_json::to_value(whole).unwrap()]);
}
