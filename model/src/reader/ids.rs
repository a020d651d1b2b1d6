//! `fresh(e)`: a condition that the id differs from every id that the model holds.
//!
//! The model holds ids in the variables and constants that the text may read: in the data themselves, in
//! cells of arrays, in fields of records, and in the fields that count of variants, lists and maps.
//! Parameters do not hold ids, since a message comes and goes. This is the freshness of register automata,
//! where a guard compares with the registers: an id that was forgotten may come again. A user who minds keeps
//! it in a list or a map.

use std::ops::Range;

use crate::reader::literals::MAX_CELLS;
use crate::reader::scope::Meaning;
use crate::reader::syntax::Call;
use crate::reader::typing::{ONLY_COMPARED, Typing};
use crate::term::{Term, canonical, substitute};
use crate::types::Type;
use crate::value::Value;

impl Typing<'_, '_> {
    /// Types `fresh(e)`, as a conjunction over all ids that the model holds.
    pub(super) fn type_fresh(&mut self, call: &Call, whole: &Range<usize>) -> Option<Term> {
        // A loop and no iterator: a function that recurses must need little of the stack.
        let mut terms = Vec::new();
        for argument in &call.arguments {
            terms.push(self.term(argument));
        }
        if !self.check_arity("fresh", &call.arguments, 1, whole, None) {
            return None;
        }
        // A name that a case of `match` binds is replaced by the field that it stands for.
        let (id, names) = (substitute(&terms.pop()??, &self.named), self.scope.names);
        let mut refuse = |message: String, help: &str| {
            let label = format!("this is {}", id.sort());
            self.error("type-mismatch", message, &call.arguments[0].span, label, Some(help.to_owned()));
            None
        };
        if !id.sort().is_id() {
            return refuse(format!("`fresh` needs an id, but this is {}", id.sort()), ONLY_COMPARED);
        }
        let mut parts = Vec::new();
        for (_, meaning) in names.iter() {
            let (Meaning::Variable(datum) | Meaning::Constant(datum) | Meaning::Observed(datum)) = meaning
            else {
                continue;
            };
            if collect_differences(&id, &Term::datum(datum), datum.ty(), &mut parts).is_none() {
                let message = format!("`fresh` searches only arrays of at most {MAX_CELLS} cells");
                return refuse(message, &format!("`{datum}` has more: keep ids in a list"));
            }
        }
        if parts.is_empty() {
            let message = format!("no variable and no constant here holds a value of type {}", id.sort());
            return refuse(message, "keep the ids that it must differ from in a list or a map");
        }
        self.check_made(Term::and(parts), whole)
    }
}

/// Adds conditions that the id differs from all ids in the term `held`, except itself. `None` if there are
/// too many cells.
fn collect_differences(id: &Term, held: &Term, ty: &Type, parts: &mut Vec<Term>) -> Option<()> {
    match ty {
        Type::Id(_) if ty == id.sort() && held != id => parts.push(Term::equal(id, held).not()),
        Type::Array(array) if array.element.contains(id.sort()) => {
            for index in Value::enumerate(&array.index, MAX_CELLS)? {
                collect_differences(id, &Term::select(held, &Term::literal(index)), &array.element, parts)?;
            }
        }
        Type::Record(record) => {
            let fields = record.fields.iter().enumerate();
            for (position, (_, ty)) in fields.filter(|(_, (_, ty))| ty.contains(id.sort())) {
                let mut within = Vec::new();
                collect_differences(id, &Term::field(held, position), ty, &mut within)?;
                let counts = canonical::count_condition(record, &Term::field(held, 0), position);
                parts.push(Term::implies(&counts, &Term::and(within)));
            }
        }
        _ => {}
    }
    Some(())
}
