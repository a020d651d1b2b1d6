//! Terms for tests: random ones over finite types, whose satisfiability can be decided by enumeration, and
//! hand-made ones over the other types.

use std::sync::Arc;

use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::types::{ArrayType, EnumType, RecordType};
use coreach_model::value::tuples;
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use super::Answer;

/// A generator of terms. The same seed makes the same terms.
pub(crate) struct RandomTerms(u64);

pub(crate) fn datum(name: &str, ty: Type) -> Term {
    Term::datum(&Datum::new(name, ty))
}

pub(crate) fn range(low: i32, high: i32) -> Type {
    Type::Range(low.into(), high.into())
}

pub(crate) fn array(index: Type, element: Type) -> Type {
    Type::Array(Arc::new(ArrayType { index, element }))
}

fn colour() -> Type {
    let literals = ["red", "green", "not"].map(String::from).to_vec();
    Type::Enum(Arc::new(EnumType { name: "Colour".to_owned(), literals }))
}

fn pair() -> Type {
    let fields = vec![("left".to_owned(), range(0, 1)), ("flag'".to_owned(), Type::Bool)];
    Type::Record(Arc::new(RecordType {
        name: "Pair".to_owned(),
        fields,
        form: coreach_model::types::RecordForm::Plain,
    }))
}

