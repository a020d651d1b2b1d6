//! XLIA: state machines of the Diversity platform, as its tool for path-guided test cases publishes them.
//!
//! [`mod@parse`] reads the subset that the published examples use, timed or not: one machine, its ports,
//! data, clocks and states. [`mod@translate`] makes a model.
//!
//! ```text
//! file       = "@xlia" "<" "system" "," version ">" ":" [ "timed" ] "system" name "{" "@composite" ":" machine "}"
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
pub mod parse;
pub mod translate;

use coreach_model::reader::collect::Collector;

use crate::finish::Model;
use crate::options::Options;

/// The model of a file.
pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let file = collector.file.clone();
    let machine = parse::parse(collector, &file.text, options)?;
    translate::translate(collector, options, &machine)
}
