//! Test cases as programs in other worlds: they must judge as our own judge does, and be run as their
//! documents say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod document;
mod examples;
#[rustfmt::skip]
mod generated;
mod made;
mod python;
mod rust;
mod traces;

pub(crate) use python::Folder;
