//! Reads the user's configurations, IUT files and campaigns, and prepares work from them.
//!
//! Each kind of file has a reader. It takes a file's content and its folder, and returns what is in the file,
//! or every mistake that it found. A reader whose name begins with `load` also reads the file from the disk.
//! All readers use the parts of the model's reader ([`coreach_model::reader`]): its tree with places, its
//! shapes, its diagnostics. Values that depend on a model are checked where the model is known.
//!
//! | file | reader | what is prepared from it |
//! |---|---|---|
//! | configuration | [`configuration`] | [`project`]: models and options; [`making`]: test cases; [`cases`]: test cases to be run |
//! | IUT | [`iut`] | a description of the way to an implementation |
//! | campaign | [`mod@campaign`] | [`campaign::prepare`]: a plan of runs |
//! | run, store | [`stored`] | a run that can be looked at or run again |
//!
//! [`file_kind`] decides what kind of file a file is. [`once`] reads each file of a command once, so that the
//! bytes that are hashed are the bytes that are run. [`written`] reads written files back, [`outputs`]
//! refuses to write over files that were read. [`budget`] says how long a piece of work may take, [`jobs`]
//! does several at once. [`mod@render`] draws findings on the user's own text, [`summary`] makes documents of
//! results. [`beginning`] has the files of a new folder.
//!
//! This crate has no arguments, no exit codes and no printing. A caller may show progress ([`making::Says`]).
//!
//! A campaign, read from its text:
//!
//! ```
//! use std::path::Path;
//!
//! use coreach_model::Diagnostic;
//! use coreach_model::reader::from_bytes;
//! use coreach_project::campaign::read_campaign;
//!
//! # fn main() -> Result<(), Vec<Diagnostic>> {
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/coffee_machine");
//! let text = "\
//! campaign: nightly
//! tests: [{ configuration: coreach.yaml }]
//! iuts: [iut.yaml, iut_model.yaml]
//! seeds: { first: 1, count: 50 }
//! ";
//! let file = from_bytes("nightly.yaml".to_owned(), text.as_bytes().to_vec());
//! let (campaign, _warnings) = read_campaign(file.map_err(|found| vec![found])?, Path::new(folder))?;
//! assert_eq!((campaign.iuts.len(), campaign.seeds.len()), (2, 50));
//! assert_eq!(campaign.store, Path::new(folder).join("nightly.sqlite"));
//! # Ok(())
//! # }
//! ```

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod beginning;
pub mod budget;
pub mod campaign;
pub mod cases;
pub mod checked;
pub mod configuration;
pub mod cover;
pub mod coverage;
pub mod exploration;
pub mod file_kind;
pub mod guided;
pub mod instantiate;
pub mod iut;
pub mod jobs;
pub mod limits;
pub mod making;
pub mod memory;
pub mod models;
pub mod once;
pub mod outputs;
pub mod page;
pub mod possible_goals;
pub mod project;
pub mod render;
mod sheet;
pub mod stored;
pub mod summary;
pub mod timed;
mod timing;
pub mod unreachable;
pub mod verifying;
pub mod walk;
pub mod whole;
pub mod written;
