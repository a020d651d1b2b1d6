//! The test cases that a user names: a document that `coreach run` wrote, or a configuration, whose purposes are then
//! taken through the pipeline.

use std::path::Path;

use coreach_execution::TestCase;
use coreach_model::file;
use coreach_model::iosts::TestPurpose;
use coreach_model::{Diagnostic, Iosts, Severity};
use coreach_pipeline::Stage;
use coreach_pipeline::export::{Format, Options, View, export};

use crate::budget;
use crate::making::{Says, make};
use crate::project::{self, Project};

/// A test case, with what it was made of.
#[derive(Clone, Debug)]
pub struct Case {
    /// The purpose's name; of a document, the name in it.
    pub name: String,
    /// The test case.
    pub test: TestCase,
    /// Its document.
    pub document: String,
    /// The specification, where it was made here.
    pub specification: Option<Iosts>,
}

/// The test cases of a file: one of a document, one for each purpose of a configuration (or only the named one).
/// Warnings come with them.
///
/// # Errors
/// What is wrong with the file, or why there is no test case.
pub fn load(
    path: &Path,
    purpose: Option<&str>,
    says: Says<'_>,
) -> Result<(Vec<Case>, Vec<Diagnostic>), Vec<Diagnostic>> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return of_document(path).map(|case| (vec![case], Vec::new()));
    }
    let (project, warnings) = project::load(path)?;
    let mut cases = Vec::new();
    for one in &project.purposes {
        let name = &one.iosts.name;
        if purpose.is_some_and(|wanted| wanted != name) {
            continue;
        }
        says(format!("making {name}"));
        let document = document(&project, one, says)?;
        let test =
            TestCase::from_json(document.as_bytes()).map_err(|error| refused(name, &error.to_string()))?;
        cases.push(Case {
            name: name.clone(),
            test,
            document,
            specification: Some(project.specification.iosts.clone()),
        });
    }
    if cases.is_empty() {
        let names: Vec<&str> = project.purposes.iter().map(|one| one.iosts.name.as_str()).collect();
        let message = format!("no purpose is called `{}`", purpose.unwrap_or_default());
        return Err(vec![
            Diagnostic::error("unknown-purpose", message).help(format!("there are {}", names.join(", "))),
        ]);
    }
    Ok((cases, warnings))
}

/// The document of the test case for a purpose. Whoever runs a test case reads it from its document, so that a seed means
/// the same whether the test case was kept or made just now.
///
/// # Errors
/// Why there is no test case. Elsewhere it is a warning that Accept cannot be reached, since the graph can be looked at;
/// here there is nothing to run.
pub fn document(project: &Project, purpose: &TestPurpose, says: Says<'_>) -> Result<String, Vec<Diagnostic>> {
    let made = make(project, purpose, project.options.analysis.domain, false, says);
    let made = made.map_err(|stop| vec![stop.to_diagnostic()])?;
    if let Some(why) = made.unreachable {
        return Err(vec![Diagnostic { severity: Severity::Error, ..why }]);
    }
    let view = View::of(&made.generation, Stage::InputComplete);
    let written = budget::within("write", budget::time(project.time), |_| {
        export(&view, Format::Json, Options { facts: false })
    });
    written.map_err(|stop| vec![stop.to_diagnostic()])?.map_err(|error| {
        vec![Diagnostic::error("not-exported", format!("the test case cannot be written: {error}"))]
    })
}

fn of_document(path: &Path) -> Result<Case, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = file::read(path, file::MOST_DOCUMENT).map_err(|error| refused(&name, &error.to_string()))?;
    let document = String::from_utf8(bytes).map_err(|error| refused(&name, &error.to_string()))?;
    let read =
        || TestCase::from_json(document.as_bytes()).map_err(|error| refused(&name, &error.to_string()));
    let test = budget::reading(read)?;
    Ok(Case { name: test.iosts.name.clone(), test, document, specification: None })
}

fn refused(name: &str, message: &str) -> Vec<Diagnostic> {
    vec![
        Diagnostic::error("no-test-case", format!("{name}: {message}"))
            .help("`coreach run CONFIG` writes `test_case.json` with `formats: [json]`"),
    ]
}
