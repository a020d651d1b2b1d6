//! Constructs of other languages, and how they are written here: hints for users who know those languages.

/// The help text that says how a range is written.
pub(super) const RANGE: &str = "a range is `0..9` without brackets, as in `all i in 0..9: q[i] > 0`; that `x` is in it is said by \
                         `0 <= x && x <= 9`";

/// Names of operations, functions or methods in other languages, and how to write them here.
const OPERATIONS: [(&[&str], &str); 15] = [
    (&["range", "interval"], RANGE),
    (
        &["substring", "substr", "slice", "mid"],
        "a part is `s[from..to]`, from the first index up to the one before `to`",
    ),
    (&["size", "length", "count", "len"], "the length of a string or a list is `len(s)`"),
    (&["append", "push", "push_back", "enqueue"], "`q + [e]` is `q` with `e` behind it"),
    (&["add"], "`s + {k}` is a set with `k`, and `q + [e]` a list with `e` behind it"),
    (&["concat", "extend", "union"], "`s + t` joins strings, lists or sets"),
    (&["filter", "map", "collect"], "a list is made of another one by `[x + 1 for x in q if x > 0]`"),
    (
        &["pop", "popleft", "pop_front", "dequeue", "shift"],
        "`q[1..]` is `q` without its first element, `q[0..len(q) - 1]` without its last one",
    ),
    (
        &["remove", "delete", "erase", "without", "discard"],
        "`remove_at(q, i)` is `q` without the element at `i`, `m - {k}` a set or a map without a key",
    ),
    (
        &["find", "find_index", "first_index", "index"],
        "the first element with a condition is `find x in q: x > 0`, its position `index x in q: x > 0`",
    ),
    (
        &["first", "front", "head", "peek", "last", "back", "top", "tail"],
        "the first element is `q[0]`, the last one `q[len(q) - 1]`, and `q[1..]` is all but the first",
    ),
    (&["update", "store", "put", "set"], "with another element at `i` it is `a[i := e]`"),
    (&["get", "at", "nth", "select"], "the element at `i` is `a[i]`"),
    (
        &["has", "includes", "member", "contains", "has_key", "contains_key"],
        "a list has an element if `contains(q, e)`, a set or a map a key if `k in s`",
    ),
    (&["empty", "is_empty", "isempty", "clear"], "`len(q) == 0` asks whether it is empty, and `[]` is empty"),
];

/// Words of other languages that stand for a value or join conditions, and how to write them here.
const WORDS: [(&[&str], &str); 7] = [
    (&["int", "nat"], RANGE),
    (
        &["otherwise", "default", "any"],
        "no word stands for all other cases: write the opposite of the other guards, as in `!(x > 0)`",
    ),
    (&["true", "false", "yes", "no"], "the truth values are `true` and `false`"),
    (
        &["none", "null", "nil", "undefined"],
        "what may be missing has a type such as `option[int]`, and is then `none`; an empty list is `[]`",
    ),
    (&["self", "this"], "a variable stands alone, without `self.`"),
    (
        &["location", "state"],
        "an expression does not read the location: `from:` says where a transition begins",
    ),
    (&["and", "or", "not"], "conditions are joined by `and`, `or` and `not`, in small letters"),
];

/// Explains how an operation of this name is written here.
pub(super) fn explain_operation(name: &str) -> Option<&'static str> {
    in_table(&OPERATIONS, name)
}

/// Explains how coreach writes a word of another language.
pub(super) fn explain_word(name: &str) -> Option<&'static str> {
    in_table(&WORDS, name)
}

fn in_table(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    table.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, here)| *here)
}
