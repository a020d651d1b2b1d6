//! From the answer of an HTTP server to an event.
//!
//! ```text
//! event = the first observation that may answer this stimulus, that has the status of the answer, whose
//!         patterns fit the headers, and whose values are all there: in the body, a header or a cookie.
//!         An option needs no value in a body that is an object
//! list  = an observation whose values are all in each item of a list in the body: an event for each item,
//!         and one more if `then` names an observation that fits as well; without `then`, at least one item
//! body  = JSON ([`coreach_model::json`]) in UTF-8, in no content coding but `identity`; else it is empty
//! ```
//!
//! The body is read only if an observation has a pointer into it (RFC 6901). Its value is read by the
//! parameter's type, or looked up in `values` if that has texts for the parameter: a text by its content, a
//! number or a truth value by its signs. An answer that fits no observation is *unmatched*. So is an answer
//! whose body cannot be read, because a key is there twice or because it is compressed: the server has
//! answered by HTTP, but with none of the outputs. (By RFC 9110, 12.5.3, a server may choose any coding if a
//! request names none, so every request names `identity`.) A number of too many digits is garbage.

use std::borrow::Cow;

use coreach_model::codec;
use coreach_model::data::Datum;
use coreach_model::diagnostic::nearest;
use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Malformed, Tree};
use coreach_model::reader::collect::listed;

use crate::adapter::{Failure, Received};
use crate::description::{AnswerPlace, Capture, Http, Response, Source, Unmatched};
use crate::encoding::from_latin1;
use crate::pattern::{Regex, widen, written};
use crate::signature::{Signatures, Wire, report_too_long};
use crate::template::Template;

/// How a body begins that is compressed.
const GZIP: &[u8] = b"\x1f\x8b";

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
            [one] => Some(Cow::Borrowed(one)),
            _ => Some(Cow::Owned(lines.join(", "))),
        }
    }

    /// Returns the body, if it is in no content coding.
    pub fn plain(&self) -> Option<&[u8]> {
        self.foreign_coding().is_none().then_some(&self.body)
    }

    fn foreign_coding(&self) -> Option<&str> {
        self.coding.as_deref().filter(|coding| !coding.eq_ignore_ascii_case("identity"))
    }
}

impl Response {
    /// Says whether the answer fits, as far as that can be said without the body.
    fn is_of(&self, reply: &Reply) -> bool {
        self.misfit(reply).is_none()
    }

    /// Returns how close the answer is, and what it lacks, without its body. `None` if it fits. 0 is an
    /// answer to another stimulus, 1 one with another status. With 2 all headers but this and later ones fit.
    fn misfit(&self, reply: &Reply) -> Option<(usize, String)> {
        if !(self.to.is_empty() || self.to.contains(&reply.to)) {
            return Some((
                0,
                format!("it answers {}, not `{}`", listed(self.to.iter().map(String::as_str)), reply.to),
            ));
        }
        if self.status != reply.status {
            return Some((1, format!("it needs status {}", self.status)));
        }
        self.headers.iter().enumerate().find_map(|(position, (name, pattern))| {
            let expected = format!("`{name}` that fits `{}`", written(pattern));
            let there = reply.header(name);
            if there.as_ref().is_some_and(|text| pattern.is_match(text)) {
                return None;
            }
            let there = there.map_or("is not there".to_owned(), |text| {
                format!("is `{}`{}", shortened(&text), explain_part(pattern, &text))
            });
            Some((2 + position, format!("it needs the header {expected}, which {there}")))
        })
    }

    /// Says what the answer lacks, if it fits up to its values, which are these parameters.
    pub fn explain_lack(&self, reply: &Reply, parameters: &[Datum]) -> Option<String> {
        let body = if reply.body.is_empty() { None } else { Some(read_body(reply).ok()?.ok()?) };
        let fits = self.is_of(reply) && find_values(body.as_ref(), reply, self, parameters).is_none();
        fits.then(|| self.describe_lack(body.as_ref(), reply, parameters))
    }

