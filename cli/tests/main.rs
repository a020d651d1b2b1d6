//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

// First: its macro is for all that follow.
#[macro_use]
mod common;
mod adder;
mod agreement;
mod bank;
mod behaviour;
mod budget;
mod campaign;
mod campaigns;
mod check;
mod ci;
mod constants;
mod cover;
mod coverage;
mod definedness;
mod documents;
mod evidence;
mod explore;
mod hints;
mod import;
mod init;
mod instantiated;
mod interruptions;
mod ioco;
mod jobs;
mod json;
mod kinds;
mod late;
mod link;
mod lists;
mod machines;
mod once;
mod online;
mod options;
mod outputs;
mod parcels;
mod partial;
mod path;
mod pictures;
mod program;
mod programs;
mod ranges;
mod readme;
mod reports;
mod runpath;
mod shared_system;
mod shells;
mod store;
mod stores;
mod temporary;
mod timed_drive;
mod timed_offline;
mod timed_runs;
mod transcript;
mod verify;
mod walks;
#[path = "../../tests/src/yaml.rs"]
mod yaml;
