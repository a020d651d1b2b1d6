//! Reads whole numbers of the command line and of files in the same strict way. A number has digits only, no
//! sign, and no leading zero (`007` is seven to some readers, and an octal number to others).

use std::num::NonZeroUsize;

use coreach_model::number;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;

/// Parses a whole number that fits the type.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let value = number::count(text).and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| {
        "expected a whole number, in digits without a sign and without a zero in front".to_owned()
    })
}

/// Reads a whole number of a section. Both bounds are included. `None` if the key is absent, or after a
/// mistake, which has been reported. `default` is only named in the help. The caller applies it.
pub fn read_whole_number(
    collector: &mut Collector,
    entries: &[Entry],
    key: &str,
    (least, most): (u64, u64),
    default: u64,
) -> Option<u64> {
    let node = shape::get(entries, key)?;
    let value = node.as_scalar().and_then(|scalar| number::count(&scalar.text));
    let value = value.filter(|value| (least..=most).contains(value));
    if value.is_none() {
        let message = format!("`{key}` must be a whole number from {least} to {most}");
        let help = format!("the default is `{key}: {default}`");
        collector.mistake("wrong-value", message, &node.head(), "not such a number", help);
    }
    value
}

/// Parses a whole number that is not 0.
pub fn positive(text: &str) -> Result<NonZeroUsize, String> {
    NonZeroUsize::new(whole(text)?).ok_or_else(|| "expected a whole number from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        assert_eq!(whole::<u64>("0"), Ok(0));
        assert_eq!(whole::<u64>("18446744073709551615"), Ok(u64::MAX));
        for text in
            ["", "+5", "-1", "007", "00", "5_", "1e3", " 5", "5 ", "0x5", "５", "18446744073709551616"]
        {
            assert!(whole::<u64>(text).is_err(), "{text}");
        }
        assert!(positive("0").is_err());
        assert_eq!(positive("2").map(NonZeroUsize::get), Ok(2));
    }
}
