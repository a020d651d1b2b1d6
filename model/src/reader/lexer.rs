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
use winnow::stream::{Location, Stream};
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

pub fn tokens(text: &str) -> Vec<Token> {
    let mut input = LocatingSlice::new(text);
    let mut found = Vec::new();
    // Each round takes at least one character, so this ends.
    while let Ok((kind, span)) = preceded(multispace0, lex_token.with_span()).parse_next(&mut input) {
        found.push(Token { kind, span });
    }
    debug_assert!(input.trim().is_empty() || input.current_token_start() <= text.len());
    found
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

/// Reads `Bid(amount: int)`, `Bid(int amount)`, `Bid(amount)`, `Bid: { amount: int }` or `Bid`.
pub(super) fn read_signature(text: &str) -> Option<Signature> {
    let (name, inside) = text.trim_matches(['"', '\'']).split_once(['(', ':']).unwrap_or((text, ""));
    let inside = inside.trim_matches(['(', ')', '{', '}', ':', ' ', '\n']).split([',', '\n']);
    let parameters = inside.map(str::trim).filter(|one| !one.is_empty()).map(|one| {
        let in_c = || one.split_once(' ').map(|(ty, name)| (name, ty));
        let (name, ty) = one.split_once(':').or_else(in_c).unwrap_or((one, "int"));
        let ty = if ty.contains('[') && !ty.contains('"') {
            format!("\"{}\"", ty.trim())
        } else {
            ty.trim().to_owned()
        };
        is_name(name.trim()).then(|| (name.trim().to_owned(), ty))
    });
    let name = name.trim().trim_matches(['"', '\'']);
    Some((is_name(name).then(|| name.to_owned())?, parameters.collect::<Option<_>>()?))
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
        "if" => TokenKind::Sign("if"),
        "then" => TokenKind::Sign("then"),
        "else" => TokenKind::Sign("else"),
        "and" => TokenKind::Sign("&&"),
        "or" => TokenKind::Sign("||"),
        "not" => TokenKind::Sign("!"),
        "implies" => TokenKind::Sign("=>"),
        "div" => TokenKind::Sign("div"),
        "mod" => TokenKind::Sign("mod"),
        _ if is_name(text) => TokenKind::Name(text.to_owned()),
        _ => not_a_name(text),
    })
}

/// Why a text with letters of another alphabet is no name.
pub fn not_a_name(text: &str) -> TokenKind {
    let Some(letter) = text.chars().find(|c| !c.is_ascii()) else {
        return TokenKind::Wrong(format!("`{text}` is not a name"), Some(NAMES.to_owned()));
    };
    let code = u32::from(letter);
    match LOOK_ALIKES.iter().find(|(other, _)| *other == letter) {
        Some((_, latin)) => TokenKind::Wrong(
            format!(
                "`{text}` contains `{letter}` (U+{code:04X}), which only looks like the Latin letter `{latin}`"
            ),
            Some(format!("write `{}`", text.chars().map(latin_for).collect::<String>())),
        ),
        None => TokenKind::Wrong(
            format!("`{text}` contains `{letter}` (U+{code:04X}), which is not an ASCII letter"),
            Some(NAMES.to_owned()),
        ),
    }
}

/// The help text that says what a name is.
pub const NAMES: &str = "a name is an ASCII letter or `_`, followed by letters, digits, `_` and `'`";

fn latin_for(letter: char) -> char {
    LOOK_ALIKES.iter().find(|(other, _)| *other == letter).map_or(letter, |(_, latin)| *latin)
}

