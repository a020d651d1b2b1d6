//! What an IUT file says of what is done besides a run's events, as plain data: commands that are started,
//! requests and exchanges before a run, and how a run is left.
//!
//! Every transport and every encoding may ask for some of it, so it lies below both of them
//! (`description.rs`, which passes it on).

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

/// How a run is left behind ([`crate::system`]).
#[derive(Clone, Debug)]
pub struct Settle {
    /// How long one waits for what is still under way.
    pub within: Duration,
    /// After so long without a sign it counts as come, where the other side tells nothing better. Streams
    /// only.
    pub quiet: Option<Duration>,
    /// What is done before the next run if that did not suffice: afterwards nothing of an earlier run is
    /// under way.
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
    pub status: u16,
    /// What its body must look like, where that is asked for.
    pub body: Option<Regex>,
    /// So long it is asked again.
    pub within: Duration,
}

/// One step of a dialogue: something is sent, or an answer expected, or both.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The line to send; of frames, their bytes in hexadecimal digits.
    pub send: Option<Template>,
    /// What the next line must look like; of frames, their bytes in hexadecimal digits.
    pub expect: Option<Regex>,
    /// The one of several connections over which it is done; none for all.
    pub over: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// From the first slash on. Values are percent-encoded.
    pub path: Template,
    pub body: Option<Template>,
    /// Are the characters of the body its bytes? Else it is in UTF-8.
    pub is_latin1: bool,
    pub headers: Vec<(String, Template)>,
}
