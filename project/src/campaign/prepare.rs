//! Makes the plan of a campaign: makes or reads the test cases, reads the implementations, chooses constants.
//!
//! Each test case is made in a thread of its own with a solver of its own. So its constants and the keys of
//! its runs do not depend on other parts of the campaign.

use coreach_adapters::description;
use coreach_execution::campaign::{CampaignPlan, Instance, LeftOut, Partition, StoredIut, Test, WhyLeftOut};
use coreach_execution::constants::{ConstantsError, read_constants};
use coreach_execution::lazy::Lazy;
use coreach_execution::test_case::DocumentError;
use coreach_model::diagnostic::Origin;
use coreach_model::file::{self, FileError};
use coreach_model::iosts::TestPurpose;
use coreach_model::reader::Reading;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Diagnostic, Iosts, Severity};
use coreach_pipeline::stop::says_work_was_stopped;

use crate::campaign::iuts::describe;
use crate::campaign::names::KnownNames;
use crate::campaign::{Campaign, Constants, InstanceConstants, TestSource};
use crate::cases::{NoCase, make_document};
use crate::configuration::Reference;
use crate::iut::NameableLocations;
use crate::making::Says;
use crate::once::Once;
use crate::project::{Project, load};
use crate::render::add_new_findings;
use crate::unreachable::explain_constants;
use crate::{budget, iut, jobs};

const MOST_RUNS: usize = 10_000_000;

/// A test case that is to be made or read.
enum Job<'a> {
    Purpose(&'a Project, &'a TestPurpose, &'a Reference),
    Document(&'a Reference),
}

/// The ways to all implementations, for each test case.
pub type PreparedWays = Vec<Vec<description::Iut>>;

/// The result of preparing one test case.
enum PreparedTest {
    /// Constants without a run are in `left_out`.
    Made { test: Box<Test>, instances: Vec<Instance>, left_out: Vec<NoCase> },
    /// There is no such test case. The campaign goes on without it.
    None(NoCase),
    /// A file has mistakes. The campaign does not begin.
    Mistakes(Vec<Diagnostic>),
}

/// Reads all files that a campaign names, and plans it. An untestable purpose is left out with a warning.
pub fn prepare(
    campaign: &Campaign,
    partition: Partition,
    threads: usize,
    says: Says<'_>,
) -> Reading<(CampaignPlan, PreparedWays)> {
    let mut found = Vec::new();
    let projects = load_projects(campaign, &mut found);
    // The bytes that are hashed here are also read below for each test case.
    let mut files = Once::default();
    let iuts = read_iuts(campaign, &mut files, &mut found);
    if found.iter().any(Diagnostic::is_error) {
        return Err(found);
    }
    let jobs = list_jobs(campaign, &projects);
    let results = jobs::in_order(&jobs, threads, |job| prepare_test(job, campaign, says))
        .map_err(|error| vec![Diagnostic::error("no-thread", format!("cannot start a thread: {error}"))])?;
    // If a test case is missing, an unknown name may be one of its names.
    let is_whole = !results.iter().any(|result| matches!(result, PreparedTest::None(_)));
    let (tests, left_out) = collect_tests(jobs.iter().zip(results), &mut found);
    // A name of a test case with mistakes would count as unknown.
    if !found.iter().any(Diagnostic::is_error) {
        let mut known = KnownNames::default();
        tests.iter().for_each(|(test, _)| known.add_test(&test.case.iosts));
        for job in &jobs {
            if let Job::Purpose(project, ..) = job {
                known.add_fixed(project);
            }
        }
        found.extend(known.check(campaign, is_whole));
    }
    let instances: usize = tests.iter().map(|(_, instances)| instances.len()).sum();
    let runs = instances.saturating_mul(iuts.len()).saturating_mul(campaign.seeds.len());
    if runs > MOST_RUNS {
        let message = format!("the campaign has {runs} runs; at most {MOST_RUNS} are planned");
        found.push(Diagnostic::error("too-many-runs", message).help("give it fewer seeds or constants"));
    }
    if found.iter().any(Diagnostic::is_error) {
        return Err(found);
    }
    let locations = collect_locations(campaign, &projects, &tests);
    let ways = read_ways(&tests, &iuts, &locations, &mut files, &mut found);
    if found.iter().any(Diagnostic::is_error) {
        return Err(found);
    }
    let descriptions = iuts.into_iter().map(|(described, _)| described).collect();
    let (name, settings) = (campaign.name.clone(), campaign.settings.clone());
    let plan = CampaignPlan::new(name, tests, descriptions, &campaign.seeds, settings, partition);
    Ok(((CampaignPlan { left_out, ..plan }, ways), found))
}

/// Loads the projects of all configurations, in their order.
fn load_projects<'a>(campaign: &'a Campaign, found: &mut Vec<Diagnostic>) -> Vec<(Project, &'a Reference)> {
    let mut projects = Vec::new();
    for source in &campaign.tests {
        let TestSource::Configuration(reference) = source else { continue };
        match load(&reference.path) {
            Ok((project, warnings)) => {
                add_new_findings(found, warnings);
                projects.push((project, reference));
            }
            Err(errors) => add_new_findings(found, errors),
        }
    }
    projects
}

