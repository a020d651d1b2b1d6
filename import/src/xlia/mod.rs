//! Reads XLIA: state machines of Diversity, as its tool for path-guided test cases publishes them.
//!
//! [`mod@parse`] reads the subset that the published examples use, timed or not: a machine, its ports, data,
//! clocks and states (`items.rs`). [`mod@translate`] makes a model of one, [`mod@together`] of several.
//!
//! ```text
//! file       = "@xlia" "<" "system" "," version ">" ":" [ "timed" ] "system" name "{" { part } "}"
//! part       = section ":" | machine | connection
//! connection = "connect" "<" ( "env" | "rdv" ) ">" "{" { ( "input" | "output" ) machine "->" port ";" } "}"
//! machine    = "statemachine" [ "<" word ">" ] name "{" { section ":" } { item } "}"
//! section    = "@public" | "@private" | "@declaration" | "@region" | "@com"
//! item       = "port" ( "input" | "output" ) name [ "(" type { "," type } ")" ] ";"
//!            | "var" [ "clock" ] type name [ ( "=" | ":=" ) expression ] ";"  |  "const" type name [ ( "=" | ":=" ) expression ] ";"
//!            | "type" name "enum" "{" name { "," name } "}" [ ";" ]
//!            | "state" [ "<" word ">" ] name ( ";" | "{" { "@init" "{" { statement } "}" | transition } "}" )
//!            | "connect" "<" "env" ">" "{" { ( "input" | "output" ) name ";" } "}"
//! transition = "transition" [ name ] "-->" name ( ";" | "{" { statement } "}" )
//! statement  = "input" name [ "(" variable { "," variable } ")" ] ";"  |  "output" name [ "(" expression { "," expression } ")" ] ";"
//!            | ( "guard" | "tguard" ) expression ";"  |  variable ":=" expression ";"
//! ```

mod declared;
mod items;
pub mod parse;
pub mod together;
pub mod translate;

use std::collections::BTreeSet;

use coreach_model::reader::collect::Collector;

use crate::finish::Model;
use crate::options::Options;

pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let file = collector.file.clone();
    let mut system = parse::parse(collector, &file.text, options)?;
    let model = match system.machines.as_slice() {
        [machine] if system.connections.is_empty() => {
            translate::translate(collector, options, machine, &system.name, &BTreeSet::new())?
        }
        _ => together::join_machines(collector, options, &mut system)?,
    };
    Some(translate::drop_unused_time(collector, system.is_timed, model))
}
