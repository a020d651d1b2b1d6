//! Says what an answer lacks, and what helps: for observations, captures and statuses.

use coreach_model::data::Datum;
use coreach_model::diagnostic::nearest;
use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Tree};
use coreach_model::reader::collect::listed;
use coreach_model::types::Type;

use super::values::{Reply, ReplyPart, find_value, find_values, read_body, text_of, value_at};
use crate::description::{AnswerPlace, Extract, Http, Response};
use crate::encoding::BYTE_ORDER_MARK;
use crate::pattern::{Regex, widen, written};
use crate::signature::Signatures;
use crate::template::Template;

/// How a body begins that is compressed.
const GZIP: &[u8] = b"\x1f\x8b";

impl Response {
    /// Says whether the answer fits, as far as that can be said without the body.
    pub(super) fn is_of(&self, reply: &Reply) -> bool {
        self.misfit(reply).is_none()
    }

    /// Returns how close the answer is, and what it lacks, without its body. `None` if it fits. 0 is an
    /// answer to another stimulus, 1 one with another status. From 2 on, it is 2 plus the headers that fit.
    fn misfit(&self, reply: &Reply) -> Option<(usize, String)> {
        if !(self.to.is_empty() || self.to.contains(&reply.to)) {
            let stimuli = listed(self.to.iter().map(String::as_str));
            return Some((0, format!("it answers {stimuli}, not `{}`", reply.to)));
        }
        if self.status != reply.status {
            return Some((1, format!("it needs status {}", self.status)));
        }
        self.headers.iter().enumerate().find_map(|(position, (name, pattern))| {
            let state = match reply.header(name) {
                Some(text) if pattern.is_match(&text) => return None,
                Some(text) => format!("is `{}`{}", shortened(&text), explain_part(pattern, &text)),
                None => "is not there".to_owned(),
            };
            let pattern = written(pattern);
            Some((2 + position, format!("it needs the header `{name}` that fits `{pattern}`, which {state}")))
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
        let Some((name, place)) = missing_in(item) else {
            return "the output of its `then` does not fit".to_owned();
        };
        let bare = AnswerPlace { pattern: None, ..place.clone() };
        let text = value_at(&bare, item, reply).and_then(|part| match part {
            ReplyPart::Json(tree) => text_of(tree),
            ReplyPart::Text(text) => Some(text),
        });
        if let (Some(pattern), Some(text)) = (&place.pattern, text) {
            let (shown, help) = (shortened(&text), explain_part(pattern, &text));
            let pattern = written(pattern);
            return format!(
                "it needs `{name}`, but {bare} is `{shown}`, which does not fit `{pattern}`{help}"
            );
        }
        let pointer = match &place.source {
            Extract::Pointer(pointer) => pointer,
            _ => &format!("/{name}"),
        };
        // A header of a like name comes first. At last, the value may be the end of `Location`.
        let remedy = find_header(name, &[], place, reply, false)
            .or_else(|| find_near(item?, pointer))
            .or_else(|| find_header(name, &[], place, reply, true));
        let help = remedy.map_or_else(String::new, |remedy| format!("\nhelp: {remedy}"));
        format!("it needs `{name}`, but {place} is missing{help}")
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_compressed(reply: &Reply) -> bool {
    reply.foreign_coding().is_some() || reply.body.starts_with(GZIP)
}

/// Describes an answer that fits no observation, the closest observation, and what helps.
pub(super) fn describe_unmatched(
    reply: &Reply,
    http: &Http,
    body: Option<&Result<Tree, String>>,
    signatures: &Signatures,
) -> String {
    let body_text = String::from_utf8_lossy(&reply.body);
    let shown = match body_text.trim_start() {
        _ if is_compressed(reply) => format!("with {} bytes", reply.body.len()),
        "" => "without a body".to_owned(),
        html if html.starts_with('<') && html.to_lowercase().contains("<html") => {
            "with a page of HTML".to_owned()
        }
        _ => format!("with `{}`", shortened(&body_text).replace(char::is_control, " ")),
    };
    let unread = body.and_then(|body| body.as_ref().err()).filter(|_| !reply.body.is_empty());
    let why = unread.map_or_else(String::new, |why| format!(" ({why})"));
    let read_now = if body.is_none() { read_body(reply).ok().and_then(Result::ok) } else { None };
    let tree = body.and_then(|body| body.as_ref().ok()).or(read_now.as_ref());
    let to = &reply.to;
    let fit_but_for_status = find_fit_but_for_status(reply, http, tree, signatures);
    let redirection = explain_redirection(reply);
    let closest = match fit_but_for_status {
        _ if !redirection.is_empty() => String::new(),
        Some((action, response)) => {
            let (is, wanted) = (reply.status, response.status);
            // Another observation with this status must not take the answer, or lose its own to this one.
            let is_shared =
                response.to.is_empty() && http.observations.iter().any(|(_, other)| other.status == is);
            let to = if is_shared { format!(", to: {to}") } else { String::new() };
            format!(
                "\nit fits `{action}` except for the status {wanted}\nhelp: if the system is right, write `status: {is}{to}` there"
            )
        }
        None => describe_closest(reply, http, tree, unread, signatures),
    };
    let is_expected = http.observations.iter().any(|(_, response)| response.status == reply.status);
    let help = match fit_but_for_status.is_some() || is_expected {
        true => String::new(),
        false => explain_unexpected_status(reply, http, signatures),
    };
    let twice = match tree {
        Some(Tree::Text(text)) if json::parse(text, json::WIRE).is_ok() => {
            "\nhelp: the body is encoded as JSON twice: let the system encode it only once"
        }
        _ => "",
    };
    format!(
        "the answer `{} {}` {shown}{why} to `{}` (`{to}`), which fits no observation{closest}{redirection}{help}{twice}",
        reply.status, reply.reason, reply.asked
    )
}

/// Finds an observation that fits except for its status. It is closer than those of this status, unless one
/// of them has its values deeper in the body.
fn find_fit_but_for_status<'h>(
    reply: &Reply,
    http: &'h Http,
    tree: Option<&Tree>,
    signatures: &Signatures,
) -> Option<&'h (String, Response)> {
    let mut of_status = http.observations.iter().filter(|(_, response)| response.is_of(reply));
    let is_wrapped = |tree: &Tree| of_status.any(|(_, response)| has_values_deeper(tree, response));
    if !is_success(reply.status) || tree.is_some_and(is_wrapped) {
        return None;
    }
    http.observations.iter().find(|(action, response)| {
        let with_status = Response { status: reply.status, ..response.clone() };
        response.status != reply.status
            && !response.values.is_empty()
            && with_status.is_of(reply)
            && find_values(tree, reply, &with_status, signatures.parameters(action)).is_some()
    })
}

/// Describes the observation that is closest to an answer, and what helps. `unread`: why the body is no JSON.
fn describe_closest(
    reply: &Reply,
    http: &Http,
    tree: Option<&Tree>,
    unread: Option<&String>,
    signatures: &Signatures,
) -> String {
    let mut closest: Option<(&str, usize, String)> = None;
    for (action, response) in &http.observations {
        let lack = || (usize::MAX, response.describe_lack(tree, reply, signatures.parameters(action)));
        let (closeness, lack) = response.misfit(reply).unwrap_or_else(lack);
        // If several are as close, the first counts.
        if closest.as_ref().is_none_or(|(_, best, _)| closeness > *best) {
            closest = Some((action, closeness, lack));
        }
    }
    let Some((action, closeness, lack)) = closest else { return String::new() };
    let (to, status) = (&reply.to, reply.status);
    if closeness <= 1 {
        // An observation of another status is not close, and a remedy that is sure needs no list of them.
        if !is_success(status) && !explain_status(status).is_empty() {
            return String::new();
        }
        let others = http.observations.iter().filter(|(_, other)| other.status != status).take(6);
        let others = others.map(|(name, other)| format!("; `{name}` has status {}", other.status));
        return format!("\nnone that may answer `{to}` has status {status}{}", others.collect::<String>());
    }
    if lack.contains("\nhelp: ") {
        return format!("\n`{action}` has this status, yet {lack}");
    }
    let body_text = String::from_utf8_lossy(&reply.body);
    // A number may be read in a text. Then the lack names its parameter first.
    let needs_number = || {
        let name = lack.split('`').nth(1);
        let mut named = signatures.parameters(action).iter().filter(|datum| Some(datum.name()) == name);
        named.any(|datum| matches!(datum.ty(), Type::Int | Type::Nat | Type::Range(..)))
    };
    let help = match unread.filter(|_| lack.contains(" of the body")) {
        Some(why) if is_cut(reply, why) => {
            "it ends with the last byte of its `Content-Length`: count the bytes of the text in UTF-8, not its letters"
        }
        Some(_) if is_compressed(reply) => {
            "let the system send bodies that are not compressed, without `Content-Encoding`"
        }
        Some(_) if body_text.starts_with('\u{feff}') => BYTE_ORDER_MARK,
        Some(_) if let Some(help) = explain_xml(action, &body_text, http) => &help.clone(),
        Some(why) => json::explain_mistake(&body_text, why).unwrap_or(match needs_number() {
            false => "let the system send JSON in UTF-8",
            true => {
                r"let the system send JSON in UTF-8, or read a number in the text: `{ body: true, match: '[^0-9-]*(-?\d+)(?s:.*)' }` in place of the pointer"
            }
        }),
        None => &format!("if the system is right, correct `{action}` in `observations`"),
    };
    format!("\n`{action}` has this status, yet {lack}\nhelp: {help}")
}

/// Says how to read the values of an output in a body of XML. `None` if it has none of their names as tags.
fn explain_xml(action: &str, body: &str, http: &Http) -> Option<String> {
    let (_, response) = http.observations.iter().find(|(name, _)| name == action)?;
    let places = response.values.iter().filter_map(|(name, place)| {
        let Extract::Pointer(pointer) = &place.source else { return None };
        let tag = pointer.rsplit('/').next().filter(|tag| body.contains(&format!("</{tag}>")))?;
        Some(format!("{name}: {{ body: true, match: '(?s:.*)<{tag}>(.*)</{tag}>(?s:.*)' }}"))
    });
    let places: Vec<String> = places.collect();
    (!places.is_empty()).then(|| {
        format!(
            "it is XML: let the system send JSON, or write `values: {{ {} }}` for `{action}`",
            places.join(", ")
        )
    })
}

/// Says what helps if an answer leads to another address.
fn explain_redirection(reply: &Reply) -> String {
    let Some(place) = reply.header("location").filter(|_| (300..400).contains(&reply.status)) else {
        return String::new();
    };
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
}

/// Says what helps if no observation has the status of an answer.
fn explain_unexpected_status(reply: &Reply, http: &Http, signatures: &Signatures) -> String {
    let (to, status) = (&reply.to, reply.status);
    let request = http.stimuli.iter().find(|(name, _)| name == to).map(|(_, request)| request);
    let headers = request.into_iter().flat_map(|request| &request.headers).chain(&http.headers);
    let body = request.and_then(|request| request.body.as_ref());
    if let Some(body) = body.filter(|_| matches!(status, 400 | 415 | 422))
        && !headers.clone().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        let is_json = body.fill(|_| Some(String::new())).is_ok_and(|body| body.starts_with(['{', '[']));
        let kind = if is_json { "application/json" } else { "application/x-www-form-urlencoded" };
        let place = http.places.get(to).map_or(String::new(), |place| format!("{place}: "));
        return format!(
            "\nhelp: {place}`{to}` sends its body without a `Content-Type`: add `headers: {{ Content-Type: {kind} }}` to it"
        );
    }
    if is_success(status) && reply.body.is_empty() {
        let successes = http.observations.iter().filter(|(_, response)| {
            is_success(response.status) && (response.to.is_empty() || response.to.contains(to))
        });
        let is_of_body = |(_, place): &&(String, AnswerPlace)| matches!(place.source, Extract::Pointer(_));
        let needs = successes
            .map(|(name, response)| Some((name, &response.values.iter().find(is_of_body)?.0)))
            .collect::<Option<Vec<_>>>();
        // If each output of success needs a value from the body, an answer without one is none of them.
        if let Some((name, lacking)) = needs.unwrap_or_default().first() {
            return format!(
                "\nhelp: without a body, it has no `{lacking}` for `{name}`: let the system send one, or declare an output without values, with `status: {status}, to: {to}`"
            );
        }
    }
    explain_refusal(reply, headers, signatures)
}

/// Explains that a pattern fits only a part of a text.
fn explain_part(pattern: &Regex, text: &str) -> String {
    let help = |wide| format!("\nhelp: a pattern fits a whole text: write `{wide}`");
    widen(pattern, text).map(help).unwrap_or_default()
}

/// Says whether a body that is no JSON breaks off where its `Content-Length` ends. The mistake ends with the
/// number of the byte at which it was found.
fn is_cut(reply: &Reply, mistake: &str) -> bool {
    let byte = mistake.rsplit(' ').next().and_then(|byte| byte.parse().ok());
    reply.header("content-length").is_some() && byte == Some(reply.body.len())
}

/// Proposes what to change in the IUT file if a server answers with this status.
pub fn explain_status(status: u16) -> &'static str {
    match status {
        400 | 415 | 422 => {
            "\nhelp: the system refuses this request: check its `body` and its `headers`, for example `Content-Type` or `Host`"
        }
        401 | 403 => {
            "\nhelp: the system asks for credentials: write `headers: { Authorization: ... }` under `http`"
        }
        404 => "\nhelp: the system has nothing at this address: check the `path` of the request, and `base`",
        405 | 501 => "\nhelp: the system does not allow this method here: check the `method` of the request",
        429 => "\nhelp: the system limits the number of requests: switch this limit off for tests",
        503 => {
            "\nhelp: if the system is still starting, wait with `reset: { method: GET, path: PATH, within_ms: 10000 }` under `http`"
        }
        500..=599 => "\nhelp: the system reports an error of its own: its log may say why",
        202 => {
            "\nhelp: if it is one of them, correct its `status`; but 202 says that the work is not done yet: then declare an output for this answer, and let the model ask for the result later"
        }
        304 => {
            "\nhelp: this answers a request for what has changed, and coreach asks for that only if `headers` say so: let the system send the whole answer"
        }
        200..=299 => "\nhelp: if it is one of them, correct its `status`",
        _ => "",
    }
}

