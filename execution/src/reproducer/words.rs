//! Texts of which a part is known only when the script runs: the port that it chooses, the folder that it
//! makes, what it captures.
//!
//! What is known when the script is written stands in it as a literal; around the rest, the functions of
//! templates are those of Python.

use coreach_adapters::template::{Function, Template, TemplatePart};

use super::python;

/// A text as an expression.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Words(Vec<Word>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    Known(String),
    /// An expression whose value is a text.
    Run(String),
}

/// What fills a hole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filling {
    /// This.
    Known(String),
    /// The value of this expression.
    Run(String),
}

/// How what fills a hole is written last.
#[derive(Clone, Copy)]
pub struct HoleText {
    /// By us.
    pub here: fn(String) -> String,
    /// The function of the script that does the same; nothing, where it is as it is.
    pub there: &'static str,
}

/// As it is.
pub const PLAIN: HoleText = HoleText { here: |text| text, there: "" };

impl Words {
    /// A template with its holes filled.
    ///
    /// # Errors
    /// The name of a hole for which there is nothing.
    pub fn of(
        template: &Template,
        value: impl Fn(&str) -> Option<Filling>,
        written: HoleText,
    ) -> Result<Self, String> {
        let mut words = Words::default();
        for part in template.parts() {
            match part {
                TemplatePart::Text(text) => words.push(text),
                TemplatePart::Hole(functions, name) => match value(name).ok_or_else(|| name.to_owned())? {
                    Filling::Known(text) => words.push(&(written.here)(Function::all_of(functions, text))),
                    Filling::Run(run) => {
                        let run = functions.iter().rev().fold(run, |run, function| applied(*function, &run));
                        let run =
                            if written.there.is_empty() { run } else { format!("{}({run})", written.there) };
                        words.0.push(Word::Run(run));
                    }
                },
            }
        }
        Ok(words)
    }

    /// A text behind it.
    pub fn push(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Word::Known(known)) => known.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Word::Known(text.to_owned())),
        }
    }

    /// The text, where all of it is known.
    pub fn whole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Word::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// As an expression of a text.
    pub fn text(&self) -> String {
        let one = |word: &Word| match word {
            Word::Known(known) => python::text(known),
            Word::Run(run) => run.clone(),
        };
        match self.0.as_slice() {
            [] => python::text(""),
            words => words.iter().map(one).collect::<Vec<_>>().join(" + "),
        }
    }

    /// As an expression of its bytes.
    pub fn bytes(&self) -> String {
        match self.whole() {
            Some(text) => python::bytes(text.as_bytes()),
            None => format!("({}).encode()", self.text()),
        }
    }
}

/// A function of templates in the script.
fn applied(function: Function, run: &str) -> String {
    match function {
        Function::Length => format!("str(len({run}.encode()))"),
        Function::Base64 => format!("base64.b64encode({run}.encode()).decode()"),
        Function::Hex => format!("{run}.encode().hex()"),
        Function::Lower => format!("{run}.lower()"),
        Function::Json => format!("json.dumps({run}, ensure_ascii=False)"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_adapters::encoding::percent_encoded;

    use super::*;
    use crate::reproducer::IMPORTS;

    const ENCODED: HoleText = HoleText { here: |text| percent_encoded(&text), there: "quoted" };

    #[test]
    fn what_is_known_is_a_literal_and_the_rest_is_asked_for() {
        let value = |name: &str| match name {
            "a" => Some(Filling::Known("x".to_owned())),
            "b" => Some(Filling::Run("it.b".to_owned())),
            _ => None,
        };
        let of = |text: &str| Words::of(&Template::parse(text).unwrap(), value, PLAIN);
        let texts = |text: &str| of(text).map(|words| (words.text(), words.bytes()));
        let pair = |one: &str, other: &str| Ok((one.to_owned(), other.to_owned()));
        assert_eq!(texts("1{a}2"), pair("\"1x2\"", "b\"1x2\""));
        assert_eq!(texts(""), pair("\"\"", "b\"\""));
        assert_eq!(texts("{b}"), pair("it.b", "(it.b).encode()"));
        assert_eq!(texts("1{a}{b}{a}"), pair("\"1x\" + it.b + \"x\"", "(\"1x\" + it.b + \"x\").encode()"));
        assert_eq!(
            texts("{len(a)}{len(b)}"),
            pair("\"1\" + str(len(it.b.encode()))", "(\"1\" + str(len(it.b.encode()))).encode()")
        );
        assert_eq!(of("{c}"), Err("c".to_owned()));
    }

    #[test]
    fn functions_are_the_same_here_and_there() {
        let any: String = (1..0x300).chain([0x2028, 0xFEFF, 0x1F600]).filter_map(char::from_u32).collect();
        let mut program = format!(
            "{IMPORTS}\nquoted = lambda text: urllib.parse.quote(text, safe=\"-._~\")\nx = {}\n",
            python::text(&any)
        );
        for text in [
            "{a}",
            "{len(a)}",
            "{base64(a)}",
            "{hex(a)}",
            "{json(a)}",
            "{lower(a)}",
            "{hex(base64(json(a)))}",
            "{json(lower(a))}",
        ] {
            let template = Template::parse(text).unwrap();
            for written in [PLAIN, ENCODED] {
                let here = Words::of(&template, |_| Some(Filling::Known(any.clone())), written).unwrap();
                let there = Words::of(&template, |_| Some(Filling::Run("x".to_owned())), written).unwrap();
                assert!(here.whole().is_some() && there.whole().is_none());
                program.push_str(&format!(
                    "assert {} == {}, {}\n",
                    here.text(),
                    there.text(),
                    python::text(text)
                ));
            }
        }
        let output = std::process::Command::new("python3").arg("-c").arg(program).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}
