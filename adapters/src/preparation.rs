//! What an IUT file says of the work besides a run's events, as plain data: commands that are started,
//! requests and exchanges before a run, and how a run is left.
//!
//! Transports and encodings may both ask for some of it, so it is below both. `description.rs` passes it on.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use crate::template::Template;

#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments, no shell. `{port}` and the constants' names in braces are replaced.
    pub words: Vec<Template>,
    pub directory: PathBuf,
    /// Variables of its environment, besides those of ours.
    pub environment: Vec<(String, String)>,
    /// How long it may take to end by itself when its input is closed, before it is killed.
    pub grace: Duration,
}

/// How a run is left ([`crate::system`]).
#[derive(Clone, Debug)]
pub struct Settle {
    /// How long to wait for messages that are still under way.
    pub within: Duration,
    /// For streams: after so long without a message, all counts as come, if nothing better shows it.
    pub quiet: Option<Duration>,
    /// The steps before the next run if the wait was too short. Then nothing of an earlier run is under way.
    pub barrier: Vec<PreparationStep>,
}

impl Default for Settle {
    fn default() -> Self {
        Settle { within: Duration::from_secs(10), quiet: None, barrier: Vec::new() }
    }
}

/// Something that is done before a run.
#[derive(Clone, Debug)]
pub enum PreparationStep {
    Request(Probe),
    /// An exchange of lines, over the connection of the run.
    Exchange(Exchange),
    /// A command, which must end with status 0.
    Command(Command, Duration),
    Pause(Duration),
}

/// A request whose answer says whether something is so.
#[derive(Clone, Debug)]
pub struct Probe {
    pub request: Request,
    /// The statuses that are right.
    pub statuses: Vec<u16>,
    /// The pattern that the body must fit, if there is one.
    pub body: Option<Regex>,
    /// How long the request is repeated.
    pub within: Duration,
}

/// One step of a dialogue: something is sent, or an answer expected, or both.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The line to send, or the bytes of a frame in hexadecimal digits.
    pub send: Option<Template>,
    /// The pattern of the next line, or of the bytes of the next frame in hexadecimal digits.
    pub expect: Option<Regex>,
    /// The connection over which it is done. `None` for all.
    pub over: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// From the first slash on. Values are percent-encoded.
    pub path: Template,
    pub body: Option<Template>,
    /// The characters of the body are its bytes. Else it is in UTF-8.
    pub is_latin1: bool,
    pub headers: Vec<(String, Template)>,
}
