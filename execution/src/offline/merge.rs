//! Merges two recordings on one time line.
//!
//! **Problem.** The tester has recorded its inputs, the system's side its outputs, from one instant on.
//!
//! **Source.** 2012, *Merge*: the two sequences are followed together. If both let time pass, the smaller
//! delay passes and the rest of the larger one is kept. At one instant outputs come first: an output cannot
//! depend on an input of the same instant. Definition 5 there asks that the outputs were recorded strictly
//! longer than the inputs: otherwise the effect of the last input is not known. The result is normalized. The
//! projections of a normalized sequence merge to that sequence, if no input precedes an output of its
//! instant.
//!
//! **Ends** with the longer of both. **Costs** one member of each.

use coreach_model::Diagnostic;
use dashu_ratio::RBig;

use crate::offline::sequence::{Placed, SeqItem, time_text};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergedTraces {
    pub inputs: RBig,
    pub outputs: RBig,
    pub events: usize,
}

/// A sequence that is followed: its next member, or the rest of it if it is a delay.
struct Followed<I> {
    later: I,
    next: Option<SeqItem>,
    duration: RBig,
}

impl<E, I: Iterator<Item = Result<Placed, E>>> Followed<I> {
    fn new(later: I) -> Result<Self, E> {
        let mut followed = Followed { later, next: None, duration: RBig::ZERO };
        followed.step()?;
        Ok(followed)
    }

