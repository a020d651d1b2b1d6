//! From the answer of an HTTP server to an event.
//!
//! ```text
//! event = the first observation whose status is that of the answer, and whose pointers (RFC 6901) all point to something
//!         in its body; one without pointers asks for no body, and none is looked into
//! list  = an observation that names a list in the body, in each item of which all its pointers point to something: an event for
//!         each item, and one more where `then` names an observation that the answer is as well; else it has an item
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

/// The events that a reply is; none where it is to be ignored.
///
/// # Errors
/// [`Failure::Garbage`]: a number is too long, or the description says so of what is unmatched.
pub fn translate(reply: &Reply, http: &Http, signatures: &Signatures) -> Result<Vec<Received>, Failure> {
    let mut body: Option<Result<Tree, String>> = None;
    for (action, response) in &http.observations {
        if response.status != reply.status {
            continue;
        }
        let then = response.then.as_ref().map(|then| http.observations.iter().find(|(name, _)| name == then));
        let more = match then {
            None => None,
            Some(Some((name, more))) if more.status == reply.status => Some((name, more)),
            Some(_) => continue,
        };
        if body.is_none() && (asks(response) || more.is_some_and(|(_, more)| asks(more))) {
            body = Some(read(reply)?);
        }
        let tree = body.as_ref().and_then(|body| body.as_ref().ok());
        let Some(events) = found(tree, response) else { continue };
        let events_of = |action: &str, events: Vec<Values<'_>>| -> Result<Vec<Received>, Failure> {
            events.iter().map(|values| signatures.output(action, values, &http.spelling)).collect()
        };
        let Some((name, more)) = more else {
            if events.is_empty() {
                continue;
            }
            return events_of(action, events);
        };
        let Some(last) = found(tree, more) else { continue };
        let mut all = events_of(action, events)?;
        all.extend(events_of(name, last)?);
        return Ok(all);
    }
    let shown = shortened(&String::from_utf8_lossy(&reply.body));
    let why = match body {
        Some(Err(why)) => format!(" ({why})"),
        _ => String::new(),
    };
    let text = format!("the answer {} `{shown}`{why}, which fits no observation", reply.status);
    match http.unmatched {
        Unmatched::Fail => Ok(vec![Received::Alien(text)]),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(Vec::new()),
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

/// The values of an event.
type Values<'a> = Vec<(&'a str, Wire<'a>)>;

/// Does it look into the body?
fn asks(response: &Response) -> bool {
    response.each.is_some() || !response.values.is_empty()
}

/// The values of a response, where all its pointers point to something: of one event, or of one for each item of a list.
fn found<'a>(body: Option<&'a Tree>, response: &'a Response) -> Option<Vec<Values<'a>>> {
    if !asks(response) {
        return Some(vec![Vec::new()]);
    }
    let body = body?;
    let values = |tree: &'a Tree| -> Option<Values<'a>> {
        let value = |(parameter, pointer): &'a (String, String)| {
            Some((parameter.as_str(), Wire::Json(tree.pointer(pointer)?)))
        };
        response.values.iter().map(value).collect()
    };
    match &response.each {
        None => Some(vec![values(body)?]),
        Some(list) => match body.pointer(list)? {
            Tree::List(items) => items.iter().map(values).collect(),
            _ => None,
        },
    }
}
