//! `coreach explore`: the symbolic execution tree of a specification, drawn, counted, or as a document.

use std::path::Path;

use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::interruption::stop_if_ending;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::Iosts;
use coreach_model::reader::read_specification;
use coreach_pipeline::export::Format;
use coreach_pipeline::export::tree::{tree_dot, tree_svg};
use coreach_pipeline::stop::Stop;
use coreach_project::budget;
use coreach_project::exploration::{
    Exploration, PathEnds, explore as grow, find_chosen, make_document, write_purpose,
};
use coreach_project::file_kind::{FileKind, load_text_of};

use super::{CommandAnswer, CommandResult, EarlyExit, picture_format, plural, write_picture};
use crate::answer::draw_text;
use crate::arguments::ExploreArguments;
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutFile, OutputForm, request_output, resolve_each};
use crate::write::write;

/// Grows the tree, writes what is asked for, and tells how large it is.
pub fn explore(arguments: &ExploreArguments) -> CommandResult {
    let path = &arguments.model;
    let (specification, warnings) =
        budget::reading(|| read_specification(load_text_of(path, &[FileKind::Specification])?.1))?;
    let iosts = specification.iosts;
    console::draw(&warnings);
    let format = arguments.draw.as_deref().map(picture_format).transpose()?;
    let [picture_file, purpose_file] = resolve_each([
        request_output("--draw", arguments.draw.as_deref(), OutputForm::Picture),
        request_output("--out", arguments.out.as_deref(), OutputForm::Purpose),
    ])?;
    let limits = TreeLimits {
        depth: arguments.depth,
        nodes: arguments.nodes.get(),
        quiescence: arguments.quiescence,
        is_restricted: arguments.restrict,
        is_merged: arguments.merge,
    };
    let path_ends = match (arguments.all_paths, arguments.inclusion) {
        (Some(n), _) => PathEnds::AllPaths(n),
        (None, Some(k)) => PathEnds::Inclusion(k.get()),
        (None, None) => PathEnds::None,
    };
    let mut found = grow(&iosts, limits, path_ends);
    let chosen_nodes = find_chosen(&iosts, &found.tree, &arguments.accept)?;
    if !arguments.accept.is_empty() {
        found.accepting = chosen_nodes;
    }
    let is_stopped = found.missing.is_some() || found.stop.is_some();
    if let Some(output) = purpose_file.filter(|_| !is_stopped) {
        write_accepted(&output, &iosts, &found)?;
    }
    if let (Some(output), Some(format)) = (&picture_file, format) {
        let drawn = budget::within("draw", budget::time(None), |_| match format {
            Format::Svg => tree_svg(&iosts, &found.tree, &found.accepting),
            _ => Ok(tree_dot(&iosts, &found.tree, &found.accepting)),
        });
        write_picture(output, drawn)?;
    }
    stop_if_ending();
    let exit = if is_stopped { Exit::Stopped } else { Exit::Fine };
    draw_text(&found.stop.iter().map(Stop::to_diagnostic).collect::<Vec<_>>());
    let text = || summary_text(&iosts, &found);
    let mut answer = CommandAnswer::new(exit, || make_document(&iosts, limits, &found, exit.code()), text);
    if let Some(missing) = found.missing {
        answer.remark(format!("error: {missing} (`--nodes`, `--depth`)"));
    }
    Ok(answer)
}

/// Writes a purpose with the accepted paths.
fn write_accepted(output: &OutFile, iosts: &Iosts, found: &Exploration) -> Result<(), EarlyExit> {
    if found.accepting.is_empty() {
        let help = "choose nodes with `--accept`, or a criterion with `--all-paths` or `--inclusion`";
        return Err(Diagnostic::error("no-accept", "--out: no node is accepted").help(help).into());
    }
    let text = write_purpose(iosts, found, &purpose_name_of_file(output.path()));
    write(output, text)
        .map_err(|error| EarlyExit::hindered(format_args!("{}: {error}", output.path().display())))
}

/// Returns a name for the purpose in this file: that of the file, as an identifier.
fn purpose_name_of_file(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("_{name}") }
}

/// Tells how many nodes of each kind the tree has.
fn summary_text(iosts: &Iosts, found: &Exploration) -> String {
    let counts = found.counts();
    let mut text = format!(
        "{}: {}, the longest path has {}\n",
        iosts.name,
        plural(counts.nodes, "node"),
        plural(counts.longest_path, "step")
    );
    let mut line = |count: usize, what: &str| {
        if count > 0 {
            text += &format!("{count:>9} {what}\n");
        }
    };
    line(counts.expanded, "expanded");
    line(counts.without_successor, "of them without a successor");
    line(counts.included, "included in an expanded node");
    line(counts.merged, "merged into another node of the same depth");
    line(counts.at_depth, "at the limit of depth (`--depth`)");
    line(counts.out_of_room, "without room for successors (`--nodes`)");
    line(counts.open, "not looked at");
    line(counts.behind_quiescence, "after a quiescence that ends the path");
    line(counts.refuted, "branches refuted: no data satisfy them");
    line(counts.uncertain, "perhaps not satisfiable, but kept");
    line(counts.accepting, "to be accepted");
    let breadths: Vec<String> = found.breadths().iter().map(ToString::to_string).collect();
    text += &format!("at each depth: {}\n", breadths.join(" "));
    let queries = usize::try_from(found.asked.queries).unwrap_or(usize::MAX);
    text + &format!("{} to the solver\n", plural(queries, "question"))
}
