//! The files that people write: specifications, purposes, configurations, IUT files, campaigns.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::Aim;
use coreach_model::reader::{
    AnySpecification, from_bytes, read_aimed, read_any_specification, read_timed_aimed,
};
use coreach_project::campaign::read_campaign;
use coreach_project::configuration::read_configuration;
use coreach_project::iut;
use coreach_tests::effort::is_thorough;
use coreach_tests::schema;
use coreach_tests::yaml::value;
use serde_json::{Value, json};

use super::{below, inside, root, words};

/// A file that somebody wrote, with what its reader needs.
struct Written {
    place: String,
    folder: PathBuf,
    value: Value,
    /// Of a purpose.
    of: Option<AnySpecification>,
}

/// Whether the reader takes it, and what it finds.
fn read(written: &Written, value: &Value) -> (bool, Vec<Diagnostic>) {
    // JSON is YAML.
    let folder = &written.folder;
    // What a file names lies beside it.
    let name = folder.join(&written.place).display().to_string();
    let file = from_bytes(name, value.to_string().into_bytes()).unwrap();
    let found = match schema::of_written(&written.value) {
        "configuration.schema.json" => read_configuration(file, folder).map(|(_, found)| found),
        "campaign.schema.json" => read_campaign(file, folder).map(|(_, found)| found),
        "iut.schema.json" => iut::read(file, folder, None).map(|(_, found)| found),
        "model.schema.json" => read_any_specification(file).map(|(_, found)| found),
        name => {
            let aim = if name == "property.schema.json" { Aim::Violate } else { Aim::Accept };
            match written.of.as_ref().unwrap() {
                AnySpecification::Untimed(of) => read_aimed(file, of, aim).map(|(_, found)| found),
                AnySpecification::Timed(of) => read_timed_aimed(file, of, aim).map(|(_, found)| found),
            }
        }
    };
    match found {
        Ok(found) => (true, found),
        Err(found) => (false, found),
    }
}

