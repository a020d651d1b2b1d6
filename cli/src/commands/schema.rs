//! `coreach schema`: the JSON Schemas, for editors and for programs that read our documents.

use std::fs;
use std::io;

use coreach_project::beginning::{SCHEMAS, Schema};

use super::{refuse, table};
use crate::beginning_arguments::SchemaArguments;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{OutputForm, ToWrite, outputs};
use crate::write::write;

/// Prints a schema, or what there are; or writes them.
///
/// # Errors
/// Standard output cannot be written.
pub fn schema(arguments: &SchemaArguments) -> io::Result<Exit> {
    let wanted: Vec<&Schema> = SCHEMAS
        .iter()
        .filter(|schema| arguments.kind.as_deref().is_none_or(|kind| kind == schema.kind))
        .collect();
    let Some(out) = &arguments.out else {
        match (&arguments.kind, wanted.as_slice()) {
            (Some(_), [one]) => console::print(one.text)?,
            _ => console::print(&listed())?,
        }
        return Ok(Exit::Fine);
    };
    let paths =
        wanted.iter().map(|schema| ToWrite::new("--out", out.join(schema.file_name()), OutputForm::Schema));
    let outputs = match outputs(&paths.collect::<Vec<_>>()) {
        Ok(outputs) => outputs,
        Err(found) => return refuse(&found, OutputFormat::Human),
    };
    if let Err(error) = fs::create_dir_all(out) {
        console::say(&format!("error: cannot make the folder {}: {error}", out.display()));
        return Ok(Exit::Environment);
    }
    for (schema, output) in wanted.into_iter().zip(outputs) {
        let path = output.path();
        if let Err(error) = write(&output, schema.text) {
            console::say(&format!("error: cannot write {}: {error}", path.display()));
            return Ok(Exit::Environment);
        }
        console::print(&format!("wrote {}\n", path.display()))?;
    }
    Ok(Exit::Fine)
}

/// The kinds, each with what its schema says of itself.
fn listed() -> String {
    let title = |schema: &Schema| {
        let root: serde_json::Value = serde_json::from_str(schema.text).unwrap_or_default();
        root["title"].as_str().unwrap_or_default().to_owned()
    };
    let mut rows = vec![["kind", "written by", "what it describes"].map(str::to_owned).to_vec()];
    for schema in &SCHEMAS {
        let by = if schema.is_written_by_people { "people" } else { "coreach" };
        rows.push(vec![schema.kind.to_owned(), by.to_owned(), title(schema)]);
    }
    table(&rows, 3)
}