/// Lists the test cases to be made or read. `projects` has one for each configuration, in their order.
fn list_jobs<'a>(campaign: &'a Campaign, projects: &'a [(Project, &'a Reference)]) -> Vec<Job<'a>> {
    let mut projects = projects.iter();
    let mut jobs = Vec::new();
    for source in &campaign.tests {
        match source {
            TestSource::Document(reference) => jobs.push(Job::Document(reference)),
            TestSource::Configuration(_) => {
                if let Some((project, reference)) = projects.next() {
                    let purposes = project.purposes.iter();
                    jobs.extend(purposes.map(|purpose| Job::Purpose(project, purpose, reference)));
                }
            }
        }
    }
    jobs
}

/// Collects the test cases that are made, each once, and what is left out. Says why the others are not made.
fn collect_tests<'a>(
    results: impl Iterator<Item = (&'a Job<'a>, PreparedTest)>,
    found: &mut Vec<Diagnostic>,
) -> (Vec<(Test, Vec<Instance>)>, Vec<LeftOut>) {
    let mut tests: Vec<(Test, Vec<Instance>)> = Vec::new();
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut leave_out = |none: NoCase, found: &mut Vec<Diagnostic>| {
        left_out.push(none.left_out());
        let to_warning = |diagnostic| Diagnostic { severity: Severity::Warning, ..diagnostic };
        add_new_findings(found, none.found.into_iter().map(to_warning).collect());
    };
    for (job, result) in results {
        match result {
            PreparedTest::Mistakes(errors) => add_new_findings(found, errors),
            PreparedTest::None(none) => leave_out(none, found),
            PreparedTest::Made { test, .. } if tests.iter().any(|(known, _)| known.hash == test.hash) => {
                let message = format!("the test case `{}` appears twice", test.name);
                let (Job::Purpose(_, _, reference) | Job::Document(reference)) = job;
                let diagnostic = Diagnostic::warning("duplicate-test", message);
                found.push(diagnostic.at(reference.origin.clone(), "once is enough"));
            }
            PreparedTest::Made { mut test, instances, left_out } => {
                test.name = make_distinct(&test.name, &tests);
                for no_case in left_out {
                    leave_out(NoCase { test: test.name.clone(), ..no_case }, found);
                }
                tests.push((*test, instances));
            }
        }
    }
    (tests, left_out)
}

