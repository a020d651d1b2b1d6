//! A test case as a test of Rust: a file for the folder `tests` of a crate, which needs `coreach-execution`
//! and nothing else.
//!
//! The crate judges, drives and explains; so the file has the test case's document ([`json`]) and some lines
//! around it, and suits whatever the crate can run: timed test cases and tests that are judged on line, too.
//! **Names** of a model stand in the document only, but for the test's own.
//!
//! The document stands in a raw string, which ends at a quote with enough signs `#` behind it. It has no sign
//! that is hidden, and no carriage return, which Rust would refuse.

use super::{Unsuited, identifier, runnable};
use crate::export::View;
use crate::export::json::json;

const TEMPLATE: &str = include_str!("rust.template");

pub fn rust(view: &View<'_>) -> Result<String, Unsuited> {
    runnable("rust", view)?;
    let (document, hashes) = raw(json(view));
    let name = snake(&view.iosts.name);
    let filled = |text: &str| {
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@NAME@", &name)
            .replace("@STAGE@", view.what)
            .replace("@HASHES@", &hashes)
    };
    // Nothing that stands in the document is filled in.
    let (before, behind) = TEMPLATE.split_once("@DOCUMENT@").unwrap_or((TEMPLATE, ""));
    Ok(filled(before) + &document + &filled(behind))
}

/// A name as the compiler wants it of functions: small letters, and no two underscores side by side.
fn snake(name: &str) -> String {
    let plain = identifier(name).to_ascii_lowercase();
    let parts: Vec<&str> = plain.split('_').filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// The document, and the signs that a raw string with it needs.
fn raw(document: String) -> (String, String) {
    let mut longest = 0;
    let mut run = None;
    for sign in document.chars() {
        run = match (sign, run) {
            ('"', _) => Some(0),
            ('#', Some(count)) => Some(count + 1),
            _ => None,
        };
        longest = longest.max(run.map_or(0, |count| count + 1));
    }
    // A raw string may have no more of them.
    if longest > 16 {
        // In a document they stand in texts only.
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
            let (same, written) = raw(document.to_owned());
            assert_eq!((same.as_str(), written.len()), (document, hashes), "{document}");
            assert!(!document.contains(&format!("\"{written}")) || hashes == 0, "{document}");
        }
        let (escaped, written) = raw(format!("\"\\\"{}\"", "#".repeat(300)));
        assert!(!escaped.contains('#') && written == "#", "{escaped}");
    }
}