    /// Says what the body lacks, if the answer fits otherwise.
    fn describe_lack(&self, body: Option<&Tree>, reply: &Reply, parameters: &[Datum]) -> String {
        let list = self.each.as_ref().map(|list| (list, body.and_then(|body| body.pointer(list))));
        let missing_in = |item: Option<&Tree>| {
            let mut values = self.values.iter();
            values.find(|(name, place)| find_value(name, place, item, reply, parameters).is_none())
        };
        let item = match list {
            Some((_, Some(Tree::List(items)))) => {
                items.iter().find(|item| missing_in(Some(item)).is_some()).or(items.first())
            }
            Some((list, _)) => return format!("it needs a list at `{list}` of the body"),
            None => body,
        };
        if list.is_some() && item.is_none() {
            return "its list is empty, and it has no `then` for this case".to_owned();
        }
        match missing_in(item) {
            Some((name, place)) => {
                let bare = AnswerPlace { pattern: None, ..place.clone() };
                let text = value_at(&bare, item, reply).and_then(|piece| match piece {
                    Piece::Json(tree) => text_of(tree),
                    Piece::Text(text) => Some(text),
                });
                if let (Some(pattern), Some(text)) = (&place.pattern, text) {
                    let (shown, help) = (shortened(&text), explain_part(pattern, &text));
                    let pattern = written(pattern);
                    return format!(
                        "it needs `{name}`, but {bare} is `{shown}`, which does not fit `{pattern}`{help}"
                    );
                }
                let pointer = match &place.source {
                    Source::Pointer(pointer) => pointer,
                    _ => &format!("/{name}"),
                };
                let near = item.and_then(|item| find_near(item, pointer));
                let near = find_header(name, &[], place, reply, false)
                    .or(near)
                    .or_else(|| find_header(name, &[], place, reply, true));
                let near = near.map_or_else(String::new, |near| format!("\nhelp: {near}"));
                format!("it needs `{name}`, but {place} is missing{near}")
            }
            None => "the output of its `then` does not fit".to_owned(),
        }
    }
}

/// Translates a reply into events. None, if it is ignored.
///
/// # Errors
/// [`Failure::Garbage`]: a number is too long, or the description makes an unmatched reply an error.
pub fn translate(reply: &Reply, http: &Http, signatures: &Signatures) -> Result<Vec<Received>, Failure> {
    let mut body: Option<Result<Tree, String>> = None;
    for (index, (action, response)) in http.observations.iter().enumerate() {
        if !response.is_of(reply) {
            continue;
        }
        // The observations of the output after the list, if there is one.
        let followers: Option<Vec<&(String, Response)>> = response.then.as_ref().map(|then| {
            http.observations.iter().filter(|(name, other)| name == then && other.is_of(reply)).collect()
        });
        let mut responses = followers.iter().flatten().map(|(_, follower)| follower).chain([response]);
        if body.is_none() && responses.any(needs_json) {
            body = Some(read_body(reply)?);
        }
        let tree = body.as_ref().and_then(|body| body.as_ref().ok());
        let parameters = signatures.parameters(action);
        let Some(events) = find_values(tree, reply, response, parameters) else { continue };
        // An observation that has all its values goes before one that lacks an option.
        let has_all = |(_, later): &(String, Response)| {
            !later.values.is_empty() && later.is_of(reply) && find_values(tree, reply, later, &[]).is_some()
        };
        if find_values(tree, reply, response, &[]).is_none()
            && http.observations[index + 1..].iter().any(has_all)
        {
            continue;
        }
        let events_of = |action: &str, events: Vec<Values<'_>>| -> Result<Vec<Received>, Failure> {
            let event = |values: &Values<'_>| {
                let wire = |piece| match piece {
                    &Piece::Json(tree) => Wire::Json(tree),
                    Piece::Text(text) => Wire::Text(text),
                };
                let given: Vec<(&str, Wire<'_>)> =
                    values.iter().map(|(name, piece)| (*name, wire(piece))).collect();
                signatures.output(action, &given, &http.spelling, true)
            };
            events.iter().map(event).collect()
        };
        let Some(followers) = followers else {
            // An empty list alone is no output.
            if events.is_empty() {
                continue;
            }
            return events_of(action, events);
        };
        let last = followers.into_iter().find_map(|(name, follower)| {
            let values = find_values(tree, reply, follower, signatures.parameters(name))?;
            Some((name, values))
        });
        let Some((name, last)) = last else { continue };
        return Ok([events_of(action, events)?, events_of(name, last)?].concat());
    }
    let text = describe_unmatched(reply, http, body.as_ref(), signatures);
    match http.unmatched {
        Unmatched::Fail => Ok(vec![Received::Alien(text)]),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(Vec::new()),
    }
}