/// Proposes what to change in the IUT file if a server answers a request with these headers by this reply.
pub fn explain_refusal<'a>(
    reply: &Reply,
    headers: impl Iterator<Item = &'a (String, Template)>,
    signatures: &Signatures,
) -> String {
    let status = reply.status;
    let body = String::from_utf8_lossy(&reply.body).to_lowercase();
    let host_words =
        ["disallowedhost", "allowed_hosts", "invalid host", "http_host", "host header", "host not allowed"];
    if matches!(status, 400 | 403 | 421) && host_words.iter().any(|words| body.contains(words)) {
        return "\nhelp: it refuses the host in the request, which is that of `base`: write `headers: { Host: NAME }` under `http`, \
                with a name that the system allows"
            .to_owned();
    }
    let mut help = explain_status(status).to_owned();
    if ["api key", "api-key", "apikey", "api_key"].iter().any(|word| body.contains(word)) {
        help = help.replace("Authorization", "X-Api-Key");
    }
    let is_refused = matches!(status, 401 | 403);
    let text = String::from_utf8_lossy(&reply.body);
    let mut names = text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_' && sign != '-');
    let is_key = |name: &&str| ["apikey", "api_key", "access_token"].contains(&name.to_lowercase().as_str());
    if let Some(name) = names.find(is_key).filter(|_| is_refused) {
        help += &format!(", or, if it is a part of the query, `?{name}=...` at the end of each `path`");
    }
    // A token that shows that the request belongs to a session.
    let mut words = body.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-');
    let is_token_header =
        |word: &str| word.starts_with("x-") && (word.contains("token") || word.contains("srf"));
    let token_header = words.find(|word| is_token_header(word));
    let names_token = token_header.is_some() || body.contains("csrf") || body.contains("xsrf");
    if is_refused && names_token {
        help = format!(
            "\nhelp: the system asks for a token: write `headers: {{ {}: ... }}` under `http`. If an answer gives the token, for \
             example in a cookie, `captures` takes it from there",
            token_header.unwrap_or("X-CSRFToken")
        );
    }
    for (header, template) in headers.filter(|_| is_refused) {
        let is_lacking =
            |name: &&str| signatures.captures(name) && signatures.constant_or_capture(name).is_none();
        if let Some(hole) = template.holes().find(is_lacking) {
            let why = signatures.lacking(hole);
            return format!("\nhelp: coreach left out the header `{header}`: it has `{{{hole}}}`, {why}");
        }
        let name = header.to_lowercase();
        if ["auth", "cookie", "token", "key"].iter().any(|word| name.contains(word)) {
            help = format!(
                "\nhelp: the system refuses the request, though `{header}` was sent: is its value right, still valid, and with its scheme, as in \
                 `Bearer ...`? Or does the system read it elsewhere, as in the query?"
            );
        }
    }
    help
}

