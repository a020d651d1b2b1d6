//! The words and signs of the expression language.
//!
//! Lexing never fails: text that belongs to no token becomes [`TokenKind::Wrong`] with the reason, and the
//! parser reports it at its place. Both spellings of an operator (`and` and `&&`, `=` and `==`) become one
//! token here, so that the grammar knows one of each.

use std::ops::Range;

use winnow::LocatingSlice;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, fail, opt, preceded};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::stream::Stream;
use winnow::token::{any, literal, one_of, take_while};

use crate::quoted;

/// A token with its place in the expression's text, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Name(String),
    Integer(String),
    /// Digits, a point, digits.
    Decimal(String),
    Text(String),
    Truth(bool),
    /// Any sign or keyword, in its first spelling.
    Sign(&'static str),
    /// Text that the language does not have: the mistake, and what to do.
    Wrong(String, Option<String>),
}

/// The words that cannot be names.
pub const KEYWORDS: [&str; 11] =
    ["true", "false", "if", "then", "else", "and", "or", "not", "implies", "div", "mod"];

type Input<'a> = LocatingSlice<&'a str>;
type Lexed<T> = Result<T, EmptyError>;

/// Splits a text into its tokens.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut input = LocatingSlice::new(text);
    let mut tokens = Vec::new();
    // Each round takes at least one character, so this ends.
    while let Ok((mut kind, span)) = preceded(multispace0, lex_token.with_span()).parse_next(&mut input) {
        // A `'` was most likely to begin a string. In `"` it needs other quotes of YAML around the whole.
        if let ("'", TokenKind::Wrong(_, Some(help))) = (&text[span.clone()], &mut kind) {
            help.push_str(&explain_quotes(text));
        }
        tokens.push(Token { kind, span });
    }
    tokens
}

/// Says how YAML quotes an expression with strings in `'` once they are in `"`. A block needs no quotes.
fn explain_quotes(text: &str) -> String {
    if text.contains('\n') {
        return String::new();
    }
    let is_plain = text.len() <= 80 && !text.contains('"') && text.matches('\'').count().is_multiple_of(2);
    let example = if is_plain { format!(": `'{}'`", text.replace('\'', "\"")) } else { String::new() };
    format!("; in YAML, put the whole value in one pair of `'` then{example}")
}

/// Is this text a name: a letter or `_`, then letters, digits, `_` and `'`? Keywords have this form, too.
pub fn is_name(text: &str) -> bool {
    lex_name.parse(LocatingSlice::new(text)).is_ok()
}

/// The name of an action, and its parameters with the texts of their types.
pub(super) type Signature = (String, Vec<(String, String)>);

/// Writes an action as in the file: `Bid: { amount: int }`.
pub(super) fn write_signature((name, parameters): &Signature) -> String {
    let parameters: Vec<String> = parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let inside = parameters.join(", ");
    if inside.is_empty() { format!("{name}: {{}}") } else { format!("{name}: {{ {inside} }}") }
}

/// Reads `Bid(amount: int)`, `Bid(int amount)`, `Bid(amount)`, `Bid: { amount: int }` or `Bid`. `None` if a
/// name in it is no name.
pub(super) fn read_signature(text: &str) -> Option<Signature> {
    let (name, inside) = text.trim_matches(['"', '\'']).split_once(['(', ':']).unwrap_or((text, ""));
    let inside = inside.trim_matches(['(', ')', '{', '}', ':', ' ', '\n']).split([',', '\n']);
    let mut parameters = Vec::new();
    for parameter in inside.map(str::trim).filter(|parameter| !parameter.is_empty()) {
        let as_in_c = || parameter.split_once(' ').map(|(ty, name)| (name, ty));
        let (name, ty) = parameter.split_once(':').or_else(as_in_c).unwrap_or((parameter, "int"));
        let (name, ty) = (name.trim(), ty.trim());
        let needs_quotes = ty.contains('[') && !ty.contains('"');
        let ty = if needs_quotes { format!("\"{ty}\"") } else { ty.to_owned() };
        parameters.push(is_name(name).then(|| (name.to_owned(), ty))?);
    }
    let name = name.trim().trim_matches(['"', '\'']);
    is_name(name).then(|| (name.to_owned(), parameters))
}

fn lex_token(input: &mut Input<'_>) -> Lexed<TokenKind> {
    alt((lex_word, lex_number, lex_text, lex_sign, lex_foreign)).parse_next(input)
}