/// Describes an answer that fits no observation, the closest observation, and what helps.
fn describe_unmatched(
    reply: &Reply,
    http: &Http,
    body: Option<&Result<Tree, String>>,
    signatures: &Signatures,
) -> String {
    let body_text = String::from_utf8_lossy(&reply.body);
    let is_packed = reply.foreign_coding().is_some() || reply.body.starts_with(GZIP);
    let shown = match body_text.trim_start() {
        _ if is_packed => format!("with {} bytes", reply.body.len()),
        "" => "without a body".to_owned(),
        html if html.starts_with('<') && html.to_lowercase().contains("<html") => {
            "with a page of HTML".to_owned()
        }
        _ => format!("with `{}`", shortened(&body_text).replace(char::is_control, " ")),
    };
    let unread = body.and_then(|body| body.as_ref().err()).filter(|_| !reply.body.is_empty());
    let why = unread.map_or_else(String::new, |why| format!(" ({why})"));
    let new = if body.is_none() { read_body(reply).ok().and_then(Result::ok) } else { None };
    let tree = body.and_then(|body| body.as_ref().ok()).or(new.as_ref());
    let lacks = http.observations.iter().map(|(action, response)| {
        let lack = || (usize::MAX, response.describe_lack(tree, reply, signatures.parameters(action)));
        let misfit = response.misfit(reply).unwrap_or_else(lack);
        (action, misfit)
    });
    // If several are as close, the first counts.
    let closest = lacks.reduce(|best, next| {
        let ((_, (closeness, _)), (_, (best_closeness, _))) = (&next, &best);
        if closeness > best_closeness { next } else { best }
    });
    let to = &reply.to;
    // An observation that fits except for its status is closer than one of this status.
    let but_status = http.observations.iter().find(|(action, response)| {
        let with_status = Response { status: reply.status, ..response.clone() };
        (200..300).contains(&reply.status)
            && response.status != reply.status
            && !response.values.is_empty()
            && with_status.is_of(reply)
            && find_values(tree, reply, &with_status, signatures.parameters(action)).is_some()
    });
    let closest = match closest {
        _ if but_status.is_some() => but_status.map_or_else(String::new, |(action, response)| {
            let (is, wanted) = (reply.status, response.status);
            // Another observation with this status must not take the answer, or lose its own to this one.
            let is_shared = response.to.is_empty() && http.observations.iter().any(|(_, one)| one.status == is);
            let to = if is_shared { format!(", to: {to}") } else { String::new() };
            format!("\nit fits `{action}` except for the status {wanted}\nhelp: if the system is right, write `status: {is}{to}` there")
        }),
        // An observation of another status is not close, and a remedy that is sure needs no list of them.
        Some((_, (..=1, _))) if !(200..300).contains(&reply.status) && !explain_status(reply.status).is_empty() => {
            String::new()
        }
        Some((_, (..=1, _))) => {
            let others = http.observations.iter().filter(|(_, other)| other.status != reply.status).take(6);
            let others = others.map(|(name, other)| format!("; `{name}` has status {}", other.status));
            let others = others.collect::<String>();
            format!("\nnone that may answer `{to}` has status {}{others}", reply.status)
        }
        Some((action, (_, lacks))) => {
            let help = match unread.filter(|_| lacks.contains(" of the body")) {
                Some(why) if is_cut(reply, why) => {
                    "it ends with the last byte of its `Content-Length`: count the bytes of the text in UTF-8, not its letters"
                }
                Some(_) if is_packed => "let the system send bodies that are not compressed, without `Content-Encoding`",
                Some(why) => json::explain_mistake(&body_text, why).unwrap_or(
                    r"let the system send JSON in UTF-8, or read a number in the text: `{ body: true, match: '[^0-9-]*(-?\d+)(?s:.*)' }` in place of the pointer"
                ),
                None => &format!("if the system is right, correct `{action}` in `observations`"),
            };
            let help = format!("\nhelp: {help}");
            let help = if lacks.contains("\nhelp: ") { String::new() } else { help };
            format!("\n`{action}` has this status, yet {lacks}{help}")
        }
        None => String::new(),
    };
    let moved = reply.header("location").filter(|_| (300..400).contains(&reply.status));
    let moved = moved.map_or_else(String::new, |place| {
        let place = shortened(&place);
        if ["login", "signin", "auth"].iter().any(|word| place.contains(word)) {
            return format!(
                "\nhelp: it redirects to `{place}`: log in by a step of `reset`, with `captures: {{ session: {{ cookie: NAME }} }}` and \
                 `headers: {{ Cookie: \"NAME={{session}}\" }}`"
            );
        }
        format!(
            "\nhelp: it redirects to `{place}`, and coreach follows no redirections: write this address into `path`"
        )
    });
    let closest = if moved.is_empty() { closest } else { String::new() };
    let is_expected = http.observations.iter().any(|(_, response)| response.status == reply.status);
    let request = http.stimuli.iter().find(|(name, _)| name == to).map(|(_, request)| request);
    let has_type = |headers: &[(String, Template)]| {
        headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    };
    let untyped =
        request.filter(|one| one.body.is_some() && !has_type(&one.headers) && !has_type(&http.headers));
    let is_success = |status| (200..300).contains(&status);
    let successes = http.observations.iter().filter(|(_, response)| {
        is_success(response.status) && (response.to.is_empty() || response.to.contains(to))
    });
    let is_of_body = |(_, place): &&(String, AnswerPlace)| matches!(place.source, Source::Pointer(_));
    let needs = successes.map(|(name, one)| Some((name, &one.values.iter().find(is_of_body)?.0)));
    // If each output of success needs a value from the body, an answer without one is none of them.
    let needs = needs.collect::<Option<Vec<_>>>().unwrap_or_default();
    let need = needs.first().filter(|_| is_success(reply.status) && reply.body.is_empty());
    let help = if but_status.is_some() || is_expected {
        String::new()
    } else if let Some(request) = untyped.filter(|_| matches!(reply.status, 400 | 415 | 422)) {
        let body = request.body.as_ref().and_then(|body| body.fill(|_| Some(String::new())).ok());
        let is_json = body.is_some_and(|body| body.starts_with(['{', '[']));
        let kind = if is_json { "application/json" } else { "application/x-www-form-urlencoded" };
        let place = http.places.get(to).map_or(String::new(), |place| format!("{place}: "));
        format!(
            "\nhelp: {place}`{to}` sends its body without a `Content-Type`: add `headers: {{ Content-Type: {kind} }}` to it"
        )
    } else if let Some((name, lacking)) = need {
        let status = reply.status;
        format!(
            "\nhelp: without a body, it has no `{lacking}` for `{name}`: let the system send one, or declare an output without values, with `status: {status}, to: {to}`"
        )
    } else {
        let headers = request.into_iter().flat_map(|request| &request.headers).chain(&http.headers);
        explain_refusal(reply.status, headers, signatures)
    };
    let twice = match tree {
        Some(Tree::Text(text)) if json::parse(text, json::WIRE).is_ok() => {
            "\nhelp: the body is encoded as JSON twice: let the system encode it only once"
        }
        _ => "",
    };
    format!(
        "the answer `{} {}` {shown}{why} to `{}` (`{to}`), which fits no observation{closest}{moved}{help}{twice}",
        reply.status, reply.reason, reply.asked
    )
}

