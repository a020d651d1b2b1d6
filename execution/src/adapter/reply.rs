//! From the answer of an HTTP server to an event.
//!
//! ```text
//! event = the first observation whose status is that of the answer, and whose pointers (RFC 6901) all point to something
//!         in its body; one without pointers asks for no body, and none is looked into
//! body  = JSON ([`crate::json`]) in UTF-8, in no content coding but `identity`; anything else has nothing in it
//! ```
//!
//! What a pointer points to is read by the parameter's type, or looked up in `values` where that has texts for the parameter:
//! a text by what it says, a number and a truth value by their signs. An answer that is no observation is *unmatched*, and
//! so is one whose body cannot be read, be it that its keys are there twice or that it is compressed: the server has
//! answered, HTTP was kept, and what was said is none of the outputs. (RFC 9110, 12.5.3, lets a server choose a coding for one
//! who names none; so every request names `identity`.) A number of more digits than are read is garbage, as on every wire.

use crate::adapter::description::{Http, Response, Unmatched};
use crate::adapter::signature::{Signatures, Wire, too_long};
use crate::adapter::{Failure, Received};
use crate::excerpt::shortened;
use crate::json::{self, Malformed, Tree};

/// An answer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The content coding that it names.
    pub coding: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// The event that a reply is; `None` where it is to be ignored.
///
/// # Errors
/// [`Failure::Garbage`]: a number is too long, or the description says so of what is unmatched.
pub fn translate(reply: &Reply, http: &Http, signatures: &Signatures) -> Result<Option<Received>, Failure> {
    let mut body: Option<Result<Tree, String>> = None;
    for (action, response) in &http.observations {
        if response.status != reply.status {
            continue;
        }
        if response.values.is_empty() {
            return signatures.output(action, &[], &http.spelling).map(Some);
        }
        if body.is_none() {
            body = Some(read(reply)?);
        }
        if let Some(Ok(tree)) = &body
            && let Some(values) = found(tree, response)
        {
            return signatures.output(action, &values, &http.spelling).map(Some);
        }
    }
    let shown = shortened(&String::from_utf8_lossy(&reply.body));
    let why = match body {
        Some(Err(why)) => format!(" ({why})"),
        _ => String::new(),
    };
    let text = format!("the answer {} `{shown}`{why}, which fits no observation", reply.status);
    match http.unmatched {
        Unmatched::Fail => Ok(Some(Received::Alien(text))),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(None),
    }
}

/// The body, or why nothing can be found in it.
fn read(reply: &Reply) -> Result<Result<Tree, String>, Failure> {
    if let Some(coding) = reply.coding.as_ref().filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Ok(Err(format!("in the content coding `{}`, which was not asked for", shortened(coding))));
    }
    let Ok(text) = std::str::from_utf8(&reply.body) else { return Ok(Err("no UTF-8".to_owned())) };
    match json::parse(text, json::WIRE) {
        Ok(tree) => Ok(Ok(tree)),
        Err(Malformed::TooLong(digits)) => Err(too_long(digits)),
        Err(why) => Ok(Err(format!("no JSON: {why}"))),
    }
}

/// The values of a response, where all its pointers point to something.
fn found<'a>(body: &'a Tree, response: &'a Response) -> Option<Vec<(&'a str, Wire<'a>)>> {
    let value = |(parameter, pointer): &'a (String, String)| {
        Some((parameter.as_str(), Wire::Json(body.pointer(pointer)?)))
    };
    response.values.iter().map(value).collect()
}
