//! JSON from outside: where a mistake is said to be.

use coreach_model::json::{Malformed, WIRE, parse};

#[test]
fn a_mistake_is_placed_on_the_text() {
    // What no level can read, what one value cannot be, and what a key cannot be; each within its text.
    for (text, places) in
        [("[1,\n 2 3]", 7..8), (r#"["a", "\ud800"]"#, 6..15), (r#"{"a": {"\udc00": 1}}"#, 7..16), ("", 0..1)]
    {
        let Err(Malformed::Wrong(what, at)) = parse(text, WIRE) else { panic!("{text} was read") };
        assert!(places.contains(&at), "{text}: {what} at {at}");
        assert!(!what.contains("column"), "{what}");
    }
}
