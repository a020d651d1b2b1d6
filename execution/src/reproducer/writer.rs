//! What a script is written into, and why none is.

use std::fmt::Write as _;
use std::time::Duration;

use coreach_adapters::signature::Signatures;
use coreach_adapters::{Failure, Session};

/// How long an answer is waited for at least.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoScript(pub String);

/// What the script does, as far as it is written.
pub(super) struct Writer<'a> {
    pub signatures: Signatures,
    pub session: Session<'a>,
    /// Headers whose values are not written down.
    pub redact: &'a [String],
    pub body: String,
}

impl Writer<'_> {
    pub fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "    {line}");
    }
}

/// Nothing is known that fills this hole.
pub fn no_value(name: String) -> NoScript {
    NoScript(format!("there is no value for `{{{name}}}`"))
}

/// What an adapter cannot write either.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub fn no_script(failure: Failure) -> NoScript {
    NoScript(failure.text().to_owned())
}
