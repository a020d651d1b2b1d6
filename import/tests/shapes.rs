//! Shapes in which people write models: each is taken with its meaning, or refused by name. Each line is a
//! model.
//!
//! What an edge says is compared as it is written in the specification: its guard and its assignments.

use std::sync::Arc;

use coreach_import::{ForeignFormat, Options, Untranslated, Vertices, detect, import};
use coreach_model::Iosts;
use coreach_model::diagnostic::{Diagnostic, Severity, SourceFile};
use coreach_model::reader::{from_bytes, read_specification};

/// The specification that is made of a text, or the codes of its mistakes.
fn made(
    text: &str,
    format: ForeignFormat,
    options: &Options,
) -> Result<(Iosts, Vec<Diagnostic>), Vec<String>> {
    let file = Arc::new(SourceFile { name: "model".to_owned(), text: text.to_owned() });
    let (text, found) = import(file, Some(format), options).map_err(|found| {
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        found.iter().filter(is_error).map(|found| found.code.to_string()).collect::<Vec<_>>()
    })?;
    let file = from_bytes("imported.yaml".to_owned(), text.into_bytes()).unwrap();
    Ok((read_specification(file).unwrap().0.iosts, found))
}

/// The transitions as lines: from, action, guard, assignments, to.
fn lines(iosts: &Iosts) -> Vec<String> {
    let name = |at| iosts.locations[at].name.clone();
    let line = |transition: &coreach_model::iosts::Transition| {
        let assignments: Vec<String> = transition
            .assignments
            .iter()
            .map(|(variable, value)| format!("{} := {value}", variable.name()))
            .collect();
        format!(
            "{} {} [{}] {{{}}} {}",
            name(transition.source),
            iosts.action(transition.action).name,
            transition.guard,
            assignments.join(", "),
            name(transition.target)
        )
    };
    iosts.transitions.iter().map(line).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

/// A graph with these nodes and edges, drawn.
fn graphml(nodes: &[&str], edges: &[(usize, usize, &str)]) -> String {
    let nodes = nodes.iter().enumerate().map(|(number, label)| {
        format!(
            "<node id=\"n{number}\"><data key=\"d\"><NodeLabel>{}</NodeLabel></data></node>",
            escaped(label)
        )
    });
    let edges = edges.iter().map(|(from, to, label)| {
        let label = escaped(label);
        format!(
            "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"d\"><EdgeLabel>{label}</EdgeLabel></data></edge>"
        )
    });
    let inner: String = nodes.chain(edges).collect();
    format!("<graphml><graph edgedefault=\"directed\">{inner}</graph></graphml>")
}

/// What the edge says that has this label, in a graph that begins with these values.
fn edge(first: &str, label: &str) -> Result<String, Vec<String>> {
    let start = if first.is_empty() { String::new() } else { format!("/ {first}") };
    let text = graphml(&["Start", "A", "B"], &[(0, 1, &start), (1, 2, label)]);
    let options = Options { inputs: vec!["*".to_owned()], ..Options::default() };
    made(&text, ForeignFormat::Graphml, &options).map(|(iosts, _)| lines(&iosts).remove(0))
}

/// First values, a label, and what comes of it: what the edge says, or the code of the mistake.
const LABELS: &[(&str, &str, Result<&str, &str>)] = &[
    // Assignments in a row, from right to left; `=` between other things may be an assignment, and is
    // refused.
    ("x = 0; y = 0;", "e / x = y = 3", Ok("[true] {x := 3, y := 3}")),
    ("x = 0; y = 0; z = 0", "e / x = y = z = x + 1", Ok("[true] {x := x + 1, y := x + 1, z := x + 1}")),
    ("x = 0; y = 0;", "e / x = y += 3", Ok("[true] {x := y + 3, y := y + 3}")),
    ("x = 0; y = 0;", "e / x = y; y = x = 4", Ok("[true] {x := 4, y := 4}")),
    ("x = 0; y = 0;", "e / x = y + 1 = 3", Err("assignment")),
    ("b = true; y = 0;", "e / b = (y = 3)", Err("assignment")),
    ("b = true; y = 0;", "e / b = y == 3", Ok("[true] {b := y == 3}")),
    ("b = true; y = 0;", "e [y = 3] / b = !b", Ok("[y == 3] {b := !b}")),
    // A sign makes a number of a truth value.
    ("c = true;", "e [+c === c]", Err("type-mismatch")),
    ("c = 1;", "e [+c === 2]", Ok("[c == 2] {}")),
    ("a = 1; n = 0", "e / n = +a", Ok("[true] {n := a}")),
    ("a = 1; n = 0", "e / n = a + +a", Ok("[true] {n := a + a}")),
    // Variables of an action only.
    ("a = 1", "e / let a = 5", Err("untranslatable")),
    ("a = 1", "e / const a = 5;", Err("untranslatable")),
    ("a = 1; b = 0", "e / let t = a; b = t", Err("untranslatable")),
    ("a = 1", "e / var a = 5", Ok("[true] {a := 5}")),
    ("let a = 1; b = 0", "e / a = 2", Ok("[true] {a := 2}")),
    // Where a comment ends.
    ("a = 1; b = 0", "e / a = 2; // twice\r b = 3", Ok("[true] {a := 2, b := 3}")),
    ("a = 1; b = 0", "e / a = 2; // twice\n b = 3", Ok("[true] {a := 2, b := 3}")),
    ("a = 1; b = 0", "e / a = 2; // twice\r\n b = 3", Ok("[true] {a := 2, b := 3}")),
    ("a = 1; b = 0", "e / a = 2; // twice\u{2028} b = 3", Ok("[true] {a := 2, b := 3}")),
    ("a = 1; b = 0", "e / a = 2; // b = 3", Ok("[true] {a := 2}")),
    ("a = 1; b = 0", "e / a = 2; /* and */ b = 3", Ok("[true] {a := 2, b := 3}")),
    ("a = 1; b = 0", "e / a = 2; /* and b = 3", Err("syntax")),
    ("a = 1; b = 0", "e [a == 1 /* and b == 0]", Err("syntax")),
    // The guard may stand last.
    ("a = 1", "e / a--; [a > 0]", Ok("[a > 0] {a := a - 1}")),
    ("a = 1", "e [a > 0] / a--; [a > 1]", Err("syntax")),
    ("a = 1", "e / a--; [a > 0", Err("syntax")),
    // Words of generators of paths.
    ("a = 1", "e [a == 1] / a = 2;\nBACKTRACK", Ok("[a == 1] {a := 2}")),
    ("a = 1", "e BACKTRACK", Ok("[true] {}")),
    ("a = 1", "e\nBACKTRACK\nREQTAG=UC 1", Ok("[true] {}")),
    ("a = 1", "e Weight = 0.5", Ok("[true] {}")),
    ("a = 1", "e [a == 1]\nweight=0.5", Ok("[a == 1] {}")),
    ("a = 1", "e [a == 1] / a = 2; Dependency=30", Ok("[a == 1] {a := 2}")),
    ("a = 1", "e [a == 1] / a = 2; dependency = 30", Ok("[a == 1] {a := 2}")),
    // And variables that are called so.
    ("weight = 1", "e / weight = 5;", Ok("[true] {weight := 5}")),
    ("weight = 1", "e / weight = 5", Ok("[true] {weight := 5}")),
    ("weight = 1; a = 2", "e / a = 3; weight = 5;", Ok("[true] {a := 3, weight := 5}")),
    ("weight = 1", "e [weight = 1]", Ok("[weight == 1] {}")),
    ("Weight = 1", "e [Weight == 1] / Weight = 2; Weight = 0.3", Ok("[Weight == 1] {Weight := 2}")),
];

#[test]
fn what_stands_at_an_edge_has_its_meaning_or_is_refused() {
    for (first, label, expected) in LABELS {
        let expected = match expected {
            Ok(says) => Ok(format!("A e {says} B")),
            Err(code) => Err(vec![(*code).to_owned()]),
        };
        assert_eq!(edge(first, label), expected, "{first} | {label:?}");
    }
}

#[test]
fn a_name_that_begins_as_a_word_is_a_name() {
    assert!(edge("", "e BACKTRACKED").unwrap().starts_with("A e_BACKTRACKED "));
    assert!(edge("", "BLOCKED_e").unwrap().starts_with("A BLOCKED_e "));
}

#[test]
fn what_is_local_is_left_out_with_all_that_may_mean_it() {
    let text = graphml(&["Start", "A", "B"], &[(0, 1, "/ a = 1; b = 0"), (1, 2, "e / let t = a; b = t")]);
    let options =
        Options { inputs: vec!["*".to_owned()], untranslated: Untranslated::Drop, ..Options::default() };
    let (iosts, _) = made(&text, ForeignFormat::Graphml, &options).unwrap();
    assert_eq!(lines(&iosts), ["A e [true] {} B"]);
}

/// The nodes, the edges, and the outputs that can be seen, with `--vertices outputs`.
type Seen = (&'static [&'static str], &'static [(usize, usize, &'static str)], &'static [&'static str]);

