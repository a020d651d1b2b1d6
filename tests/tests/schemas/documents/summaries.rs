//! Summaries of mutation and of campaigns, and coverage.

use std::collections::BTreeMap;

use coreach_execution::campaign::summary::{Failed, OutcomeCounts, ReportedRun, Summary, SummaryGroup};
use coreach_execution::campaign::{LeftOut, WhyLeftOut};
use coreach_execution::mutation::MutationOperator;
use coreach_execution::outcome::OutcomeKind;
use coreach_project::coverage::report::{
    ClassCoverage, ConjunctCoverage, Figure, Figures, LocationCoverage, Met, ModelCoverage,
    ParameterCoverage, PurposeCoverage, SpecificationCoverage, Status, TransitionCoverage, Unmet,
};
use coreach_project::coverage::{CoverageKind, CoverageReport, Requirement, Runs};
use coreach_project::render::to_json;
use coreach_project::summary::{
    CAMPAIGN_FORMAT_VERSION, CampaignSummary, EditSummary, KilledSummary, MutantSummary, MutationSummary,
    ShortestSummary, TransitionSummary,
};
use coreach_tests::schema;
use serde_json::Value;

use super::{a_bucket, a_map, diagnostics, ended, follow};
use crate::schemas::words;

const STATUSES: [Status; 5] =
    [Status::Covered, Status::Possible, Status::Unreachable, Status::Rejected, Status::Gap];

#[test]
fn summaries_have_the_fields_and_words_of_their_schemas() {
    let killed = |operator: &MutationOperator| MutantSummary {
        number: 1,
        edits: vec![EditSummary {
            file: Some("s.yaml".to_owned()),
            line: Some(3),
            old: "when: x < 1".to_owned(),
            new: "when: x < 2".to_owned(),
        }],
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
        mutants: MutationOperator::ALL.iter().map(killed).collect(),
        transitions: vec![TransitionSummary { transition: "t".to_owned(), visits: 1 }],
    };
    follow("mutation-summary.schema.json", &[serde_json::to_value(mutation).unwrap()]);
    let schema = schema::read("mutation-summary.schema.json");
    let operators: Vec<&str> = MutationOperator::ALL.iter().map(|operator| operator.name()).collect();
    assert_eq!(words(&schema, "/properties/mutants/items/properties/operator/enum"), operators);

    let counts = OutcomeCounts { pass: 1, weak_pass: 5, inconclusive: 2, fail: 3, run_error: 4 };
    let group =
        |median_seconds| SummaryGroup { test: "t".to_owned(), iut: "i".to_owned(), counts, median_seconds };
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
            shortest: ReportedRun {
                run: 1,
                key: "k".to_owned(),
                test: "t".to_owned(),
                iut: "i".to_owned(),
                constants: a_map(),
                seed: 1,
                verdict: OutcomeKind::FAIL,
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
        assert_eq!(words(&told, pointer), OutcomeKind::ALL.map(OutcomeKind::name));
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
        locations: STATUSES.map(location).to_vec(),
        transitions: STATUSES.map(transition).to_vec(),
    };
    let purpose =
        PurposeCoverage { own: model.clone(), of_specification: figures, specification: model.clone() };
    let unmet = |kind| Unmet {
        specification: "s".to_owned(),
        requirement: Requirement { kind, percent: 80 },
        covered: 33.3,
    };
    let report = CoverageReport {
        format_version: coreach_project::coverage::report::FORMAT_VERSION,
        exit_code: 5,
        runs: Runs { read: 9, repeated: 1, too_many_states: 1, cut: 1, unordered: 1, stopped: 1, walks: 1 },
        domain: Some("interval"),
        specifications: vec![SpecificationCoverage { own: model, purposes: vec![purpose] }],
        unmet: CoverageKind::ALL.map(unmet).to_vec(),
        diagnostics: Vec::new(),
    };
    let report = serde_json::to_value(report).unwrap();
    follow("coverage.schema.json", &[report.clone(), ended(report)]);
    let schema = schema::read("coverage.schema.json");
    let word = |value: Value| value.as_str().unwrap().to_owned();
    let statuses = STATUSES.map(|status| word(serde_json::to_value(status).unwrap()));
    assert_eq!(words(&schema, "/$defs/met/properties/status/enum"), statuses);
    let kinds = CoverageKind::ALL.map(|kind| word(serde_json::to_value(kind).unwrap()));
    assert_eq!(words(&schema, "/properties/unmet/items/properties/kind/enum"), kinds);
    assert_eq!(kinds, CoverageKind::ALL.map(CoverageKind::name));
}
