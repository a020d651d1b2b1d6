//! Random terms with operations: the evaluator, what the operations stand for, the condition that there is a
//! value, the text read again, the page and Python.
//!
//! All expectations defend *soundness*: an expression means the same wherever it is evaluated.
//! `COREACH_OPERATIONS=1000` sets how many models are drawn.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::io::Write;
use std::process::{Command, Stdio};

use coreach_model::obligation::defined;
use coreach_model::random::Random;
use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::writer::write_yaml;
use coreach_model::{Iosts, Term, Type, Value, codec};
use coreach_pipeline::export::View;
use coreach_pipeline::export::code::python::to_python;
use coreach_pipeline::stage::Stage;
use coreach_project::page::Page;
use serde_json::Value as Json;

const DECLARED: &str = r#"iosts: m
types: { J: id, Item: { a: int, b: string } }
functions:
  f: { parameters: { p: int, u: "list[4] of int" }, is: "if p < i then p + len(u) else u[p]" }
  g: { parameters: { v: string }, is: "v in m && m[v] > j" }
variables:
  i: int
  j: int
  oi: int
  x: string
  y: string
  ox: string
  d: J
  e: J
  ob: bool
  r: Item
  q: list[4] of int
  oq: list[4] of int
  n: list[3] of nat
  w: list[3] of string
  ow: list[3] of string
  l: list[3] of Item
  ol: list[3] of Item
  s: set[3] of string
  t: set[2] of string
  os: set[3] of string
  m: map[3] of string to int
  om: map[3] of string to int
  h: set[3] of J
  oh: set[3] of J
  k: map[3] of J to int
  ok: map[3] of J to int
  a: set[int[0..3]]
  oa: set[int[0..3]]
  b: map[bool] of int
  obm: map[bool] of int
  c: option[int]
  oc: option[int]
initial: { location: A }
outputs: { u: {} }
transitions:
"#;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Int,
    Bool,
    Text,
    Id,
    Item,
    Ints,
    Texts,
    Items,
    Set,
    Map,
    Ids,
    IdMap,
    Few,
    FewMap,
    Option,
}

use Kind::{Bool, Few, FewMap, Id, IdMap, Ids, Int, Ints, Item, Items, Map, Option as Opt, Set, Text, Texts};

/// What is assigned, by the variable.
const ASSIGNED: [(&str, Kind); 13] = [
    ("oi", Int),
    ("ob", Bool),
    ("ox", Text),
    ("oq", Ints),
    ("ow", Texts),
    ("ol", Items),
    ("os", Set),
    ("om", Map),
    ("oh", Ids),
    ("ok", IdMap),
    ("oa", Few),
    ("obm", FewMap),
    ("oc", Opt),
];

