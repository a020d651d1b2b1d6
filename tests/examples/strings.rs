//! Random expressions on strings before all evaluators, and random questions about strings before the solver.
//!
//! ```text
//! cargo run -p coreach-tests --example strings -- [EXPRESSIONS] [QUESTIONS]
//! ```
//!
//! An expression is a text, read by the project and by the oracle, and evaluated at one valuation by both, by
//! the runtime of exported Python (`python3`) and by the page's script (`node`). The condition of a
//! transition must hold where the oracle says that the expression is defined and true, and nowhere else;
//! Python and the page must say of the project's term what the project does, also that it has no value. A
//! question is whether two of the expressions hold together; of each a witness is asked as well. The figures
//! of `docs/explanation/evidence.md` are from here.

use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, Witness};
use coreach_artifact::terms::TermTable;
use coreach_artifact::types::TypeTable;
use coreach_model::obligation::enabling_condition;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::{Datum, Iosts, Term, Type, Value};
use coreach_tests::brute;
use coreach_tests::brute::artifact;
use coreach_tests::generator::random::Random;
use coreach_tests::generator::terms::regular_expression;
use serde_json::{Value as Json, json};

type Done<T> = Result<T, Box<dyn std::error::Error>>;

/// So many expressions are in one model.
const BATCH: usize = 500;

const STRINGS: [&str; 16] = [
    "",
    "a",
    "b",
    "ab",
    "aba",
    "\u{e9}",
    "b\u{e9}a",
    "\u{1f600}a",
    "e\u{301}",
    "\u{ffff}",
    "\u{10000}",
    "\u{0}\n",
    "\"\\",
    "12",
    "007",
    "-1",
];

/// Evaluates the terms of each line of the input as the exported program does.
const PYTHON: &str = r#"
import json, sys
from collections import namedtuple
from fractions import Fraction
import re
exec(compile(open("pipeline/src/export/code/runtime.py").read().split("\nif __name__")[0], "runtime", "exec"))
words = {"negate": "negative", "to_real": "to real"}
for line in sys.stdin:
    batch = json.loads(line)
    TERMS = []
    for word, *parts in batch["terms"]:
        if word == "literal":
            TERMS.append(("value", parts[1], ("string",)))
        elif word == "data":
            TERMS.append(("data", parts[0]))
        else:
            flat = parts[0] if word in ("and", "or") else parts
            TERMS.append((words.get(word, word), *flat))
    said = []
    for root, values in batch["asked"]:
        try:
            said.append("ft"[evaluate(root, values)])
        except Undefined:
            said.append("u")
    print("".join(said), flush=True)
"#;

/// The same as the page does.
const NODE: &str = r#"
const fs = require("fs"), vm = require("vm");
globalThis.Coreach = { data: {}, type: (number) => Coreach.data.types[number] };
for (const file of ["values", "terms"]) vm.runInThisContext(fs.readFileSync(`project/page/${file}.js`, "utf8"));
for (const line of fs.readFileSync(0, "utf8").trim().split("\n")) {
  const batch = JSON.parse(line);
  Coreach.data = batch;
  console.log(batch.asked.map(([root, values]) => {
    const data = new Map(Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]));
    try { return Coreach.terms.evaluate(root, data) ? "t" : "f"; }
    catch (error) { if (error instanceof Coreach.terms.Undefined) return "u"; throw error; }
  }).join(""));
}
"#;