/// Makes a name that none of the tests has: two configurations may make different test cases of one purpose.
fn make_distinct(name: &str, tests: &[(Test, Vec<Instance>)]) -> String {
    let is_free = |name: &String| tests.iter().all(|(test, _)| test.name != *name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// Describes the implementations of a campaign. Two of one name are a mistake.
fn read_iuts<'a>(
    campaign: &'a Campaign,
    files: &mut Once,
    found: &mut Vec<Diagnostic>,
) -> Vec<(StoredIut, &'a Reference)> {
    let mut iuts: Vec<(StoredIut, &Reference)> = Vec::new();
    for reference in &campaign.iuts {
        let described = match describe(reference, files) {
            Ok(described) => described,
            Err(errors) => {
                add_new_findings(found, errors);
                continue;
            }
        };
        if iuts.iter().any(|(other, _)| other.hash == described.hash) {
            let message = format!("the implementation `{}` appears twice", described.name);
            let diagnostic = Diagnostic::warning("duplicate-iut", message);
            found.push(diagnostic.at(reference.origin.clone(), "once is enough"));
            continue;
        }
        if iuts.iter().any(|(other, _)| other.name == described.name) {
            let message = format!("two implementations are called `{}`", described.name);
            let diagnostic = Diagnostic::error("duplicate-iut", message)
                .at(reference.origin.clone(), "the second one")
                .help("give each its own name, so that the summary can tell them apart");
            found.push(diagnostic);
        }
        iuts.push((described, reference));
    }
    iuts
}

/// Collects the locations that an implementation may report. A document does not say its whole specification.
/// So if the campaign has one, an unknown name is only a warning.
fn collect_locations(
    campaign: &Campaign,
    projects: &[(Project, &Reference)],
    tests: &[(Test, Vec<Instance>)],
) -> NameableLocations {
    let mut locations = NameableLocations::default();
    projects.iter().for_each(|(project, _)| locations.add(&project.specification.iosts));
    if campaign.tests.iter().any(|source| matches!(source, TestSource::Document(_))) {
        // A test that was made of a purpose adds nothing: its specification was added above.
        tests.iter().for_each(|(test, _)| locations.add_document(&test.case));
    }
    locations
}

/// Reads each implementation's file for each test case, whose actions it must fit.
fn read_ways(
    tests: &[(Test, Vec<Instance>)],
    iuts: &[(StoredIut, &Reference)],
    locations: &NameableLocations,
    files: &mut Once,
    found: &mut Vec<Diagnostic>,
) -> PreparedWays {
    let mut ways = Vec::new();
    for (test, _) in tests {
        let mut ways_of_test = Vec::new();
        for (_, reference) in iuts {
            let load = || iut::load_once(&reference.path, test.case.wire(), Some(locations), files);
            match budget::reading(load) {
                Ok((way, warnings)) => {
                    add_new_findings(found, warnings);
                    ways_of_test.push(way);
                }
                Err(errors) => add_new_findings(found, errors),
            }
        }
        ways.push(ways_of_test);
    }
    ways
}

/// Makes or reads one test case, and chooses its constants.
fn prepare_test(job: &Job<'_>, campaign: &Campaign, says: Says<'_>) -> PreparedTest {
    let models = match job {
        Job::Document(_) => None,
        Job::Purpose(project, purpose, _) => Some((&project.specification.iosts, *purpose)),
    };
    let (test, reference) = match job {
        Job::Document(reference) => {
            let unreadable = |error: FileError| DocumentError::Unreadable(error.to_string());
            let bytes = file::read(&reference.path, file::MOST_DOCUMENT).map_err(unreadable);
            (bytes.and_then(|bytes| Test::new(&bytes)), *reference)
        }
        Job::Purpose(project, purpose, reference) => {
            let (document, origins) = match make_document(project, purpose, says) {
                Ok(made) => made,
                Err(none) => {
                    let found = none.found.into_iter();
                    let add_place = |why: Diagnostic| why.at(reference.origin.clone(), "it is left out");
                    return PreparedTest::None(NoCase { found: found.map(add_place).collect(), ..none });
                }
            };
            let named = |mut test: Test| {
                test.case.add_origins(origins);
                Test { name: purpose.iosts.name.clone(), ..test }
            };
            (Test::from_document(&document).map(named), *reference)
        }
    };
    let test = match test {
        Ok(test) => test,
        Err(error) => {
            let diagnostic = Diagnostic::error("not-a-test-case", error.to_string());
            return PreparedTest::Mistakes(vec![diagnostic.at(reference.origin.clone(), "named here")]);
        }
    };
    match budget::choosing_constants(|| choose_instances(&test, models, campaign, reference)) {
        Ok((instances, left_out)) => PreparedTest::Made { test: Box::new(test), instances, left_out },
        Err(found) if found.iter().any(|diagnostic| says_work_was_stopped(diagnostic.code)) => {
            PreparedTest::None(NoCase { test: test.name, why: WhyLeftOut::Stopped, found })
        }
        Err(found) => PreparedTest::Mistakes(found),
    }
}

/// Chooses a test case's constants. Returns its instances, and the given constants without a run.
fn choose_instances(
    test: &Test,
    models: Option<(&Iosts, &TestPurpose)>,
    campaign: &Campaign,
    reference: &Reference,
) -> Result<(Vec<Instance>, Vec<NoCase>), Vec<Diagnostic>> {
    let mut solver = Lazy::default();
    let unsuited = |error: &ConstantsError, at: &Origin, label: &str| {
        let mut found = explain_constants(error, &test.case, models);
        found.labels.insert(0, (at.clone(), label.to_owned()));
        NoCase { test: test.name.clone(), why: WhyLeftOut::of(error), found: vec![found] }
    };
    let list = match &campaign.constants {
        Constants::Solved(count) => {
            return Ok(match Instance::solved(&test.case, *count, &mut solver) {
                Ok(solved) => (solved, Vec::new()),
                Err(error) => (Vec::new(), vec![unsuited(&error, &reference.origin, "this one")]),
            });
        }
        Constants::Given(list) => list,
    };
    let (mut instances, mut left_out, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for given in list {
        match evaluate_constants(test, given) {
            // Always seed 0, so that a campaign has the same constants each time.
            Ok(values) => match Instance::with_constants(&test.case, &values, 0, &mut solver) {
                Ok(instance) => instances.push(instance),
                Err(error) => left_out.push(unsuited(&error, &given.origin, "with these")),
            },
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok((instances, left_out)) } else { Err(errors) }
}

/// Reads the values of the test case's own constants. Others may belong to other test cases.
fn evaluate_constants(test: &Test, instance: &InstanceConstants) -> Result<Valuation, Diagnostic> {
    let has = |name: &str| test.case.iosts.constants.iter().any(|datum| datum.name() == name);
    let pairs = instance.pairs.iter().filter(|pair| has(&pair.name));
    read_constants(&test.case, pairs.map(|pair| (pair.name.as_str(), pair.value.as_str()))).map_err(|error| {
        let is_wrong = |name| matches!(&error, ConstantsError::NoValue(of, _) if of == name);
        let wrong = instance.pairs.iter().find(|pair| is_wrong(&pair.name));
        let origin = wrong.map_or(&instance.origin, |pair| &pair.value_origin);
        Diagnostic::error("wrong-value", error.to_string()).at(origin.clone(), "not such a value")
    })
}