#[test]
fn the_sign_of_the_beginning_is_not_seen() {
    const SHAPES: &[Seen] = &[
        (&["Start", "A", "B"], &[(0, 1, "e_init"), (1, 2, "e")], &["A", "B"]),
        (&["Start", "A", "B"], &[(0, 1, ""), (1, 2, "e")], &["A", "B"]),
        (&["START", "A", "B"], &[(0, 1, "e_init"), (0, 2, "e")], &["A", "B"]),
        (&["start", "A", "B"], &[(0, 1, "/ x = 1"), (0, 2, "e [true]"), (1, 2, "f")], &["A", "B"]),
        // One that is entered again is a state of the system.
        (&["Start", "A"], &[(0, 1, "e"), (1, 0, "f")], &["A", "Start"]),
        (&["A", "B"], &[(0, 1, "e")], &["A", "B"]),
    ];
    for (nodes, edges, expected) in SHAPES {
        let options =
            Options { inputs: vec!["*".to_owned()], vertices: Vertices::Outputs, ..Options::default() };
        let (iosts, _) = made(&graphml(nodes, edges), ForeignFormat::Graphml, &options).unwrap();
        let mut outputs: Vec<&str> = iosts
            .actions
            .iter()
            .filter(|action| action.kind == coreach_model::ActionKind::Output)
            .map(|action| action.name.as_str())
            .collect();
        outputs.sort_unstable();
        assert_eq!(outputs, *expected, "{nodes:?} {edges:?}");
    }
}

