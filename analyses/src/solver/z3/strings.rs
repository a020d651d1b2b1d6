//! Translates strings into Z3's syntax, and back.
//!
//! The crate has no calls for half of the operations. So the declaration of each is taken from an SMT-LIB
//! text, in which it is applied to constants. This text is read once per thread. Text of literals is escaped
//! unless it is plain ASCII, and so is the backslash, with which escapes begin.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use std::str::FromStr;

use coreach_model::Type;
use coreach_model::regular::RegularExpression;
use coreach_model::term::node::{Comparison, StringOperation};
use dashu_int::UBig;
use dashu_ratio::RBig;
use z3::FuncDecl;
use z3::ast::{Ast, Bool, Dynamic, Int, Regexp};

use crate::solver::smtlib::{self, escape, sort_to_smtlib};

/// Applies an operation on strings.
pub(super) fn apply_operation(operation: StringOperation, arguments: &[Dynamic]) -> Dynamic {
    use StringOperation as On;
    let (sorts, result) = (operation.arguments(), operation.result());
    let name = smtlib::name_of_string_operation(operation);
    let zero = || Dynamic::from(Int::from_i64(0));
    match (operation, arguments) {
        (On::StartsWith | On::EndsWith, [s, t]) => apply(name, sorts, result, &[t, s]),
        (On::IndexOf, [s, t]) => {
            apply(name, &[Type::String, Type::String, Type::Int], result, &[s, t, &zero()])
        }
        (On::Slice, [s, i, j]) => {
            let length = Int::sub(&[integer(j), integer(i)]);
            apply(name, sorts, result, &[s, i, &length.into()])
        }
        (On::FromInteger, [n]) => {
            // SMT-LIB's operation gives the empty string for negative numbers.
            let digits = |n: &Int| apply(name, sorts, Type::String, &[&n.clone().into()]);
            let (n, minus) = (integer(n), literal("-"));
            let negative = apply(
                smtlib::name_of_string_operation(On::Concatenate),
                &[Type::String, Type::String],
                result,
                &[&minus, &digits(&n.unary_minus())],
            );
            n.lt(0).ite(&negative, &digits(&n))
        }
        _ => apply(name, sorts, result, &arguments.iter().collect::<Vec<_>>()),
    }
}

/// Compares two strings by the order of their code points.
pub(super) fn compare_strings(comparison: Comparison, a: &Dynamic, b: &Dynamic) -> Dynamic {
    let (name, a, b) = match comparison {
        Comparison::Less => ("str.<", a, b),
        Comparison::Greater => ("str.<", b, a),
        Comparison::AtMost => ("str.<=", a, b),
        _ => ("str.<=", b, a),
    };
    apply(name, &[Type::String, Type::String], Type::Bool, &[a, b])
}

/// Writes that a string matches a regular expression.
pub(super) fn match_expression(string: &Dynamic, expression: &RegularExpression) -> Dynamic {
    type KnownFunctions = HashMap<String, Rc<Dynamic>>;
    thread_local!(static APPLIED: RefCell<KnownFunctions> = RefCell::default());
    let text = smtlib::regular_to_smtlib(expression);
    let applied = APPLIED.with_borrow(|all| all.get(&text).cloned()).unwrap_or_else(|| {
        let solver = z3::Solver::new();
        solver.from_string(format!("(declare-const a0 String)(assert (str.in_re a0 {text}))"));
        let assertion = solver.get_assertions().into_iter().next();
        let membership = Rc::new(require(assertion, "the expression is one of SMT-LIB").into());
        APPLIED.with_borrow_mut(|all| all.insert(text, Rc::clone(&membership)));
        membership
    });
    let language = require(applied.nth_child(1), "a membership has two parts");
    applied.decl().apply(&[string, &language])
}

pub(super) fn literal(text: &str) -> Dynamic {
    require(z3::ast::String::from_str(&escape(text)).ok(), "an escaped text has no NUL").into()
}

/// The number that stands for a text in the order of strings: each character is a digit behind the point.
pub(super) fn number_in_order(text: &str) -> RBig {
    // A character has at most 21 bits, and no digit is 0, so a longer text is greater.
    let add_digit = |number: UBig, c| (number << 21) + (u32::from(c) + 1);
    let number = text.chars().fold(UBig::ZERO, add_digit);
    RBig::from_parts(number.into(), UBig::ONE << (21 * text.chars().count()))
}