    /// Takes the next member.
    fn step(&mut self) -> Result<Option<SeqItem>, E> {
        let next = self.later.next().transpose()?.map(|placed| placed.item);
        if let Some(SeqItem::Delay(time)) = &next {
            self.duration += time;
        }
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next member if it is an event.
    fn take_event(&mut self) -> Result<Option<SeqItem>, E> {
        if matches!(self.next, Some(SeqItem::Event(..))) { self.step() } else { Ok(None) }
    }

    /// Returns the time until its next event. `None`: it has ended, or the event comes now.
    fn remaining_delay(&self) -> Option<&RBig> {
        if let Some(SeqItem::Delay(time)) = &self.next { Some(time) } else { None }
    }

    /// Lets time pass, at most until its next event.
    fn pass(&mut self, time: &RBig) -> Result<(), E> {
        match &mut self.next {
            Some(SeqItem::Delay(remaining)) if *remaining > *time => *remaining -= time,
            Some(SeqItem::Delay(_)) => {
                self.step()?;
            }
            Some(SeqItem::Event(..)) | None => {}
        }
        Ok(())
    }
}

/// Merges inputs and outputs. Calls `take` with the members of the result, one after the other.
pub fn merge_sequences<E>(
    inputs: impl Iterator<Item = Result<Placed, E>>,
    outputs: impl Iterator<Item = Result<Placed, E>>,
    mut take: impl FnMut(SeqItem) -> Result<(), E>,
) -> Result<MergedTraces, E> {
    let (mut inputs, mut outputs) = (Followed::new(inputs)?, Followed::new(outputs)?);
    let mut passed = RBig::ZERO;
    let mut events = 0;
    loop {
        // All outputs of this instant come first.
        let output = outputs.take_event()?;
        if let Some(event) = if output.is_some() { output } else { inputs.take_event()? } {
            let delay = std::mem::replace(&mut passed, RBig::ZERO);
            if delay > RBig::ZERO {
                take(SeqItem::Delay(delay))?;
            }
            events += 1;
            take(event)?;
            continue;
        }
        let time = match (inputs.remaining_delay(), outputs.remaining_delay()) {
            (Some(input), Some(output)) => input.min(output).clone(),
            (Some(time), None) | (None, Some(time)) => time.clone(),
            (None, None) => break,
        };
        inputs.pass(&time)?;
        outputs.pass(&time)?;
        passed += time;
    }
    if passed > RBig::ZERO {
        take(SeqItem::Delay(passed))?;
    }
    Ok(MergedTraces { inputs: inputs.duration, outputs: outputs.duration, events })
}

impl MergedTraces {
    /// Checks that the outputs were recorded longer than the inputs take (2012, Definition 5).
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.outputs > self.inputs {
            return Ok(());
        }
        let message = format!(
            "the outputs were recorded for {}, and the inputs take {}",
            time_text(&self.outputs),
            time_text(&self.inputs)
        );
        Err(Diagnostic::error("trace-duration", message)
            .note("what the last of the inputs led to is not known")
            .help("record longer than the inputs take, and end the outputs with the delay after the last of them"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::convert::Infallible;

    use coreach_model::iosts::ActionId;
    use coreach_model::number::real;

    use super::*;
    use crate::offline::sequence::{normalize, projection};

    /// `4 a 23 b`: numbers are delays, small letters inputs, capital letters outputs.
    fn sequence(text: &str) -> Vec<SeqItem> {
        let item = |word: &str| match real(word, 20) {
            Ok(time) => SeqItem::Delay(time),
            Err(_) => SeqItem::Event(ActionId(word.bytes().next().unwrap().into()), Vec::new()),
        };
        text.split_whitespace().map(item).collect()
    }

    fn placed(items: &[SeqItem]) -> impl Iterator<Item = Result<Placed, Infallible>> {
        items.iter().map(|item| Ok(Placed { line: 0, item: item.clone() }))
    }

    fn merged(inputs: &[SeqItem], outputs: &[SeqItem]) -> (Vec<SeqItem>, MergedTraces) {
        let mut all = Vec::new();
        let Ok(merged) = merge_sequences(placed(inputs), placed(outputs), |item| {
            all.push(item);
            Ok(())
        });
        (all, merged)
    }

    /// Semantics B 27: Figure 1 of the publication; events at 4, 12, 27, 43, 66, 108.
    #[test]
    fn the_published_figure_is_merged_as_printed() {
        let (all, ends) = merged(&sequence("4 a 23 x 39 w"), &sequence("12 B 31 Y 65 M"));
        assert_eq!(all, sequence("4 a 8 B 15 x 16 Y 23 w 42 M"));
        assert_eq!((ends.events, ends.check().is_ok()), (6, true));
    }

    #[test]
    fn outputs_come_first_at_one_instant() {
        let (all, _) = merged(&sequence("1 a b 1 c"), &sequence("1 A 1 B C 1"));
        assert_eq!(all, sequence("1 A a b 1 B C c 1"));
    }

    #[test]
    fn what_is_longer_goes_on_alone() {
        let (all, ends) = merged(&sequence("1 a"), &sequence("0.5 A 2 B 3"));
        assert_eq!(all, sequence("0.5 A 0.5 a 1.5 B 3"));
        assert!(ends.check().is_ok());
        let (all, ends) = merged(&sequence("1 a 2 b"), &sequence("0.5 A"));
        assert_eq!(all, sequence("0.5 A 0.5 a 2 b"));
        assert_eq!(ends.check().unwrap_err().code, "trace-duration");
        // Strictly.
        let (_, ends) = merged(&sequence("1 a"), &sequence("0.5 A 0.5"));
        assert_eq!(ends.check().unwrap_err().code, "trace-duration");
    }

    /// Merging the projections of a sequence gives it back, where nothing happens at one instant.
    #[test]
    fn merging_is_the_inverse_of_projecting() {
        let mut number = 7u32;
        let mut draw = || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            number >> 20
        };
        for length in 0..60 {
            let mut items = Vec::new();
            for _ in 0..length {
                items.push(SeqItem::Delay(RBig::from(draw() % 5 + 1) / RBig::from(10)));
                let letter = if draw() % 2 == 0 { u32::from(b'a') } else { u32::from(b'A') };
                items.push(SeqItem::Event(ActionId(letter + draw() % 5), Vec::new()));
            }
            items.push(SeqItem::Delay(RBig::from(1)));
            let is_input = |action: ActionId| action.0 >= u32::from(b'a');
            let inputs = projection(&items, is_input);
            let outputs = projection(&items, |action| !is_input(action));
            assert_eq!(merged(&inputs, &outputs).0, normalize(items));
        }
    }
}
