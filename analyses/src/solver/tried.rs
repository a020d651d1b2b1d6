//! Tries a few values before a solver is asked about strings.
//!
//! A solver takes milliseconds for a question about strings. Most guards are satisfied by a string that they
//! mention, perhaps with one more character, or by a string of a length that they mention. So a few values of
//! each datum are tried, depth first. A conjunct is evaluated as soon as all its data have values. If an
//! equation determines a datum, its value is computed and not searched for. A valuation that is found holds,
//! because it was evaluated. If none is found, nothing is known.
//!
//! Cost: at most [`MOST_EVALUATIONS`] evaluations of a conjunct.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use coreach_model::random::Random;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node, StringOperation};
use coreach_model::term::operation::DerivedOperation;
use coreach_model::term::strings;
use coreach_model::types::{RecordForm, RecordType};
use coreach_model::{Datum, Term, Type, Value};

/// The most evaluations of conjuncts in one search.
const MOST_EVALUATIONS: usize = 200;
/// The most questions about the other data, with strings that are tried.
const MOST_ACCEPTS: usize = 8;
/// The most strings, or numbers, that are tried for one datum.
const MOST_VALUES: usize = 16;

/// Searches a valuation under which the conjuncts hold. `None`: none was found easily.
pub fn try_values(conjuncts: &[Term]) -> Option<Valuation> {
    if conjuncts.iter().any(|conjunct| conjunct.data().is_empty()) {
        return None;
    }
    let data = conjuncts.iter().flat_map(Term::data).collect();
    search_values(conjuncts, data, |_| true)
}

/// Searches values of the strings alone, with the conjuncts that mention nothing else. Those that `accept`
/// takes are the answer. It is asked a few times at most.
pub fn try_strings(conjuncts: &[Term], mut accept: impl FnMut(&Valuation) -> bool) -> Option<Valuation> {
    let strings = conjuncts.iter().flat_map(Term::data).filter(|datum| *datum.ty() == Type::String).collect();
    let mut asked = 0;
    search_values(conjuncts, strings, |values| {
        asked += 1;
        asked <= MOST_ACCEPTS && accept(values)
    })
}

/// Searches values of the data that `accept` takes. The conjuncts hold that mention no other data.
fn search_values(
    conjuncts: &[Term],
    data: BTreeSet<Datum>,
    mut accept: impl FnMut(&Valuation) -> bool,
) -> Option<Valuation> {
    let equations = conjuncts.iter().flat_map(read_equation).filter(|(defined, _)| data.contains(defined));
    let equations: Vec<(Datum, Term)> = equations.filter(|(_, term)| term.data().is_subset(&data)).collect();
    // A datum that an equation determines comes after the data of the equation's other side.
    let (mut order, mut defined_data): (Vec<Datum>, Vec<Datum>) =
        data.into_iter().partition(|datum| equations.iter().all(|(defined, _)| defined != datum));
    while !defined_data.is_empty() {
        let is_determined = |datum: &Datum| {
            equations.iter().any(|(defined, term)| {
                defined == datum && term.data().iter().all(|other| order.contains(other))
            })
        };
        // If the equations go round in a circle, the first datum gets its value by search.
        let next = defined_data.iter().position(is_determined).unwrap_or(0);
        order.push(defined_data.remove(next));
    }
    let place = |datum: &Datum| order.iter().position(|known| known == datum);
    let mut due: Vec<Vec<&Term>> = vec![Vec::new(); order.len()];
    for conjunct in conjuncts {
        let places: Option<Vec<usize>> = conjunct.data().iter().map(place).collect();
        if let Some(last) = places.and_then(|places| places.into_iter().max()) {
            due[last].push(conjunct);
        }
    }
    let values = MentionedValues::in_conjuncts(conjuncts);
    let (order, equations, evaluations) = (&order, &equations, MOST_EVALUATIONS);
    let mut search = ValueSearch { order, equations, due, values, evaluations };
    let mut valuation = Valuation::new();
    search.search_from(0, &mut valuation, &mut accept).then_some(valuation)
}