/// The conditions that a string is short, and printable ASCII.
pub(super) fn plain_conditions(constant: &z3::ast::String, longest: i64) -> [Bool; 2] {
    [constant.length().le(longest), constant.regex_matches(&Regexp::range(&' ', &'~').star())]
}

/// Decodes an escaped text. `None`: it has a surrogate, which is no character.
pub(super) fn decode(mut text: &str) -> Option<String> {
    let mut decoded = String::new();
    while let Some(c) = text.chars().next() {
        let escape = text.strip_prefix("\\u{").and_then(|escaped| escaped.split_once('}'));
        match escape.and_then(|(digits, unread)| Some((u32::from_str_radix(digits, 16).ok()?, unread))) {
            Some((code, unread)) => {
                decoded.push(char::from_u32(code)?);
                text = unread;
            }
            None => {
                decoded.push(c);
                text = &text[c.len_utf8()..];
            }
        }
    }
    Some(decoded)
}

pub(super) fn integer(ast: &Dynamic) -> Int {
    require(ast.as_int(), "terms are well-sorted")
}

#[expect(clippy::expect_used, reason = "each use states an invariant of terms")]
pub(super) fn require<T>(value: Option<T>, invariant: &str) -> T {
    value.expect(invariant)
}

/// Applies a function of SMT-LIB whose arguments have these sorts.
fn apply(name: &'static str, sorts: &[Type], result: Type, arguments: &[&Dynamic]) -> Dynamic {
    type KnownFunctions = HashMap<&'static str, Rc<FuncDecl>>;
    thread_local!(static DECLARED: RefCell<KnownFunctions> = RefCell::default());
    let declared = DECLARED.with_borrow(|all| all.get(name).cloned()).unwrap_or_else(|| {
        let function = Rc::new(read_declaration(name, sorts, &result));
        DECLARED.with_borrow_mut(|all| all.insert(name, function.clone()));
        function
    });
    let arguments: Vec<&dyn Ast> = arguments.iter().map(|one| *one as &dyn Ast).collect();
    declared.apply(&arguments)
}

/// Reads the declaration of a function from a text that applies it.
fn read_declaration(name: &str, sorts: &[Type], result: &Type) -> FuncDecl {
    let mut text = format!("(declare-const result {})", sort_to_smtlib(result));
    let mut arguments = String::new();
    for (at, sort) in sorts.iter().enumerate() {
        _ = write!(text, "(declare-const a{at} {})", sort_to_smtlib(sort));
        _ = write!(arguments, " a{at}");
    }
    let solver = z3::Solver::new();
    solver.from_string(format!("{text}(assert (= result ({name}{arguments})))"));
    let assertion = solver.get_assertions().into_iter().next();
    let applied = assertion.and_then(|equation| equation.nth_child(1));
    require(applied, "the operation is one of SMT-LIB").decl()
}

#[cfg(test)]
mod tests {
    use coreach_model::random::Random;
    use coreach_model::term::evaluate::{Valuation, holds};
    use coreach_model::{Datum, Term, Value};

    use super::*;
    use crate::solver::z3::Z3Solver;
    use crate::solver::{Answer, Solver, Witness};

    const STRINGS: [&str; 9] = ["", "a", "b", "\u{e9}", "ab", "a1", "12", "-1", "aba"];

    fn data() -> [Datum; 3] {
        [("s", Type::String), ("t", Type::String), ("n", Type::Int)].map(|(name, ty)| Datum::new(name, ty))
    }

    fn text(random: &mut Random, depth: usize) -> Term {
        use StringOperation as On;
        let [s, t, n] = data().map(|datum| Term::datum(&datum));
        match random.below(if depth == 0 { 3 } else { 7 }) {
            0 => s,
            1 => t,
            2 => Term::literal(Value::string(STRINGS[random.below(STRINGS.len())])),
            3 | 4 => Term::on_strings(On::Concatenate, &[text(random, depth - 1), text(random, depth - 1)]),
            5 => Term::on_strings(On::FromInteger, &[n]),
            _ => {
                let of = text(random, depth - 1);
                Term::on_strings(On::Slice, &[of.clone(), Term::int(random.below(2)), of.length()])
            }
        }
    }

