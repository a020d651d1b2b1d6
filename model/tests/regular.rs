//! Regular expressions: which sizes are allowed.

use coreach_model::regular::RegularExpression;

#[test]
fn only_characters_count_against_the_limit() {
    for (text, is_allowed) in [
        ("((ab){100}){20}".to_owned(), true),
        ("a".repeat(5_000), true),
        ("a".repeat(5_001), false),
        ("(((){1000}){1000}){1000}".to_owned(), false),
    ] {
        assert_eq!(RegularExpression::parse(&text).is_ok(), is_allowed, "{text}");
    }
}