/// Files with every key that there is.
const FULL: [&str; 19] = [
    "iut: m\nstdio: { command: [sut, 1], directory: ., environment: { A: 1, B: }, grace_ms: 20, ready_ms: 9, keep: true, encoding: lines, \
     line_ending: \"\\r\\n\", settle: { within_ms: 900, quiet_ms: 5, barrier: [{ pause_ms: 3 }, { command: [c], directory: ., environment: { A: 1 }, \
     grace_ms: 2, within_ms: 9 }, { send: a, expect: b }] }, reset: [{ send: a, expect: b }], stimuli: { I: [i, j] }, observations: { O: o, P: [a, \"(?P<n>b)\", { name: p, size: n }] }, \
     ignore: [{ pattern: i, answer: a }], values: { p: { a: b } }, unmatched: error }",
    "iut: m\nshared: safe\nlink: synchronous\nwithin: 500 ms\nsilence: inconclusive\non_close: H\nreconnect: C\ntcp: { address: \"127.0.0.1:{port}\", launch: { command: [sut], directory: ., environment: { A: 1 }, grace_ms: 2, \
     ready_ms: 9, keep: true }, settle: { within_ms: 7 }, encoding: lines, line_ending: x, reset: [{ send: a }, { expect: b }], stimuli: { I: i }, \
     captures: { t: { default: d } }, observations: { O: \"(?P<t>o)\", P: { pattern: [p, q], to: I }, \
     Q: { begin: b, fields: [f], end: e, to: [I] }, R: { pattern: r, to: I } }, values: { p: { a: b } }, unmatched: ignore }",
    "iut: m\nhttp: { base: \"http://h\", launch: { command: [sut], keep: false }, reset: { method: GET, path: /r, body: x, \
     headers: { A: b }, status: 204, expect: e, within_ms: 3 }, settle: { within_ms: 7, barrier: [{ pause_ms: 3 }, { command: [c] }, \
     { method: GET, path: /r }] }, headers: { A: b }, stimuli: { I: { method: GET, path: /, body: x, headers: { A: b } } }, \
     observations: { O: { status: 200, each: /l, values: { p: /p }, then: P }, P: { status: 200 } }, values: { p: { a: b } }, unmatched: fail }",
    "iut: m\nevidence: { run_kb: 64, message_kb: 8, redact: [Authorization] }\nlink: { ordered: true, delay: 50 ms }\nwithin: { all: 5, locations: { L: 6 ms }, after: { I: 2 s } }\nsilence: fail\ntolerance_ms: 25\nweights: { Coin: 5 }\nsamples: { pCoinValue: [1, 5, { regex: '[1-9][0-9]?' }], pRemainingValue: { command: [c], directory: ., environment: { A: 1 }, within_ms: 9 } }\nsimulated: { model: specification.yaml, instantiate: { cPrice: 3 }, completion: demonic }",
    "campaign: c\ntests: [{ configuration: coreach.yaml }, { test_case: coreach.yaml }]\niuts: [iut.yaml]\n\
     constants: [{ cPrice: 3 }]\nseeds: { first: 1, count: 2 }\nstrategy: plan\nlimits: { quiescence_ms: 5, \
     quiescence_at: { Pay: 7 }, patience_ms: 0, steps: 4, run_ms: 9 }\nstore: s\nthreads: 2\nbudget: { time: 5s, memory: 1GB }",
    "campaign: c\ntests: { configuration: coreach.yaml }\niuts: iut.yaml\nconstants: { solved: 3 }\nseeds: [1, 2]",
    "specification: specification.yaml\npurposes: [deliver_coffee.yaml]\nconformance: ioc\ntimed: { silence_after: 5 }\ninstantiate: { cPrice: 3 }\n\
     determinization: { max_lookahead: 3 }\nanalysis: { domain: octagon, widening: { delay: 1, thresholds: [1, 2] }, \
     descending_steps: 1, rounds: 1, partition_limit: 4, cells: 2, summarized_cells: 0, step_limit: 9, loops: widened, disjuncts: 2, fact_limit: 3 }\nlimits: { pairs: 1, \
     pair_transitions: 1, sequences: 1, choices: 1, overlaps: 1, subsets: 1, set_transitions: 1, nodes: 1, written_out: 0 }\n\
     output: { directory: o, formats: [dot], stages: [product] }\nbudget: { time: 5s, memory: 1GB }",
    "iosts: full\ntypes: { E: [e, f], R: { a: int }, T: nat }\nconstants: { c: int }\nvariables: { v: E }\n\
     locations: { L: { label: l, description: d }, K: text }\ninitial: { location: L, condition: c > 0 }\n\
     inputs: { I: { p: int }, J: { parameters: { p: int } } }\noutputs: { O: {} }\ninternals: [tau]\n\
     transitions: [{ from: L, to: K, on: I(q), when: q > 0, assign: { v: f } }, { from: K, to: L, on: O }]",
    "purpose: full\nof: coffee_machine\nobserves: [cPrice]\nconstants: { d: int }\nvariables: { w: int }\n\
     functions: { f: w == d, g: { parameters: { x: int }, result: bool, is: x > w } }\n\
     locations: { Idle: text, Accept: { label: a }, Reject: }\ninitial: { location: Idle, condition: w == d }\n\
     transitions: [{ from: Idle, to: Accept, on: Coin(q), when: q > cPrice, assign: { w: w + 1 } }, \
     { from: Idle, to: Reject, on: Cancel }]",
    "iut: m\ntcp: { address: \"127.0.0.1:1\", encoding: lines, observations: { O: { begin: b, lines: l, end: e }, \
     P: { begin: \"(?P<n>b)\", each: e, count: n, then: Q }, Q: { each: [a, \"(?P<n>b)\", { name: p, size: n }], end: c }, R: { begin: a, end: b } } }",
    "iut: m\nudp: { address: \"127.0.0.1:1\", replies_from: any_port, launch: { command: [sut], keep: true }, settle: { quiet_ms: 7 }, encoding: binary, \
     reset: [{ send: \"00\", expect: \"00\" }], stimuli: { I: [{ as: u16le, name: p }, { bits: [{ width: 7, is: 1 }, { width: 1, name: q }] }, \
     { as: bytes, is: \"c00c\" }, { as: text, name: t, length: u8 }] }, observations: { O: [{ as: i8, any: true }, \
     { bits: [{ width: 7, is: 1 }, { width: 1, any: true }] }, { as: bytes, name: b, size: 4 }, { as: text, name: t, until: \"00\" }, \
     { as: bytes, any: true, rest: true }] }, values: { p: { a: b } }, unmatched: ignore }",
    "iut: m\nudp: { address: \"127.0.0.1:1\", settle: { quiet_ms: 7 }, encoding: binary, stimuli: { I: [{ as: u8, size_of: t, plus: 2 }, \
     { bits: [{ width: 8, size_of: b, plus: 1 }], label: c }, { as: latin1, name: t }, { as: bytes, name: b }, { as: u32, checksum: crc32, over: [c, b] }] }, \
     observations: { O: [{ as: u8, count_of: l }, { bits: [{ width: 8, count_of: m }] }, { as: list, name: l, of: [{ as: u8, name: element }] }, \
     { as: list, name: m, of: [{ as: u8, name: element }] }, { as: list, name: n, count: varint, of: [{ as: u8, name: a }, { as: u8, name: b }] }, \
     { as: list, any: true, length: u8, of: [{ as: u8, any: true }] }, { as: u16le, checksum: internet, over: n }, \
     { as: group, label: g, size: 2, of: [{ as: u16, is: 1 }] }, { as: group, rest: true, of: [] }] }, values: { m.element: { a: b } } }",
    "iut: m\nstdio: { command: [sut], encoding: binary, frame: { length: u16, at: 2, counts: frame }, stimuli: { I: [] }, \
     observations: { O: [{ as: u8, is: 3 }] }, ignore: [{ pattern: [{ as: u8, is: 4 }], answer: [{ as: u8, is: 5 }] }] }",
    "iut: m\nhttp: { base: \"https://h\", tls: { ca: ../../project/tests/data/tls/ca.pem, server_name: n, \
     certificate: ../../project/tests/data/tls/client.pem, key: ../../project/tests/data/tls/client.key }, captures: { a: { header: h, match: (x), from: O, default: d }, b: { cookie: c, from: [O] }, \
     c: { pointer: /p }, d: { body: true, match: (x) }, e: { body: latin1 } }, stimuli: { I: { method: GET, path: \"/{a}\", latin1: \"{a}\" } }, \
     observations: { O: [{ status: 200, to: I }, { status: 201, to: [I], headers: { h: x }, values: { p: { header: h, match: (x) }, \
     q: { cookie: c }, r: { pointer: /p, match: (x) }, s: { body: true, match: (x) }, t: /p } }] } }",
    "purpose: sets\nof: coffee_machine\nfunctions: { f: 1 }\ninitial: { location: Idle }\ntransitions: [{ from: Idle, to: Accept, on: [Deliver, Coin(p)] }, \
     { from: Idle, to: Reject, on: { any: output, not: [Deliver] } }, { from: Idle, to: Idle, on: { any: input, not: Coin } }, \
     { from: Reject, to: Reject, on: \"*\" }, \
     { from: Idle, to: Idle, on: { any: input } }]",
    "purpose: tree\nof: coffee_machine\npaths: [[tau, Coin, { Return: 1 }], [tau, Cancel]]",
    "property: never\nof: coffee_machine\nobserves: [cPrice]\nconstants: { d: int }\nvariables: { w: int }\n\
     locations: { Idle: text, Violate: { label: v } }\ninitial: { location: Idle, condition: w == d }\n\
     transitions: [{ from: Idle, to: Idle, on: Coin(q), when: q > cPrice, assign: { w: w + 1 } }, \
     { from: Idle, to: Violate, on: { any: output } }]",
    "iosts: timed\nclocks: [w]\nvariables: { v: int }\nfunctions: { f: v > 3 }\ninitial: { location: L }\ninputs: { I: { p: int }, \
     J: { parameters: { p: int }, controllable: false }, K: { p: int, uncontrollable: true } }\noutputs: { O: {} }\n\
     transitions: [{ from: L, to: L, on: I(q), when: q > w, reset: [w], assign: { v: q }, name: a }, { from: L, to: L, on: O }, \
     { from: L, to: L, on: J }, { from: L, to: L, on: K }, \
     { from: L, to: L, in_any_order: [{ on: I(q), when: q > w, reset: [w], assign: { v: q } }, { on: O }] }]",
    "iosts: whole\ncompose: [specification.yaml, { model: ../counter/specification.yaml, rename: { A: B, Show: C, v: d } }]\nhide: [Deliver]",
];

