//! From the answer of an HTTP server to an event.
//!
//! ```text
//! event = the first observation that may answer this stimulus, that has the status of the answer, whose
//!         patterns fit the headers, and whose values are all there: in the body, a header or a cookie.
//!         An option may be absent if another value is there, and no later observation has all its values
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

mod lacks;
mod values;

use coreach_model::excerpt::shortened;
use coreach_model::json::Tree;
use coreach_model::reader::collect::listed;

use self::lacks::{describe_unmatched, find_header, find_near};
pub use self::lacks::{explain_refusal, explain_status};
pub use self::values::Reply;
use self::values::{ReplyPart, ReplyValues, find_text, find_values, needs_json, read_body};
use crate::adapter::{Failure, Received};
use crate::description::{Capture, Extract, Http, Response, Unmatched};
use crate::signature::{Signatures, Wire};

/// Translates a reply into events. There are none if it is ignored.
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
        // An observation that has all its values goes before one that lacks an option. Without parameters,
        // no value counts as an option.
        let has_all = |(_, later): &(String, Response)| {
            !later.values.is_empty() && later.is_of(reply) && find_values(tree, reply, later, &[]).is_some()
        };
        let lacks_option = events.iter().any(|values| values.len() < response.values.len());
        if lacks_option && http.observations[index + 1..].iter().any(has_all) {
            continue;
        }
        let make_events = |action: &str, events: &[ReplyValues<'_>]| -> Result<Vec<Received>, Failure> {
            let event = |values: &ReplyValues<'_>| {
                let wire = |part| match part {
                    &ReplyPart::Json(tree) => Wire::Json(tree),
                    ReplyPart::Text(text) => Wire::Text(text),
                };
                let given: Vec<_> = values.iter().map(|(name, part)| (*name, wire(part))).collect();
                let has_pointers = true;
                signatures.output(action, &given, &http.spelling, has_pointers)
            };
            events.iter().map(event).collect()
        };
        let Some(followers) = followers else {
            // An empty list alone is no output.
            if events.is_empty() {
                continue;
            }
            return make_events(action, &events);
        };
        for (name, follower) in followers {
            if let Some(last) = find_values(tree, reply, follower, signatures.parameters(name)) {
                return Ok([make_events(action, &events)?, make_events(name, &last)?].concat());
            }
        }
    }
    let text = describe_unmatched(reply, http, body.as_ref(), signatures);
    match http.unmatched {
        Unmatched::Fail => Ok(vec![Received::Alien(text)]),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(Vec::new()),
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
    if let Some(text) = find_text(&capture.place, reply) {
        return Ok(text.into_owned());
    }
    if !is_named {
        return Err(None);
    }
    let body = String::from_utf8_lossy(&reply.body);
    let mut has = match body.is_empty() {
        true => "has no body".to_owned(),
        false => format!("has the body `{}`", shortened(body.trim_end())),
    };
    let find_in_headers = || find_header(&capture.name, &capture.from, &capture.place, reply, true);
    let remedy = match (&capture.place.source, read_body(reply)) {
        (Extract::Pointer(_), Ok(Err(why))) if reply.foreign_coding().is_some() => {
            has = format!("has a body {why}");
            Some("let the system send bodies without `Content-Encoding`".to_owned())
        }
        (Extract::Pointer(_), Ok(Err(_))) if body.is_empty() => find_in_headers(),
        (Extract::Pointer(_), Ok(Err(why))) => {
            has += &format!(", which is {why}");
            None
        }
        (Extract::Pointer(pointer), Ok(Ok(body))) => find_near(&body, pointer).or_else(find_in_headers),
        _ => None,
    };
    let help = remedy.map_or(String::new(), |remedy| format!("\nhelp: {remedy}"));
    Err(Some(format!("the answer to `{}` lacks {}, and {has}{help}", reply.asked, capture.place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::AnswerPlace;
    use crate::pattern::pattern;
    use crate::template::Template;

    fn take(source: Extract, matches: Option<&str>, headers: &[(&str, &str)], body: &str) -> Option<String> {
        let pattern = matches.map(|text| pattern(text).unwrap());
        let place = AnswerPlace { source, pattern };
        let capture = Capture { name: "c".to_owned(), place, from: Vec::new(), default: None };
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let reply = Reply { status: 200, headers: headers.collect(), body: body.into(), ..Reply::default() };
        capture_value(&capture, &reply, &[]).ok()
    }

    #[test]
    fn an_answer_says_it_in_a_header_a_cookie_or_its_body() {
        let header = || Extract::Header("ETag".to_owned());
        let cookie = || Extract::Cookie("sid".to_owned());
        let pointer = |to: &str| Extract::Pointer(to.to_owned());
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
            take(Extract::Body, Some("(?s).*value=\"(\\w+)\".*"), &[], "<a>\n<b value=\"q\">"),
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
            source: Extract::Header(name.to_owned()),
            pattern: Some(pattern(of).unwrap()),
        };
        let values = vec![
            ("first".to_owned(), at("Content-Range", r"bytes (\d+)-\d+/\d+")),
            ("last".to_owned(), at("Content-Range", r"bytes \d+-(\d+)/\d+")),
        ];
        let plain = vec![("Content-Type".to_owned(), pattern("text/.*").unwrap())];
        let size =
            vec![("size".to_owned(), AnswerPlace::all_of(Extract::Header("content-length".to_owned())))];
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
