//! Where in the specification a state is, by the label that stages have made of its locations' names.

/// The specification's part of a label: that of `<Pay,Begin>` is `Pay`, that of `<<A,x>,<B,x>>` is `A or B`. What is not
/// written so, as a specification's own label, is its own place.
pub fn place(label: &str) -> String {
    places(label).join(" or ")
}

/// The same, one by one.
pub fn places(label: &str) -> Vec<&str> {
    let Some(parts) = parts(label) else { return vec![label] };
    // Several at once, as determinization makes them; the last may count those that are left out.
    let pairs: Option<Vec<Vec<&str>>> = parts.iter().map(|part| self::parts(part)).collect();
    let mut places: Vec<&str> = match &pairs {
        Some(pairs) => pairs.iter().filter_map(|pair| pair.first().copied()).collect(),
        None => match parts.as_slice() {
            [place, _] => return vec![place],
            _ => return vec![label],
        },
    };
    places.sort_unstable();
    places.dedup();
    places
}

/// What stands between the outer `<`, `,` and `>` of a label.
fn parts(label: &str) -> Option<Vec<&str>> {
    let inner = label.strip_prefix('<')?.strip_suffix('>')?;
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, sign) in inner.char_indices() {
        match sign {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[from..]);
    (depth == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_specifications() {
        for (label, wanted) in [
            ("<Pay,Begin>", "Pay"),
            ("<<WaitSugar,Begin>,<WaitMilk,Other>>", "WaitMilk or WaitSugar"),
            ("<<A,x>,<A,y>>", "A"),
            ("Fail", "Fail"),
            ("", ""),
            ("<>", "<>"),
            ("<a,b,c>", "<a,b,c>"),
            ("<a>b,c>", "<a>b,c>"),
            ("<<a,b>", "<<a,b>"),
            ("round 2", "round 2"),
        ] {
            assert_eq!(place(label), wanted, "{label}");
        }
    }
}