/// Files of every kind: those above, in the folder of an example, and all that are good in the repository.
fn corpus() -> Vec<Written> {
    let example = root().join("examples/coffee_machine");
    let full =
        FULL.iter().enumerate().map(|(at, text)| (format!("FULL {at}"), example.clone(), (*text).to_owned()));
    let folders = ["examples", "project/tests/data/iut", "tests/diagnostics/good"];
    let paths = folders.iter().flat_map(|folder| below(&root().join(folder)));
    // Many small ones, without a key that others do not have.
    let paths = paths.filter(|path| !path.parent().unwrap().ends_with("examples/numerical"));
    let texts = paths.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.display().to_string(), path.parent().unwrap().to_owned(), text)
    });
    let mut found: Vec<Written> = Vec::new();
    for (place, folder, text) in full.chain(texts) {
        let Some(value) = value(&text) else { continue };
        let of = value.get("of").and_then(Value::as_str).map(|name| {
            let specification = below(&folder).into_iter().find_map(|path| {
                let text = fs::read_to_string(&path).ok()?;
                text.contains(&format!("iosts: {name}\n")).then_some((path, text))
            });
            let (path, text) = specification.unwrap();
            let file = from_bytes(path.display().to_string(), text.into_bytes()).unwrap();
            read_any_specification(file).unwrap().0
        });
        let written = Written { place, folder, value, of };
        let (is_good, said) = read(&written, &written.value);
        assert!(is_good || !written.place.starts_with("FULL"), "{}: {said:#?}", written.place);
        if is_good {
            found.push(written);
        }
    }
    assert!(found.len() > 50, "only {} files", found.len());
    found
}