fn main() -> ExitCode {
    let mut counts = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut count = |usual: usize| counts.next().unwrap_or(Ok(usual));
    let (Ok(expressions), Ok(questions)) = (count(100_000), count(1_000)) else {
        eprintln!("usage: strings [EXPRESSIONS] [QUESTIONS]");
        return ExitCode::from(2);
    };
    let done = evaluators(expressions).and_then(|()| solver(questions));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn string(random: &mut Random, depth: usize) -> String {
    let literal = |random: &mut Random| Value::string(STRINGS[random.below(STRINGS.len())]).to_string();
    match random.below(if depth == 0 { 4 } else { 9 }) {
        0 | 1 => ["s", "t"][random.below(2)].to_owned(),
        2 | 3 => literal(random),
        4 => format!("({} + {})", string(random, depth - 1), string(random, depth - 1)),
        5 => format!("{}[{}]", string(random, depth - 1), number(random, depth - 1)),
        6 => {
            let ends = (number(random, depth - 1), number(random, depth - 1));
            format!("{}[{}..{}]", string(random, depth - 1), ends.0, ends.1)
        }
        7 => format!("to_string({})", number(random, depth - 1)),
        _ => {
            let cases = (string(random, depth - 1), string(random, depth - 1));
            format!("(if {} then {} else {})", condition(random, depth - 1), cases.0, cases.1)
        }
    }
}

fn number(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => ["m", "n"][random.below(2)].to_owned(),
        2 | 3 => random.below(4).to_string(),
        4 | 5 => format!("len({})", string(random, depth - 1)),
        6 => format!("index_of({}, {})", string(random, depth - 1), string(random, depth - 1)),
        _ => format!("to_int({})", string(random, depth - 1)),
    }
}

fn condition(random: &mut Random, depth: usize) -> String {
    let signs = ["==", "!=", "<", "<=", ">", ">="];
    let sign = signs[random.below(signs.len())];
    let less = depth.saturating_sub(1);
    match random.below(if depth == 0 { 7 } else { 10 }) {
        0 | 1 => format!("{} {sign} {}", string(random, depth), string(random, depth)),
        2 | 3 => format!("{} {sign} {}", number(random, depth), number(random, depth)),
        4 | 5 => {
            let asked = ["starts_with", "ends_with", "contains"][random.below(3)];
            format!("{asked}({}, {})", string(random, depth), string(random, depth))
        }
        6 => {
            let expression = Value::string(&regular_expression(random, 2));
            format!("matches({}, {expression})", string(random, depth))
        }
        7 => format!("!({})", condition(random, less)),
        8 => format!("({} && {})", condition(random, less), condition(random, less)),
        _ => format!("({} || {})", condition(random, less), condition(random, less)),
    }
}

/// A specification whose guards are random expressions, as text and as it was read.
fn model(random: &mut Random, count: usize) -> Done<(String, Iosts)> {
    let mut text = "iosts: m\nvariables: { s: string, t: string, m: int, n: int }\noutputs: { O: {} }\n\
                    initial: { location: A, condition: 's == \"\" && t == \"\" && m == 0 && n == 0' }\ntransitions:\n"
        .to_owned();
    for _ in 0..count {
        text += &format!("  - {{ from: A, to: A, on: O, when: '{}' }}\n", condition(random, 3));
    }
    let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).map_err(|why| format!("{why:?}"))?;
    let iosts = read_specification(file).map_err(|found| format!("{found:?}\n{text}"))?.0.iosts;
    Ok((text, iosts))
}

