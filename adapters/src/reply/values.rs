//! An answer of an HTTP server, and the values in it.

use std::borrow::Cow;

use coreach_model::codec;
use coreach_model::data::Datum;
use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Malformed, Tree};

use crate::adapter::Failure;
use crate::description::{AnswerPlace, Extract, Response};
use crate::encoding::from_latin1;
use crate::signature::report_too_long;

/// An answer of an HTTP server.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reply {
    /// The stimulus, or the step before a run, that was answered.
    pub to: String,
    /// The method and the path.
    pub asked: String,
    pub status: u16,
    /// The name of the status, as in `Not Found`.
    pub reason: String,
    /// The headers, names in small letters, values that are UTF-8.
    pub headers: Vec<(String, String)>,
    pub coding: Option<String>,
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the values of a header, in their order.
    pub fn headers_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the text of a header. Several lines are one list (RFC 9110, 5.3).
    pub fn header<'a>(&'a self, name: &'a str) -> Option<Cow<'a, str>> {
        let lines: Vec<&str> = self.headers_of(name).collect();
        match lines.as_slice() {
            [] => None,
            [line] => Some(Cow::Borrowed(line)),
            _ => Some(Cow::Owned(lines.join(", "))),
        }
    }

    /// Returns the body, if it is in no content coding.
    pub fn plain(&self) -> Option<&[u8]> {
        self.foreign_coding().is_none().then_some(&self.body)
    }

    pub(super) fn foreign_coding(&self) -> Option<&str> {
        self.coding.as_deref().filter(|coding| !coding.eq_ignore_ascii_case("identity"))
    }
}

/// Finds the text at this place of a reply. `None` if the reply has no such place, or other text.
pub(super) fn find_text<'a>(place: &'a AnswerPlace, reply: &'a Reply) -> Option<Cow<'a, str>> {
    let text = match &place.source {
        // Only lines and frames have groups and fields.
        Extract::Part => return None,
        Extract::Header(name) => reply.header(name)?,
        Extract::Cookie(name) => {
            let pairs =
                reply.headers_of("set-cookie").filter_map(|line| line.split(';').next()?.split_once('='));
            Cow::Borrowed(pairs.filter(|(key, _)| key.trim() == name).last()?.1.trim())
        }
        Extract::Pointer(pointer) => {
            let body = std::str::from_utf8(reply.plain()?).ok()?;
            Cow::Owned(text_of(json::parse(body, json::WIRE).ok()?.pointer(pointer)?)?.into_owned())
        }
        Extract::Body => Cow::Borrowed(std::str::from_utf8(reply.plain()?).ok()?),
        Extract::BodyInLatin1 => Cow::Owned(from_latin1(reply.plain()?)),
    };
    matched_part(place, text)
}

/// Returns a text, a number or a truth value of JSON as it is written.
pub(super) fn text_of(tree: &Tree) -> Option<Cow<'_, str>> {
    match tree {
        Tree::Text(text) | Tree::Number(text) => Some(Cow::Borrowed(text)),
        Tree::Bool(value) => Some(Cow::Owned(value.to_string())),
        _ => None,
    }
}

/// Returns the part of the text that is asked for, if the text fits the pattern.
fn matched_part<'a>(place: &AnswerPlace, text: Cow<'a, str>) -> Option<Cow<'a, str>> {
    let Some(pattern) = &place.pattern else { return Some(text) };
    let group = pattern.captures(&text)?.get(1)?.range();
    Some(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[group]),
        Cow::Owned(text) => Cow::Owned(text[group].to_owned()),
    })
}

/// Reads the body as JSON. The inner error says why nothing can be found in it.
pub(super) fn read_body(reply: &Reply) -> Result<Result<Tree, String>, Failure> {
    if let Some(coding) = reply.foreign_coding() {
        return Ok(Err(format!("in the content coding `{}`, which was not asked for", shortened(coding))));
    }
    let Ok(text) = std::str::from_utf8(&reply.body) else { return Ok(Err("not UTF-8".to_owned())) };
    match json::parse(text, json::WIRE) {
        Ok(tree) => Ok(Ok(tree)),
        Err(Malformed::TooLong(digits)) => Err(report_too_long(digits)),
        Err(why) => Ok(Err(format!("not JSON: {why}"))),
    }
}

/// The part of an answer that is a value.
pub(super) enum ReplyPart<'a> {
    Json(&'a Tree),
    Text(Cow<'a, str>),
}

pub(super) type ReplyValues<'a> = Vec<(&'a str, ReplyPart<'a>)>;

/// Says whether it looks for JSON in the body.
pub(super) fn needs_json(response: &Response) -> bool {
    response.each.is_some()
        || response.values.iter().any(|(_, place)| matches!(place.source, Extract::Pointer(_)))
}

/// Returns the value at a place of an answer, or of an item of its list.
pub(super) fn value_at<'a>(
    place: &'a AnswerPlace,
    tree: Option<&'a Tree>,
    reply: &'a Reply,
) -> Option<ReplyPart<'a>> {
    Some(match &place.source {
        Extract::Pointer(pointer) if place.is_json() => ReplyPart::Json(tree?.pointer(pointer)?),
        Extract::Pointer(pointer) => ReplyPart::Text(matched_part(place, text_of(tree?.pointer(pointer)?)?)?),
        _ => ReplyPart::Text(find_text(place, reply)?),
    })
}

/// Finds the value of a parameter in an answer, or in an item of its list. `Some(None)`: the object lacks the
/// member, and the parameter is an option.
pub(super) fn find_value<'a>(
    name: &str,
    place: &'a AnswerPlace,
    tree: Option<&'a Tree>,
    reply: &'a Reply,
    parameters: &[Datum],
) -> Option<Option<ReplyPart<'a>>> {
    if let (Extract::Pointer(pointer), Some(tree @ Tree::Object(_))) = (&place.source, tree) {
        // `null` is absent, too, where a text is to be matched.
        let is_absent = match tree.pointer(pointer) {
            None => true,
            Some(value) => place.pattern.is_some() && *value == Tree::Null,
        };
        let is_option = |datum: &Datum| datum.name() == name && codec::absent(datum.ty()).is_some();
        if is_absent && parameters.iter().any(is_option) {
            return Some(None);
        }
    }
    value_at(place, tree, reply).map(Some)
}

/// Finds the values of a response, if all of them are in the answer: those of one event, or of one for each
/// item of a list.
pub(super) fn find_values<'a>(
    body: Option<&'a Tree>,
    reply: &'a Reply,
    response: &'a Response,
    parameters: &[Datum],
) -> Option<Vec<ReplyValues<'a>>> {
    let values_in = |tree: Option<&'a Tree>| -> Option<ReplyValues<'a>> {
        let mut values = ReplyValues::new();
        for (name, place) in &response.values {
            let value = find_value(name, place, tree, reply, parameters)?;
            values.extend(value.map(|part| (name.as_str(), part)));
        }
        // An option alone is not absent: any object would be `none`.
        (!values.is_empty() || response.values.is_empty()).then_some(values)
    };
    match &response.each {
        None => Some(vec![values_in(body)?]),
        Some(list) => match body?.pointer(list)? {
            Tree::List(items) => items.iter().map(|item| values_in(Some(item))).collect(),
            _ => None,
        },
    }
}
