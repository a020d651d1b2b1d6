//! Which event a message is, said a second time: by a tokenizer of one regular expression, with every rule of
//! `docs/reference/iut-file.md` written out for this one model. Shares nothing with what it checks.

use std::sync::LazyLock;

use dashu_int::IBig;
use dashu_ratio::RBig;
use regex::Regex;

/// A JSON value: its tokens put together.
#[derive(Clone, PartialEq, Debug)]
enum J {
    Word(String),
    Number(String),
    Text(String),
    List(Vec<J>),
    Object(Vec<(String, J)>),
}

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"^(?:[ \t\r\n]+|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false|null)|([\[\]{}:,]))"#,
    )
    .unwrap()
});

fn json(text: &str) -> Option<J> {
    let (mut rest, mut tokens) = (text, Vec::new());
    while !rest.is_empty() {
        let found = TOKEN.captures(rest)?;
        if let Some(text) = found.get(1) {
            // The library decodes escapes; a lone surrogate is an error there.
            tokens.push(J::Text(serde_json::from_str(text.as_str()).ok()?));
        } else if let Some(number) = found.get(2) {
            tokens.push(J::Number(number.as_str().to_owned()));
        } else if let Some(word) = found.get(3).or(found.get(4)) {
            tokens.push(J::Word(word.as_str().to_owned()));
        }
        rest = &rest[found[0].len()..];
    }
    let mut at = 0;
    let value = value(&tokens, &mut at)?;
    (at == tokens.len()).then_some(value)
}

fn value(tokens: &[J], at: &mut usize) -> Option<J> {
    let token = tokens.get(*at)?.clone();
    *at += 1;
    let word = |at: usize, word: &str| tokens.get(at) == Some(&J::Word(word.to_owned()));
    let J::Word(begin) = &token else { return Some(token) };
    let end = match begin.as_str() {
        "{" => "}",
        "[" => "]",
        "true" | "false" | "null" => return Some(token),
        _ => return None,
    };
    let (mut items, mut members) = (Vec::new(), Vec::<(String, J)>::new());
    if word(*at, end) {
        *at += 1;
    } else {
        loop {
            if end == "}" {
                let J::Text(key) = tokens.get(*at)?.clone() else { return None };
                if !word(*at + 1, ":") || members.iter().any(|(other, _)| *other == key) {
                    return None;
                }
                *at += 2;
                members.push((key, value(tokens, at)?));
            } else {
                items.push(value(tokens, at)?);
            }
            *at += 1;
            if word(*at - 1, end) {
                break;
            }
            if !word(*at - 1, ",") {
                return None;
            }
        }
    }
    Some(if end == "}" { J::Object(members) } else { J::List(items) })
}

/// The members of an object that has exactly these keys.
fn members<const N: usize>(json: &J, keys: [&str; N]) -> Option<[J; N]> {
    let J::Object(members) = json else { return None };
    if members.len() != N {
        return None;
    }
    let found = keys.map(|key| members.iter().find(|(name, _)| name == key).map(|(_, json)| json.clone()));
    if found.iter().any(Option::is_none) { None } else { Some(found.map(Option::unwrap)) }
}

fn fits(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(text) && !text.ends_with('\n')
}

static INTEGER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\A-?(?:0|[1-9][0-9]*)\z").unwrap());

static REAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\A(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*)|(?:\.([0-9]+))?(?:[eE]([+-]?)0*([0-9]{1,3}))?)\z")
        .unwrap()
});

fn ten(power: u32) -> RBig {
    RBig::from(IBig::from(10).pow(power as usize))
}

fn rational(text: &str) -> Option<RBig> {
    let parts = REAL.captures(text)?;
    let part = |at: usize| parts.get(at).map_or("", |part| part.as_str());
    let big = |text: &str| {
        text.bytes().fold(IBig::ZERO, |sum, digit| sum * IBig::from(10) + IBig::from(digit - b'0'))
    };
    let mut value = RBig::from(big(part(2)));
    if !part(4).is_empty() {
        value += RBig::from(big(part(4))) / ten(part(4).len() as u32);
    }
    if !part(3).is_empty() {
        value /= RBig::from(big(part(3)));
    }
    if !part(6).is_empty() {
        let power: u32 = part(6).parse().unwrap();
        if power > 400 {
            return None;
        }
        if part(5) == "-" { value /= ten(power) } else { value *= ten(power) }
    }
    Some(if part(1) == "-" { -value } else { value })
}

fn int_text(text: &str) -> Option<String> {
    INTEGER.is_match(text).then(|| rational(text).unwrap().to_string())
}

/// Is it an integer that a number of any program's JSON holds?
fn is_exact(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    INTEGER.is_match(text) && (digits.len() < 16 || digits.len() == 16 && digits <= "9007199254740992")
}

fn int(json: &J) -> Option<String> {
    match json {
        J::Text(text) => int_text(text).filter(|_| !is_exact(text)),
        J::Number(text) => Some(rational(text)?.to_string()).filter(|text| !text.contains('/')),
        _ => None,
    }
}

fn real(json: &J) -> Option<String> {
    match json {
        J::Text(text) if is_exact(text) => None,
        J::Text(text) | J::Number(text) => Some(rational(text)?.to_string()),
        _ => None,
    }
}

