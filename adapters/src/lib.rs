//! Adapters: how the events of a test case reach a real implementation, and how its answers come back as
//! events.
//!
//! [`mod@adapter`] is the trait, and [`description`] is what an IUT file says, as data. There is one file per
//! kind of implementation, above the channels, frames and processes that several share. An adapter translates
//! and never judges: it knows no verdict, and not who asks for a stimulus.

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod adapter;
pub mod address;
pub mod behaviour;
pub mod binary;
pub mod blocks;
pub mod captures;
pub mod channel;
pub mod checksum;
pub mod claim;
pub mod cut;
pub mod datagrams;
pub mod description;
pub mod dialogue;
pub mod encoding;
pub mod evidence;
pub mod field;
pub mod fields;
pub mod framing;
pub mod http;
pub mod in_process;
pub mod integer;
pub mod json_lines;
pub mod keeper;
pub mod launched;
pub mod lines;
mod pattern;
mod preparation;
pub mod process;
pub mod reading;
pub mod reply;
pub mod requests;
pub mod samples;
pub mod server;
pub mod shared;
pub mod signature;
pub mod socket;
pub mod stdio;
pub mod stream;
pub mod system;
pub mod tail;
pub mod tcp;
pub mod template;
pub mod temporary;
pub mod times;
pub mod tls;
pub mod waited_time;

pub use adapter::{Adapter, Failure, Left, Received, Sent, Session, Teardown};
pub use behaviour::Behaviour;
pub use description::Iut;