/// Explains that a pattern fits only a part of a text.
fn explain_part(pattern: &Regex, text: &str) -> String {
    let help = |wide| format!("\nhelp: a pattern fits a whole text: write `{wide}`");
    widen(pattern, text).map(help).unwrap_or_default()
}

/// Says whether a body that is no JSON breaks off where its `Content-Length` ends.
fn is_cut(reply: &Reply, mistake: &str) -> bool {
    let last = mistake.rsplit(' ').next().and_then(|byte| byte.parse().ok());
    reply.header("content-length").is_some() && last == Some(reply.body.len())
}

/// Proposes what to change in the IUT file if a server answers with this status.
pub fn explain_status(status: u16) -> &'static str {
    match status {
        400 | 415 | 422 => {
            "\nhelp: the system refuses this request: check its `body` and its `headers`, for example `Content-Type`"
        }
        401 | 403 => {
            "\nhelp: the system asks for credentials: write `headers: { Authorization: ... }` under `http`"
        }
        404 => "\nhelp: the system has nothing at this address: check the `path` of the request, and `base`",
        405 | 501 => "\nhelp: the system does not allow this method here: check the `method` of the request",
        429 => "\nhelp: the system limits the number of requests: switch this limit off for tests",
        500..=599 => "\nhelp: the system reports an error of its own: its log may say why",
        200..=299 => "\nhelp: if it is one of them, correct its `status`",
        _ => "",
    }
}

/// Proposes what to change in the IUT file if a server answers a request with these headers by this status.
pub fn explain_refusal<'a>(
    status: u16,
    headers: impl Iterator<Item = &'a (String, Template)>,
    signatures: &Signatures,
) -> String {
    let mut help = explain_status(status).to_owned();
    for (header, template) in headers.filter(|_| matches!(status, 401 | 403)) {
        let is_lacking = |name: &&str| signatures.captures(name) && signatures.known(name).is_none();
        if let Some(hole) = template.holes().find(is_lacking) {
            let why = signatures.lacking(hole);
            return format!("\nhelp: coreach left out the header `{header}`: it has `{{{hole}}}`, {why}");
        }
        let name = header.to_lowercase();
        if ["auth", "cookie", "token", "key"].iter().any(|word| name.contains(word)) {
            help = format!(
                "\nhelp: the system refuses the value that was sent as `{header}`: is it right, still valid, and with its scheme, as in `Bearer ...`?"
            );
        }
    }
    help
}