/// The values of data that an equation determines, in both directions.
fn read_equation(conjunct: &Term) -> Vec<(Datum, Term)> {
    let Node::Compare(Comparison::Equal, a, b) = conjunct.node() else { return Vec::new() };
    let solve_for = |datum: &Term, term: &Term| {
        let datum = datum.as_datum().filter(|datum| !term.mentions(datum))?;
        Some((datum.clone(), term.clone()))
    };
    [solve_for(a, b), solve_for(b, a)].into_iter().flatten().collect()
}

struct ValueSearch<'a> {
    /// The data in the order in which they get values.
    order: &'a [Datum],
    equations: &'a [(Datum, Term)],
    /// For each place, the conjuncts that can be evaluated when the datum there has a value.
    due: Vec<Vec<&'a Term>>,
    values: MentionedValues,
    /// How many evaluations may still be made.
    evaluations: usize,
}

impl ValueSearch<'_> {
    /// Searches values of the data from this place on. Returns whether the conjuncts hold with them, and
    /// `accept` takes them.
    fn search_from(
        &mut self,
        place: usize,
        valuation: &mut Valuation,
        accept: &mut impl FnMut(&Valuation) -> bool,
    ) -> bool {
        let Some(datum) = self.order.get(place) else { return accept(valuation) };
        let defined = self.equations.iter().filter(|(defined, _)| defined == datum);
        let computed = defined.filter_map(|(_, term)| evaluate(term, valuation).ok()).next();
        let values = computed.map_or_else(|| self.values.list(datum.ty()), |value| vec![value]);
        for value in values.into_iter().filter(|value| value.is_in(datum.ty())) {
            valuation.insert(datum.clone(), value);
            let all_hold = self.due[place].iter().all(|conjunct| {
                self.evaluations = self.evaluations.saturating_sub(1);
                self.evaluations > 0 && holds(conjunct, valuation) == Ok(true)
            });
            if all_hold && self.search_from(place + 1, valuation, accept) {
                return true;
            }
            if self.evaluations == 0 {
                break;
            }
        }
        valuation.remove(datum);
        false
    }
}

/// Are all strings that the conjuncts mention printable ASCII?
pub fn are_plain(conjuncts: &[Term]) -> bool {
    let is_plain = |value: &Value| match value {
        Value::String(text) => text.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
        _ => true,
    };
    MentionedValues::in_conjuncts(conjuncts).strings.iter().all(is_plain)
}

/// The values that the conjuncts mention, and values near them. The simplest come first.
struct MentionedValues {
    /// The first four of the mentioned strings. Of these, all sets are tried.
    words: Vec<Value>,
    strings: Vec<Value>,
    numbers: Vec<Value>,
}