fn evaluators(count: usize) -> Done<()> {
    let mut random = Random::new(1);
    let (mut batches, mut expected, mut totals) = (String::new(), Vec::new(), [0; 3]);
    for _ in 0..count.div_ceil(BATCH) {
        let (text, iosts) = model(&mut random, BATCH)?;
        let own = brute::text::specification(&text)?.machine;
        let (mut table, mut asked, mut said) = (TermTable::default(), Vec::new(), String::new());
        for (step, transition) in own.steps.iter().zip(&iosts.transitions) {
            let valuation: Valuation =
                iosts.variables.iter().map(|datum| (datum.clone(), drawn(&mut random, datum))).collect();
            let places: Vec<_> =
                iosts.variables.iter().map(|datum| artifact::value(&valuation[datum])).collect();
            let mine = step.guard.value(&places);
            let is_enabled = holds(&enabling_condition(transition), &valuation);
            let is_true = mine.as_ref().is_ok_and(|value| *value == brute::value::Value::Bool(true));
            if is_enabled != Ok(is_true) {
                return Err(
                    format!("{}: {mine:?}, not {is_enabled:?} at {valuation:?}", transition.guard).into()
                );
            }
            totals[match mine {
                Err(_) => 2,
                Ok(_) => usize::from(is_true),
            }] += 1;
            let project = holds(&transition.guard, &valuation);
            if let (Ok(mine), Ok(project)) = (&mine, &project)
                && *mine != brute::value::Value::Bool(*project)
            {
                return Err(format!("{}: {mine:?}, not {project} at {valuation:?}", transition.guard).into());
            }
            said.push(match project {
                Ok(true) => 't',
                Ok(false) => 'f',
                Err(_) => 'u',
            });
            let values: serde_json::Map<String, Json> = valuation
                .iter()
                .map(|(datum, value)| (datum.name().to_owned(), coreach_model::codec::to_json(value)))
                .collect();
            asked.push(json!([table.number(&transition.guard), values]));
        }
        let mut types = TypeTable::default();
        let terms = table.nodes(&mut types);
        batches += &json!({ "terms": terms, "types": types.nodes(), "asked": asked }).to_string();
        batches.push('\n');
        expected.push(said);
    }
    let [not, holding, undefined] = totals;
    println!("ours and the oracle's agree: {holding} hold, {not} do not, {undefined} have no value");
    for (name, program, script) in [("Python", "python3", PYTHON), ("the page", "node", NODE)] {
        let flag = if program == "node" { "-e" } else { "-c" };
        let mut child = Command::new(program)
            .args([flag, script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().ok_or("no input")?;
        let given = batches.clone();
        let writer = std::thread::spawn(move || input.write_all(given.as_bytes()));
        let output = child.wait_with_output()?;
        writer.join().map_err(|_| "the writer ended")??;
        let lines: Vec<String> = String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect();
        if lines != expected {
            let wrong = lines.iter().zip(&expected).position(|(got, wanted)| got != wanted);
            return Err(format!(
                "{name} differs in batch {wrong:?} of {}: {} lines",
                expected.len(),
                lines.len()
            )
            .into());
        }
        println!("{name} agrees on {} expressions", expected.len() * BATCH);
    }
    Ok(())
}

fn drawn(random: &mut Random, datum: &Datum) -> Value {
    match datum.ty() {
        Type::String => Value::string(STRINGS[random.below(STRINGS.len())]),
        _ => Value::int(random.below(7) as i64 - 2),
    }
}

/// The times of questions, and how many had which answer.
fn solver(count: usize) -> Done<()> {
    let mut random = Random::new(2);
    let (_, iosts) = model(&mut random, 2 * count)?;
    let guards: Vec<Term> = iosts.transitions.iter().map(enabling_condition).collect();
    let mut solver = Z3Solver::default();
    let (mut times, mut answers, mut wrong) = (Vec::new(), [0; 3], 0);
    for pair in guards.chunks(2) {
        let start = Instant::now();
        let answer = solver.check(pair);
        times.push(start.elapsed());
        answers[answer as usize] += 1;
        let witness = solver.witness(pair);
        wrong += usize::from(answer == Answer::Unsat && matches!(witness, Witness::Found(_)));
        wrong += usize::from(answer == Answer::Sat && witness == Witness::None);
    }
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default().as_micros();
    println!(
        "{count} questions: {:?} {}, {:?} {}, {:?} {}; median {} us, 90 % {} us, 99 % {} us; contradictions: {wrong}",
        Answer::Sat,
        answers[Answer::Sat as usize],
        Answer::Unsat,
        answers[Answer::Unsat as usize],
        Answer::Unknown,
        answers[Answer::Unknown as usize],
        at(50),
        at(90),
        at(99),
    );
    if wrong > 0 { Err("an answer contradicts another".into()) } else { Ok(()) }
}
