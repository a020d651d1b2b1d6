//! Constructs of other languages, and how they are written here: hints for users who know those languages.

/// The help text that says how a range is written.
pub(super) const RANGE: &str = "write the range `0..9` without brackets, as in `all i in 0..9: q[i] > 0`; \
    write `0 <= x && x <= 9` to test a value";

/// Names of operations, functions or methods in other languages, and how to write them here.
const OPERATIONS: [(&[&str], &str); 17] = [
    (&["range", "interval"], RANGE),
    (
        &["substring", "substr", "slice", "mid"],
        "write `s[from..to]` for a part, from `from` up to the index before `to`",
    ),
    (&["size", "length", "count", "len"], "the length of a string, a list, a set or a map is `len(s)`"),
    (&["append", "push", "push_back", "enqueue"], "`q + [e]` adds `e` to the end of `q`"),
    (&["add"], "`s + {k}` adds `k` to a set, and `q + [e]` adds `e` to the end of a list"),
    (&["concat", "extend", "union"], "`s + t` joins strings, lists or sets"),
    (&["filter", "map", "collect"], "make a list from another one with `[x + 1 for x in q if x > 0]`"),
    (
        &["pop", "popleft", "pop_front", "dequeue", "shift"],
        "`q[1..]` is `q` without its first element, `q[0..len(q) - 1]` without its last one",
    ),
    (
        &["remove", "delete", "erase", "without", "discard"],
        "`remove_at(q, i)` removes the element at `i` from a list, `m - {k}` a key from a set or a map",
    ),
    (
        &["find", "find_index", "first_index", "index"],
        "`find x in q: x > 0` gives the first element with `x > 0`, `index x in q: x > 0` its position",
    ),
    (
        &["first", "front", "head", "peek", "last", "back", "top", "tail"],
        "the first element is `q[0]`, the last one `q[len(q) - 1]`, and `q[1..]` is all but the first",
    ),
    (
        &["startswith", "starts_with", "has_prefix", "hasprefix", "endswith", "ends_with", "hassuffix"],
        "`starts_with(s, t)` asks whether `s` begins with `t`, `ends_with(s, t)` whether it ends with it",
    ),
    (
        &["set", "frozenset", "hashset"],
        "write a set as `{a, b}`, and `m[k := e]` to give the key `k` the value `e`",
    ),
    (&["update", "store", "put"], "write `a[i := e]` to give the index or key `i` the value `e`"),
    (
        &["get", "at", "nth", "select", "get_or_default", "getordefault"],
        "the element at the index or key `i` is `a[i]`; for a key that may be missing, write `(if k in m then m[k] else 0)`",
    ),
    (
        &["has", "includes", "member", "contains", "has_key", "contains_key"],
        "`contains(q, e)` asks for an element of a list, `k in s` for a key of a set or a map",
    ),
    (
        &["empty", "is_empty", "isempty", "clear"],
        "`len(q) == 0` asks whether it is empty; `[]` is an empty list",
    ),
];

/// Words of other languages that stand for a value or join conditions, and how to write them here.
const WORDS: [(&[&str], &str); 7] = [
    (&["int", "nat"], RANGE),
    (
        &["otherwise", "default", "any"],
        "there is no word for all other cases: write the opposite of the other guards, as in `!(x > 0)`",
    ),
    (&["true", "false", "yes", "no"], "the truth values are `true` and `false`"),
    (
        &["none", "null", "nil", "undefined"],
        "write `none`, with a type such as `option[int]`, for a missing value, and `[]` for an empty list",
    ),
    (&["self", "this"], "write the variable alone, without `self.`"),
    (
        &["location", "state"],
        "an expression cannot read the location: a transition begins in that under `from:`, which in a purpose is one \
         of its own",
    ),
    (&["and", "or", "not"], "join conditions with `and`, `or` and `not`, in small letters"),
];

/// Words of other languages for a quantifier, and its word here.
const QUANTIFIERS: [(&[&str], &str); 2] = [
    (&["any", "exists", "exist", "some", "anymatch"], "some"),
    (&["all", "every", "each", "forall", "allmatch"], "all"),
];

/// Finds the quantifier that a word of another language means: `some` or `all`.
pub(super) fn find_quantifier(name: &str) -> Option<&'static str> {
    look_up(&QUANTIFIERS, name)
}

/// Explains how an operation of this name is written here.
pub(super) fn explain_operation(name: &str) -> Option<&'static str> {
    look_up(&OPERATIONS, name).or_else(|| {
        Some(match find_quantifier(name)? {
            "some" => "`some x in q: x > 0` asks whether an element has `x > 0`",
            _ => "`all x in q: x > 0` asks whether each element has `x > 0`",
        })
    })
}

/// Explains how coreach writes a word of another language.
pub(super) fn explain_word(name: &str) -> Option<&'static str> {
    look_up(&WORDS, name)
}

fn look_up(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    table.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, here)| *here)
}