/// For each kind what may stand for it. A letter stands for an expression, `@` for a new name of a value.
const FORMS: [(Kind, &[&str]); 15] = [
    (
        Int,
        &[
            "0",
            "1",
            "2",
            "-1",
            "i",
            "j",
            "len(Q)",
            "len(W)",
            "len(S)",
            "len(M)",
            "len(A)",
            "sum(Q)",
            "min(Q)",
            "max(Q)",
            "sum(n)",
            "Q[I]",
            "index_of(Q, I)",
            "(count @ in Q: B)",
            "(index @ in Q: B)",
            "(index $ in W: B)",
            "M[T]",
            "I + I",
            "I - I",
            "I * I",
            "I div I",
            "I mod I",
            "max(I, I)",
            "abs(I)",
            "R.a",
            "to_int(T)",
            "K[D]",
            "k[D]",
            "(match c: some(@) -> I | none -> I)",
            "f(I, Q)",
            "(if B then I else I)",
            "max(A2)",
            "b[B]",
            "sum([I for $ in m if B])",
            "sum([I for % in h])",
            "len(L)",
            "(index % in h: B)",
        ],
    ),
    (
        Bool,
        &[
            "true",
            "I < I",
            "I == I",
            "B && B",
            "B || B",
            "!B",
            "contains(Q, I)",
            "contains(W, T)",
            "T in S",
            "T in m",
            "T in M",
            "(all @ in Q: B)",
            "(some $ in S: B)",
            "(all $ in m: B)",
            "Q == Q",
            "S == S",
            "S <= S",
            "S < S",
            "M == M",
            "c == some(I)",
            "(find @ in Q: B) is some",
            "(find $ in s: B) is none",
            "D in H",
            "D in k",
            "D == D",
            "T < T",
            "T == T",
            "defined(I)",
            "g(T)",
            "I in A",
            "B in b",
            "H <= H",
            "(some % in h: B)",
            "starts_with(T, T)",
            "(all ! in l: B)",
            "contains(l, R)",
            "W == W",
        ],
    ),
    (
        Text,
        &[
            "\"\"",
            "\"a\"",
            "\"ab\"",
            "x",
            "y",
            "W[I]",
            "join(W, T)",
            "T + T",
            "T[I..]",
            "to_string(I)",
            "R.b",
            "min(W)",
            "join([T for @ in Q], \",\")",
            "(if B then T else T)",
            "max(w)",
            "join([T for $ in S if B], T)",
        ],
    ),
    (Id, &["d", "e"]),
    (Item, &["r", "L[I]", "Item { a: I, b: T }", "(R with { a: I })"]),
    (
        Ints,
        &[
            "q",
            "([]: list[4] of int)",
            "([I, I]: list[4] of int)",
            "(Q + [I])",
            "(Q + Q)",
            "Q[I..]",
            "Q[I..I]",
            "Q[I := I]",
            "insert(Q, I, I)",
            "remove_at(Q, I)",
            "sorted(Q)",
            "([I for @ in Q if B]: list[4] of int)",
            "([I for $ in S]: list[4] of int)",
            "([M[$] for $ in m]: list[4] of int)",
            "([I for @ in 0..3 if B]: list[4] of int)",
            "(if B then Q else Q)",
            "([I for ! in l if B]: list[4] of int)",
            "([I for @ in A]: list[4] of int)",
        ],
    ),
    (
        Texts,
        &[
            "w",
            "([T]: list[3] of string)",
            "(W + [T])",
            "sorted(W)",
            "([$ for $ in S if B]: list[3] of string)",
            "([T for @ in Q if B]: list[3] of string)",
            "insert(W, I, T)",
            "remove_at(W, I)",
            "([T for ! in l if B]: list[3] of string)",
        ],
    ),
    (
        Items,
        &[
            "l",
            "([! for ! in L if B]: list[3] of Item)",
            "(L + [R])",
            "insert(L, I, R)",
            "remove_at(L, I)",
            "([R for @ in Q if B]: list[3] of Item)",
        ],
    ),
    (
        Set,
        &[
            "s",
            "({T, T}: set[3] of string)",
            "(S + S)",
            "(S - S)",
            "(S - t)",
            "(S * S)",
            "keys(M)",
            "(S + {T})",
            "(S - {T})",
        ],
    ),
    (
        Map,
        &[
            "m",
            "M[T := I]",
            "(M - {T})",
            "(M - S)",
            "([T: I, T: I]: map[3] of string to int)",
            "(if B then M else M)",
        ],
    ),
    (Ids, &["h", "(H + {D})", "(H - H)", "(H * H)", "keys(K)", "({D, D}: set[3] of J)"]),
    (IdMap, &["k", "K[D := I]", "(K - {D})", "(K - H)"]),
    (Few, &["a", "(A + {I})", "(A - A)", "({I}: set[int[0..3]])", "(A * A)"]),
    (FewMap, &["b", "b[B := I]", "(b - {B})"]),
    (Opt, &["c", "some(I)", "(find @ in Q: B)", "(if B then c else c)", "(find @ in 0..3: B)"]),
];

struct Writer {
    random: Random,
    /// The names of values that may be used here, each with its kind.
    bound: Vec<(String, Kind)>,
    names: usize,
}

impl Writer {
    fn expression(&mut self, kind: Kind, depth: usize) -> String {
        let own: Vec<String> =
            self.bound.iter().filter(|(_, of)| *of == kind).map(|(name, _)| name.clone()).collect();
        if !own.is_empty() && self.random.below(3) == 0 {
            return own[self.random.below(own.len())].clone();
        }
        let forms = FORMS.iter().find(|(of, _)| *of == kind).unwrap().1;
        let is_flat = |form: &&&str| {
            !form.contains(|sign: char| sign.is_ascii_uppercase() && sign != 'I') || **form == "r"
        };
        let flat: Vec<&&str> = forms.iter().filter(is_flat).filter(|form| !form.contains('I')).collect();
        let form = match depth {
            0 => flat[self.random.below(flat.len())],
            _ => &forms[self.random.below(forms.len())],
        };
        self.filled(form, depth.saturating_sub(1))
    }

