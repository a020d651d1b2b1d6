//! What a Fail says first: the value, the range or the action that was expected, and what came instead.

use std::collections::BTreeSet;

use coreach_execution::initial::first;
use coreach_execution::judge::{Judge, Judged, Reasons};
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::run::Occurrence;
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Iosts, Verdict, codec};
use serde_json::{Value as Json, json};

const HEAD: &str = r#"
iosts: shop
types:
  Item: { name: string, price: int }
  Items: "list[4] of Item"
  Colour: [RED, GREEN, BLUE]
  Stock: "map[Colour] of int[0..99]"
  Book: "map[3] of string to Item"
  Reply: [Next: { job: int }, Empty]
  Bill: [Due: { cents: int, each: int }, Paid]
variables: { v: int, w: int, vItems: Items, vColours: "set[Colour]", vStock: Stock, vName: string, vNote: string, vRate: real, vBook: Book, vBig: "set[9] of int", vShelf: "map[5] of string to Item" }
functions:
  due: { result: int, is: "v * 2 - 1" }
  near: { parameters: { n: int }, is: "v - 1 <= n && n <= v + 1" }
  answer: "if v < 5 then Empty else if w > 5 then Empty else Next(v * w)"
  dear: "match find i in vItems: i.price > 100: some(i) -> i.name | none -> vName"
  cheap: { parameters: { i: Item }, is: "i.price < v" }
  best: { parameters: { q: Items }, is: "find i in q: i.price > 30" }
  topped: { parameters: { o: "option[Item]", more: int }, is: "match o: some(i) -> if i.price > more then some(i with { price: i.price + more }) else o | none -> o" }
  charge: { parameters: { o: "option[Item]" }, is: "match o: some(i) -> Due(i.price, w) | none -> Paid" }
  is_dear: { parameters: { o: "option[Item]" }, is: "match o: some(i) -> i.price > 99 | none -> false" }
  step: { parameters: { n: int }, is: "if n > 5 then v div 2 else if n == 3 then v - 1 else 0 - n" }
  twice: { parameters: { n: int }, is: "step(n + 4)" }
  worth: { parameters: { q: Items }, is: "sum([i.price for i in q if i.price in {2, 40}])" }
  first: { result: Item, is: "vItems[0]" }
  note: { result: string, is: "vNote" }
  full: { result: int, is: "count c in Colour: c in vStock && vStock[c] > w" }
  raised: { parameters: { i: Item }, result: Item, is: "i with { price: if i.price > 30 then i.price + w else 1 }" }
  shelved: { result: Item, is: "vShelf[vName]" }
  dearer: { result: int, is: "count k in vShelf: vShelf[k].price > vShelf[vName].price" }
  spread: { parameters: { q: Items }, result: int, is: "sum([i.price for i in q if i.price >= shelved().price])" }
  owed: "if v > 99 then some(Paid) else if w > 9 then some(Due(1, 1)) else if vName == \"\" then some(Paid) else none"
  priced: "match find i in vItems: i.price > 100: some(i) -> Due(i.price, 1) | none -> if v > 99 then Paid else if w > 9 then Paid else Paid"
  good: "v > 5 && len(vItems) + w <= 8 && vItems[0].price < v"
initial:
  location: l
  condition: 'v == 10 && w == 3 && vItems == [{ name: "pen", price: 2 }, { name: "lamp", price: 40 }] && vColours == {RED, BLUE} && vStock == [RED: 5, BLUE: 7] && vName == "ann" && vNote == "a (b)" && vRate == 1.5 && vBook == ["a": { name: "pen", price: 2 }, "bb": { name: "lamp", price: 40 }] && vBig == {1000000000000, 1000000000001, 1000000000002, 1000000000003, 1000000000004, 1000000000005, 1000000000006, 1000000000007, 1000000000008} && vShelf == ["ann": { name: "a black and blue pen", price: 2 }, "bob": { name: "a lamp without a bulb", price: 40 }, "eve": { name: "a pen", price: 7 }, "joe": { name: "a cable of two metres with a plug at each end", price: 1 }, "kim": { name: "a box of screws for the table and the chairs", price: 1 }]'
inputs: { Go: {} }
outputs:
  N: { n: int }
  Nat: { k: nat }
  Two: { a: int, b: int }
  Small: { s: "int[0..9]" }
  Pair: { s: "int[0..9]", t: "int[0..9]" }
  Real: { r: real }
  Flag: { f: bool }
  Name: { text: string }
  List: { items: Items }
  One: { item: Item }
  Maybe: { found: "option[Item]" }
  Set: { colours: "set[Colour]" }
  Stock: { stock: Stock }
  Book: { book: Book }
  Seats: { free: "set[int[1..9]]" }
  Many: { many: "list[9] of int" }
  Colour: { colour: Colour }
  Answer: { reply: Reply }
  Bill: { bill: Bill }
  Left: { left: int, one: "option[int]" }
  Plan: { plan: "array[int[0..3]] of int" }
  Ok: {}
  Refused: {}
  Closed: {}
transitions:
  - { from: l, to: l, on: Go }
"#;

/// The phrase for an observation that these guards of outputs do not allow.
fn instead(guards: &[(&str, &str)], action: &str, values: &[Json]) -> String {
    why(guards, action, values).instead
}

fn why(guards: &[(&str, &str)], action: &str, values: &[Json]) -> Reasons {
    ask_monitor(guards, action, values, |monitor, event| monitor.why(Some(&event), Some(Verdict::Fail)))
}

fn is_allowed(guards: &[(&str, &str)], action: &str, values: &[Json]) -> bool {
    let is_followed = |monitor: &mut Monitor, event| {
        let judged = monitor.take(&Occurrence::Observation(event));
        matches!(judged, Judged::Followed(_)) && monitor.verdict().is_none()
    };
    ask_monitor(guards, action, values, is_followed)
}