/// A file of GraphWalker with these models: identifier, what else the model says, vertices, edges.
fn graphwalker(models: &[(&str, &str, &str)]) -> String {
    let model = |(number, (says, vertices, edges)): (usize, &(&str, &str, &str))| {
        format!("{{\"name\": \"M{number}\", {says} \"vertices\": [{vertices}], \"edges\": [{edges}]}}")
    };
    let models: Vec<String> = models.iter().enumerate().map(model).collect();
    format!("{{\"models\": [{}]}}", models.join(", "))
}

const V: &str = r#"{"id": "a", "name": "A"}, {"id": "b", "name": "B"}"#;
const W: &str = r#"{"id": "c", "name": "C"}, {"id": "d", "name": "D"}"#;
const AB: &str = r#"{"id": "e", "name": "e", "sourceVertexId": "a", "targetVertexId": "b"}"#;
const CD: &str = r#"{"id": "f", "name": "f", "sourceVertexId": "c", "targetVertexId": "d"}"#;
const BA: &str = r#"{"id": "g", "name": "g", "sourceVertexId": "b", "targetVertexId": "a"}"#;
const AA: &str = r#"{"id": "l", "name": "l", "sourceVertexId": "a", "targetVertexId": "a"}"#;
const INTO_B: &str = r#"{"id": "h", "name": "h", "targetVertexId": "b"}"#;

/// Models, `--initial`, and where it begins, or the code of the mistake.
type Begun<'a> = (Vec<(&'a str, &'a str, &'a str)>, Option<&'a str>, Result<&'a str, &'a str>);

