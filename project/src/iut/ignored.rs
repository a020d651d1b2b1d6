//! Reads `ignore`: messages outside of the model that may come at any time, and the answers to them.

use coreach_adapters::description::{Ignored, Shape};
use coreach_adapters::template::Template;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Scalar, Yaml};

use super::overlap::find_common_line;
use super::patterns::{Regex, read_regex};
use super::words::{Holes, IutReader, read_optional};

const IGNORE: &str = "ignore: [ { pattern: '^PING (?P<word>.*)$', answer: 'PONG {word}' } ]";

/// Reads the items of `ignore`: each pattern, and its answer, if there is one.
pub fn read_ignore_items<'e>(
    reader: &mut IutReader<'_>,
    entries: &'e [Entry],
    like: &str,
) -> Vec<(&'e Yaml, Option<&'e Yaml>)> {
    let Some(node) = shape::get(entries, "ignore") else { return Vec::new() };
    let mut items = Vec::new();
    for item in shape::list(reader.collector, node, "`ignore`", like).unwrap_or(&[]) {
        let what = "an item of `ignore`";
        let Some(keys) = shape::mapping(reader.collector, item, what, like) else { continue };
        shape::check_keys(reader.collector, keys, &["pattern", "answer"], what);
        let pattern = shape::required(reader.collector, item, keys, "pattern", what, like);
        items.extend(pattern.map(|pattern| (pattern, shape::get(keys, "answer"))));
    }
    items
}

/// Reads `ignore` of lines. An answer may have the groups of its pattern as holes.
pub fn read_ignored_lines(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    observations: &[(String, Shape)],
) -> Vec<Ignored<Regex, Template>> {
    let mut ignored = Vec::new();
    for (pattern, answer) in read_ignore_items(reader, entries, IGNORE) {
        let scalar = shape::scalar(reader.collector, pattern, "`pattern`", IGNORE);
        let Some(scalar) = scalar else { continue };
        let Some((pattern, groups)) = read_regex(reader, scalar) else { continue };
        check_outputs(reader, scalar, &pattern, observations);
        let holes =
            Holes::constants_and_captures().with_names(groups.into_iter().map(|(name, _)| name).collect());
        let answer = read_optional(answer, |node| {
            let scalar = shape::scalar(reader.collector, node, "`answer`", IGNORE)?;
            reader.read_template(scalar, &holes)
        });
        ignored.extend(answer.map(|answer| Ignored { pattern, answer }));
    }
    ignored
}

/// Warns of a pattern that fits the first line of an output: such a line belongs to the output.
fn check_outputs(
    reader: &mut IutReader<'_>,
    scalar: &Scalar,
    pattern: &Regex,
    observations: &[(String, Shape)],
) {
    for (action, shape) in observations {
        let Some(line) = shape.first().and_then(|first| find_common_line(first, pattern)) else { continue };
        let message = format!("`{}` fits this pattern and that of `{action}`", line.escape_debug());
        let help = format!("a line that fits both is `{action}`: change one of the patterns");
        reader.warn("ignored-output", message, &scalar.span, "not ignored where it is an output", help);
    }
}
