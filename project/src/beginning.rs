//! Has the files that `coreach init` puts into a folder, and the schemas for editors.
//!
//! The files are those of `examples/locker`, so they are checked like every example. Their first lines name a
//! schema of this repository. A user's folder has no `docs/` above it, so it gets its own schemas.

pub struct Schema {
    /// `purpose`
    pub kind: &'static str,
    /// Is it the schema of a file that people write?
    pub is_written_by_people: bool,
    pub text: &'static str,
}

macro_rules! schema {
    ($kind:literal, $people:literal) => {
        Schema {
            kind: $kind,
            is_written_by_people: $people,
            text: include_str!(concat!("../../docs/", $kind, ".schema.json")),
        }
    };
}

/// All schemas: first those of files that people write, then those of documents that coreach writes.
pub const SCHEMAS: [Schema; 17] = [
    schema!("model", true),
    schema!("purpose", true),
    schema!("property", true),
    schema!("configuration", true),
    schema!("iut", true),
    schema!("campaign", true),
    schema!("test-case", false),
    schema!("run-record", false),
    schema!("campaign-summary", false),
    schema!("mutation-summary", false),
    schema!("coverage", false),
    schema!("cover", false),
    schema!("exploration", false),
    schema!("path", false),
    schema!("offline-verdict", false),
    schema!("walk", false),
    schema!("page", false),
];

impl Schema {
    /// Returns the file's name, `purpose.schema.json`. Schemas refer to each other by these names.
    pub fn file_name(&self) -> String {
        format!("{}.schema.json", self.kind)
    }
}

/// The folder of the schemas in a new folder.
pub const SCHEMAS_FOLDER: &str = ".coreach/schemas";

/// The beginning of the schema's path in the example's files.
const IN_THE_REPOSITORY: &str = "$schema=../../docs/";

macro_rules! template {
    ($name:literal) => {
        ($name, include_str!(concat!("../../examples/locker/", $name)))
    };
}

/// The files of the example that a beginner gets, in the order in which one reads them.
pub const TEMPLATES: [(&str, &str); 7] = [
    template!("specification.yaml"),
    template!("open_after_wrong.yaml"),
    template!("coreach.yaml"),
    template!("locker.py"),
    template!("iut.yaml"),
    template!("iut_faulty.yaml"),
    template!("campaign.yaml"),
];

/// Returns all files of a new folder with their names: first the files to be read, then the schemas.
pub fn new_files() -> Vec<(String, String)> {
    let here = format!("$schema={SCHEMAS_FOLDER}/");
    let templates =
        TEMPLATES.iter().map(|(name, text)| ((*name).to_owned(), text.replace(IN_THE_REPOSITORY, &here)));
    let schemas = SCHEMAS
        .iter()
        .filter(|schema| schema.is_written_by_people)
        .map(|schema| (format!("{SCHEMAS_FOLDER}/{}", schema.file_name()), schema.text.to_owned()));
    templates.chain(schemas).collect()
}

/// The next steps of a beginner: a command, its exit code, and its use.
pub const NEXT: [(&str, u8, &str); 8] = [
    ("coreach check specification.yaml open_after_wrong.yaml", 0, "looks for mistakes"),
    ("coreach run coreach.yaml", 0, "makes the test case; its picture: out/open_after_wrong/test_case.svg"),
    ("coreach test coreach.yaml --iut iut.yaml --runs 10", 0, "runs it against locker.py"),
    ("coreach test coreach.yaml --iut iut_faulty.yaml --keep runs", 1, "the same program with a fault: Fail"),
    ("coreach explain runs/open_after_wrong.1.json", 0, "tells why"),
    (
        "coreach replay runs/open_after_wrong.1.json --iut iut_faulty.yaml --shrink",
        1,
        "runs it again, and looks for a shorter run",
    ),
    ("coreach campaign campaign.yaml", 1, "many runs of both, all kept"),
    ("coreach report coreach.yaml nightly.sqlite --out report.html", 0, "a page to look at, in a browser"),
];