#[test]
fn models_begin_where_they_say_it() {
    let (both, with_edge) = (format!("{AB}, {BA}"), format!("{AB}, {INTO_B}"));
    let (both, with_edge) = (both.as_str(), with_edge.as_str());
    let two_from_nowhere = &format!("{with_edge}, {}", INTO_B.replace('h', "i"));
    let with_loop = &format!("{AB}, {AA}");
    let shapes: Vec<Begun<'_>> = vec![
        // Of its own, or of another model of the file, which may come before or behind it.
        (vec![(r#""startElementId": "a","#, V, AB)], None, Ok("A")),
        (vec![(r#""startElementId": "c","#, V, AB), ("", W, CD)], None, Ok("C")),
        (vec![("", W, CD), (r#""startElementId": "c","#, V, AB)], None, Ok("C")),
        (vec![(r#""startElementId": "h","#, W, CD), ("", V, with_edge)], None, Ok("Start")),
        (vec![(r#""startElementId": "z","#, V, AB)], None, Err("unknown-id")),
        // It says nothing: the only vertex that no edge enters, or nobody knows.
        (vec![("", V, AB)], None, Ok("A")),
        (vec![("", V, both)], None, Err("no-start")),
        (vec![("", V, AB), ("", W, CD)], None, Err("no-start")),
        // An edge from nowhere is a beginning, where it is the only one.
        (vec![("", V, with_edge)], None, Ok("Start")),
        (vec![("", V, two_from_nowhere)], None, Ok("A")),
        // A loop is no way into a vertex.
        (vec![("", V, with_loop)], None, Ok("A")),
        // The user says it, by name or identifier.
        (vec![("", V, both)], Some("B"), Ok("B")),
        (vec![("", V, both)], Some("b"), Ok("B")),
        (vec![(r#""startElementId": "a","#, V, both)], Some("B"), Ok("B")),
        (vec![("", V, both)], Some("Z"), Err("unknown-name")),
    ];
    for (models, initial, expected) in shapes {
        let options = Options { initial: initial.map(str::to_owned), ..Options::default() };
        let found = made(&graphwalker(&models), ForeignFormat::Graphwalker, &options);
        let found = found.map(|(iosts, _)| iosts.locations[iosts.initial].name.clone());
        let expected = expected.map(str::to_owned).map_err(|code| vec![code.to_owned()]);
        assert_eq!(found, expected, "{models:?} {initial:?}");
    }
}

#[test]
fn a_beginning_that_nobody_says_is_told() {
    let (_, found) =
        made(&graphwalker(&[("", V, AB)]), ForeignFormat::Graphwalker, &Options::default()).unwrap();
    assert!(found.iter().any(|found| found.code == "no-start"), "{found:?}");
}

#[test]
fn comments_are_read_over_and_must_end() {
    let text = graphwalker(&[(r#""startElementId": "a","#, V, AB)]);
    let says = |text: &str| {
        made(text, ForeignFormat::Graphwalker, &Options::default()).map(|(iosts, _)| lines(&iosts))
    };
    let expected = says(&text).unwrap();
    for comment in ["// all of it\n", "/* all\n of it */", "// \u{e9}\r\n"] {
        assert_eq!(says(&format!("{comment}{text}")).as_ref(), Ok(&expected));
        assert_eq!(
            says(&text.replacen("\"vertices\"", &format!("{comment}\"vertices\""), 1)).as_ref(),
            Ok(&expected)
        );
        assert_eq!(says(&format!("{text}{comment}")).as_ref(), Ok(&expected));
    }
    assert!(says(&format!("{text}/* all")).is_err());
}

#[test]
fn what_models_share_is_one_variable() {
    let shared = r#"{"id": "b", "name": "B", "sharedState": "S"}"#;
    let a = format!(r#"{{"id": "a", "name": "A"}}, {shared}"#);
    let c = r#"{"id": "c", "name": "C", "sharedState": "S"}, {"id": "d", "name": "D"}"#;
    let step = |id: &str, from: &str, to: &str, says: &str| {
        format!(
            r#"{{"id": "{id}", "name": "{id}", "sourceVertexId": "{from}", "targetVertexId": "{to}", {says}}}"#
        )
    };
    let first = r#""startElementId": "a", "actions": ["global.n = 1; n = 1;"],"#;
    // The other model gives it a fraction, and its own `n` is another.
    let add = step("add", "a", "b", r#""actions": ["global.n = global.n + 1; n++;"]"#);
    let look = step("look", "c", "d", r#""guard": "global.n == 2", "actions": ["n = 7; global.n = 0.5;"]"#);
    let read_only = step("look", "c", "d", r#""guard": "global.n == 2""#);
    let says = |edges: &str| {
        let text = graphwalker(&[(first, a.as_str(), add.as_str()), ("", c, edges)]);
        let (iosts, _) = made(&text, ForeignFormat::Graphwalker, &Options::default()).unwrap();
        let variables: Vec<String> = iosts
            .variables
            .iter()
            .map(|variable| format!("{}: {}", variable.name(), variable.ty()))
            .collect();
        (variables, lines(&iosts))
    };
    let (variables, edges) = says(&read_only);
    assert_eq!(variables, ["global_n: int", "n: int"]);
    assert_eq!(
        edges,
        ["A add [true] {global_n := global_n + 1, n := n + 1} B", "B look [global_n == 2] {} D"]
    );
    let (variables, edges) = says(&look);
    assert_eq!(variables, ["global_n: real", "n_of_M0: int", "n_of_M1: int"]);
    assert_eq!(edges[1], "B look [global_n == 2.0] {global_n := 0.5, n_of_M1 := 7} D");
}

/// GraphWalker takes the edge that it begins with once before all others, and does not look at its guard. It
/// may come again where a path leads back to its source.
#[test]
fn a_model_that_begins_with_an_edge_takes_it_first() {
    let edge = |id: &str, from: &str, to: &str, says: &str| {
        format!(
            r#"{{"id": "{id}", "name": "{id}", "sourceVertexId": "{from}", "targetVertexId": "{to}"{says}}}"#
        )
    };
    let set = r#", "actions": ["n = 1;"]"#;
    let guarded = r#", "guard": "n == 1""#;
    let from_nowhere = INTO_B.replace("\"h\"", "\"i\"");
    // The edges, the first of which is the beginning; the transitions.
    let shapes: Vec<(String, &[&str])> = vec![
        // soundness: what follows comes after it
        (
            [edge("h", "a", "a", set), edge("go", "a", "b", "")].join(", "),
            &["A h [true] {n := 1} A", "Start h [true] {n := 1} A", "A go [true] {} B"],
        ),
        (
            [edge("h", "a", "b", guarded), edge("go", "b", "a", set)].join(", "),
            &["A h [n == 1] {} B", "Start h [true] {} B", "B go [true] {n := 1} A"],
        ),
        // soundness: an edge from nowhere that is no beginning is never taken
        (
            [INTO_B.to_owned(), from_nowhere, edge("go", "b", "a", "")].join(", "),
            &["Start h [true] {} B", "B go [true] {} A"],
        ),
        // precision: no location that only stands for the beginning
        (
            [edge("h", "a", "b", ""), edge("go", "b", "b", "")].join(", "),
            &["A h [true] {} B", "B go [true] {} B"],
        ),
    ];
    for (edges, expected) in shapes {
        let text = graphwalker(&[(r#""startElementId": "h", "actions": ["n = 0;"],"#, V, &edges)]);
        let (iosts, _) = made(&text, ForeignFormat::Graphwalker, &Options::default()).unwrap();
        assert_eq!(lines(&iosts), expected, "{edges}");
        let start = if expected.iter().any(|line| line.starts_with("Start ")) { "Start" } else { "A" };
        assert_eq!(iosts.locations[iosts.initial].name, start);
    }
}

#[test]
fn the_guard_of_the_first_edge_is_told() {
    let edge = r#"{"id": "h", "name": "h", "sourceVertexId": "a", "targetVertexId": "b", "guard": "n == 1"}"#;
    let text = graphwalker(&[(r#""startElementId": "h", "actions": ["n = 0;"],"#, V, edge)]);
    let (_, found) = made(&text, ForeignFormat::Graphwalker, &Options::default()).unwrap();
    assert_eq!(codes(&found), ["not-taken"]);
}

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|found| found.code).collect()
}

#[test]
fn comments_before_the_model_do_not_hide_its_format() {
    for (name, text, expected) in [
        ("m.json", "/* a */ // b\n {\"models\": []}", Some("graphwalker")),
        ("m.json", "\u{feff}// b\r\n[{\"models\": []}]", Some("graphwalker")),
        ("m.json", "/* {\"models\": []}", None),
    ] {
        assert_eq!(detect(name, text).map(ForeignFormat::name), expected, "{text}");
    }
}

/// Of drawn graphs where nothing speaks of directions, all edges are inputs, told.
#[test]
fn directions_are_assumed_where_nothing_speaks_of_them() {
    let text = |edges: &[(usize, usize, &str)]| graphml(&["Start", "A", "B"], edges);
    let plain = text(&[(0, 1, ""), (1, 2, "e"), (2, 1, "f")]);
    let (iosts, found) = made(&plain, ForeignFormat::Graphml, &Options::default()).unwrap();
    assert!(iosts.actions.iter().all(|action| action.kind == coreach_model::ActionKind::Input));
    assert_eq!(codes(&found), ["assumed-inputs"]);
    // soundness: whoever speaks of some directions has forgotten the others
    let signed = text(&[(0, 1, ""), (1, 2, "e"), (2, 1, "f!")]);
    let refused = made(&signed, ForeignFormat::Graphml, &Options::default());
    assert_eq!(refused.unwrap_err(), ["unknown-direction"]);
    let named = Options { outputs: vec!["f".to_owned()], ..Options::default() };
    assert_eq!(made(&plain, ForeignFormat::Graphml, &named).unwrap_err(), ["unknown-direction"]);
}

#[test]
fn nodes_that_no_other_enters_are_beginnings_or_named() {
    let made = |edges: &[(usize, usize, &str)]| {
        made(&graphml(&["A", "B", "C"], edges), ForeignFormat::Graphml, &Options::default())
    };
    let (iosts, found) = made(&[(0, 1, "e"), (1, 2, "f"), (0, 0, "l")]).unwrap();
    assert_eq!(iosts.locations[iosts.initial].name, "A");
    assert_eq!(codes(&found), ["no-start", "assumed-inputs"]);
    assert_eq!(made(&[(0, 1, "e"), (2, 1, "f")]).unwrap_err(), ["no-start"]);
    assert_eq!(made(&[(0, 1, "e"), (1, 2, "f"), (2, 0, "g")]).unwrap_err(), ["no-start"]);
}

/// Edges without a name that lead around are one location, where nothing but inputs leaves them.
#[test]
fn cycles_of_unnamed_edges_are_one_location() {
    let made = |edges: &[(usize, usize, &str)]| {
        made(&graphml(&["Start", "A", "B", "C"], edges), ForeignFormat::Graphml, &Options::default())
    };
    let (iosts, found) =
        made(&[(0, 1, "/ x = 0;"), (1, 2, ""), (2, 1, ""), (2, 3, "?e"), (3, 1, "?f"), (3, 3, "[x == 1]")])
            .unwrap();
    assert_eq!(lines(&iosts), ["A e [true] {} C", "C f [true] {} A"]);
    assert_eq!(codes(&found), ["left-out-cycle"]);
    // precision: without outputs silence is allowed wherever the circle is left
    let (iosts, _) = made(&[(0, 1, "/ x = 0;"), (1, 2, ""), (2, 1, ""), (2, 3, ""), (3, 1, "?f")]).unwrap();
    assert_eq!(lines(&iosts), ["A tau [true] {} C", "C f [true] {} A"]);
    // soundness: it may go around for ever, and then be silent where an output or another internal step is
    // due; and a cycle with a guard or an assignment is no single location
    let refused: [&[(usize, usize, &str)]; 4] = [
        &[(0, 1, "/ x = 0;"), (1, 2, ""), (2, 1, ""), (2, 3, "!e")],
        &[(0, 1, "/ x = 0;"), (1, 2, ""), (2, 1, ""), (2, 3, ""), (3, 1, "!f")],
        &[(0, 1, "/ x = 0;"), (1, 2, ""), (2, 1, "[x == 1]"), (2, 3, "?e")],
        &[(0, 1, "/ x = 0;"), (1, 1, "/ x = x + 1;"), (1, 3, "?e")],
    ];
    for edges in refused {
        assert_eq!(made(edges).unwrap_err(), ["livelock"], "{edges:?}");
    }
}

#[test]
fn many_names_are_told_in_few_lines() {
    let labels: Vec<String> = (0..1_000).map(|number| format!("e {number}")).collect();
    let edges: Vec<(usize, usize, &str)> = labels.iter().map(|label| (0, 1, label.as_str())).collect();
    let (_, found) =
        made(&graphml(&["Start", "A"], &edges), ForeignFormat::Graphml, &Options::default()).unwrap();
    assert!(found.iter().all(|found| found.notes.len() <= 21), "{found:?}");
    let aut: String =
        labels.iter().map(|label| format!("(0, \"{}\", 0)\n", label.replace(' ', ""))).collect();
    let found = import(
        Arc::new(SourceFile { name: "m.aut".to_owned(), text: format!("des (0, 1000, 1)\n{aut}") }),
        None,
        &Options::default(),
    )
    .unwrap_err();
    assert!(found.len() <= 10, "{}", found.len());
}