/// A key that nobody knows, and that is near to none.
const STRANGE: &str = "qqqqqqqqqqqqqqqq";

/// The keys that a reader lists when it meets one that it does not know.
fn listed(found: &[Diagnostic]) -> Option<BTreeSet<String>> {
    let stranger = found.iter().find(|one| one.code == "unknown-key" && one.message.contains(STRANGE))?;
    // The keys are in backquotes; so is the name of the place, in front of them.
    let help = stranger.help.as_deref().unwrap();
    let list = help.rsplit_once(" are ").or(help.rsplit_once(" only ")).unwrap().1;
    Some(list.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// So many places of each kind are looked at in a document.
const PLACES: usize = 3;

#[test]
fn readers_and_schemas_know_the_same_keys() {
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for written in corpus() {
        let schema = schema::read(schema::of_written(&written.value));
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for closed in schema::closed_in(&schema, &written.value) {
            // One place of a document is read as the next: its first, and a few more.
            let places = here.entry(closed.object.clone()).or_default();
            *places += 1;
            if *places > PLACES {
                continue;
            }
            let place = format!("{} at {:?}", written.place, closed.at);
            let with = |key: &str, new: Value| {
                let mut changed = written.value.clone();
                let object = inside(&mut changed, &closed.at).as_object_mut().unwrap();
                object.entry(key).or_insert(new);
                changed
            };
            let strange = with(STRANGE, json!(1));
            let known = listed(&read(&written, &strange).1)
                .unwrap_or_else(|| panic!("{place}: the reader takes a key that nobody knows"));
            assert!(!schema::objections(&schema, &strange).is_empty(), "{place}: so does the schema");
            let said: BTreeSet<String> = closed.keys.iter().cloned().collect();
            assert!(
                known.is_subset(&said),
                "{place}: {} knows {said:?}, its reader {known:?}",
                closed.object
            );
            // The reader does not list all that it knows: words for coming kinds of models are known to be
            // refused.
            for key in said.difference(&known) {
                let (_, found) = read(&written, &with(key, Value::Null));
                let unknown = format!("unknown key `{key}`");
                assert!(found.iter().all(|one| !one.message.starts_with(&unknown)), "{place}: {found:#?}");
            }
            *met.entry(closed.object).or_default() += 1;
        }
    }
    for name in ["model", "configuration", "iut", "campaign"] {
        for (object, _) in schema::all_closed(&schema::read(&format!("{name}.schema.json"))) {
            assert!(met.contains_key(&object), "no document has a place for {object}: {met:#?}");
        }
    }
}

/// All places of a value, from the outside.
fn places(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    found.push(at.clone());
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in inner {
        at.push(step);
        places(value, at, found);
        at.pop();
    }
}

/// The documents that differ in one place.
fn changed(value: &Value) -> Vec<(Vec<String>, Value)> {
    let others = [
        json!(null),
        json!(true),
        json!("qqq"),
        json!(""),
        json!(-1),
        json!(0),
        json!(1),
        json!(599),
        json!(4_000_000),
        json!(1_000_000_000_000_000_u64),
        json!(1.5),
        json!([]),
        json!(["qqq"]),
        json!({}),
        json!({ "qqq": "qqq" }),
    ];
    let mut all = Vec::new();
    places(value, &mut Vec::new(), &mut all);
    let mut found = Vec::new();
    for at in all.into_iter().filter(|at| !at.is_empty()) {
        for other in &others {
            let mut changed = value.clone();
            *inside(&mut changed, &at) = other.clone();
            found.push((at.clone(), changed));
        }
        let mut less = value.clone();
        let (last, outer) = at.split_last().unwrap();
        match inside(&mut less, outer) {
            Value::Object(object) => drop(object.shift_remove(last)),
            Value::Array(items) => drop(items.remove(last.parse().unwrap())),
            _ => {}
        }
        found.push((at, less));
    }
    found
}

/// What a reader finds wrong with the shape of a document, and a schema can see.
fn is_of_shape(found: &Diagnostic) -> bool {
    // That what is kept must be reset is beyond shapes, and so is which fields others count: such fields say
    // nothing of how much they have.
    ["unknown-key", "missing-key", "wrong-kind"].contains(&found.code)
        && !["that is kept between runs", "needs one of"].iter().any(|beyond| found.message.contains(beyond))
}

#[test]
fn what_a_reader_takes_its_schema_takes() {
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    for written in corpus().into_iter().filter(|written| written.place.starts_with("FULL")) {
        let schema = schema::read(schema::of_written(&written.value));
        // One change of four where it has to end soon: another one at each place.
        let step = if is_thorough() { 1 } else { 4 };
        for (at, changed) in changed(&written.value).into_iter().step_by(step) {
            if schema::of_written(&changed) != schema.name {
                continue;
            }
            let (is_good, found) = read(&written, &changed);
            let objections = schema::objections(&schema, &changed);
            let now = changed.pointer(&format!("/{}", at.join("/")));
            let place = format!("{} {at:?} = {}", written.place, now.unwrap_or(&Value::Null));
            if is_good {
                taken += 1;
                if !objections.is_empty() {
                    wrong.push(format!("{place}: only the schema refuses: {objections:?}"));
                }
            } else if objections.is_empty() {
                if let Some(one) = found.iter().find(|one| is_of_shape(one)) {
                    wrong.push(format!("{place}: only the reader refuses: {}", one.message));
                }
            } else {
                refused += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(taken > 250 && refused > 250, "{taken} taken, {refused} refused");
}

/// Where a schema lists words: the full file, the place in it, and the list's place in the schema.
const WORDS: [(usize, &str, &str, &str); 9] = [
    (0, "/stdio/encoding", "iut", "/$defs/encoding/enum"),
    (0, "/stdio/unmatched", "iut", "/$defs/unmatched/enum"),
    (2, "/http/unmatched", "iut", "/$defs/unmatched/enum"),
    (4, "/strategy", "campaign", "/properties/strategy/enum"),
    (6, "/analysis/domain", "configuration", "/properties/analysis/properties/domain/enum"),
    (6, "/conformance", "configuration", "/properties/conformance/enum"),
    (6, "/output/formats/0", "configuration", "/properties/output/properties/formats/items/enum"),
    (
        14,
        "/transitions/4/on/any",
        "model",
        "/$defs/purpose_transitions/items/properties/on/anyOf/2/properties/any/enum",
    ),
    (6, "/output/stages/0", "configuration", "/properties/output/properties/stages/items/enum"),
];

#[test]
fn readers_and_schemas_know_the_same_words() {
    let corpus = corpus();
    for (full, place, name, pointer) in WORDS {
        let written = corpus.iter().find(|written| written.place == format!("FULL {full}")).unwrap();
        let with = |word: &str| {
            let mut changed = written.value.clone();
            *changed.pointer_mut(place).unwrap() = json!(word);
            read(written, &changed)
        };
        let said = words(&schema::read(&format!("{name}.schema.json")), pointer);
        for word in &said {
            let (_, found) = with(word);
            assert!(found.iter().all(|one| !one.message.contains(word)), "{place}: {word}: {found:#?}");
        }
        let (_, found) = with(STRANGE);
        let help = found.iter().find(|one| one.message.contains(STRANGE)).unwrap().help.clone().unwrap();
        let list = help.rsplit_once(" are ").or(help.rsplit_once(" has ")).unwrap().1;
        // With its features, a program has more domains.
        let known: Vec<&str> =
            list.split('`').skip(1).step_by(2).filter(|word| !word.contains(':')).collect();
        assert!(
            known.len() > 1 && known.iter().all(|word| said.iter().any(|s| s == word)),
            "{place}: {help}"
        );
    }
}