fn lex_name<'a>(input: &mut Input<'a>) -> Lexed<&'a str> {
    (
        one_of(|c: char| c.is_ascii_alphabetic() || c == '_'),
        take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\''),
    )
        .take()
        .parse_next(input)
}

/// Lexes a keyword or a name.
fn lex_word(input: &mut Input<'_>) -> Lexed<TokenKind> {
    let start = *input;
    // A name continues through letters of other alphabets, so that the whole of it is underlined.
    let text = take_while(1.., |c: char| c.is_alphanumeric() || c == '_' || c == '\'').parse_next(input)?;
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with('\'') {
        *input = start;
        return fail.parse_next(input);
    }
    Ok(match text {
        "true" => TokenKind::Truth(true),
        "false" => TokenKind::Truth(false),
        "and" => TokenKind::Sign("&&"),
        "or" => TokenKind::Sign("||"),
        "not" => TokenKind::Sign("!"),
        "implies" => TokenKind::Sign("=>"),
        _ => match KEYWORDS.into_iter().find(|keyword| *keyword == text) {
            Some(keyword) => TokenKind::Sign(keyword),
            None if is_name(text) => TokenKind::Name(text.to_owned()),
            None => {
                let (message, help) = explain_no_name(text);
                TokenKind::Wrong(message, Some(help))
            }
        },
    })
}

/// Explains why a text is no name, in most cases because of a letter of another alphabet. Returns the mistake
/// and what to do.
pub fn explain_no_name(text: &str) -> (String, String) {
    let Some(letter) = text.chars().find(|c| !c.is_ascii()) else {
        return (format!("`{text}` is not a name"), NAMES.to_owned());
    };
    let contains = format!("`{text}` contains `{letter}` (U+{:04X})", u32::from(letter));
    match find_latin(letter) {
        Some(latin) => {
            let in_latin: String = text.chars().map(|c| find_latin(c).unwrap_or(c)).collect();
            let message = format!("{contains}, which only looks like the Latin letter `{latin}`");
            (message, format!("write `{in_latin}`"))
        }
        None => (format!("{contains}, which is not an ASCII letter"), NAMES.to_owned()),
    }
}

/// The help text that says what a name is.
pub const NAMES: &str = "a name is an ASCII letter or `_`, followed by letters, digits, `_` and `'`";

/// Finds the Latin letter like which a letter of another alphabet looks.
fn find_latin(letter: char) -> Option<char> {
    let mut pairs = LOOK_ALIKES.chars().zip(LATIN.chars());
    pairs.find(|(other, _)| *other == letter).map(|(_, latin)| latin)
}

/// Cyrillic and Greek letters that most fonts draw like Latin ones.
const LOOK_ALIKES: &str = "аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІοναρΑΒΕΖΗΙΚΜΝΟΡΤΧ";
/// The Latin letters like which they look, in the same order.
const LATIN: &str = "aeopcyxijsdhqwABEKMHOPCTYXIovapABEZHIKMNOPTX";

/// Lexes a number. Letters that are stuck to it make it a mistake.
fn lex_number(input: &mut Input<'_>) -> Lexed<TokenKind> {
    // The point belongs to the number only before a digit: `0..5` is a range.
    let (whole, fraction) = (digit1, opt(preceded('.', digit1))).parse_next(input)?;
    let stuck = opt(take_while(1.., |c: char| c.is_alphanumeric() || c == '_')).parse_next(input)?;
    if let Some(stuck) = stuck {
        let message = format!("`{whole}{stuck}` is neither a number nor a name");
        // What `0x1f` and `1_000` mean.
        let decimal = match stuck.strip_prefix('x').filter(|_| whole == "0") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value.to_string()),
            None => Some(format!("{whole}{stuck}").replace('_', "")),
        };
        let help = match decimal.filter(|decimal| decimal.chars().all(|c| c.is_ascii_digit())) {
            Some(decimal) => format!("write the number in decimal digits: `{decimal}`"),
            None if stuck.starts_with(|c: char| c.is_ascii_alphabetic()) && fraction.is_none() => {
                format!("begin a name with a letter; write a product as `{whole} * {stuck}`")
            }
            None => NAMES.to_owned(),
        };
        return Ok(TokenKind::Wrong(message, Some(help)));
    }
    Ok(match fraction {
        Some(fraction) => TokenKind::Decimal(format!("{whole}.{fraction}")),
        None => TokenKind::Integer(whole.to_owned()),
    })
}

