//! A request: read strictly, and held to its folder.
//!
//! ```text
//! request   = { "id": id, "arguments": [string, ...], "files": { name: text, ... }, "want": [name, ...],
//! "time": time } id        = string | integer | null                                     given back as it
//! is name      = a path of plain names with "/" between them, relative, without "." and ".." time      = as
//! `--time` takes it: "90s", "10m"
//! ```
//!
//! `arguments` is needed, the others are not. No other key is known: one that is misspelled would be missed
//! silently.

use std::path::{Component, Path};
use std::time::Duration;

use coreach_model::json;
use coreach_project::budget::parse_time;
use serde_json::Value as Json;

/// The most files of a request.
const MOST_FILES: usize = 1000;

/// The most arguments of a request, and names that it wants.
const MOST_WORDS: usize = 1000;

/// How long a request may take that does not say it.
const TIME: Duration = Duration::from_secs(600);

/// What is asked for.
#[derive(Debug)]
pub struct JsonRequest {
    /// Whose answer it is.
    pub id: Json,
    /// Of the command, its name first.
    pub arguments: Vec<String>,
    /// Names and texts.
    pub files: Vec<(String, String)>,
    /// Names of files that are given back.
    pub want: Vec<String>,
    /// How long it may take.
    pub time: Duration,
}

/// Reads a line.
///
/// # Errors
/// What is wrong, with the id as far as it is known.
pub fn read(line: &[u8]) -> Result<JsonRequest, (Json, String)> {
    let document = json::document(line).map_err(|why| (Json::Null, format!("the line is no JSON: {why}")))?;
    let Json::Object(members) = &document else {
        return Err((Json::Null, "a request is an object".to_owned()));
    };
    let id = match members.get("id") {
        None | Some(Json::Null) => Json::Null,
        Some(id @ Json::String(_)) => id.clone(),
        Some(id @ Json::Number(number)) if number.is_i64() || number.is_u64() => id.clone(),
        Some(_) => return Err((Json::Null, "`id` is neither a text nor an integer".to_owned())),
    };
    let wrong = |why: String| (id.clone(), why);
    const KEYS: [&str; 5] = ["id", "arguments", "files", "want", "time"];
    if let Some(unknown) = members.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(wrong(format!("unknown key `{unknown}`; a request has {}", KEYS.join(", "))));
    }
    let arguments = texts(members.get("arguments"), "arguments").map_err(wrong)?;
    if arguments.is_empty() {
        return Err(wrong("`arguments` is missing, or empty".to_owned()));
    }
    if let Some(argument) = arguments.iter().find(|argument| leaves(argument)) {
        return Err(wrong(format!("the argument `{argument}` names a place outside the request's folder")));
    }
    match command(&arguments).as_deref() {
        Some("json") => return Err(wrong("`json` answers requests, and is none".to_owned())),
        Some("watch") => {
            let why = "`watch` does not end by itself, so it has no answer: ask with `check` or `run` after a change";
            return Err(wrong(why.to_owned()));
        }
        _ => {}
    }
    let time = match members.get("time") {
        None | Some(Json::Null) => TIME,
        Some(Json::String(text)) => parse_time(text).map_err(|why| wrong(format!("`time`: {why}")))?,
        Some(_) => return Err(wrong("`time` is no text such as `90s`".to_owned())),
    };
    let want = texts(members.get("want"), "want").map_err(wrong)?;
    let files: Vec<(String, String)> = match members.get("files") {
        None => Vec::new(),
        Some(Json::Object(files)) if files.len() <= MOST_FILES => files
            .iter()
            .map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("`files` has a file whose content is no text".to_owned()))?,
        Some(Json::Object(_)) => return Err(wrong(format!("more than {MOST_FILES} files"))),
        Some(_) => return Err(wrong("`files` is no object of names and texts".to_owned())),
    };
    if let Some(name) = files.iter().map(|(name, _)| name).chain(&want).find(|name| !is_inside(name)) {
        return Err(wrong(format!(
            "`{name}` is no name of a file in the request's folder: relative, of plain names, without `.` and `..`"
        )));
    }
    Ok(JsonRequest { id, arguments, files, want, time })
}