/// Proposes a pointer into the body whose last name is near to that of this one, or lists the pointers to all
/// values.
fn find_near(body: &Tree, pointer: &str) -> Option<String> {
    let (_, last) = pointer.rsplit_once('/')?;
    // At most 100 places of the body are looked at.
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), body)]);
    while let Some((path, tree)) = open.pop().filter(|_| found.len() < 100) {
        match tree {
            Tree::Object(members) => {
                let below = members.iter().map(|(key, tree)| {
                    (format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), tree)
                });
                open.extend(below);
            }
            Tree::List(items) => open.extend(items.first().map(|item| (format!("{path}/0"), item))),
            _ => {}
        }
        found.push(path);
    }
    let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = found.iter().map(name).collect();
    let is_key = |name: &&str| name.contains(|sign: char| !sign.is_ascii_digit());
    let near = nearest(last, names.iter().map(String::as_str).filter(is_key));
    if let Some(near) = near.and_then(|near| found.iter().find(|path| name(path) == near)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let is_value = |path: &&String| {
        body.pointer(path).is_some_and(|tree| !matches!(tree, Tree::Object(_) | Tree::List(_)))
    };
    let values: Vec<&str> = found.iter().filter(is_value).map(String::as_str).collect();
    match values.as_slice() {
        [] => None,
        [""] => Some("the body itself is a value: its pointer is `\"\"`".to_owned()),
        [one] => Some(format!("the only value of the body is `{one}`")),
        many => Some(format!("the values of the body are {}", listed(many.iter().copied()))),
    }
}

/// Takes the value of a capture out of an HTTP answer. `outputs` are the outputs that the answer is.
///
/// # Errors
/// Why the answer has no value, if it is one of those that should have it.
pub fn capture_value(capture: &Capture, reply: &Reply, outputs: &[&str]) -> Result<String, Option<String>> {
    let is_named = outputs.iter().any(|output| capture.from.iter().any(|from| from == output));
    if !is_named && !capture.from.is_empty() {
        let (place, from) = (&capture.place, listed(capture.from.iter().map(String::as_str)));
        let explain = |_| format!("the answer to `{}` has {place}, but `from` names {from}", reply.asked);
        return Err(find_text(place, reply).map(explain));
    }
    find_text(&capture.place, reply).map(Cow::into_owned).ok_or_else(|| {
        is_named.then(|| {
            let body = String::from_utf8_lossy(&reply.body);
            let has = format!("has the body `{}`", shortened(body.trim_end()));
            let mut has = if body.is_empty() { "has no body".to_owned() } else { has };
            let find = || find_header(&capture.name, &capture.from, &capture.place, reply, true);
            let near = match (&capture.place.source, read_body(reply)) {
                (Source::Pointer(_), Ok(Err(why))) if reply.foreign_coding().is_some() => {
                    has = format!("has a body {why}");
                    Some("let the system send bodies without `Content-Encoding`".to_owned())
                }
                (Source::Pointer(_), Ok(Err(_))) if body.is_empty() => find(),
                (Source::Pointer(_), Ok(Err(why))) => {
                    has += &format!(", which is {why}");
                    None
                }
                (Source::Pointer(pointer), Ok(Ok(body))) => find_near(&body, pointer).or_else(find),
                _ => None,
            };
            let help = near.map_or(String::new(), |near| format!("\nhelp: {near}"));
            format!("the answer to `{}` lacks {}, and {has}{help}", reply.asked, capture.place)
        })
    })
}

/// Proposes to read a value that the body lacks from a header: one with a like name, or else, if it may be
/// that, the end of the address in `Location`.
fn find_header(
    name: &str,
    from: &[String],
    place: &AnswerPlace,
    reply: &Reply,
    may_be_end: bool,
) -> Option<String> {
    let Source::Pointer(pointer) = &place.source else { return None };
    let last = pointer.rsplit('/').next().filter(|last| !last.is_empty())?.to_lowercase();
    let is_like = |header: &str| {
        let is_same = header.split('-').any(|word| word == last) || header.replace('-', "_") == last;
        is_same && !header.starts_with("content-")
    };
    let (header, text) = reply.headers.iter().find(|(header, _)| is_like(header)).or_else(|| {
        let has_end = |text: &str| text.trim_end_matches('/').contains('/');
        reply.headers.iter().find(|(header, text)| may_be_end && header == "location" && has_end(text))
    })?;
    let from = if from.is_empty() { String::new() } else { format!(", from: [{}]", from.join(", ")) };
    let pattern = if header == "location" { ", match: '.*/([^/?]+)/?'" } else { "" };
    let header = if header == "location" { "Location" } else { header };
    Some(format!(
        "it has the header `{header}: {}`: write `{name}: {{ header: {header}{pattern}{from} }}`",
        shortened(text)
    ))
}

