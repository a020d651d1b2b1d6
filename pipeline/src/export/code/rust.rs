//! Writes a test case as a test of Rust: a file for the folder `tests` of a crate, which needs
//! `coreach-execution` and nothing else.
//!
//! The crate judges, drives and explains. The file has the test case's document ([`to_json`]) and some lines
//! around it, and suits whatever the crate can run: timed test cases and tests that are judged on line, too.
//! **Names** of a model stand in the document only, except the name of the test.
//!
//! The document stands in a raw string, which ends at a quote followed by enough signs `#`. It has no sign
//! that is hidden, and no carriage return, which Rust would refuse.

use super::{Unsuited, check_runnable, make_identifier};
use crate::export::View;
use crate::export::json::to_json;

const TEMPLATE: &str = include_str!("rust.template");

/// Writes the test: the template, with the document and what the lines around it say.
pub fn to_rust(view: &View<'_>) -> Result<String, Unsuited> {
    check_runnable("rust", view)?;
    let (document, hashes) = raw_string(to_json(view));
    let name = snake_case(&view.iosts.name);
    let filled = |text: &str| {
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@NAME@", &name)
            .replace("@STAGE@", view.what)
            .replace("@HASHES@", &hashes)
    };
    // The document comes last, so nothing in it is taken for a gap.
    let (before, behind) = TEMPLATE.split_once("@DOCUMENT@").unwrap_or((TEMPLATE, ""));
    Ok(filled(before) + &document + &filled(behind))
}

/// Makes a name that the compiler accepts for functions: small letters, and no two underscores side by side.
fn snake_case(name: &str) -> String {
    let plain = make_identifier(name).to_ascii_lowercase();
    let parts: Vec<&str> = plain.split('_').filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// Gives the document, and as many signs `#` as a raw string with it needs.
fn raw_string(document: String) -> (String, String) {
    let mut longest = 0;
    // The number of signs `#` after a quote, as long as nothing else comes.
    let mut run = None;
    for sign in document.chars() {
        run = match (sign, run) {
            ('"', _) => Some(0),
            ('#', Some(count)) => Some(count + 1),
            _ => None,
        };
        longest = longest.max(run.map_or(0, |count| count + 1));
    }
    // A raw string may have no more signs than this.
    if longest > 16 {
        // In a document these signs stand in texts only, so they can be escaped.
        return (document.replace('#', "\\u0023"), "#".to_owned());
    }
    (document, "#".repeat(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_string_ends_where_it_shall() {
        for (document, hashes) in
            [("[1]", 0), ("\"a\"", 1), ("\"a\\\"# b\"", 2), ("\"\\\"##\" \"#\"", 3), ("#", 0)]
        {
            let (same, written) = raw_string(document.to_owned());
            assert_eq!((same.as_str(), written.len()), (document, hashes), "{document}");
            assert!(!document.contains(&format!("\"{written}")) || hashes == 0, "{document}");
        }
        let (escaped, written) = raw_string(format!("\"\\\"{}\"", "#".repeat(300)));
        assert!(!escaped.contains('#') && written == "#", "{escaped}");
    }
}