impl MentionedValues {
    /// Collects the values that the conjuncts mention, and makes others of them.
    fn in_conjuncts(conjuncts: &[Term]) -> Self {
        let (mut words, mut of_lengths, mut numbers) = (Vec::new(), Vec::new(), vec![0, 1]);
        let mut random = Random::new(1);
        // `pop` takes the last, so the reversed terms are met in their order.
        let (mut seen, mut open_terms) = (HashSet::new(), conjuncts.iter().rev().collect::<Vec<_>>());
        while let Some(term) = open_terms.pop() {
            if !seen.insert(term) {
                continue;
            }
            match term.node() {
                Node::OnStrings(StringOperation::Matches, arguments) => {
                    let expression = strings::expression(arguments);
                    // Two words of the expression are tried.
                    words.extend(expression.iter().flat_map(|one| [(); 2].map(|()| one.word(&mut random))));
                    open_terms.push(&arguments[0]);
                }
                Node::Literal(Value::String(word)) => words.push(word.to_string()),
                Node::Literal(Value::Int(number)) => {
                    let number = i64::try_from(number).unwrap_or(0);
                    numbers.extend([number, number.saturating_sub(1), number.saturating_add(1)]);
                    // For a mentioned length of at most 40, a string of this length is tried.
                    let length = usize::try_from(number).ok().filter(|length| *length <= 40);
                    of_lengths.extend(length.map(|length| "a".repeat(length)));
                }
                _ => open_terms.extend(term.children().into_iter().rev()),
            }
        }
        // The first three words are tried in pairs.
        let paired = &words[..words.len().min(3)];
        let pairs = paired.iter().flat_map(|first| paired.iter().map(move |next| format!("{first}{next}")));
        let longer = words.iter().map(|word| format!("{word}a"));
        let simplest = ["", "a"].into_iter().map(str::to_owned);
        let texts = simplest.chain(words.iter().cloned()).chain(longer).chain(pairs).chain(of_lengths);
        let mut strings: Vec<Value> = texts.map(|text| Value::string(&text)).collect();
        let mut numbers: Vec<Value> = numbers.into_iter().map(Value::int).collect();
        for values in [&mut strings, &mut numbers] {
            let mut seen = BTreeSet::new();
            values.retain(|value| seen.insert(value.clone()));
            values.truncate(MOST_VALUES);
        }
        let mut seen = BTreeSet::new();
        let words = words.iter().map(|word| Value::string(word)).filter(|word| seen.insert(word.clone()));
        MentionedValues { words: words.take(MOST_VALUES.ilog2() as usize).collect(), strings, numbers }
    }

    /// Lists the values to try for a datum of the type.
    fn list(&self, ty: &Type) -> Vec<Value> {
        match ty {
            Type::String => self.strings.clone(),
            _ if ty.is_integer() => self.numbers.clone(),
            Type::Record(set) if set.form == RecordForm::Entries(Type::String, None) => {
                self.list_sets_of_words(set)
            }
            _ => Value::enumerate(ty, MOST_VALUES).unwrap_or_else(|| vec![Value::any(ty)]),
        }
    }

    /// Lists the sets of mentioned strings that the type can hold, the empty one first.
    fn list_sets_of_words(&self, ty: &Arc<RecordType>) -> Vec<Value> {
        // Each bit of `chosen` stands for a word.
        let set = |chosen: usize| {
            let words = (0..self.words.len()).filter(|number| chosen & (1 << number) != 0);
            let words = words.map(|number| Term::literal(self.words[number].clone())).collect();
            evaluate(&Term::apply(DerivedOperation::SetOf(ty.clone()), words), &Valuation::new()).ok()
        };
        (0..1 << self.words.len()).filter_map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Precision: values for typical guards of protocols are found. Soundness: the found values hold.
    #[test]
    fn what_a_guard_names_is_found() {
        let data = |name: &str, ty: Type| Term::datum(&Datum::new(name, ty));
        let (key, text, count) =
            (data("key", Type::String), data("text", Type::String), data("count", Type::Nat));
        let word = |word: &str| Term::literal(Value::string(word));
        let on = |operation, parts: &[Term]| Term::on_strings(operation, parts);
        let digits = on(StringOperation::FromInteger, std::slice::from_ref(&count));
        let conjuncts = [
            on(StringOperation::StartsWith, &[key.clone(), word("job-")]),
            Term::compare(Comparison::AtLeast, &key.length(), &Term::int(5)),
            Term::compare(Comparison::Equal, &text, &on(StringOperation::Concatenate, &[digits, key])),
            Term::compare(Comparison::Greater, &count, &Term::int(6)),
            on(StringOperation::Matches, &[text, word("[0-9]+job\\x2d[a-z]")]),
        ];
        let found = try_values(&conjuncts);
        let holds = |values: &Valuation| conjuncts.iter().all(|one| holds(one, values) == Ok(true));
        assert!(found.as_ref().is_some_and(holds), "{found:?}");
        assert_eq!(
            try_values(&[Term::compare(
                Comparison::Equal,
                &data("s", Type::String).length(),
                &Term::int(-1)
            )]),
            None
        );
    }
}
