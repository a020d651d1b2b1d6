//! Single draws: a source by its weight, a value of a finite type, a number from a range.

use std::collections::BTreeMap;
use std::sync::Arc;

use coreach_analyses::hull::Range;
use coreach_analyses::solver::z3::SMALL;
use coreach_model::random::Random;
use coreach_model::value::ArrayValue;
use coreach_model::{Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::values::source::{Mix, Pick};
use crate::values::{ids, strings};

/// Draws a source by the weights; `Uniform` where all are 0.
pub fn source(mix: &Mix, random: &mut Random) -> Pick {
    let total: usize = mix.iter().map(|(_, weight)| *weight).sum();
    let mut lot = random.below(total);
    for (source, weight) in mix {
        if lot < *weight {
            return *source;
        }
        lot -= weight;
    }
    Pick::Uniform
}

/// Draws any value of any type: of an array a few cells that differ from the rest, of a record each field.
///
/// Arrays of arrays share their cells: a few of each would be exponentially many in the depth. With that
/// limit, the time is linear in the size of the type.
pub fn any(ty: &Type, random: &mut Random) -> Value {
    any_with(ty, &[], random)
}

/// Draws any value of a type. Some of its parts are from this pool. Its arrays have at most 256 cells.
pub fn any_with(ty: &Type, pool: &[Value], random: &mut Random) -> Value {
    draw(ty, pool, random, &mut { 256 })
}

/// Draws a value of the type from the pool, if one fits. Of numbers also a neighbour, or one between two.
pub fn draw_pooled(ty: &Type, pool: &[Value], random: &mut Random) -> Option<Value> {
    let fits = |value: &&Value| match value {
        Value::Int(_) => ty.is_integer(),
        value => value.is_in(ty),
    };
    let fitting: Vec<&Value> = pool.iter().filter(fits).collect();
    let picked = *random.pick(&fitting)?;
    let drawn = match picked {
        Value::Int(_) | Value::Real(_) => {
            let number = as_rational(picked);
            let near = match random.below(4) {
                0 => number + RBig::from(random.below(3) as i64 - 1),
                1 => {
                    let other = random.pick(&fitting).map_or(number.clone(), |other| as_rational(other));
                    let (low, high) = if number <= other { (number, other) } else { (other, number) };
                    uniform(&Range { low: Some(low), high: Some(high) }, ty.is_integer(), random)
                }
                _ => number,
            };
            typed(near, ty.is_integer())
        }
        _ => picked.clone(),
    };
    drawn.is_in(ty).then_some(drawn)
}

/// Draws any value of a type, with at most `cells_left` cells in its arrays.
fn draw(ty: &Type, pool: &[Value], random: &mut Random, cells_left: &mut usize) -> Value {
    if !pool.is_empty()
        && random.below(2) == 0
        && let Some(value) = draw_pooled(ty, pool, random)
    {
        return value;
    }
    /// The most cells that are drawn for one array.
    const CELLS: usize = 6;
    let within = |range: &Range, random: &mut Random| {
        let source = [Pick::Small, Pick::Boundary, Pick::Uniform][random.below(3)];
        number(ty, source, range, &[], random).0
    };
    let real = |value: &IBig| Some(RBig::from(value.clone()));
    match ty {
        Type::Bool => Value::Bool(random.below(2) == 1),
        Type::Enum(enumeration) => Value::Enum(enumeration.clone(), random.below(enumeration.literals.len())),
        Type::Int | Type::Real => within(&Range { low: None, high: None }, random),
        Type::Nat => within(&Range { low: Some(RBig::ZERO), high: None }, random),
        Type::Range(low, high) => within(&Range { low: real(low), high: real(high) }, random),
        Type::String => strings::any(random),
        Type::Id(_) => ids::any(ty, random),
        Type::Record(record) => {
            let fields = record.fields.iter().map(|(_, field)| draw(field, pool, random, cells_left));
            Value::Record(record.clone(), record.canonical(fields.collect()).into())
        }
        Type::Array(array) => {
            let default = draw(&array.element, pool, random, cells_left);
            let mut cells = BTreeMap::new();
            // The cells that a program reads are those near 0.
            let near = random.below(CELLS + 1);
            for at in 0..near {
                if *cells_left == 0 {
                    break;
                }
                *cells_left -= 1;
                let index = match array.index.is_integer() {
                    true => Value::int(at as i64),
                    false => draw(&array.index, pool, random, cells_left),
                };
                if index.is_in(&array.index) {
                    cells.insert(index, draw(&array.element, pool, random, cells_left));
                }
            }
            Value::Array(Arc::new(ArrayValue { ty: array.clone(), default, cells }.canonical()))
        }
    }
}

/// Draws a number within the range from the source, or uniformly if it has none. Returns the source, too.
pub fn number(ty: &Type, source: Pick, range: &Range, seen: &[Value], random: &mut Random) -> (Value, Pick) {
    let integer = ty.is_integer();
    let step = RBig::from(1);
    let inside = |value: &RBig| {
        range.low.as_ref().is_none_or(|low| low <= value)
            && range.high.as_ref().is_none_or(|high| value <= high)
    };
    let drawn = match source {
        Pick::Boundary => {
            let ends = [
                range.low.clone(),
                range.high.clone(),
                range.low.as_ref().map(|low| low + &step),
                range.high.as_ref().map(|high| high - &step),
            ];
            let ends: Vec<RBig> = ends.into_iter().flatten().filter(|end| inside(end)).collect();
            random.pick(&ends).cloned()
        }
        Pick::Small => {
            let (least, most) = (RBig::from(-SMALL), RBig::from(SMALL));
            let low = range.low.clone().map_or(least.clone(), |low| low.max(least));
            let high = range.high.clone().map_or(most.clone(), |high| high.min(most));
            let small = Range { low: Some(low), high: Some(high) };
            // A small number is an integer, for reals too.
            (small.low <= small.high).then(|| uniform(&small, true, random))
        }
        // One that is too large, or of the wrong sign, would always be the same end.
        Pick::Large => {
            let large = large(random);
            [large.clone(), -large].into_iter().find(inside)
        }
        Pick::Seen => {
            let numbers = seen.iter().filter(|value| matches!(value, Value::Int(_) | Value::Real(_)));
            let mut fitting: Vec<RBig> = numbers.map(as_rational).collect();
            fitting.retain(|value| inside(value) && (!integer || value.denominator().is_one()));
            random.pick(&fitting).cloned()
        }
        _ => None,
    };
    match drawn {
        Some(value) => (typed(value, integer), source),
        None => (typed(uniform(range, integer, random), integer), Pick::Uniform),
    }
}

/// Returns a number as a rational, for the hull.
pub fn as_rational(value: &Value) -> RBig {
    match value {
        Value::Int(value) => RBig::from(value.clone()),
        Value::Real(value) => value.clone(),
        _ => RBig::ZERO,
    }
}

/// Makes a number a value of an integer type, or of type real.
pub(super) fn typed(value: RBig, integer: bool) -> Value {
    // The ends of an integer's range are integers, and so is everything that was made of them.
    if integer { Value::Int(value.trunc()) } else { Value::Real(value) }
}

/// Draws an integer between two ends, each as likely.
pub fn draw_between(low: &IBig, high: &IBig, random: &mut Random) -> Value {
    let [low, high] = [low, high].map(|end| Some(RBig::from(end.clone())));
    Value::Int(uniform(&Range { low, high }, true, random).trunc())
}

/// 2^k, one more or one less, of either sign, k from 7 to 64: where counters of programs turn over.
fn large(random: &mut Random) -> RBig {
    const WIDTHS: [usize; 8] = [7, 8, 15, 16, 31, 32, 63, 64];
    let width = WIDTHS[random.below(WIDTHS.len())];
    let power = (IBig::ONE << width) + IBig::from(random.below(3) as i64 - 1);
    RBig::from(if random.below(2) == 0 { power } else { -power })
}

/// Draws a number, perhaps an `integer`, between two ends. With one end or none, its distance is drawn.
fn uniform(range: &Range, integer: bool, random: &mut Random) -> RBig {
    let far = |random: &mut Random| RBig::from(IBig::from(random.bits() >> random.between((40, 63))));
    match (&range.low, &range.high) {
        (Some(low), Some(high)) if integer => {
            let count = (high - low).trunc() + IBig::ONE;
            if count <= IBig::ONE {
                return low.clone();
            }
            // 128 bits: the bias is nothing for any range that a model has.
            let bits = (IBig::from(random.bits()) << 64) + IBig::from(random.bits());
            low + RBig::from(bits % count)
        }
        (Some(low), Some(high)) => {
            low + (high - low) * RBig::from_parts(IBig::from(random.below(1025) as i64), 1024u32.into())
        }
        (Some(low), None) => low + far(random),
        (None, Some(high)) => high - far(random),
        (None, None) if random.below(2) == 0 => far(random),
        (None, None) => RBig::ZERO - far(random),
    }
}
