//! `coreach schema`: the JSON Schemas, for editors and for programs that read our documents.

use std::fs;

use coreach_project::beginning::{SCHEMAS, Schema};

use super::{CommandAnswer, CommandResult, EarlyExit, table};
use crate::arguments::SchemaArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, resolve_outputs};
use crate::write::write;

/// Prints a schema or the list of kinds, or writes schemas to a folder.
pub fn schema(arguments: &SchemaArguments) -> CommandResult {
    let wanted: Vec<&Schema> = SCHEMAS
        .iter()
        .filter(|schema| arguments.kind.as_deref().is_none_or(|kind| kind == schema.kind))
        .collect();
    let Some(out) = &arguments.out else {
        let text = match (&arguments.kind, wanted.as_slice()) {
            (Some(_), [schema]) => schema.text.to_owned(),
            _ => list_kinds(),
        };
        return Ok(CommandAnswer::of_text(Exit::Fine, text));
    };
    let paths =
        wanted.iter().map(|schema| ToWrite::new("--out", out.join(schema.file_name()), OutputForm::Schema));
    let outputs = resolve_outputs(&paths.collect::<Vec<_>>())?;
    fs::create_dir_all(out).map_err(|error| {
        EarlyExit::hindered(format_args!("cannot make the folder {}: {error}", out.display()))
    })?;
    let mut lines = String::new();
    for (schema, output) in wanted.into_iter().zip(outputs) {
        let path = output.path();
        write(&output, schema.text).map_err(|error| EarlyExit::unwritten(path, &error))?;
        lines += &format!("wrote {}\n", path.display());
    }
    Ok(CommandAnswer::of_text(Exit::Fine, lines))
}

/// Lists the kinds, each with the title of its schema.
fn list_kinds() -> String {
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