/// Finds the text at this place of a reply. `None` if the reply has no such place, or other text.
fn find_text<'a>(place: &'a AnswerPlace, reply: &'a Reply) -> Option<Cow<'a, str>> {
    let text = match &place.source {
        // Only lines and frames have groups and fields.
        Source::Part => return None,
        Source::Header(name) => reply.header(name)?,
        Source::Cookie(name) => {
            let pairs =
                reply.headers_of("set-cookie").filter_map(|line| line.split(';').next()?.split_once('='));
            Cow::Borrowed(pairs.filter(|(key, _)| key.trim() == name).last()?.1.trim())
        }
        Source::Pointer(pointer) => {
            let body = std::str::from_utf8(reply.plain()?).ok()?;
            Cow::Owned(text_of(json::parse(body, json::WIRE).ok()?.pointer(pointer)?)?.into_owned())
        }
        Source::Body => Cow::Borrowed(std::str::from_utf8(reply.plain()?).ok()?),
        Source::BodyInLatin1 => Cow::Owned(from_latin1(reply.plain()?)),
    };
    matched_part(place, text)
}

/// Returns a text, a number or a truth value of JSON as it is written.
fn text_of(tree: &Tree) -> Option<Cow<'_, str>> {
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
fn read_body(reply: &Reply) -> Result<Result<Tree, String>, Failure> {
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
enum Piece<'a> {
    Json(&'a Tree),
    Text(Cow<'a, str>),
}

type Values<'a> = Vec<(&'a str, Piece<'a>)>;

/// Says whether it looks for JSON in the body.
fn needs_json(response: &Response) -> bool {
    response.each.is_some()
        || response.values.iter().any(|(_, place)| matches!(place.source, Source::Pointer(_)))
}

/// Returns the value at a place of an answer, or of an item of its list.
fn value_at<'a>(place: &'a AnswerPlace, tree: Option<&'a Tree>, reply: &'a Reply) -> Option<Piece<'a>> {
    Some(match &place.source {
        Source::Pointer(pointer) if place.is_json() => Piece::Json(tree?.pointer(pointer)?),
        Source::Pointer(pointer) => Piece::Text(matched_part(place, text_of(tree?.pointer(pointer)?)?)?),
        _ => Piece::Text(find_text(place, reply)?),
    })
}

/// Finds the value of a parameter in an answer, or in an item of its list. `Some(None)`: the object lacks the
/// member, and the parameter is an option.
fn find_value<'a>(
    name: &str,
    place: &'a AnswerPlace,
    tree: Option<&'a Tree>,
    reply: &'a Reply,
    parameters: &[Datum],
) -> Option<Option<Piece<'a>>> {
    if let (Source::Pointer(pointer), Some(tree @ Tree::Object(_))) = (&place.source, tree)
        && (tree.pointer(pointer).is_none() || is_null_text(place, tree.pointer(pointer)))
        && parameters.iter().any(|datum| datum.name() == name && codec::absent(datum.ty()).is_some())
    {
        return Some(None);
    }
    value_at(place, tree, reply).map(Some)
}

/// Is it `null` where a text is to be matched?
fn is_null_text(place: &AnswerPlace, value: Option<&Tree>) -> bool {
    place.pattern.is_some() && matches!(value, Some(Tree::Null))
}

