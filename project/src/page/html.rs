//! Writes the document as one file with styles, scripts and data, which can be opened without a network.
//!
//! The scripts are files of `project/page/`, one after the other. cytoscape.js draws the graph. It is kept as
//! its authors publish it, but compressed, and the browser unpacks it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::document::PageDocument;

const TEMPLATE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");
const LIBRARY: &[u8] = include_bytes!("../../page/vendor/cytoscape.min.js.gz");
const LICENCE: &str = include_str!("../../page/vendor/LICENSE-cytoscape.txt");

/// The scripts in the order in which they are run.
const SCRIPTS: [&str; 14] = [
    include_str!("../../page/data.js"),
    include_str!("../../page/dom.js"),
    include_str!("../../page/values.js"),
    include_str!("../../page/terms.js"),
    include_str!("../../page/semantics.js"),
    include_str!("../../page/tables.js"),
    include_str!("../../page/source.js"),
    include_str!("../../page/details.js"),
    include_str!("../../page/graph.js"),
    include_str!("../../page/stepper.js"),
    include_str!("../../page/runs.js"),
    include_str!("../../page/overview.js"),
    include_str!("../../page/beside.js"),
    include_str!("../../page/main.js"),
];

/// Fills the template with the document's data, the styles and the scripts.
pub fn write_html(document: &PageDocument) -> Result<String, serde_json::Error> {
    // Without `<`, no text of the user can end the element that it is in.
    let data = serde_json::to_string(document)?.replace('<', "\\u003c");
    let title = document.title.replace('&', "&amp;").replace('<', "&lt;");
    let mut page = String::with_capacity(data.len() + 400_000);
    let library = STANDARD.encode(LIBRARY);
    let scripts = SCRIPTS.concat();
    let licence = LICENCE.trim();
    let mut remaining = TEMPLATE;
    // Inserted text is not searched again, since it may contain text that looks like a mark.
    while let Some((before, after)) = remaining.split_once("{{") {
        page.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(match name {
            "title" => &title,
            "style" => STYLE,
            "licence" => licence,
            "library" => &library,
            "data" => &data,
            "scripts" => &scripts,
            unknown_name => unknown_name,
        });
        remaining = after;
    }
    page.push_str(remaining);
    Ok(page)
}