fn boolean(json: &J) -> Option<String> {
    match json {
        J::Word(word) if word != "null" => Some(word.clone()),
        _ => None,
    }
}

/// As events have it.
fn string(json: &J) -> Option<String> {
    match json {
        J::Text(text) => Some(coreach_model::Value::string(text.as_str()).to_string()),
        _ => None,
    }
}

fn drink(json: &J) -> Option<String> {
    match json {
        J::Text(text) if text == "TEA" || text == "COFFEE" => Some(text.clone()),
        _ => None,
    }
}

fn spelt(text: &str) -> Option<&'static str> {
    match text {
        "tea" => Some("TEA"),
        "coffee" => Some("COFFEE"),
        _ => None,
    }
}

fn pair(json: &J) -> Option<String> {
    let [a, d] = members(json, ["a", "d"])?;
    Some(format!("{{a: {}, d: {}}}", int(&a)?, drink(&d)?))
}

fn cells(json: &J) -> Option<String> {
    let [default, cells] = members(json, ["default", "cells"])?;
    let digit = |json: &J| int(json).filter(|text| fits("[0-9]", text));
    let default = digit(&default)?;
    let J::List(cells) = cells else { return None };
    let mut found: Vec<(IBig, String)> = Vec::new();
    for cell in &cells {
        let J::List(two) = cell else { return None };
        let [index, element] = two.as_slice() else { return None };
        let index = rational(&int(index)?)?.numerator().clone();
        if found.iter().any(|(other, _)| *other == index) {
            return None;
        }
        found.push((index, digit(element)?));
    }
    found.retain(|(_, element)| *element != default);
    found.sort();
    let cells: String = found.iter().map(|(index, element)| format!("{index}: {element}, ")).collect();
    Some(format!("[{cells}..: {default}]"))
}

/// The event of a JSON line.
pub fn json_line(line: &str) -> Option<String> {
    let message = json(line)?;
    let (output, values) = match members(&message, ["output"]) {
        Some([output]) => (output, J::Object(Vec::new())),
        None => members(&message, ["output", "values"]).map(|[output, values]| (output, values))?,
    };
    let J::Text(output) = output else { return None };
    Some(match output.as_str() {
        "Out" => {
            let [n, b, r] = members(&values, ["n", "b", "r"])?;
            format!("Out({}, {}, {})", int(&n)?, boolean(&b)?, real(&r)?)
        }
        "Deliver" => format!("Deliver({})", drink(&members(&values, ["d"])?[0])?),
        "Both" => {
            let [p, s] = members(&values, ["p", "s"])?;
            format!("Both({}, {})", pair(&p)?, drink(&s)?)
        }
        "Cells" => format!("Cells({})", cells(&members(&values, ["c"])?[0])?),
        "Say" => format!("Say({})", string(&members(&values, ["t"])?[0])?),
        "Quote" => format!("Quote({})", string(&members(&values, ["q"])?[0])?),
        "None" => {
            members(&values, [])?;
            "None()".to_owned()
        }
        _ => return None,
    })
}

/// The event of a line of the patterns.
pub fn pattern_line(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix("out ") {
        let words: Vec<&str> = rest.split(' ').collect();
        let [n, b, r] = words.as_slice() else { return None };
        let b = ["true", "false"].into_iter().find(|word| word == b)?;
        return Some(format!("Out({}, {b}, {})", int_text(n)?, rational(r)?));
    }
    if let Some(rest) = line.strip_prefix("both ") {
        // The braces are taken as far as they go.
        let end = rest.starts_with('{').then(|| rest.rfind("} "))?? + 1;
        return Some(format!("Both({}, {})", pair(&json(&rest[..end])?)?, spelt(&rest[end + 1..])?));
    }
    if let Some(rest) = line.strip_prefix("say ") {
        return Some(format!("Say({})", string(&J::Text(rest.to_owned()))?));
    }
    if let Some(rest) = line.strip_prefix("quote ") {
        return Some(format!("Quote({})", string(&json(rest)?)?));
    }
    let rest = line.strip_prefix("take ")?;
    ["TEA", "COFFEE"].contains(&rest).then(|| format!("Deliver({rest})"))
}

/// The event of a body with the status 200.
pub fn body(text: &str) -> Option<String> {
    let tree = json(text)?;
    let J::Object(all) = &tree else { return None };
    let get = |all: &[(String, J)], key: &str| {
        all.iter().find(|(name, _)| name == key).map(|(_, json)| json.clone())
    };
    let out = || {
        let (n, J::List(b)) = (get(all, "n")?, get(all, "b")?) else { return None };
        let J::Object(inner) = b.get(1)? else { return None };
        Some((n, b[0].clone(), get(inner, "r")?))
    };
    if let Some((n, b, r)) = out() {
        return Some(format!("Out({}, {}, {})", int(&n)?, boolean(&b)?, real(&r)?));
    }
    if let (Some(p), Some(s)) = (get(all, "p"), get(all, "s")) {
        let J::Text(s) = s else { return None };
        return Some(format!("Both({}, {})", pair(&p)?, spelt(&s)?));
    }
    Some(format!("Say({})", string(&get(all, "t")?)?))
}
