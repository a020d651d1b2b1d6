//! What the program prints and writes when it is run, and what it is asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use coreach_tests::schema;
use serde_json::Value;

use super::Folder;
use crate::schemas::{below, root};

/// What the program prints, as JSON.
fn printed(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_program"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
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