fn ask_monitor<R>(
    guards: &[(&str, &str)],
    action: &str,
    values: &[Json],
    question: impl FnOnce(&mut Monitor, Event) -> R,
) -> R {
    let line = |(action, guard): &(&str, &str)| {
        let guard = guard.replace('\'', "''");
        format!("  - {{ from: l, to: l, on: {action}, when: '{guard}' }}\n")
    };
    let text = HEAD.to_owned() + &guards.iter().map(line).collect::<String>();
    let iosts: Iosts =
        read_specification(from_bytes("m".to_owned(), text.into_bytes()).unwrap()).unwrap().0.iosts;
    let state = first(&iosts, &Valuation::new(), &mut Lazy::default()).unwrap();
    let mut monitor = Monitor::new(&iosts, BTreeSet::from([state]));
    let parameters = &iosts.action(iosts.find_action(action).unwrap()).parameters;
    let values =
        values.iter().zip(parameters).map(|(json, datum)| codec::from_json(json, datum.ty()).unwrap());
    let event = Event::new(action, values.collect::<Vec<_>>());
    question(&mut monitor, event)
}

#[test]
fn a_value_is_solved_for() {
    let mut wrong = Vec::new();
    for (action, guard, got, expected) in [
        ("N", "n == v + 1", json!(12), "n = 11, got 12"),
        ("N", "v + 1 == n", json!(12), "n = 11, got 12"),
        ("N", "n + w == due()", json!(12), "n = 16, got 12"),
        ("N", "n != v", json!(10), "n != 10, got 10"),
        ("N", "n >= v", json!(3), "n >= 10, got 3"),
        ("N", "n < v", json!(12), "n <= 9, got 12"),
        ("N", "w <= n && n < v", json!(12), "n in 3..9, got 12"),
        ("N", "near(n)", json!(20), "n in 9..11, got 20"),
        ("N", "n == v || n == w", json!(12), "n = 10 or 3, got 12"),
        ("N", "v == 10 => n == 4", json!(12), "n = 4, got 12"),
        ("N", "n == (if v > 5 then w else v)", json!(12), "n = 3, got 12"),
        ("N", "n mod 2 == 0", json!(3), "n mod 2 = 0, got 1"),
        ("Real", "r > vRate", json!("1/2"), "r > 1.5, got 0.5"),
        ("Flag", "!f", json!(true), "f = false, got true"),
        ("Flag", "f == (v > 5)", json!(false), "f = true, got false"),
        ("Name", "text == vName + \"a\"", json!("bob"), "text = \"anna\", got \"bob\""),
        ("Name", "matches(text, \"[a-z]+\")", json!("A"), "text matching \"[a-z]+\", got \"A\""),
        ("Colour", "colour in vColours", json!("GREEN"), "colour in {RED, BLUE}, got GREEN"),
        ("Colour", "!(colour in vColours)", json!("RED"), "colour = GREEN, got RED"),
        ("Small", "!(s in {0, 1, 2, 3, 4, 5, 6, 8, 9})", json!(3), "s = 7, got 3"),
        // No value of the event makes an alternative true that reads a part without a value.
        (
            "Answer",
            "w < 2 && vItems[w].price > 3 && reply == Next(vItems[w].price) || v == 10 && reply == Empty",
            json!({ "Next": { "job": 3 } }),
            "reply = Empty, got Next(3)",
        ),
        ("Flag", "(if f then w else v) == 3", json!(false), "(if f then w else v) = 3, got 10"),
        ("Answer", "reply is Empty", json!({ "Next": { "job": 3 } }), "reply is Empty, got Next(3)"),
        ("Answer", "!(reply is Next)", json!({ "Next": { "job": 3 } }), "reply is not Next, got Next(3)"),
        ("Many", "many == [1, 1, 2]", json!([2, 2, 1]), "many = [1, 1, 2], got [2, 2, 1]"),
        (
            "Bill",
            "bill == Due(v * 2, v)",
            json!({ "Due": { "cents": 20, "each": 2 } }),
            "bill.each = 10, got 2",
        ),
        (
            "Bill",
            "w == 0 && bill == Paid || w > 0 && (match bill: Due(c, e) -> c == v * w && e == v | Paid -> false)",
            json!({ "Due": { "cents": 30, "each": 2 } }),
            "bill.each = 10, got 2",
        ),
        (
            "Answer",
            "match reply: Next(j) -> j > v | _ -> false",
            json!({ "Next": { "job": 3 } }),
            "`match reply: Next(j) -> j > v | _ -> false` to hold, got reply = Next(3)",
        ),
        (
            "Answer",
            "match reply: Next(j) -> j == v | _ -> false",
            json!({ "Next": { "job": 3 } }),
            "reply = Next(10), got Next(3)",
        ),
    ] {
        let found = instead(&[(action, guard)], action, &[got]);
        wrong.extend((found != expected).then(|| format!("{guard}: {found}, not {expected}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(instead(&[("Two", "a == v && b == w")], "Two", &[json!(1), json!(3)]), "a = 10, got 1");
    assert_eq!(
        instead(&[("Two", "a == v && b == w")], "Two", &[json!(1), json!(2)]),
        "a = 10 (got 1) and b = 3 (got 2)"
    );
    // Another event would meet the other branch.
    assert_eq!(
        instead(&[("Two", "b > 1 && (if a == 1 then w == 9 else b == w)")], "Two", &[json!(1), json!(3)]),
        "`if a == 1 then w == 9 else b == w` to hold, got a = 1, b = 3"
    );
    // A branch that the event chooses, with an order of two parts of the event.
    assert_eq!(
        instead(&[("Pair", "if s == 9 then s < t else s == 0")], "Pair", &[json!(9), json!(3)]),
        "s < t, got 9 and 3"
    );
    // The case that came is the right one.
    assert_eq!(
        instead(
            &[("Left", "one == some(v) && (match one: some(x) -> left == x - w | none -> left == 0)")],
            "Left",
            &[json!(9), json!(10)]
        ),
        "left = 7, got 9"
    );
    // The second part fails only because of the first.
    assert_eq!(
        instead(&[("Two", "a == v && b == (if a == v then 5 else 0)")], "Two", &[json!(1), json!(5)]),
        "a = 10, got 1"
    );
    assert_eq!(instead(&[("Two", "a + b == v")], "Two", &[json!(1), json!(2)]), "a + b = 10, got 3");
}

#[test]
fn of_a_collection_the_smallest_part_that_differs_is_said() {
    let item = |name: &str, price: i64| json!({ "name": name, "price": price });
    let (pen, lamp) = (item("pen", 2), item("lamp", 40));
    let mut wrong = Vec::new();
    for (action, guard, got, expected) in [
        ("List", "items == vItems", json!([pen, item("lamp", 41)]), "items[1].price = 40, got 41"),
        (
            "List",
            "items == vItems",
            json!([lamp, pen]),
            "items = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], got [{name: \"lamp\", price: 40}, {name: \"pen\", price: 2}] (the same elements in another order)",
        ),
        (
            "List",
            "items == vItems",
            json!([pen]),
            "items = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], got [{name: \"pen\", price: 2}]",
        ),
        ("List", "len(items) == 2", json!([pen]), "len(items) = 2, got 1"),
        (
            "Set",
            "(all c in colours: c in vColours) && len(colours) == 2",
            json!(["RED"]),
            "colours = {RED, BLUE}, got {RED}",
        ),
        ("Maybe", "found == some(vItems[1])", item("lamp", 41), "found.price = 40, got 41"),
        (
            "Many",
            "many == [1000000000, 2000000000, 3000000000, 4000000000, 5000000000]",
            json!([
                1000000000,
                2000000000,
                3000000000_i64,
                4000000000_i64,
                5000000000_i64,
                6000000000_i64,
                7
            ]),
            "many = [1000000000, 2000000000, 3000000000, 4000000000, 5000000000], got [1000000000, 2000000000, 3000000000, 4000000000, 5000000000, 6000000000, 7] (6000000000 at [5] and 7 at [6] were not expected)",
        ),
        ("List", "all i in items: cheap(i)", json!([pen, lamp]), "items[1].price <= 9, got 40"),
        (
            "List",
            "all i in 0..1: items[i] == vItems[i]",
            json!([pen, item("l", 40)]),
            "items[1].name = \"lamp\", got \"l\"",
        ),
        (
            "List",
            "len(items) == 3 && (all i in 0..2: i < len(items) => items[i] == vItems[min(i, 1)])",
            json!([lamp, pen, lamp]),
            "items in another order, with {name: \"pen\", price: 2} at [0], got {name: \"lamp\", price: 40}",
        ),
        (
            "Set",
            "all c in Colour: (c in colours) == (c in vStock && vStock[c] > w)",
            json!(["RED", "GREEN"]),
            "colours = {RED, BLUE}, got {RED, GREEN}",
        ),
        ("Seats", "free == {}", json!([1, 3, 4, 5, 6]), "free = {}, got {1, 3, 4, 5, 6}"),
        (
            "List",
            "items == []",
            json!([pen, lamp]),
            "items = [], got [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        ("List", "items[0].price == v", json!([pen]), "items[0].price = 10, got 2"),
        ("One", "item == vItems[w - 2]", json!(item("lamp", 4)), "item.price = 40, got 4"),
        (
            "One",
            "contains(vItems, item)",
            json!(item("x", 4)),
            "item in [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], got {name: \"x\", price: 4}",
        ),
        ("Set", "colours == vColours", json!(["RED"]), "colours = {RED, BLUE}, got {RED}"),
        ("Set", "GREEN in colours", json!(["RED"]), "colours with GREEN, got {RED}"),
        ("Stock", "stock == vStock", json!({ "RED": 5, "BLUE": 6 }), "stock[BLUE] = 7, got 6"),
        ("Seats", "free == {1, 3, 4, 5, 6}", json!([1, 4, 5, 6]), "free with 3, got {1, 4, 5, 6}"),
        ("Set", "(RED in colours) == (v == 10)", json!(["BLUE"]), "colours with RED, got {BLUE}"),
        (
            "Stock",
            "(if RED in stock then stock[RED] else 0) == (count i in vItems: i.price < v)",
            json!({ "RED": 0 }),
            "stock[RED] = 1, got 0",
        ),
        (
            "Book",
            "book == vBook",
            json!({ "a": pen, "bb": item("lamp", 41) }),
            "book[\"bb\"].price = 40, got 41",
        ),
        (
            "Book",
            "book == vBook",
            json!({ "a": pen, "bb": item("bulb", 7) }),
            "book[\"bb\"] = {name: \"lamp\", price: 40}, got {name: \"bulb\", price: 7}",
        ),
        (
            "Book",
            "book == vBook",
            json!({ "a": item("pen", 3), "c": lamp }),
            "book with \"bb\" and without \"c\" (got [\"a\": {name: \"pen\", price: 3}, \"c\": {name: \"lamp\", price: 40}]) and book[\"a\"].price = 2 (got 3)",
        ),
        (
            "Name",
            "text == \"0123456789\" + \"0123456789\" + \"0123456789\" + \"0123456789\" + \"0123456789\" + \"0123456789\" + \"a\"",
            json!("0123456789".repeat(6) + "b"),
            "text[60..] = \"a\", got \"b\"",
        ),
        (
            "Many",
            "many == [2000000000, 1, 2, 3000000000, 4000000000, 5000000000, 6000000000]",
            json!([1, 2000000000_i64, 2, 3000000000_i64, 4000000000_i64, 5000000000_i64, 6000000000_i64]),
            "many in another order, with 2000000000 at [0], got 1",
        ),
        (
            "List",
            "len(items) == 2 && items[0] == { name: \"nut\", price: 3 } && items == vItems[0 := items[0]]",
            json!([item("nut", 3), pen]),
            "items[1] = {name: \"lamp\", price: 40}, got {name: \"pen\", price: 2}",
        ),
        ("Many", "many == [1, 2, 3, 4]", json!([2, 4, 5, 6]), "many = [1, 2, 3, 4], got [2, 4, 5, 6]"),
        // Most cells have another value in one of the two.
        (
            "Plan",
            "plan[0] == 1 && plan == plan[0 := 1][3 := 1]",
            json!({ "default": 2, "cells": [[0, 1]] }),
            "plan[3] = 1, got 2",
        ),
        ("N", "some i in vItems: i.name == \"lamp\" && n == i.price", json!(9), "n = 40, got 9"),
        ("N", "some i in vItems: n == i.price", json!(9), "n = 2 or 40, got 9"),
        (
            "Many",
            "many == [1, 2, 3, 4, 5]",
            json!([1, 2, 4, 5]),
            "many = [1, 2, 3, 4, 5], got [1, 2, 4, 5] (3 at [2] is missing)",
        ),
        (
            "Many",
            "many == [1, 2, 4]",
            json!([1, 2, 4, 5]),
            "many = [1, 2, 4], got [1, 2, 4, 5] (5 at [3] was not expected)",
        ),
        (
            "List",
            "items == [vItems[0], vItems[1], vItems[0]]",
            json!([lamp]),
            "items with 3 elements, got 1: {name: \"pen\", price: 2} at [0] and {name: \"pen\", price: 2} at [2] are missing",
        ),
        (
            "List",
            "items == [vItems[0], vItems[1], vItems[1]]",
            json!([pen, lamp, item("nut", 3), lamp]),
            "items with 3 elements, got 4: {name: \"nut\", price: 3} at [2] was not expected",
        ),
        (
            "Name",
            "text == \"ann: \"",
            json!("ann:"),
            "text = \"ann: \", got \"ann:\" (without the blank at its end)",
        ),
        (
            "Name",
            "text == \"Zo\u{eb}\"",
            json!("Zoe\u{308}"),
            "text = \"Zo\u{eb}\", got \"Zoe\\u{308}\" (the same text in another form of Unicode: let the system keep the form)",
        ),
        (
            "Name",
            "text == \"a b\"",
            json!("a%20b"),
            "text = \"a b\", got \"a%20b\" (with `%`, as in the request: let the system decode it)",
        ),
        ("Name", "text == \"Ann\"", json!("ann"), "text = \"Ann\", got \"ann\" (with other capital letters)"),
    ] {
        let found = instead(&[(action, guard)], action, &[got]);
        wrong.extend((found != expected).then(|| format!("{guard}: {found}, not {expected}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A condition that only repeats itself is opened, and the data are shown that its functions read.
#[test]
fn a_condition_is_told_with_what_decides_in_it() {
    let mut wrong = Vec::new();
    let ten = json!({ "Next": { "job": 10 } });
    for (action, guard, got, expected) in [
        (
            "N",
            "!near(n)",
            json!(9),
            "`!near(n)` does not hold, since `v - 1 <= n && n <= v + 1` holds: n = 9, v = 10",
        ),
        ("N", "near(n)", json!(20), "`near(n)` does not hold, since `n <= v + 1` does not: n = 20, v = 10"),
        ("N", "n == due()", json!(3), "`n == due()` does not hold: due() = 19, n = 3, v = 10"),
        (
            "List",
            "all i in items: cheap(i)",
            json!([{ "name": "pen", "price": 40 }]),
            "`all i in items: cheap(i)` does not hold, since `items[0].price < v` does not: items[0].price = 40, v = 10",
        ),
        (
            "Set",
            "colours == vColours + {GREEN}",
            json!(["RED"]),
            "`colours == vColours + {GREEN}` does not hold: colours = {RED}, vColours = {RED, BLUE}, vColours + {GREEN} = {RED, GREEN, BLUE}",
        ),
        ("Answer", "!(reply is Next)", ten.clone(), "`!(reply is Next)` does not hold: reply = Next(10)"),
        (
            "Answer",
            "match reply: Next(j) -> j > 1 && j > due() | _ -> false",
            ten.clone(),
            "does not hold, since `j > due()` does not: due() = 19, j = 10, reply = Next(10), v = 10",
        ),
        (
            "Answer",
            "match reply: Next(j) -> !near(j) | Empty -> true",
            ten,
            "does not hold, since `!near(j)` does not, as `v - 1 <= j && j <= v + 1` holds: j = 10, reply = Next(10), v = 10",
        ),
        // The text names the condition that missed what came, and not the last ones.
        (
            "Bill",
            "owed() == some(bill)",
            json!({ "Due": { "cents": 1, "each": 2 } }),
            "since `owed()` is `none` (the branch where `vName == \"\"` is false and `w > 9` is false): vName = \"ann\", w = 3",
        ),
        (
            "Bill",
            "bill == priced()",
            json!({ "Due": { "cents": 1, "each": 2 } }),
            "(the branch where `find i in vItems: i.price > 100` is none): vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "N",
            "n == (if vItems == [] then 0 else max([i.price for i in vItems if i.price > 99]))",
            json!(1),
            "since `n == max([i.price for i in vItems if i.price > 99])` has no value: [i.price for i in vItems if i.price > 99] = [], n = 1, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "Many",
            "if len(many) in vBig then many == [1] else many == [2]",
            json!([3]),
            "does not hold, since `many == [2]` does not: len(many) in vBig = false, many = [3]",
        ),
        (
            "N",
            "if w == 3 then n == v + 1 else n == 0",
            json!(9),
            "does not hold, since `n == v + 1` does not: n = 9, v = 10, w = 3",
        ),
        (
            "Answer",
            "match reply: Next(j) -> j == v | _ -> false",
            json!("Empty"),
            "does not hold: reply = Empty",
        ),
        (
            "Answer",
            "match reply: Next(j) -> j == v && (if w > 5 then vRate == 1.5 else vName == \"a much longer name\") | Empty -> false",
            json!("Empty"),
            "the guard does not hold, since the case of `match reply` for `Empty` is `false`: reply = Empty",
        ),
        (
            "Bill",
            "match bill: Due(c, e) -> c == due() && (if w > 5 then e == 1 else e == v) | Paid -> false",
            json!({ "Due": { "cents": 1, "each": 2 } }),
            "does not hold, since `c == due()` does not, and `if w > 5 then e == 1 else e == v` does not, as `e == v` does not: c = 1, due() = 19, e = 2, v = 10, w = 3",
        ),
        (
            "Stock",
            "(if RED in stock then stock[RED] else 0) == (count i in vItems: i.price < v)",
            json!({ "RED": 0 }),
            "does not hold, since `stock[RED] == (count i in vItems: i.price < v)` does not: (count i in vItems: i.price < v) = 1 (for i at [0]), RED in stock = true, stock[RED] = 0, v = 10, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "Answer",
            "reply == answer()",
            json!({ "Next": { "job": 3 } }),
            "`reply == answer()` does not hold, since `reply.job == v * w` does not (the branch where `v < 5` is false and `w > 5` is false): reply.job = 3, v = 10, w = 3",
        ),
        (
            "Bill",
            "bill == Due(v + 1, w)",
            json!({ "Due": { "cents": 12, "each": 3 } }),
            "does not hold, since `bill.cents == v + 1` does not: bill.cents = 12, v = 10",
        ),
        (
            "Bill",
            "bill == charge(topped(best(vItems), w))",
            json!({ "Due": { "cents": 9, "each": 1 } }),
            "does not hold, since `bill == Due(best(vItems).value.price + w, w)` does not (the branch where `best(vItems).value.price > w` is true): best(vItems).value.price = 40, bill = Due(9, 1), w = 3",
        ),
        (
            "Bill",
            "bill == charge(topped(best(vItems), w))",
            json!("Paid"),
            "does not hold, since `bill == Due(best(vItems).value.price + w, w)` does not (the branch where `best(vItems).value.price > w` is true): best(vItems).value.price = 40, w = 3",
        ),
        (
            "Flag",
            "f == is_dear(topped(best(vItems), w))",
            json!(true),
            "does not hold, since `f == (best(vItems).value.price + w > 99)` does not (the branch where `best(vItems).value.price > w` is true): best(vItems).value.price = 40, f = true, w = 3",
        ),
        (
            "N",
            "n == w + twice(w)",
            json!(9),
            "`n == w + twice(w)` does not hold: n = 9, twice(w) = 5 (as `v div 2`, the branch where `w + 4 > 5` is true), v = 10, w = 3",
        ),
        (
            "N",
            "n == w + step(w)",
            json!(9),
            "`n == w + step(w)` does not hold: n = 9, step(w) = 9 (as `v - 1`), v = 10, w = 3",
        ),
        (
            "N",
            "n == worth(vItems) + v",
            json!(9),
            "does not hold: [i.price for i in vItems if i.price == 2 || i.price == 40] = [2, 40], n = 9, v = 10, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], worth(vItems) = 42",
        ),
        (
            "N",
            "all i in vItems: i.price > 9 && i.name != vName => n == i.price",
            json!(9),
            "does not hold, since `vItems[1].price > 9` and `vItems[1].name != vName` hold, but `n == vItems[1].price` does not: n = 9, vItems[1].name = \"lamp\", vItems[1].price = 40, vName = \"ann\"",
        ),
        (
            "Maybe",
            "found == some(if v > 5 then vItems[0] else vItems[1])",
            json!({ "name": "pen", "price": 3 }),
            "does not hold, since `found.value == vItems[0]` does not: found.value = {name: \"pen\", price: 3}, v = 10, vItems[0] = {name: \"pen\", price: 2}",
        ),
        (
            "N",
            "n == raised(vItems[1]).price",
            json!(9),
            "since `n == vItems[1].price + w` does not (the branch where `vItems[1].price > 30` is true): n = 9, vItems[1].price = 40, w = 3",
        ),
        (
            "N",
            "n == max(0, first().price - 1)",
            json!(9),
            "does not hold: first().price = 2 (as `vItems[0].price`), max(0, first().price - 1) = 1, n = 9",
        ),
        (
            "N",
            "all i in vItems[0..w - 1]: i.price < n",
            json!(9),
            "does not hold, since `i.price < n` does not: i.price = 40, n = 9",
        ),
        (
            "Name",
            "text == note() + vName",
            json!("ann"),
            "`text == note() + vName` does not hold: note() = \"a (b)\", note() + vName = \"a (b)ann\", text = \"ann\", vName = \"ann\"",
        ),
        (
            "N",
            "n == full() + v",
            json!(9),
            "`n == full() + v` does not hold: full() = 2 (for c = RED, BLUE), n = 9, v = 10, vStock = [RED: 5, BLUE: 7], w = 3",
        ),
        (
            "N",
            "n == (index i in vItems: i.price > 10 || i.name == vName)",
            json!(9),
            "(index i in vItems: i.price > 10 || i.name == vName) = 1 (as `vItems[1].price > 10` holds), n = 9, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], vName = \"ann\"",
        ),
        (
            "Ok",
            "!good()",
            json!(null),
            "`!good()` does not hold, since all of these hold: `v > 5` (10 > 5), `len(vItems) + w <= 8` (5 <= 8), `vItems[0].price < v` (2 < 10): v = 10, w = 3",
        ),
        (
            "N",
            "if v == 1111111111 then n == 1 else if v == 2222222222 then n == 2 else if w > 333333333333 then n == 3 else n == v",
            json!(9),
            "the guard does not hold, since `n == v` does not (the branch where `w > 333333333333` is false): n = 9, v = 10, w = 3",
        ),
        (
            "Name",
            "text == join([i.name for i in vItems if i.price > 1 && i.price < 1000], vName + \", \")",
            json!("pen"),
            "does not hold: text = \"pen\", the right side = \"penann, lamp\", vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], vName = \"ann\"",
        ),
        (
            "N",
            "n == sum([i.price for i in vItems if i.price > 1])",
            json!(9),
            "does not hold: [i.price for i in vItems if i.price > 1] = [2, 40], n = 9, sum([i.price for i in vItems if i.price > 1]) = 42, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "Name",
            "text == dear()",
            json!("pen"),
            "since `text == vName` does not (the branch where `find i in vItems: i.price > 100` is none): text = \"pen\", vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}], vName = \"ann\"",
        ),
        (
            "Name",
            "text == to_string(count i in vItems: i.price < v) + \" of 2\"",
            json!("2 of 2"),
            "does not hold: (count i in vItems: i.price < v) = 1 (for i at [0]), text = \"2 of 2\", to_string(count i in vItems: i.price < v) + \" of 2\" = \"1 of 2\", v = 10, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "N",
            "some i in vItems: i.name == \"lamp\" && n == i.price",
            json!(9),
            "does not hold, since `n == vItems[1].price` does not: n = 9, vItems[1].price = 40",
        ),
        (
            "N",
            "if near(n) then n == 0 else n == 1",
            json!(9),
            "does not hold, since `n == 0` does not: n = 9, near(n) = true (as `v - 1 <= n && n <= v + 1` holds), v = 10",
        ),
        (
            "One",
            "item.price in vBig || item == vItems[0]",
            json!({ "name": "pen", "price": 3 }),
            "item.price in vBig = false, vBig = {1000000000000, 1000000000001, 1000000000002, 1000000000003, 1000000000004, 1000000000005, 1000000000006, 1000000000007, 1000000000008}, vItems[0] = {name: \"pen\", price: 2}",
        ),
        (
            "Answer",
            "if due() > 20 then reply == Empty else match reply: Next(j) -> false | Empty -> true",
            json!({ "Next": { "job": 3 } }),
            "since the case of `match reply` for `Next` is `false`: due() = 19, reply = Next(3), v = 10",
        ),
        (
            "N",
            "n > 5 && n == v || v == 0 && n == 1",
            json!(9),
            "does not hold, since `n == v` does not: n = 9, v = 10",
        ),
        (
            "N",
            "n > 5 && n == v || v == 0 && n > 1",
            json!(9),
            "does not hold, since `n == v` does not, and the other alternative needs `v == 0`: n = 9, v = 10",
        ),
        (
            "N",
            "v > 5 => n == w",
            json!(9),
            "`v > 5 => n == w` does not hold, since `v > 5` holds, but `n == w` does not: n = 9, v = 10, w = 3",
        ),
        (
            "N",
            "v > 5 && w > 1 => near(n)",
            json!(20),
            "does not hold, since `near(n)` does not, as `n <= v + 1` does not, while `v > 5 && w > 1` holds: n = 20, v = 10, w = 3",
        ),
        (
            "N",
            "all i in vItems: i.price > 9 => n == i.price",
            json!(9),
            "`all i in vItems: i.price > 9 => n == i.price` does not hold, since `vItems[1].price > 9` holds, but `n == vItems[1].price` does not: n = 9, vItems[1].price = 40",
        ),
        // Of a long collection the places are told that functions read.
        ("N", "n == dearer()", json!(9), "...] (2 of 5 left out), vShelf[vName].price = 2"),
        ("N", "n == spread(vItems)", json!(9), "price: 40}], vName = \"ann\", vShelf[vName].price = 2"),
        (
            "N",
            "match (if v > 5 then find i in vItems: i.name == \"a long name that nobody has\" || i.name == \"another long name that nobody has\" || i.price > 30 else none): some(i) -> n == i.price | none -> false",
            json!(9),
            "does not hold, since `n == i.price` does not (the branch where `v > 5` is true): i.price = 40, n = 9, v = 10, vItems = [{name: \"pen\", price: 2}, {name: \"lamp\", price: 40}]",
        ),
        (
            "List",
            "items[0].price == due() + w && items[1].price == due() - v",
            json!([{ "name": "pen", "price": 3 }, { "name": "lamp", "price": 40 }]),
            "`items[0].price == due() + w` does not hold: due() = 19, items[0].price = 3, v = 10, w = 3",
        ),
        (
            "N",
            "n > 5 && n == v || n < w && n == 1",
            json!(9),
            "does not hold, since neither `n == v` nor `n < w && n == 1` holds: n = 9, v = 10, w = 3",
        ),
    ] {
        let told: Vec<String> =
            why(&[(action, guard)], action, &[got]).guards.iter().map(ToString::to_string).collect();
        let is_right = told.len() == 1 && told[0].ends_with(expected);
        wrong.extend((!is_right).then(|| format!("{guard}: {told:?}, not {expected}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A `match` of the state has one case. A right value of one parameter counts in the conditions on others.
#[test]
fn a_right_value_is_found_through_other_values() {
    let of_case = [("N", "match answer(): Next(j) -> n == j && n > 0 | Empty -> n == 1")];
    assert_eq!(instead(&of_case, "N", &[json!(9)]), "n = 30, got 9");
    assert_eq!(
        instead(&[("N", "n == (match answer(): Next(j) -> j | Empty -> 1)")], "N", &[json!(9)]),
        "n = 30, got 9"
    );
    let branch = [("Two", "b == a + 1 && (if w == 3 then a else b) == v")];
    assert_eq!(instead(&branch, "Two", &[json!(11), json!(12)]), "a = 10 (got 11) and b = 11 (got 12)");
    // A value that another condition excludes is no answer.
    let either = [("Two", "(a == v || a == w) && b > a")];
    assert_eq!(instead(&either, "Two", &[json!(1), json!(6)]), "a = 3, got 1");
    // A value outside of the type is no answer.
    let outside = [("Pair", "s == t + v - 5 && t < 9")];
    assert_eq!(
        instead(&outside, "Pair", &[json!(3), json!(8)]),
        "`s == t + v - 5` to hold, got s = 3, t = 8"
    );
    let both = [("Two", "a + b == 4 && a == b + v")];
    assert_eq!(instead(&both, "Two", &[json!(1), json!(1)]), "a = 7 (got 1) and b = -3 (got 1)");
    let chain = [("Two", "b == a + 1 && a == v")];
    for (b, differences) in [(11, "a = 10, got 11"), (12, "a = 10 (got 11) and b = 11 (got 12)")] {
        assert_eq!(instead(&chain, "Two", &[json!(11), json!(b)]), differences);
    }
}

/// Soundness: with the values that are expected, and the others as they came, the observation is allowed.
#[test]
fn what_is_expected_is_allowed() {
    let mut random = Random::new(7);
    let (mut wrong, mut checked) = (Vec::new(), 0);
    let sides =
        ["a", "b", "v", "w", "a + 1", "b - a", "due() - b", "w * 2", "max(a, w)", "(if v > 5 then a else b)"];
    for _ in 0..600 {
        let mut side = || sides[random.below(sides.len())];
        let atoms = [0; 3].map(|_| (side(), side()));
        let mut atom = |at: usize| {
            let (left, right) = atoms[at];
            format!("{left} {} {right}", ["==", "==", "==", "<=", ">", "!="][random.below(6)])
        };
        let [one, two, three] = [atom(0), atom(1), atom(2)];
        let guard = match random.below(4) {
            0 => format!("{one} && {two} && {three}"),
            1 => format!("({one} || {two}) && {three}"),
            2 => format!("(match answer(): Next(j) -> {one} && a < j | Empty -> {two}) && {three}"),
            _ => format!("{one} && (if w == 3 then {two} else {three})"),
        };
        let values = [json!(random.below(14)), json!(random.below(14))];
        if is_allowed(&[("Two", &guard)], "Two", &values) {
            continue;
        }
        let found = instead(&[("Two", &guard)], "Two", &values);
        // One way, in which parameters have values.
        let parts = found.replace(", got", " (got").replace(" and ", ", ");
        let named: Option<Vec<(&str, i64)>> = parts
            .split("), ")
            .map(|part| part.split(" (got").next()?.split_once(" = "))
            .map(|pair| pair.and_then(|(name, value)| Some((name, value.parse().ok()?))))
            .collect();
        let Some(named) = named.filter(|named| named.iter().all(|(name, _)| ["a", "b"].contains(name)))
        else {
            continue;
        };
        checked += 1;
        let right = ["a", "b"].iter().zip(&values).map(|(name, value)| {
            named.iter().find(|(one, _)| one == name).map_or(value.clone(), |(_, value)| json!(value))
        });
        let right: Vec<Json> = right.collect();
        if !is_allowed(&[("Two", &guard)], "Two", &right) {
            wrong.push(format!("{guard} for {values:?}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked}: {wrong:#?}", wrong.len());
    assert!(checked > 50, "{checked}");
}

#[test]
fn what_the_state_excludes_is_no_alternative() {
    let excluding = [("N", "(v < 5 || n == 1) && n == 2"), ("Ok", "v >= 5 && w == 3")];
    let told = why(&excluding, "N", &[json!(2)]).guards.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("-Ok-> l (m:67): `v >= 5 && w == 3` holds: v = 10, w = 3"), "{told:?}");
    let both = [("N", "v > 5 && n == 1"), ("N", "v <= 5 && n == 2")];
    assert_eq!(instead(&both, "N", &[json!(3)]), "n = 1, got 3");
    // A purpose splits a transition: one half cannot be met by any value.
    let halves = [("N", "n == v && n >= 50"), ("N", "n == v && n < 50")];
    assert_eq!(instead(&halves, "N", &[json!(3)]), "n = 10, got 3");
    let several = [("N", "n == 1"), ("N", "n == 2"), ("N", "n == 3"), ("N", "n == 4")];
    assert_eq!(instead(&several, "N", &[json!(9)]), "n = 1, 2 or 3 or 1 more, got 9");
    assert_eq!(instead(&[("N", "n == w"), ("Ok", "true")], "N", &[json!(9)]), "n = 3, got 9");
}

/// A transition for another alternative than the one that came explains nothing if there is an excluded one.
#[test]
fn a_guard_for_another_alternative_is_left_out() {
    for paid in ["match bill: Due(c, e) -> false | Paid -> true", "bill == Paid", "bill is Paid"] {
        let guards = [("Bill", paid), ("Bill", "v < 5 && bill == Due(20, 2)")];
        let due = json!({ "Due": { "cents": 20, "each": 2 } });
        let told: Vec<String> = why(&guards, "Bill", &[due]).guards.into_iter().map(|one| one.part).collect();
        assert_eq!(told, ["v < 5"], "{told:?}");
    }
    // Several conditions exclude the transition for the alternative that came.
    let guards = [("Bill", "bill == Paid"), ("Bill", "v < 5 && w < 2 && bill == Due(20, 2)")];
    let due = json!({ "Due": { "cents": 20, "each": 2 } });
    let told: Vec<String> = why(&guards, "Bill", &[due]).guards.into_iter().map(|one| one.part).collect();
    assert_eq!(told, ["v < 5", "w < 2"], "{told:?}");
    // An operation without a value tells nothing about its alternative.
    let undefined = [guards[0], ("Bill", "vItems == [] && bill == Due(vItems[9].price, 1)")];
    let due = json!({ "Due": { "cents": 20, "each": 2 } });
    let told: Vec<String> = why(&undefined, "Bill", &[due]).guards.into_iter().map(|one| one.part).collect();
    assert_eq!(told, ["vItems == []"], "{told:?}");
    // One of which a single condition fails explains more.
    let guards = [guards[0], guards[1], ("Bill", "v < 4 && bill == Due(20, 2)")];
    let due = json!({ "Due": { "cents": 20, "each": 2 } });
    let told: Vec<String> = why(&guards, "Bill", &[due]).guards.into_iter().map(|one| one.part).collect();
    assert_eq!(told, ["v < 4"], "{told:?}");
    // If a guard is about the alternative that came, those about others are left out.
    let others = "w == 3 && bill == Paid || w == 4 && (match bill: Due(c, e) -> false | Paid -> true)";
    let excluded = "v == 10 && bill == Due(v * 2, v)";
    let guards =
        [("Bill", others), ("Bill", "w < 2 && bill == Paid || w == 4 && bill == Paid"), ("Bill", excluded)];
    let due = json!({ "Due": { "cents": 20, "each": 2 } });
    let told: Vec<String> = why(&guards, "Bill", &[due]).guards.into_iter().map(|one| one.part).collect();
    assert_eq!(told, ["bill == Due(v * 2, v)"], "{told:?}");
}

#[test]
fn an_action_that_is_not_allowed_is_told_with_those_that_are() {
    let allowed = [("Ok", "v == 10"), ("Refused", "w == 3"), ("Closed", "v == 0")];
    assert_eq!(instead(&allowed, "Closed", &[]), "one of Ok or Refused, got Closed");
    assert_eq!(instead(&[("N", "n == due()")], "Ok", &[]), "N(n = 19), got Ok");
    assert_eq!(instead(&[("Two", "a == v && b > w")], "N", &[json!(1)]), "Two(a = 10, b >= 4), got N(1)");
    assert_eq!(instead(&[], "Ok", &[]), "no output, got Ok");
    // Neither is an action whose data the state excludes.
    assert_eq!(instead(&[("N", "v == 0 && n == 1"), ("Ok", "true")], "N", &[json!(1)]), "Ok, got N(1)");
}

/// Of two transitions, the condition that decides between them is shown with its values.
#[test]
fn a_transition_that_one_condition_excludes_is_told() {
    let both = [("N", "v < w && n == 1"), ("N", "v >= w && n == 2"), ("N", "v == 0 && n == 7")];
    let told: Vec<String> = why(&both, "N", &[json!(1)]).guards.iter().map(ToString::to_string).collect();
    let [right, excluded] = told.as_slice() else { panic!("{told:#?}") };
    assert!(right.ends_with("`n == 2` does not hold: n = 1"), "{told:#?}");
    assert!(excluded.ends_with("`v < w` does not hold: v = 10, w = 3"), "{told:#?}");
}

/// Soundness: no way to be right is told that types, bounds, exceptions and other parts exclude.
#[test]
fn a_way_that_nothing_can_take_is_not_told() {
    let mut wrong = Vec::new();
    for (action, guard, got, expected) in [
        ("Real", "r >= 3 && r < w || r == 9", json!(5), "r = 9, got 5"),
        ("Real", "r > w && (r <= 3 || r == 9)", json!(5), "r = 9, got 5"),
        ("N", "n > w && n < v && (n <= w + 1 && n > 4 || n == 9)", json!(5), "n = 9, got 5"),
        ("Small", "s >= v || s == w", json!(5), "s = 3, got 5"),
        ("Small", "s > 8 && s != 9 || s == w", json!(5), "s = 3, got 5"),
        (
            "One",
            "item.price >= w && item.price < 3 || item.price == v",
            json!({ "name": "x", "price": 5 }),
            "item.price = 10, got 5",
        ),
        ("Nat", "k > vRate && (k < w || k == 9)", json!(5), "k = 2 or 9, got 5"),
        ("Nat", "k > vRate && k < w", json!(5), "k = 2, got 5"),
        (
            "One",
            "item.price == 3 && item.price > w || item.price == v",
            json!({ "name": "x", "price": 3 }),
            "item.price = 10, got 3",
        ),
        (
            "Stock",
            "RED in stock && (stock[RED] == v * 10 || stock[RED] == w)",
            json!({ "RED": 5 }),
            "stock[RED] = 3, got 5",
        ),
        (
            "Stock",
            "RED in stock && (stock[RED] >= v * 10 || stock[RED] == w)",
            json!({ "RED": 5 }),
            "stock[RED] = 3, got 5",
        ),
    ] {
        let found = instead(&[(action, guard)], action, &[got]);
        wrong.extend((found != expected).then(|| format!("{guard}: {found}, not {expected}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Soundness: what is said to be allowed is, also where equations, types and bounds exclude it only together.
#[test]
fn what_no_values_can_take_is_not_said_to_be_allowed() {
    let right = ("N", "n == v - w");
    for never in [
        ("Nat", "k == w - v && k > 0"),
        ("Nat", "k == w - v"),
        ("Nat", "k + 1 < w - w"),
        ("Small", "s > v"),
        ("Small", "s == v + w"),
        ("Two", "a + b > v && a + b < w"),
        ("Two", "a == v && b == a + 1 && b < w"),
        ("Real", "r >= w && r < 3"),
        ("Real", "r > vRate && r <= 1.5"),
        ("Real", "r == vRate && r != 1.5"),
        ("Small", "s >= w * 3 && s != w * 3"),
        ("Flag", "f != (v > 5) && f"),
    ] {
        let found = why(&[right, never], "N", &[json!(8)]);
        assert_eq!((found.instead.as_str(), found.expected), ("n = 7, got 8", vec!["N(n = 7)".to_owned()]));
        let value = if never.0 == "Flag" { json!(true) } else { json!(3) };
        let values = vec![value; if never.0 == "Two" { 2 } else { 1 }];
        let found = instead(&[right, never], never.0, &values);
        assert!(found.starts_with("N(n = 7), got "), "{never:?}: {found}");
    }
    for (may, text) in [
        (("Nat", "k >= vRate"), "Nat(k) when k >= vRate, where vRate = 1.5"),
        (("Small", "s < v"), "Small(s <= 9)"),
        (("Nat", "k == 2 * vRate"), "Nat(k = 3)"),
        (("Two", "a + b > v"), "Two(a, b) when a + b > v, where v = 10"),
    ] {
        let found = why(&[right, may], "N", &[json!(8)]).expected;
        assert_eq!(found, ["N(n = 7)".to_owned(), text.to_owned()], "{may:?}");
    }
}
