//! Loads the test cases that a user names: a document that `coreach run` wrote, or a configuration. The
//! purposes of a configuration go through the pipeline.

use std::path::Path;

use coreach_artifact::Document;
use coreach_artifact::layout::to_text;
use coreach_execution::TestCase;
use coreach_execution::campaign::{LeftOut, WhyLeftOut};
use coreach_model::diagnostic::nearest;
use coreach_model::file;
use coreach_model::iosts::{TestPurpose, TransitionOrigin};
use coreach_model::reader::collect::inventory;
use coreach_model::{Diagnostic, Iosts, Severity};
use coreach_pipeline::Stage;
use coreach_pipeline::export::{View, json};
use coreach_pipeline::stop::Stop;

use crate::budget;
use crate::configuration::{Instantiation, Judging};
use crate::file_kind::is_document;
use crate::making::{Says, make, make_online};
use crate::project::{self, Project};

#[derive(Clone, Debug)]
pub struct Case {
    /// The purpose's name, or the name in the document.
    pub name: String,
    pub test: TestCase,
    pub document: String,
    /// The specification. A test case that was read from a document has none.
    pub specification: Option<Iosts>,
    pub purpose: Option<TestPurpose>,
    /// The constants that the configuration fixes. They are no constants of the test case.
    pub fixed: Vec<Instantiation>,
}

/// A test case that does not exist, and the reason.
#[derive(Clone, Debug)]
pub struct NoCase {
    pub test: String,
    pub why: WhyLeftOut,
    pub found: Vec<Diagnostic>,
}

impl NoCase {
    pub fn left_out(&self) -> LeftOut {
        let message = self.found.first().map_or_else(String::new, |found| found.message.clone());
        LeftOut { test: self.test.clone(), why: self.why, message }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Cases {
    pub cases: Vec<Case>,
    pub none: Vec<NoCase>,
    pub warnings: Vec<Diagnostic>,
}

/// Loads the test case of a document, or makes one for each purpose of a configuration (or for the purpose
/// `only`). A purpose without a test case goes to [`Cases::none`], and the others are still made.
pub fn load(path: &Path, only: Option<&str>, says: Says<'_>) -> Result<Cases, Vec<Diagnostic>> {
    if is_document(path) {
        return load_document(path).map(|case| Cases { cases: vec![case], ..Cases::default() });
    }
    let (project, warnings) = project::load(path)?;
    let mut loaded = Cases { warnings, ..Cases::default() };
    let is_wanted = |purpose: &&TestPurpose| only.is_none_or(|name| name == purpose.iosts.name);
    for purpose in project.purposes.iter().filter(is_wanted) {
        let name = &purpose.iosts.name;
        says(format!("making {name}"));
        let (document, origins) = match make_document(&project, purpose, says) {
            Ok(made) => made,
            Err(none) => {
                loaded.none.push(none);
                continue;
            }
        };
        let mut test =
            TestCase::from_document(&document).map_err(|error| refuse(name, &error.to_string()))?;
        test.add_origins(origins);
        loaded.cases.push(Case {
            name: name.clone(),
            test,
            document: to_text(&document),
            specification: Some(project.specification.iosts.clone()),
            purpose: Some(purpose.clone()),
            fixed: project.fixed.clone(),
        });
    }
    if loaded.cases.is_empty() && loaded.none.is_empty() {
        return Err(vec![report_unknown_purpose(&project, only.unwrap_or_default())]);
    }
    Ok(loaded)
}

fn report_unknown_purpose(project: &Project, wanted: &str) -> Diagnostic {
    let names = || project.purposes.iter().map(|purpose| purpose.iosts.name.as_str());
    // A purpose has a name of its own, which its file often has, too.
    let stem = Path::new(wanted).file_stem().and_then(|stem| stem.to_str());
    let meant = names().find(|name| Some(*name) == stem).or_else(|| nearest(wanted, names()));
    let help = match meant {
        Some(name) => format!("write `--purpose {name}`"),
        None => inventory("purposes", names()),
    };
    Diagnostic::error("unknown-purpose", format!("no purpose is called `{wanted}`")).help(help)
}

/// Makes the document of the test case for a purpose, and the origins of its transitions. Each test case is
/// read from its document before it is run. So a seed means the same for a test case that was kept and for
/// one that was made just now.
///
/// # Errors
/// Accept cannot be reached, or the work was stopped. `coreach run` only warns of an unreachable Accept.
pub fn make_document(
    project: &Project,
    purpose: &TestPurpose,
    says: Says<'_>,
) -> Result<(Document, Vec<TransitionOrigin>), NoCase> {
    let none = |why, found| NoCase { test: purpose.iosts.name.clone(), why, found: vec![found] };
    let stopped = |stop: Stop| none(WhyLeftOut::Stopped, stop.to_diagnostic());
    let domain = project.options.analysis.domain;
    let check = false;
    // Declared here, since the view borrows one of them.
    let (made, online);
    let (view, unreachable) = match project.judging {
        Judging::TestCase => {
            made = make(project, purpose, domain, check, says).map_err(stopped)?;
            (View::of(&made.generation, Stage::InputComplete), &made.unreachable)
        }
        Judging::Online => {
            online = make_online(project, purpose, domain, check, says).map_err(stopped)?;
            (View::of_online(&online.test), &online.unreachable)
        }
    };
    if let Some(why) = unreachable {
        let found = Diagnostic { severity: Severity::Error, ..why.clone() };
        return Err(none(WhyLeftOut::Unreachable, found));
    }
    let origins = view.iosts.transitions.iter().map(|transition| transition.origin.clone()).collect();
    let document = budget::within("write", budget::time(project.time), |_| json::to_document(&view));
    document.map(|document| (document, origins)).map_err(stopped)
}

/// Loads a test case from its document, which does not have the models.
fn load_document(path: &Path) -> Result<Case, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = file::read(path, file::MOST_DOCUMENT).map_err(|error| refuse(&name, &error.to_string()))?;
    let document = String::from_utf8(bytes).map_err(|error| refuse(&name, &error.to_string()))?;
    let read = || TestCase::from_json(document.as_bytes()).map_err(|error| refuse(&name, &error.to_string()));
    let test = budget::reading(read)?;
    Ok(Case {
        name: test.iosts.name.clone(),
        test,
        document,
        specification: None,
        purpose: None,
        fixed: Vec::new(),
    })
}

fn refuse(name: &str, message: &str) -> Vec<Diagnostic> {
    vec![
        Diagnostic::error("no-test-case", format!("{name}: {message}"))
            .help("`coreach run CONFIG` writes `test_case.json` with `formats: [json]`"),
    ]
}