/// Lists the pointers of a body, 100 at most, and of each list only the first element.
fn list_pointers(body: &Tree) -> Vec<String> {
    let (mut paths, mut open) = (Vec::new(), vec![(String::new(), body)]);
    while let Some((path, tree)) = open.pop().filter(|_| paths.len() < 100) {
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
        paths.push(path);
    }
    paths
}

/// Does the body lack pointers of the observation, and have all of them deeper inside?
fn has_values_deeper(body: &Tree, response: &Response) -> bool {
    let pointers = response.values.iter().filter_map(|(_, place)| match &place.source {
        Extract::Pointer(pointer) if body.pointer(pointer).is_none() => Some(pointer.as_str()),
        _ => None,
    });
    let (paths, lacking): (_, Vec<&str>) = (list_pointers(body), pointers.collect());
    !lacking.is_empty() && lacking.iter().all(|pointer| paths.iter().any(|path| path.ends_with(pointer)))
}

/// Proposes a pointer into the body whose last name is near to that of this one, or lists the pointers to all
/// values.
pub(super) fn find_near(body: &Tree, pointer: &str) -> Option<String> {
    let (_, last) = pointer.rsplit_once('/')?;
    let paths = list_pointers(body);
    let last_part = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let parts: Vec<String> = paths.iter().map(|path| last_part(path)).collect();
    let is_key = |part: &&str| part.contains(|sign: char| !sign.is_ascii_digit());
    let near = nearest(last, parts.iter().map(String::as_str).filter(is_key));
    if let Some(path) = near.and_then(|near| paths.iter().find(|path| last_part(path) == near)) {
        let outside = path.strip_suffix(pointer).filter(|outside| !outside.is_empty());
        let each = outside.map(|outside| format!(" Perhaps each pointer must begin with `{outside}`"));
        return Some(format!("did you mean `{path}`?{}", each.unwrap_or_default()));
    }
    let is_value = |path: &&String| {
        body.pointer(path).is_some_and(|tree| !matches!(tree, Tree::Object(_) | Tree::List(_)))
    };
    let value_paths: Vec<&str> = paths.iter().filter(is_value).map(String::as_str).collect();
    match value_paths.as_slice() {
        [] => None,
        [""] => Some("the body itself is a value: its pointer is `\"\"`".to_owned()),
        [path] => Some(format!("the only value of the body is `{path}`")),
        paths => Some(format!("the values of the body are {}", listed(paths.iter().copied()))),
    }
}

/// Proposes to read a value that the body lacks from a header: one with a like name, or else, if it may be
/// that, the end of the address in `Location`.
pub(super) fn find_header(
    name: &str,
    from: &[String],
    place: &AnswerPlace,
    reply: &Reply,
    may_be_end: bool,
) -> Option<String> {
    let Extract::Pointer(pointer) = &place.source else { return None };
    let last = pointer.rsplit('/').next().filter(|last| !last.is_empty())?.to_lowercase();
    let is_like = |header: &str| {
        let has_name = header.split('-').any(|word| word == last) || header.replace('-', "_") == last;
        has_name && !header.starts_with("content-")
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