/// Reads a string in double quotes. A mistake in it becomes a token of its own.
fn lex_text(input: &mut Input<'_>) -> Lexed<TokenKind> {
    if !input.starts_with('"') {
        return fail.parse_next(input);
    }
    let (length, read) = quoted::read_quoted(input);
    input.next_slice(length);
    Ok(match read {
        Ok(text) => TokenKind::Text(text),
        Err((message, help)) => TokenKind::Wrong(message.to_owned(), Some(help.to_owned())),
    })
}

const SIGNS: [&str; 28] = [
    "&&", "||", "=>", "==", "!=", "<=", ">=", "->", ":=", "..", "<", ">", "=", "!", "+", "-", "*", "/", "(",
    ")", "[", "]", "{", "}", ":", ",", ".", "|",
];

/// Signs that the language lacks, and what to write in their place.
const FOREIGN_SIGNS: [(&str, &str); 45] = [
    ("\\cup", "`s + t` is the union of two sets"),
    ("\\cap", "`s * t` is the intersection of two sets"),
    ("\\in", "write `in`"),
    ("\\/", "write `||`"),
    ("/\\", "write `&&`"),
    ("\\", "`s - t` is the difference of two sets"),
    ("<=>", "write `==` between truth values"),
    ("===", "write `==`"),
    ("!==", "write `!=`"),
    ("=<", "write `<=` (`=>` is implication)"),
    ("=/=", "write `!=`"),
    ("/=", "write `!=`"),
    ("~=", "write `!=`"),
    ("//", "begin a comment with `#`, and write `div` to divide integers"),
    ("<>", "write `!=`"),
    ("**", "write a power out: `x * x`"),
    ("++", "write `x + 1` for the next number; `+` joins lists and strings"),
    ("+=", "write the whole value: `x: x + 1`"),
    ("-=", "write the whole value: `x: x - 1`"),
    ("&", "write `&&`"),
    ("^", "write a power out: `x * x`"),
    ("%", "write `mod` for the remainder"),
    ("?", "write `if c then a else b`"),
    ("#", "an expression has no comments: write `# ...` on a line outside of the block"),
    ("~", "write `!` for negation"),
    ("$", "write the name alone"),
    ("@", "write the name alone"),
    ("`", "write names and literals of enumerations without quotes"),
    (";", "join conditions with `&&`"),
    ("“", "write strings in the ASCII quote `\"`, and expressions without quotes"),
    ("”", "write strings in the ASCII quote `\"`, and expressions without quotes"),
    ("„", "write strings in the ASCII quote `\"`, and expressions without quotes"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("∧", "write `&&`"),
    ("∨", "write `||`"),
    ("¬", "write `!`"),
    ("⇒", "write `=>`"),
    ("→", "write `=>`"),
    ("−", "write the ASCII sign `-`"),
    ("–", "write the ASCII sign `-`"),
    ("×", "write `*`"),
    ("·", "write `*`"),
    ("'", "write strings in `\"`, and literals of enumerations without quotes"),
];

/// Lexes the longest sign that stands here, which may be one that the language lacks.
fn lex_sign(input: &mut Input<'_>) -> Lexed<TokenKind> {
    let is_here = |sign: &&str| input.starts_with(*sign);
    let foreign_signs = FOREIGN_SIGNS.into_iter().map(|(sign, _)| sign);
    let longest = SIGNS.into_iter().chain(foreign_signs).filter(is_here).max_by_key(|sign| sign.len());
    let Some(sign) = longest else { return fail.parse_next(input) };
    literal(sign).parse_next(input)?;
    Ok(match FOREIGN_SIGNS.into_iter().find(|(foreign, _)| *foreign == sign) {
        Some((_, help)) => TokenKind::Wrong(
            format!("`{sign}` is not a sign of the expression language"),
            Some(help.to_owned()),
        ),
        None if sign == "=" => TokenKind::Sign("=="),
        None => TokenKind::Sign(sign),
    })
}

fn lex_foreign(input: &mut Input<'_>) -> Lexed<TokenKind> {
    let sign = any.parse_next(input)?;
    let code = u32::from(sign);
    Ok(TokenKind::Wrong(
        format!("`{}` (U+{code:04X}) is not a sign of the expression language", sign.escape_debug()),
        sign.is_whitespace().then(|| "write an ordinary space: this one only looks like it".to_owned()),
    ))
}