    fn filled(&mut self, form: &str, depth: usize) -> String {
        let before = self.bound.len();
        // A name is known where the element of a comprehension stands, in front of it.
        let mut own = String::new();
        for (sign, kind) in [('@', Int), ('$', Text), ('!', Item), ('%', Id)] {
            let is_bound = form.contains(&format!("{sign} in ")) || form.contains(&format!("({sign})"));
            if is_bound {
                self.names += 1;
                own = format!("z{}", self.names);
                self.bound.push((own.clone(), kind));
            }
        }
        let mut text = String::new();
        let mut word = String::new();
        for sign in form.chars().chain(['\0']) {
            if sign.is_ascii_alphanumeric() || sign == '_' {
                word.push(sign);
                continue;
            }
            let kind = match word.as_str() {
                "I" => Some(Int),
                "B" => Some(Bool),
                "T" => Some(Text),
                "D" => Some(Id),
                "R" => Some(Item),
                "Q" => Some(Ints),
                "W" => Some(Texts),
                "L" => Some(Items),
                "S" => Some(Set),
                "M" => Some(Map),
                "H" => Some(Ids),
                "K" => Some(IdMap),
                "A" => Some(Few),
                _ => None,
            };
            match kind {
                // The values know nothing of the name.
                Some(kind) if text.ends_with(" in ") => {
                    let own = self.bound.split_off(before);
                    text += &self.expression(kind, depth);
                    self.bound.extend(own);
                }
                Some(kind) => text += &self.expression(kind, depth),
                None if word == "A2" => text += "([z for z in a]: list[4] of int)",
                None => text += &word,
            }
            word.clear();
            let is_name =
                !own.is_empty() && matches!(sign, '@' | '$' | '%') || sign == '!' && form.contains("! in");
            match sign {
                '\0' => {}
                _ if is_name => text += &own,
                sign => text.push(sign),
            }
        }
        self.bound.truncate(before);
        text
    }
}

fn read(text: &str) -> Specification {
    match read_specification(from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap()) {
        Ok((specification, _)) => specification,
        Err(mistakes) => {
            let first = &mistakes[0];
            panic!("{} at {}: {}\n{text}", first.code, first.labels[0].0.text(), first.message)
        }
    }
}

fn is_read(text: &str) -> bool {
    read_specification(from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap()).is_ok()
}

fn draw(random: &mut Random, ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(random.below(2) == 1),
        Type::String => Value::string(["", "a", "b", "ab", "\u{e9}", "2"][random.below(6)]),
        Type::Id(name) => Value::id(name, ["id0", "id3", "id12", "a", "zz"][random.below(5)]),
        Type::Record(record) => {
            let fields = record.fields.iter().map(|(_, field)| draw(random, field)).collect();
            Value::Record(record.clone(), record.canonical(fields).into())
        }
        Type::Nat => Value::int(random.below(4)),
        Type::Range(_, high) => Value::int(random.below(usize::try_from(high).unwrap() + 1)),
        _ => Value::int(random.below(6) as i64 - 2),
    }
}

/// What another program makes of the cases: for each of them the values of all assignments.
fn answers(program: &mut Command, input: &[String]) -> Vec<Json> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = child.stdin.take().unwrap();
    let text = input.join("\n") + "\n";
    let writer = std::thread::spawn(move || lines.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const IN_PYTHON: &str = r#"
for line in sys.stdin:
    given = json.loads(line)
    data = {name: inward(given[name], VARIABLES[name]) for name in VARIABLES}
    found = []
    for transition in TRANSITIONS:
        ((name, term),) = transition[5]
        try:
            found.append([outward(evaluate(term, data), VARIABLES[name])])
        except Undefined:
            found.append([])
    print(json.dumps(found))
"#;

const IN_THE_PAGE: &str = r#"
const graph = Coreach.data.graphs[0];
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
for (const line of lines) {
  const given = JSON.parse(line);
  const data = new Map(graph.variables.map(({ name, type }) => [name, Coreach.values.fromJson(given[name], type)]));
  const found = graph.transitions.map((transition) => {
    const [{ variable, value }] = transition.assignments;
    const { type } = graph.variables.find(({ name }) => name === variable);
    try {
      return [Coreach.values.toJson(Coreach.terms.evaluate(Coreach.term(value), data), type)];
    } catch (error) {
      if (error instanceof Coreach.terms.Undefined) return [];
      throw error;
    }
  });
  console.log(JSON.stringify(found));
}
"#;

/// The scripts of the page that evaluate, with the model as its data.
fn in_the_page(iosts: &Iosts) -> String {
    let mut page = Page::new("operations");
    page.add_specification(iosts);
    let data = serde_json::to_string(&page.into_document()).unwrap();
    let script = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../project/page").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let given = format!(
        "const document = {{ getElementById: () => ({{ textContent: {} }}) }};\n",
        serde_json::to_string(&data).unwrap()
    );
    given + &["data.js", "values.js", "terms.js"].map(script).concat() + IN_THE_PAGE
}