fn data() -> [(&'static str, Type); 7] {
    [
        ("x", range(-2, 2)),
        ("y'", range(0, 1)),
        ("b", Type::Bool),
        ("c", colour()),
        ("a", array(range(0, 1), range(0, 2))),
        ("d", array(range(0, 1), range(0, 2))),
        ("p", pair()),
    ]
}

/// Is there a valuation under which the terms hold? All are tried.
pub(crate) fn is_satisfiable(terms: &[Term]) -> bool {
    let used: Vec<Datum> = Term::and(terms.iter().cloned()).data().into_iter().collect();
    let lists: Option<Vec<_>> = used.iter().map(|datum| Value::enumerate(datum.ty(), 1000)).collect();
    tuples(&lists.unwrap()).into_iter().any(|tuple| {
        let valuation: Valuation = used.iter().cloned().zip(tuple).collect();
        terms.iter().all(|term| evaluate(term, &valuation) == Ok(Value::Bool(true)))
    })
}

impl RandomTerms {
    pub fn new(seed: u64) -> Self {
        RandomTerms(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn datum(&mut self, at: &[usize]) -> Term {
        let (name, ty) = data()[at[self.below(at.len() as u64) as usize]].clone();
        datum(name, ty)
    }

    /// A Boolean term whose operations are all defined.
    pub fn boolean(&mut self, depth: u32) -> Term {
        let next = depth.saturating_sub(1);
        match self.below(if depth == 0 { 3 } else { 12 }) {
            0 => self.datum(&[2]),
            1 => Term::equal(&self.datum(&[3]), &self.colour(next)),
            2 if depth > 0 => {
                let Type::Record(of) = pair() else { unreachable!() };
                let record = Term::record(&of, [self.index(next), self.boolean(next)]);
                match self.below(2) {
                    0 => Term::equal(&self.datum(&[6]), &record),
                    _ => Term::field(&record, 1),
                }
            }
            2 => Term::field(&self.datum(&[6]), 1),
            3 => self.boolean(next).not(),
            4 => Term::and([self.boolean(next), self.boolean(next)]),
            5 => Term::or([self.boolean(next), self.boolean(next), self.boolean(next)]),
            6 => Term::if_then_else(&self.boolean(next), &self.boolean(next), &self.boolean(next)),
            7 => {
                let (a, b) = (self.array(next), self.array(next));
                let equal = Term::equal(&a, &b);
                if self.below(2) == 0 { equal } else { equal.not() }
            }
            8 => {
                let half = Term::literal(Value::Real(RBig::from_parts(1.into(), 2u8.into())));
                let scaled = Term::multiply(&self.integer(next).to_real(), &half);
                Term::compare(Comparison::Less, &scaled, &self.integer(next))
            }
            _ => {
                use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
                let comparison = [Equal, NotEqual, Less, AtMost, Greater, AtLeast][self.below(6) as usize];
                Term::compare(comparison, &self.integer(next), &self.integer(next))
            }
        }
    }

    fn colour(&mut self, depth: u32) -> Term {
        let Type::Enum(enumeration) = colour() else { unreachable!() };
        let literal = Term::literal(Value::Enum(enumeration, self.below(3) as usize));
        if depth == 0 {
            return literal;
        }
        Term::if_then_else(&self.boolean(depth - 1), &literal, &self.datum(&[3]))
    }

    /// An index: 0 or 1.
    fn index(&mut self, depth: u32) -> Term {
        match self.below(3) {
            0 => Term::int(self.below(2)),
            1 => self.datum(&[1]),
            _ => Term::arithmetic(Operator::Modulo, &self.integer(depth), &Term::int(2)),
        }
    }

    fn array(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return self.datum(&[4, 5]);
        }
        let inner = self.array(depth - 1);
        match self.below(3) {
            0 => Term::if_then_else(&self.boolean(depth - 1), &inner, &self.datum(&[4, 5])),
            _ => {
                let element = Term::arithmetic(Operator::Modulo, &self.integer(depth - 1), &Term::int(3));
                Term::store(&inner, &self.index(depth - 1), &element)
            }
        }
    }

    fn integer(&mut self, depth: u32) -> Term {
        let next = depth.saturating_sub(1);
        match self.below(if depth == 0 { 3 } else { 9 }) {
            0 => Term::int(self.below(7) as i64 - 3),
            1 => self.datum(&[0, 1]),
            2 => Term::field(&self.datum(&[6]), 0),
            3 => Term::add(&self.integer(next), &self.integer(next)),
            4 => Term::subtract(&self.integer(next), &self.integer(next)),
            5 => Term::multiply(&self.integer(next), &Term::int(self.below(5) as i64 - 2)),
            6 => {
                let operator = [Operator::IntegerDivide, Operator::Modulo][self.below(2) as usize];
                let divisor = [-3, -2, 2, 3][self.below(4) as usize];
                Term::arithmetic(operator, &self.integer(next), &Term::int(divisor))
            }
            7 => self.integer(next).negate(),
            _ => Term::select(&self.array(next), &self.index(next)),
        }
    }
}

/// Formulas whose answers are known, for the tests of all solvers.
pub(crate) fn known_formulas() -> Vec<(Vec<Term>, Answer)> {
    use Answer::{Sat, Unsat};
    let int = |name: &str| datum(name, Type::Int);
    let less = |a: &Term, b: &Term| Term::compare(Comparison::Less, a, b);
    let (x, n) = (int("x"), datum("n", Type::Nat));
    let real = datum("r", Type::Real);
    let big = Term::literal(Value::Int(dashu_int::IBig::from(10).pow(40)));
    let third = Term::literal(Value::Real(RBig::from_parts_signed((-1).into(), 3.into())));
    let (f, g) = (datum("f", array(Type::Nat, range(0, 1))), datum("g", array(Type::Nat, range(0, 1))));
    let (s, t) = (datum("s", array(Type::Int, pair())), datum("t", array(Type::Int, pair())));
    let nested = datum("m", array(range(0, 1), array(Type::Nat, Type::Nat)));
    let large = array(range(0, 999), Type::Int);
    let zeros = Term::literal(Value::any(&large));
    let one_at = |array: &Term, at: i32| Term::store(array, &Term::int(at), &Term::int(1));
    let (h, l) = (datum("h", large.clone()), datum("l", large));
    let rows = |name: &str| datum(name, array(Type::Int, array(range(0, 1), Type::Int)));
    let (v, w) = (rows("v"), rows("w"));
    let cell = |a: &Term, i: &Term| Term::select(a, i);
    let row = cell(&nested, &Term::int(1));
    let (p, q) = (datum("p", pair()), datum("q", pair()));
    let single = |name: &str| datum(name, array(Type::Int, range(5, 5)));
    let (one, place) = (Term::int(1), datum("y", range(0, 1)));
    let cells = array(range(0, 1), range(0, 1));
    let above = Term::add(&place, &Term::int(2));
    let is_outside = less(&one, &above);
    let put = Term::store(&datum("e", cells.clone()), &place, &above);
    let chosen = Term::if_then_else(&datum("b", Type::Bool), &put, &datum("e", cells.clone()));
    let holder = RecordType {
        name: "Holder".to_owned(),
        fields: vec![("cells".to_owned(), cells), ("level".to_owned(), range(0, 1))],
        form: coreach_model::types::RecordForm::Plain,
    };
    let holder = Arc::new(holder);
    // Its level may lie outside its type, so its fields are not taken out of it.
    let held = |cells: &Term| Term::record(&holder, [cells.clone(), above.clone()]);
    let in_first = |record: &Term| cell(&Term::field(record, 0), &place);
    let boxed = |cells: &Term| in_first(&held(cells));
    let holders = datum("o", array(range(0, 1), Type::Record(holder.clone())));
    let stored = in_first(&cell(&Term::store(&holders, &place, &held(&put)), &place));
    vec![
        (vec![less(&n, &Term::int(0))], Unsat),
        (vec![less(&x, &Term::int(0)), less(&big, &x.negate())], Sat),
        (vec![Term::equal(&real, &third)], Sat),
        (vec![less(&real, &Term::int(1)), less(&Term::int(0), &real)], Sat),
        (vec![less(&x, &Term::int(1)), less(&Term::int(0), &x)], Unsat),
        // Euclidean: -7 div 2 = -4, -7 mod 2 = 1.
        (
            vec![
                Term::equal(&x, &Term::int(-7)),
                Term::equal(&Term::arithmetic(Operator::IntegerDivide, &x, &Term::int(2)), &Term::int(-4)),
                Term::equal(&Term::arithmetic(Operator::Modulo, &x, &Term::int(-2)), &Term::int(1)),
            ],
            Sat,
        ),
        // The cells that are read lie in the element's type, also below a store and at an unknown index.
        (vec![less(&Term::int(1), &cell(&f, &x))], Unsat),
        (vec![less(&Term::int(1), &cell(&Term::store(&f, &n, &Term::int(1)), &x))], Unsat),
        (vec![less(&cell(&row, &n), &Term::int(0))], Unsat),
        // Arrays that agree on their index type are equal, even if a solver lets them differ elsewhere.
        (vec![Term::equal(&f, &g), Term::equal(&cell(&f, &n), &cell(&g, &n)).not()], Unsat),
        (vec![Term::equal(&f, &g).not()], Sat),
        (vec![Term::equal(&single("u"), &single("v")).not()], Unsat),
        // If the index is a range, one map may have two literals: here the second has another default.
        (vec![Term::equal(&h, &zeros), Term::equal(&one_at(&h, 0), &one_at(&zeros, 0))], Sat),
        (vec![Term::equal(&h, &zeros), Term::equal(&one_at(&h, 1), &one_at(&zeros, 0))], Unsat),
        (
            vec![
                Term::equal(&h, &l),
                Term::equal(&cell(&h, &n), &cell(&l, &n)).not(),
                less(&n, &Term::int(9)),
            ],
            Unsat,
        ),
        (vec![Term::equal(&v, &w), Term::equal(&cell(&v, &x), &cell(&w, &x)).not()], Unsat),
        (vec![Term::equal(&s, &t), Term::equal(&cell(&s, &x), &cell(&t, &x)).not()], Unsat),
        (vec![Term::equal(&s, &t).not()], Sat),
        (vec![Term::equal(&p, &q).not(), Term::equal(&Term::field(&p, 0), &Term::field(&q, 0))], Sat),
        (
            vec![
                Term::equal(&p, &q).not(),
                Term::equal(&Term::field(&p, 0), &Term::field(&q, 0)),
                Term::equal(&Term::field(&p, 1), &Term::field(&q, 1)),
            ],
            Unsat,
        ),
        (vec![Term::equal(&p, &Term::literal(Value::any(&pair())))], Sat),
        (vec![Term::equal(&f, &Term::literal(Value::any(&array(Type::Nat, range(0, 1)))))], Sat),
        // Soundness: a value that the condition itself puts into a cell need not lie in the element's type.
        // The same holds within a record, a record in a cell, or a branch.
        (vec![Term::or([is_outside.clone(), Term::equal(&boxed(&put), &one)])], Sat),
        (vec![Term::or([is_outside.clone(), Term::equal(&boxed(&chosen), &one)])], Sat),
        (vec![Term::or([is_outside, Term::equal(&stored, &one)])], Sat),
        (vec![less(&one, &in_first(&cell(&holders, &place)))], Unsat),
    ]
}