fn texts(list: Option<&Json>, what: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{what}` is no list of at most {MOST_WORDS} texts");
    match list {
        None => Ok(Vec::new()),
        Some(Json::Array(items)) if items.len() <= MOST_WORDS => {
            let text = |item: &Json| item.as_str().filter(|text| !text.contains('\0')).map(str::to_owned);
            items.iter().map(text).collect::<Option<_>>().ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

/// The name of the command; before it only options can stand.
fn command(arguments: &[String]) -> Option<String> {
    use clap::CommandFactory;
    let words = std::iter::once("coreach").chain(arguments.iter().map(String::as_str));
    let matches = crate::arguments::Arguments::command().ignore_errors(true).try_get_matches_from(words);
    matches.ok()?.subcommand_name().map(str::to_owned)
}

/// Is it the name of a file below a folder, however it is joined to it?
pub fn is_inside(name: &str) -> bool {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    // `a/` and `a/.` have the components of `a`.
    let written = name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    plain && written && !name.contains('\0')
}

/// Does an argument, or what stands in it behind `=`, name a place outside?
fn leaves(argument: &str) -> bool {
    let is_out = |text: &str| {
        let path = Path::new(text);
        path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
    };
    // Behind a short option its value may stand at once: `-o/tmp/x`.
    let short = argument.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or("");
    is_out(short) || argument.split(['=', ',']).any(is_out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn names_stay_below_the_folder() {
        for name in ["a", "a/b.yaml", "..a", "a..", "é/\u{202e}", "-", "a b"] {
            assert!(is_inside(name), "{name}");
        }
        for name in ["", "/", "/a", "../a", "a/../b", "a/..", ".", "./a", "a/.", "a/", "a//b", "a\0"] {
            assert!(!is_inside(name), "{name:?}");
        }
    }

    #[test]
    fn arguments_stay_below_the_folder() {
        for argument in
            ["run", "a/b.yaml", "--out", "--out=x", "--stages=a,b", "--constant", "c=1/3", "-v", "..x"]
        {
            assert!(!leaves(argument), "{argument}");
        }
        for argument in
            ["/etc/passwd", "../x", "a/../../b", "--out=/tmp", "--out=a/..", "-o/tmp", "a,/b", "c=../x", ".."]
        {
            assert!(leaves(argument), "{argument}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id() {
        let refused = |line: &str| read(line.as_bytes()).unwrap_err();
        for (line, id, why) in [
            ("{", Json::Null, "no JSON"),
            ("[]", Json::Null, "is an object"),
            ("{\"id\": 1, \"id\": 2}", Json::Null, "twice"),
            ("{\"id\": 1.5, \"arguments\": [\"run\"]}", Json::Null, "`id`"),
            ("{\"id\": 7}", 7.into(), "`arguments` is missing"),
            ("{\"id\": \"a\", \"argument\": []}", "a".into(), "unknown key `argument`"),
            ("{\"id\": 7, \"arguments\": \"run\"}", 7.into(), "no list"),
            ("{\"id\": 7, \"arguments\": [1]}", 7.into(), "no list"),
            ("{\"id\": 7, \"arguments\": [\"json\"]}", 7.into(), "is none"),
            ("{\"id\": 7, \"arguments\": [\"--time\", \"5s\", \"json\"]}", 7.into(), "is none"),
            ("{\"id\": 7, \"arguments\": [\"watch\", \"a.yaml\"]}", 7.into(), "`watch`"),
            ("{\"id\": 7, \"arguments\": [\"-v\", \"watch\", \"a.yaml\"]}", 7.into(), "`watch`"),
            ("{\"id\": 7, \"arguments\": [\"run\"], \"time\": 60}", 7.into(), "`time`"),
            ("{\"id\": 7, \"arguments\": [\"run\"], \"time\": \"soon\"}", 7.into(), "expected a time"),
            ("{\"id\": 7, \"arguments\": [\"run\", \"/x\"]}", 7.into(), "outside"),
            ("{\"id\": 7, \"arguments\": [\"run\"], \"files\": []}", 7.into(), "`files`"),
            ("{\"id\": 7, \"arguments\": [\"run\"], \"files\": {\"a\": 1}}", 7.into(), "no text"),
            (
                "{\"id\": 7, \"arguments\": [\"run\"], \"files\": {\"../a\": \"\"}}",
                7.into(),
                "`../a` is no name",
            ),
            ("{\"id\": 7, \"arguments\": [\"run\"], \"want\": [\"/a\"]}", 7.into(), "`/a` is no name"),
        ] {
            let (found, said) = refused(line);
            assert_eq!(found, id, "{line}");
            assert!(said.contains(why), "{line}: {said}");
        }
        let whole = read(b"{\"arguments\": [\"check\", \"json\"], \"files\": {\"json\": \"\"}}").unwrap();
        assert_eq!((whole.id, whole.arguments.len()), (Json::Null, 2));
    }
}