#[test]
fn all_evaluators_agree_on_operations() {
    let scale = std::env::var("COREACH_OPERATIONS").ok().map_or(4, |count| count.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("coreach-operations-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mut with, mut without) = (0usize, 0usize);
    for seed in 0..scale {
        let mut writer = Writer { random: Random::new(seed), bound: Vec::new(), names: 0 };
        let mut text = DECLARED.to_owned();
        let mut kept = 0;
        for at in 0..100 {
            let (to, kind) = ASSIGNED[at % ASSIGNED.len()];
            let line = format!(
                "  - {{ from: A, to: A, on: u, assign: {{ {to}: '{}' }} }}\n",
                writer.expression(kind, 3)
            );
            // An expression may be too large, or have an index that no list has.
            if kept < 60 && is_read(&format!("{DECLARED}{line}")) {
                text += &line;
                kept += 1;
            }
        }
        assert_eq!(kept, 60, "{seed}");
        let model = read(&text);
        let iosts = &model.iosts;
        let terms: Vec<&Term> =
            iosts.transitions.iter().map(|one| one.assignments.values().next().unwrap()).collect();
        let again = read(&write_yaml(iosts, &model.types));
        for (one, other) in terms.iter().zip(&again.iosts.transitions) {
            assert_eq!(Some(*one), other.assignments.values().next(), "{seed}: {one}");
        }
        let conditions: Vec<Term> = terms.iter().map(|term| defined(term)).collect();
        let mut random = Random::new(seed + 1_000_000);
        let (mut cases, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..12 {
            let data: Valuation =
                iosts.variables.iter().map(|datum| (datum.clone(), draw(&mut random, datum.ty()))).collect();
            let given = data.iter().map(|(datum, value)| (datum.name().to_owned(), codec::to_json(value)));
            cases.push(Json::Object(given.collect()).to_string());
            let mut values = Vec::new();
            for (term, condition) in terms.iter().zip(&conditions) {
                let value = evaluate(term, &data).ok();
                let lowered = evaluate(term.lowered(), &data).ok();
                assert_eq!(value, lowered, "{seed}: {term} of {data:?}");
                let holds = evaluate(condition, &data) == Ok(Value::Bool(true));
                assert_eq!(holds, value.is_some(), "{seed}: {term} of {data:?}");
                *(if holds { &mut with } else { &mut without }) += 1;
                values.push(value.iter().map(codec::to_json).collect::<Json>());
            }
            expected.push(Json::Array(values));
        }
        let view = View { stage: Some(Stage::InputComplete), ..View::of_specification(iosts) };
        let program = to_python(&view).unwrap().replace("if __name__ ==", "if __name__ == 0 ==") + IN_PYTHON;
        let (file, script) = (folder.join("case.py"), folder.join("page.js"));
        std::fs::write(&file, program).unwrap();
        std::fs::write(&script, in_the_page(iosts)).unwrap();
        for (name, found) in [
            ("Python", answers(Command::new("python3").arg(&file), &cases)),
            ("the page", answers(Command::new("node").arg(&script), &cases)),
        ] {
            assert_eq!(found.len(), expected.len(), "{name}: {seed}");
            for ((case, found), expected) in cases.iter().zip(&found).zip(&expected) {
                for (at, term) in terms.iter().enumerate() {
                    assert_eq!(found[at], expected[at], "{name}: {seed}: {term} of {case}");
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("{with} with a value, {without} without");
    assert!(
        with > 500 * scale as usize / 2 && without > 20 * scale as usize,
        "{with} with a value, {without} without"
    );
}