    fn atom(random: &mut Random) -> Term {
        use StringOperation as On;
        let (a, b) = (text(random, 1), text(random, 1));
        let number = Term::datum(&data()[2]);
        let comparison = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::AtLeast];
        let comparison = comparison[random.below(4)];
        let found = match random.below(8) {
            0 | 1 => Term::compare(comparison, &a, &b),
            2 => Term::compare(comparison, &a.length(), &number),
            3 => Term::compare(comparison, &Term::on_strings(On::IndexOf, &[a, b]), &number),
            4 => Term::compare(comparison, &Term::on_strings(On::ToInteger, &[a]), &number),
            5 => Term::compare(comparison, &Term::on_strings(On::At, &[a, number]), &b),
            _ => Term::on_strings([On::StartsWith, On::EndsWith, On::Contains][random.below(3)], &[a, b]),
        };
        if random.below(3) == 0 { found.not() } else { found }
    }

    /// Soundness: a condition that holds somewhere is never unsatisfiable, here and in the text for other
    /// solvers. A witness was evaluated. Precision: few questions are not decided.
    #[test]
    fn what_holds_somewhere_is_satisfiable() {
        let (mut random, mut solver) = (Random::new(5), Z3Solver::default());
        let [s, t, n] = data();
        let mut counts = [0; 3];
        for _ in 0..70 {
            let whole = Term::and([atom(&mut random), atom(&mut random), atom(&mut random)]);
            let terms = [coreach_model::obligation::defined(&whole), whole];
            let values = |s: &str, t: &str, number: i64| {
                Valuation::from([
                    (data()[0].clone(), Value::string(s)),
                    (data()[1].clone(), Value::string(t)),
                    (data()[2].clone(), Value::int(number)),
                ])
            };
            let is_true = |valuation: &Valuation| terms.iter().all(|term| holds(term, valuation) == Ok(true));
            let somewhere = STRINGS
                .iter()
                .any(|s| STRINGS.iter().any(|t| (-2..4).any(|number| is_true(&values(s, t, number)))));
            let answer = solver.check(&terms);
            assert!(answer != Answer::Unsat || !somewhere, "{terms:?}");
            match solver.witness(&terms) {
                Witness::Found(found) => {
                    let value =
                        |datum: &Datum| found.get(datum).cloned().unwrap_or_else(|| Value::any(datum.ty()));
                    let all = [&s, &t, &n].map(|datum| (datum.clone(), value(datum)));
                    assert!(is_true(&all.into_iter().collect()), "{terms:?}: {found:?}");
                    assert_ne!(answer, Answer::Unsat, "{terms:?}");
                    counts[0] += 1;
                }
                Witness::None => counts[1] += 1,
                Witness::Unknown => counts[2] += 1,
            }
            let script = smtlib::script(&terms).replace("(check-sat)\n", "");
            let other = z3::Solver::new();
            other.from_string(script.clone());
            assert_eq!(
                other.get_assertions().len(),
                script.matches("(assert ").count(),
                "not read: {script}"
            );
            if answer != Answer::Unknown {
                let contrary = if answer == Answer::Sat { z3::SatResult::Unsat } else { z3::SatResult::Sat };
                let mut parameters = z3::Params::new();
                parameters.set_u32("rlimit", 1_000_000);
                other.set_params(&parameters);
                assert_ne!(other.check(), contrary, "{script}");
            }
        }
        assert!(counts[0] > 20 && counts[1] > 5, "one-sided test: {counts:?}");
        assert!(counts[2] < 8, "too much is unknown: {counts:?}");
    }

    /// Soundness: the characters of a solver end at U+2FFFF, but ours do not.
    #[test]
    fn characters_beyond_the_solvers_are_not_decided() {
        let s = Term::datum(&data()[0]);
        let last = Term::literal(Value::string("\u{2ffff}"));
        let later = Term::compare(Comparison::Less, &last, &s);
        let single = Term::equal(&s.length(), &Term::int(1));
        assert_eq!(Z3Solver::default().check(&[later, single]), Answer::Unknown);
    }

    #[test]
    fn what_is_escaped_is_decoded() {
        for text in ["", "a b", "\\u{41}", "\\", "é😀\0\u{2ffff}", "\"'"] {
            assert_eq!(decode(&escape(text)).as_deref(), Some(text));
            let length = require(literal(text).as_string(), "it is a string").length().simplify();
            assert_eq!(length.as_i64(), Some(text.chars().count() as i64), "{text}");
        }
        assert_eq!(decode("\\u{d800}"), None);
    }
}
