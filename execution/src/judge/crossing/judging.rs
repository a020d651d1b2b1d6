//! The interleavings as one judge: it goes on while one of them does, and fails when none does.

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_model::iosts::Iosts;
use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, TransitionId, Value, Verdict};

use super::{Crossing, Interleaving, MOST_UNDER_WAY};
use crate::judge::contract::{AfterSilence, Choice, Follower, Judge, Judged, Move, Offer, Offers, Reasons};
use crate::run::{Cause, Occurrence, ShownState};
use crate::test_case::TestCase;

impl<J: Follower> Crossing<J> {
    /// Returns the first live order, if all live orders wait for an output.
    fn first_waiting(&self) -> Option<&Interleaving<J>> {
        let is_any_complete = self.complete_live_interleavings().next().is_some();
        self.interleavings.iter().find(|order| order.is_live()).filter(|_| !is_any_complete)
    }

    /// Returns the first observation that has not happened in this order.
    fn first_held_back(&self, order: &Interleaving<J>) -> Option<Event> {
        let mut pending = self.pending.iter().enumerate();
        let (_, event) =
            pending.find(|(place, event)| order.not_happened & (1 << place) != 0 && !event.is_stimulus())?;
        event.what.event().cloned()
    }
}

impl<J: Follower> Judge for Crossing<J> {
    fn iosts(&self) -> &Iosts {
        self.initial.iosts()
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        self.initial.constants()
    }

    fn begin(&mut self) {
        *self = Crossing::new(self.link.clone(), self.initial.clone());
    }

    fn offers(&self) -> Offers {
        // No complete order is live: wait for the observation that explains the last ones.
        if self.complete_live_interleavings().next().is_none() {
            let wait = Offer { step: Move::Wait, through: Vec::new() };
            return Offers { moves: vec![wait], may_observe: true };
        }
        let mut offers = self.first().offers();
        if self.sent().count() >= MOST_UNDER_WAY {
            offers.moves.retain(|offer| offer.step == Move::Wait);
        }
        offers.may_observe |= !self.pending.is_empty();
        offers
    }

    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let first = self.interleavings.iter_mut().find(|order| order.not_happened == 0 && order.is_live())?;
        let event = first.judge.stimulus(number, choice)?;
        self.can_send(&event).then_some(event)
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        if self.sent().count() >= MOST_UNDER_WAY || self.complete_live_interleavings().next().is_none() {
            return false;
        }
        let mut complete = self.interleavings.iter_mut().filter(|order| order.not_happened == 0);
        if !complete.all(|order| !order.is_lost && (!order.is_live() || order.judge.can_send(stimulus))) {
            return false;
        }
        // Over several connections, the stimulus may be taken before earlier ones.
        self.link.connections() == 1 || {
            let mut after = self.clone();
            matches!(after.send(stimulus), Judged::Followed(_))
                && after.interleavings.iter().all(|order| !order.is_lost)
        }
    }

    fn take(&mut self, what: &Occurrence) -> Judged {
        match what {
            Occurrence::Stimulus(event) => self.send(event),
            Occurrence::Observation(event) => self.observe(event),
            Occurrence::Silence(time) => self.follow_silence(what, *time),
            Occurrence::Delay(time) => {
                self.let_time_pass(*time);
                Judged::Followed(None)
            }
        }
    }

    /// Gives a verdict when no interleaving goes on: their common one, if each observation was judged.
    fn verdict(&self) -> Option<Verdict> {
        self.ended.or_else(|| {
            let is_over = self.interleavings.iter().all(|order| !order.is_live());
            let is_lost = self.interleavings.iter().any(|order| order.is_lost);
            match is_over {
                false => None,
                true if is_lost || !self.is_judged() => Some(Verdict::Inconclusive),
                true => self.interleavings.first()?.judge.verdict(),
            }
        })
    }

    fn shown(&self) -> ShownState {
        let mut states: Vec<ShownState> =
            self.complete_interleavings().map(|order| order.judge.shown()).collect();
        if states.is_empty() {
            states = self.interleavings.iter().map(|order| order.judge.shown()).collect();
        }
        let Some(first) = states.first() else { return self.initial.shown() };
        let places: BTreeSet<&str> = states.iter().map(|shown| shown.place.as_str()).collect();
        // Only values that are the same in all states are shown.
        let data = first.data.iter().filter(|pair| states.iter().all(|shown| shown.data.contains(pair)));
        ShownState {
            place: places.into_iter().collect::<Vec<_>>().join(" or "),
            data: data.cloned().collect(),
        }
    }

    fn silence(&self) -> Option<AfterSilence> {
        // A wait for silence lasts until all stimuli under way have been taken.
        let silence = self.first().silence()?;
        if self.complete_interleavings().count() == 1 {
            return Some(silence);
        }
        self.is_still.then_some(AfterSilence::Nothing)
    }

    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        self.first().scene()
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.interleavings.iter().flat_map(|order| order.judge.specification_locations()).collect()
    }

    fn place(&self) -> &str {
        self.first().place()
    }

    fn describe(&self, number: TransitionId) -> String {
        self.first().describe(number)
    }

    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        self.first().boundaries(stimulus)
    }

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Reasons {
        self.first().why(observed, verdict)
    }

    /// Returns the pending observation that no order explains. It is the one for which the first live order
    /// waits, if this order can follow `observed`, which comes now.
    fn unexplained(&self, observed: &Event) -> Option<Event> {
        let waiting = self.first_waiting()?;
        let mut judge = waiting.judge.clone();
        let judged = judge.take(&Occurrence::Observation(observed.clone()));
        if matches!(judged, Judged::Ends(..)) || judge.verdict() == Some(Verdict::Fail) {
            return None;
        }
        self.first_held_back(waiting)
    }

    fn held_back(&self) -> Option<Event> {
        let is_explained = self.complete_interleavings().next().is_some();
        self.first_waiting().filter(|_| !is_explained).and_then(|order| self.first_held_back(order))
    }

    fn due(&self) -> Option<Duration> {
        let delay = self.delay()?;
        let oldest = self.sent().next().filter(|_| self.verdict().is_none())?;
        Some(delay.saturating_sub(oldest.age))
    }

    fn under_way(&self) -> usize {
        self.due().map_or(0, |_| self.sent().count())
    }

    fn must_answer(&self) -> bool {
        let is_under_way = self.delay().is_some() && self.sent().next().is_some();
        !is_under_way
            && self
                .interleavings
                .iter()
                .all(|order| order.not_happened == 0 && order.is_live() && order.judge.must_answer())
    }

    fn owes(&self) -> bool {
        let mut live = self.complete_live_interleavings().peekable();
        self.delay().is_some_and(|delay| !delay.is_zero())
            && live.peek().is_some()
            && live.all(|order| order.judge.must_go_on())
    }

    fn loosen(&mut self) -> bool {
        self.is_loose = true;
        true
    }

    fn link(&self) -> Option<Link> {
        Some(self.link.clone())
    }

    /// Judges a message that is no event of the model: Fail. It is Inconclusive if an order is not live any
    /// more. Such an order took something unknown to its model or has a verdict, so it may do anything.
    fn alien(&self, text: String) -> Judged {
        if self.interleavings.iter().any(|order| !order.is_live()) {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        Judged::Ends(Verdict::Fail, Cause::Alien(text))
    }

    fn crossed(&self) -> usize {
        self.crossed
    }
}