/// Finds the values of a response, if all of them are in the answer: those of one event, or of one for each
/// item of a list.
fn find_values<'a>(
    body: Option<&'a Tree>,
    reply: &'a Reply,
    rule: &'a Response,
    parameters: &[Datum],
) -> Option<Vec<Values<'a>>> {
    let values = |tree: Option<&'a Tree>| -> Option<Values<'a>> {
        let mut values = Values::new();
        for (name, place) in &rule.values {
            values.extend(
                find_value(name, place, tree, reply, parameters)?.map(|piece| (name.as_str(), piece)),
            );
        }
        // An option alone is not absent: any object would be `none`.
        (!values.is_empty() || rule.values.is_empty()).then_some(values)
    };
    match &rule.each {
        None => Some(vec![values(body)?]),
        Some(list) => match body?.pointer(list)? {
            Tree::List(items) => items.iter().map(|item| values(Some(item))).collect(),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;
    use crate::pattern::pattern;

    fn take(source: Source, matches: Option<&str>, headers: &[(&str, &str)], body: &str) -> Option<String> {
        let pattern = matches.map(|text| pattern(text).unwrap());
        let place = AnswerPlace { source, pattern };
        let capture = Capture { name: "c".to_owned(), place, from: Vec::new(), default: None };
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let reply = Reply { status: 200, headers: headers.collect(), body: body.into(), ..Reply::default() };
        capture_value(&capture, &reply, &[]).ok()
    }

    #[test]
    fn an_answer_says_it_in_a_header_a_cookie_or_its_body() {
        let header = || Source::Header("ETag".to_owned());
        let cookie = || Source::Cookie("sid".to_owned());
        let pointer = |to: &str| Source::Pointer(to.to_owned());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(take(header(), None, &[("etag", "\"1\"")], ""), some("\"1\""));
        assert_eq!(take(header(), None, &[("etag", "a"), ("x", "y"), ("etag", "b")], ""), some("a, b"));
        assert_eq!(take(header(), None, &[("tag", "a")], ""), None);
        assert_eq!(take(header(), Some("<(.*)>"), &[("etag", "<a>")], ""), some("a"));
        assert_eq!(take(header(), Some("<(.*)>"), &[("etag", "x<a>")], ""), None);
        let cookies =
            [("set-cookie", "a=1; sid=2"), ("set-cookie", "sid=3==; Path=/"), ("set-cookie", "sidx=4")];
        assert_eq!(take(cookie(), None, &cookies, ""), some("3=="));
        assert_eq!(take(cookie(), None, &cookies[2..], ""), None);
        let body = r#"{"t": "x", "n": 0.10, "b": true, "l": [1], "z": null}"#;
        for (to, expected) in [("/t", some("x")), ("/n", some("0.10")), ("/b", some("true"))] {
            assert_eq!(take(pointer(to), None, &[], body), expected);
        }
        for to in ["/l", "/z", "/q", ""] {
            assert_eq!(take(pointer(to), None, &[], body), None, "{to}");
        }
        assert_eq!(take(pointer("/t"), None, &[], "{"), None);
        assert_eq!(
            take(Source::Body, Some("(?s).*value=\"(\\w+)\".*"), &[], "<a>\n<b value=\"q\">"),
            some("q")
        );
    }

    #[test]
    fn a_capture_that_an_answer_lacks_is_told_with_its_cause() {
        let place = AnswerPlace::pointer("/id");
        let from = vec!["Created".to_owned()];
        let capture = Capture { name: "note".to_owned(), place, from, default: None };
        for (location, coding, body, words) in [
            (None, None, "{'id': '1'}", "has the body `{'id': '1'}`, which is not JSON: "),
            (None, Some("gzip"), "\u{1f}", "let the system send bodies without `Content-Encoding`"),
            (Some("/notes/1"), None, "", "note: { header: Location, match: '.*/([^/?]+)/?', from"),
            (None, None, r#"{"size": 1}"#, "the only value of the body is `/size`"),
        ] {
            let headers = location.map(|place: &str| ("location".to_owned(), place.to_owned()));
            let coding = coding.map(str::to_owned);
            let reply = Reply {
                headers: headers.into_iter().collect(),
                coding,
                body: body.into(),
                ..Reply::default()
            };
            let why = capture_value(&capture, &reply, &["Created"]).unwrap_err().unwrap();
            assert!(why.contains(words), "{why}");
        }
    }

    /// An option whose member is absent is `none`. An observation fits without this member, and not without
    /// another one.
    #[test]
    fn an_absent_option_is_none() {
        let text = "
iosts: m
initial: { location: A }
outputs: { Item: { id: int, gone: 'option[bool]' }, Page: { id: int, next: 'option[int]' }, Result: { result: 'option[int]' }, Error: { message: string }, All: {} }
transitions: [{ from: A, to: A, on: All }]
";
        let file = coreach_model::reader::from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
        let iosts = coreach_model::reader::read_specification(file).unwrap().0.iosts;
        let deadline = std::time::Instant::now();
        let signatures =
            Signatures::of(&crate::adapter::Session { iosts: &iosts, constants: &[], seed: 1, deadline });
        let value = |name: &str, of: Option<&str>| {
            let pattern = of.map(|of| pattern(of).unwrap());
            (name.to_owned(), AnswerPlace { pattern, ..AnswerPlace::pointer(&format!("/{name}")) })
        };
        let values = vec![value("id", None), value("gone", None)];
        let each = Some("/items".to_owned());
        let page = vec![value("id", None), value("next", Some(r"/page/(\d+)"))];
        let response = |values| Response { status: 200, values, ..Response::default() };
        let http = Http {
            base: Template::fixed("http://127.0.0.1:1"),
            observations: vec![
                ("Item".to_owned(), Response { each, ..response(values) }),
                ("Page".to_owned(), response(page)),
                ("Result".to_owned(), response(vec![value("result", None)])),
                ("Error".to_owned(), response(vec![value("message", None)])),
                ("All".to_owned(), response(Vec::new())),
            ],
            ..Http::default()
        };
        for (body, expected) in [
            (r#"{"items": [{"id": 1, "gone": true}, {"id": 2}]}"#, "Item(1, some(true)) Item(2, none)"),
            (r#"{"items": [{"id": 1}, {"gone": true}]}"#, "All()"),
            (r#"{"items": [1]}"#, "All()"),
            (r#"{"id": 1, "next": "/page/2"}"#, "Page(1, some(2))"),
            (r#"{"id": 1, "next": null}"#, "Page(1, none)"),
            (r#"{"id": 1}"#, "Page(1, none)"),
            (r#"{"id": 1, "next": "no"}"#, "All()"),
            (r#"{"result": 3}"#, "Result(some(3))"),
            (r#"{"result": null}"#, "Result(none)"),
            (r#"{"message": "boom"}"#, "Error(\"boom\")"),
            (r#"{"id": 1, "message": "boom"}"#, "Error(\"boom\")"),
            ("{}", "All()"),
        ] {
            let reply = Reply { status: 200, body: body.into(), ..Reply::default() };
            let found = translate(&reply, &http, &signatures).unwrap();
            let shown = found.iter().map(|received| match received {
                Received::Output(event) => event.to_string(),
                other => format!("{other:?}"),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{body}");
        }
    }

    #[test]
    fn values_are_read_from_headers_whatever_the_body_is() {
        let text = "
iosts: m
initial: { location: A }
outputs: { Part: { first: nat, last: nat }, Whole: { size: nat }, No: {} }
transitions: [{ from: A, to: A, on: No }]
";
        let file = coreach_model::reader::from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
        let iosts = coreach_model::reader::read_specification(file).unwrap().0.iosts;
        let deadline = std::time::Instant::now();
        let signatures =
            Signatures::of(&crate::adapter::Session { iosts: &iosts, constants: &[], seed: 1, deadline });
        let at = |name: &str, of: &str| AnswerPlace {
            source: Source::Header(name.to_owned()),
            pattern: Some(pattern(of).unwrap()),
        };
        let values = vec![
            ("first".to_owned(), at("Content-Range", r"bytes (\d+)-\d+/\d+")),
            ("last".to_owned(), at("Content-Range", r"bytes \d+-(\d+)/\d+")),
        ];
        let plain = vec![("Content-Type".to_owned(), pattern("text/.*").unwrap())];
        let size =
            vec![("size".to_owned(), AnswerPlace::all_of(Source::Header("content-length".to_owned())))];
        let http = Http {
            base: Template::fixed("http://127.0.0.1:1"),
            observations: vec![
                ("Part".to_owned(), Response { status: 206, headers: plain, values, ..Response::default() }),
                ("Whole".to_owned(), Response { status: 206, values: size, ..Response::default() }),
            ],
            ..Http::default()
        };
        for (headers, expected) in [
            ([("content-range", "bytes 2-5/9"), ("content-type", "text/plain")], "Part(2, 5)"),
            ([("content-range", "bytes 2-5/9"), ("content-type", "image/png")], ""),
            ([("content-range", "bytes */9"), ("content-length", "12")], "Whole(12)"),
            ([("content-length", "1"), ("content-length", "2")], ""),
            ([("content-range", "bytes 2-5/9, 3"), ("content-type", "text/plain")], ""),
            ([("content-length", "-1"), ("content-type", "text/plain")], ""),
        ] {
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            // These outputs read no value from the body, so invalid JSON is ignored.
            let reply = Reply { status: 206, headers, body: b"{".to_vec(), ..Reply::default() };
            let found = translate(&reply, &http, &signatures).unwrap();
            let shown = match found.as_slice() {
                [Received::Output(event)] => event.to_string(),
                _ => String::new(),
            };
            assert_eq!(shown, expected, "{reply:?}");
        }
    }
}