/// Cyrillic and Greek letters that most fonts draw like Latin ones.
const LOOK_ALIKES: [(char, char); 44] = [
    ('а', 'a'),
    ('е', 'e'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('у', 'y'),
    ('х', 'x'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ѕ', 's'),
    ('ԁ', 'd'),
    ('һ', 'h'),
    ('ԛ', 'q'),
    ('ԝ', 'w'),
    ('А', 'A'),
    ('В', 'B'),
    ('Е', 'E'),
    ('К', 'K'),
    ('М', 'M'),
    ('Н', 'H'),
    ('О', 'O'),
    ('Р', 'P'),
    ('С', 'C'),
    ('Т', 'T'),
    ('У', 'Y'),
    ('Х', 'X'),
    ('І', 'I'),
    ('ο', 'o'),
    ('ν', 'v'),
    ('α', 'a'),
    ('ρ', 'p'),
    ('Α', 'A'),
    ('Β', 'B'),
    ('Ε', 'E'),
    ('Ζ', 'Z'),
    ('Η', 'H'),
    ('Ι', 'I'),
    ('Κ', 'K'),
    ('Μ', 'M'),
    ('Ν', 'N'),
    ('Ο', 'O'),
    ('Ρ', 'P'),
    ('Τ', 'T'),
    ('Χ', 'X'),
];

/// Lexes a number. Letters that are stuck to it make it a mistake.
fn lex_number(input: &mut Input<'_>) -> Lexed<TokenKind> {
    // The point belongs to the number only before a digit: `0..5` is a range.
    let (whole, fraction) = (digit1, opt(preceded('.', digit1))).parse_next(input)?;
    let stuck = opt(take_while(1.., |c: char| c.is_alphanumeric() || c == '_')).parse_next(input)?;
    if let Some(stuck) = stuck {
        let message = format!("`{whole}{stuck}` is neither a number nor a name");
        let digits = stuck.strip_prefix('x').filter(|_| whole == "0");
        let value = match digits.map(|digits| u64::from_str_radix(digits, 16)) {
            Some(value) => value.ok().map(|value| value.to_string()),
            None => Some(format!("{whole}{stuck}").replace('_', "")),
        };
        let help = match value.filter(|value| value.chars().all(|c| c.is_ascii_digit())) {
            Some(value) => format!("write the number in decimal digits: `{value}`"),
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

/// A spelling, the sign that it becomes, and for a sign that the language lacks, what to write in its place.
type TokenSpelling = (&'static str, &'static str, Option<&'static str>);

/// Longer spellings come before their beginnings.
const SPELLINGS: [TokenSpelling; 67] = [
    ("<=>", "", Some("write `==` between truth values")),
    ("===", "", Some("write `==`")),
    ("!==", "", Some("write `!=`")),
    ("&&", "&&", None),
    ("||", "||", None),
    ("=>", "=>", None),
    ("==", "==", None),
    ("=<", "", Some("write `<=` (`=>` is implication)")),
    ("=/=", "", Some("write `!=`")),
    ("/=", "", Some("write `!=`")),
    ("~=", "", Some("write `!=`")),
    ("//", "", Some("begin a comment with `#`, and write `div` to divide integers")),
    ("!=", "!=", None),
    ("<>", "", Some("write `!=`")),
    ("<=", "<=", None),
    (">=", ">=", None),
    ("->", "->", None),
    (":=", ":=", None),
    ("**", "", Some("write a power out: `x * x`")),
    ("..", "..", None),
    ("++", "", Some("write `x + 1` for the next number; `+` joins lists and strings")),
    ("+=", "", Some("write the whole value: `x: x + 1`")),
    ("-=", "", Some("write the whole value: `x: x - 1`")),
    ("<", "<", None),
    (">", ">", None),
    ("=", "==", None),
    ("!", "!", None),
    ("+", "+", None),
    ("-", "-", None),
    ("*", "*", None),
    ("/", "/", None),
    ("(", "(", None),
    (")", ")", None),
    ("[", "[", None),
    ("]", "]", None),
    ("{", "{", None),
    ("}", "}", None),
    (":", ":", None),
    (",", ",", None),
    (".", ".", None),
    ("&", "", Some("write `&&`")),
    ("|", "|", None),
    ("^", "", Some("write a power out: `x * x`")),
    ("%", "", Some("write `mod` for the remainder")),
    ("?", "", Some("write `if c then a else b`")),
    ("#", "", Some("an expression has no comments: write `# ...` on a line outside of the block")),
    ("~", "", Some("write `!` for negation")),
    ("$", "", Some("write the name alone")),
    ("@", "", Some("write the name alone")),
    ("`", "", Some("write names and literals of enumerations without quotes")),
    (";", "", Some("join conditions with `&&`")),
    ("“", "", Some("write strings in the ASCII quote `\"`, and expressions without quotes")),
    ("”", "", Some("write strings in the ASCII quote `\"`, and expressions without quotes")),
    ("„", "", Some("write strings in the ASCII quote `\"`, and expressions without quotes")),
    ("≤", "", Some("write `<=`")),
    ("≥", "", Some("write `>=`")),
    ("≠", "", Some("write `!=`")),
    ("∧", "", Some("write `&&`")),
    ("∨", "", Some("write `||`")),
    ("¬", "", Some("write `!`")),
    ("⇒", "", Some("write `=>`")),
    ("→", "", Some("write `=>`")),
    ("−", "", Some("write the ASCII sign `-`")),
    ("–", "", Some("write the ASCII sign `-`")),
    ("×", "", Some("write `*`")),
    ("·", "", Some("write `*`")),
    ("'", "", Some("write strings in `\"`, and literals of enumerations without quotes")),
];

fn lex_sign(input: &mut Input<'_>) -> Lexed<TokenKind> {
    let found = SPELLINGS.iter().find(|(spelling, ..)| input.starts_with(spelling));
    let Some((spelling, sign, help)) = found else { return fail.parse_next(input) };
    literal(*spelling).parse_next(input)?;
    Ok(match help {
        None => TokenKind::Sign(sign),
        Some(help) => TokenKind::Wrong(
            format!("`{spelling}` is not a sign of the expression language"),
            Some((*help).to_owned()),
        ),
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
