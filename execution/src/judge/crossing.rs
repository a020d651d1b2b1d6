//! A judge behind a link that takes time: what the tester has sent may not have been taken yet when an
//! observation comes.
//!
//! **Problem.** Conformance speaks of the order in which the implementation takes and sends (Definition 6.2).
//! Over a link, the tester sees another one: it sends `a`, and then sees `x`, which was on its way already;
//! for the implementation, `x` came first. A judge that takes what is seen for what was done blames an
//! implementation for an output that it sent before `a`.
//!
//! **Method.** The link keeps the order in each direction, and a stimulus has been taken after a certain
//! delay, there and back: what is seen later was sent later. So stimuli can only have been taken *later* than
//! they were sent, and not before an older one. The judge keeps a set of *interleavings*: a state of the
//! inner judge, with how many of the last stimuli it has not taken. A stimulus makes every interleaving one
//! more behind. At an observation each interleaving may have taken none of what it is behind, one, two, ...,
//! all, and then sent it: those of the results that the inner judge does not call Fail are the next
//! interleavings. *Fail* is given where there is none: in no order that the link allows could it have been
//! sent. Time is not read here: the tester shows it, as a delay in which nothing has come
//! ([`crate::run::Occurrence::Delay`]), and stimuli of that age are taken by all interleavings. A trace has
//! these delays, so it is judged alike without a clock, whenever and by whomever it is shown again.
//!
//! **What the others are worth.** The tester cannot know which interleaving is the true one, so a verdict
//! has to be right for each.
//!
//! - *Pass* is given where all interleavings have got it: then the trace was accepted in whatever order it
//!   came (accuracy, Definition 6.16). An interleaving that has got it allows everything from then on, as an
//!   accepted trace may be extended; so no Fail comes after it, and the others are followed to their end.
//! - An interleaving for which the purpose is out of reach makes the whole *Inconclusive*: it will allow
//!   everything, so there can be no Fail, and it will not be accepted, so there can be no Pass.
//! - So does one that meets a stimulus of which its model says nothing in that state. The tester sends only
//!   what all interleavings can take when they have taken what they are behind; but an output that comes in
//!   between may lead elsewhere.
//!
//! What the tester is offered, and what is shown to people, is the state of the first interleaving, which
//! has taken as much as any: without a crossing it is the state of the inner judge. An observation that this
//! order would not have allowed has *crossed*, and is counted.
//!
//! **Source**: queues between tester and implementation are a classic (Verhaard, Tretmans, Kars, Brinksma,
//! "On asynchronous testing", IWPTS 1992); there, the specification is composed with unbounded queues, which
//! forgets what the delay tells. `tests/src/properties/queues.rs` composes conforming implementations with
//! queues: never a Fail.
//!
//! **Ends**: at most `MOST_INTERLEAVINGS` interleavings, each at most `MOST_UNDER_WAY` behind; at more
//! interleavings the run is Inconclusive, for the cause `crossed`, and a stimulus more is not offered.
//! **Costs** the inner judge, times both in the worst case; without a crossing, once.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use coreach_model::iosts::Iosts;
use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, TransitionId, Value, Verdict};

use crate::judge::contract::{AfterSilence, Choice, Follower, Judge, Judged, Move, Offers, Why};
use crate::run::{Cause, Occurrence, ShownState};
use crate::test_case::TestCase;

/// The most states of the inner judge that are followed.
const MOST_INTERLEAVINGS: usize = 256;

/// The most stimuli that may be under way.
pub const MOST_UNDER_WAY: usize = 16;

/// One of the states that are possible.
#[derive(Clone, Debug)]
struct Interleaving<J> {
    judge: J,
    /// So many of the last stimuli it has not taken.
    behind: usize,
    /// The state when it has taken them; `None` where it cannot.
    front: Option<J>,
}

/// A stimulus that may be under way.
#[derive(Clone, Debug)]
struct Sent {
    event: Event,
    age: Duration,
}

/// A judge behind a link.
#[derive(Clone, Debug)]
pub struct Crossing<J> {
    delay: Duration,
    initial: J,
    /// Never empty. The first has taken as much as any.
    interleavings: Vec<Interleaving<J>>,
    sent: VecDeque<Sent>,
    /// The verdict, where it is not that of the interleavings.
    ended: Option<Verdict>,
    crossed: usize,
}

/// What an observation came to.
struct Observed<J> {
    next: Vec<Interleaving<J>>,
    /// One for which the purpose is out of reach, or of which nothing is known any more.
    lost: Option<Interleaving<J>>,
    /// What the first interleaving came to that has taken all.
    first: Option<(J, Judged)>,
    is_first_followed: bool,
}

impl<J: Follower> Crossing<J> {
    /// In the inner judge's initial state; `delay` is the most time of a stimulus on its way, and of an
    /// observation on the way back, together.
    pub fn new(delay: Duration, mut judge: J) -> Self {
        judge.begin();
        let interleaving = Interleaving { judge: judge.clone(), behind: 0, front: Some(judge.clone()) };
        let (interleavings, sent) = (vec![interleaving], VecDeque::new());
        Crossing { delay, initial: judge, interleavings, sent, ended: None, crossed: 0 }
    }

    /// The states that are possible, each with how many of the last stimuli it has not taken.
    pub fn interleavings(&self) -> impl Iterator<Item = (&J, usize)> {
        self.interleavings.iter().map(|interleaving| (&interleaving.judge, interleaving.behind))
    }

    /// The inner judge that people are told of.
    fn first(&self) -> &J {
        let interleaving = self.live().next().or(self.interleavings.first());
        interleaving
            .map_or(&self.initial, |interleaving| interleaving.front.as_ref().unwrap_or(&interleaving.judge))
    }

    /// The inner judges once they have taken all that was sent; where that cannot be told, as they are.
    fn fronts(&self) -> impl Iterator<Item = &J> {
        self.interleavings
            .iter()
            .map(|interleaving| interleaving.front.as_ref().unwrap_or(&interleaving.judge))
    }

    /// Those that have no verdict yet.
    fn live(&self) -> impl Iterator<Item = &Interleaving<J>> {
        self.interleavings.iter().filter(|interleaving| interleaving.judge.verdict().is_none())
    }

    fn send(&mut self, event: &Event) -> Judged {
        if self.sent.len() >= MOST_UNDER_WAY {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        let what = Occurrence::Stimulus(event.clone());
        let mut through = None;
        let mut fronts = Vec::new();
        for interleaving in &self.interleavings {
            let mut front = interleaving.front.clone().filter(|_| interleaving.judge.verdict().is_none());
            if let Some(judge) = &mut front {
                match judge.take(&what) {
                    Judged::Followed(transition) => through = through.or(Some(transition)),
                    Judged::Ends(..) => front = None,
                }
            }
            fronts.push(front);
        }
        let Some(through) = through else {
            return Judged::Ends(Verdict::Inconclusive, Cause::Unspecified);
        };
        self.sent.push_back(Sent { event: event.clone(), age: Duration::ZERO });
        for (interleaving, front) in self.interleavings.iter_mut().zip(fronts) {
            if interleaving.judge.verdict().is_none() {
                interleaving.behind += 1;
                interleaving.front = front;
            }
        }
        Judged::Followed(through)
    }

    /// Nothing is known any more: the run is Inconclusive.
    fn is_lost(&mut self) -> Judged {
        self.ended = Some(Verdict::Inconclusive);
        Judged::Followed(None)
    }

    fn observe(&mut self, event: &Event) -> Judged {
        let what = Occurrence::Observation(event.clone());
        let mut observed = Observed { next: Vec::new(), lost: None, first: None, is_first_followed: false };
        for (number, interleaving) in self.interleavings.iter().enumerate() {
            self.follow(interleaving, number == 0, &what, &mut observed);
        }
        let Observed { next, lost, first, is_first_followed } = observed;
        if next.len() > MOST_INTERLEAVINGS {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        let through = match &first {
            Some((_, Judged::Followed(through))) => *through,
            _ => None,
        };
        if next.is_empty() && lost.is_none() {
            // In no order. It is told as the first interleaving sees it.
            let Some((judge, judged)) = first else { return self.is_lost() };
            if let Judged::Ends(..) = judged {
                return judged;
            }
            self.ended = Some(judge.verdict().unwrap_or(Verdict::Fail));
            self.interleavings = vec![Interleaving { judge, behind: 0, front: None }];
            self.sent.clear();
            return Judged::Followed(through);
        }
        self.crossed += usize::from(!is_first_followed);
        if lost.is_some() {
            self.ended = Some(Verdict::Inconclusive);
        }
        self.interleavings = if next.is_empty() { lost.into_iter().collect() } else { next };
        Judged::Followed(through.filter(|_| is_first_followed))
    }

    /// All that an interleaving can have done when it sent this.
    fn follow(
        &self,
        interleaving: &Interleaving<J>,
        is_first: bool,
        what: &Occurrence,
        observed: &mut Observed<J>,
    ) {
        if interleaving.judge.verdict().is_some() {
            observed.is_first_followed |= is_first;
            push(&mut observed.next, interleaving.clone());
            return;
        }
        // With one more of the stimuli taken each time.
        let mut taken = vec![interleaving.judge.clone()];
        for sent in self.sent.iter().skip(self.sent.len() - interleaving.behind) {
            let Some(last) = taken.last().filter(|last| last.verdict().is_none()) else { break };
            let mut judge = last.clone();
            if let Judged::Ends(..) = judge.take(&Occurrence::Stimulus(sent.event.clone())) {
                observed.lost = Some(Interleaving { judge, behind: 0, front: None });
                break;
            }
            taken.push(judge);
        }
        // The one that has taken most comes first.
        for (number, before) in taken.into_iter().enumerate().rev() {
            let behind = interleaving.behind - number;
            let is_all = is_first && behind == 0;
            let mut judge = before;
            // A stimulus may have met the purpose: whatever comes then is allowed.
            if judge.verdict().is_some() {
                observed.is_first_followed |= is_all;
                push(&mut observed.next, Interleaving { front: Some(judge.clone()), judge, behind: 0 });
                continue;
            }
            let judged = judge.take(what);
            if is_all {
                observed.first = Some((judge.clone(), judged.clone()));
            }
            let front = self.front(&judge, behind);
            let next = Interleaving { judge, behind, front };
            let verdict = match &judged {
                Judged::Followed(_) => next.judge.verdict(),
                Judged::Ends(verdict, _) => Some(*verdict),
            };
            match verdict {
                Some(Verdict::Fail) => continue,
                Some(Verdict::Inconclusive) => observed.lost = Some(next),
                Some(Verdict::Pass | Verdict::WeakPass) | None => push(&mut observed.next, next),
            }
            observed.is_first_followed |= is_all;
        }
    }

    /// The state when it has taken the last stimuli.
    fn front(&self, judge: &J, behind: usize) -> Option<J> {
        let mut front = judge.clone();
        for sent in self.sent.iter().skip(self.sent.len() - behind) {
            if front.verdict().is_some() {
                break;
            }
            let Judged::Followed(_) = front.take(&Occurrence::Stimulus(sent.event.clone())) else {
                return None;
            };
        }
        Some(front)
    }

    /// Nothing has come for so long: what was sent before has been taken.
    fn pass(&mut self, time: Duration) {
        for sent in &mut self.sent {
            sent.age += time;
        }
        while self.sent.front().is_some_and(|sent| sent.age >= self.delay) {
            let before = self.sent.len();
            let Some(sent) = self.sent.pop_front() else { return };
            let what = Occurrence::Stimulus(sent.event);
            for interleaving in
                self.interleavings.iter_mut().filter(|interleaving| interleaving.behind == before)
            {
                interleaving.behind -= 1;
                if interleaving.judge.verdict().is_none()
                    && let Judged::Ends(..) = interleaving.judge.take(&what)
                {
                    self.ended = Some(Verdict::Inconclusive);
                }
            }
        }
        let interleavings = std::mem::take(&mut self.interleavings);
        interleavings.into_iter().for_each(|interleaving| push(&mut self.interleavings, interleaving));
    }

    fn be_silent(&mut self, what: &Occurrence, time: Duration) -> Judged {
        // What is under way to it or from it may still be answered, or be the answer.
        if !self.sent.is_empty() || time < self.delay {
            return Judged::silence(time);
        }
        let mut next = Vec::new();
        let mut first = None;
        let mut fails = true;
        for interleaving in &self.interleavings {
            let mut judge = interleaving.judge.clone();
            let judged = judge.take(what);
            fails &= matches!(judged, Judged::Ends(Verdict::Fail, _));
            if let Judged::Followed(_) = judged {
                push(&mut next, Interleaving { front: Some(judge.clone()), judge, behind: 0 });
            }
            first.get_or_insert(judged);
        }
        match first {
            // Silence is a failure only where no interleaving may be silent.
            Some(Judged::Ends(Verdict::Fail, _)) if next.is_empty() && !fails => Judged::silence(time),
            Some(judged) if next.is_empty() => judged,
            _ => {
                self.interleavings = next;
                Judged::Followed(None)
            }
        }
    }
}

/// One more, unless it is there.
fn push<J: Follower>(interleavings: &mut Vec<Interleaving<J>>, new: Interleaving<J>) {
    // One with a verdict is behind nothing any more.
    let behind = if new.judge.verdict().is_some() { 0 } else { new.behind };
    let new = Interleaving { behind, ..new };
    if !interleavings.iter().any(|known| known.behind == new.behind && known.judge.is_where(&new.judge)) {
        interleavings.push(new);
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
        *self = Crossing::new(self.delay, self.initial.clone());
    }

    fn offers(&self) -> Offers {
        let mut offers = self.first().offers();
        if self.sent.len() >= MOST_UNDER_WAY {
            offers.moves.retain(|offer| offer.step == Move::Wait);
        }
        offers.may_observe |= !self.sent.is_empty();
        offers
    }

    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let mut live =
            self.interleavings.iter_mut().filter(|interleaving| interleaving.judge.verdict().is_none());
        let front = live.next()?.front.as_mut()?;
        let event = front.stimulus(number, choice)?;
        self.can_send(&event).then_some(event)
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        let live =
            self.interleavings.iter_mut().filter(|interleaving| interleaving.judge.verdict().is_none());
        let mut fronts = live.map(|interleaving| interleaving.front.as_mut());
        self.sent.len() < MOST_UNDER_WAY
            && fronts
                .all(|front| front.is_some_and(|front| front.verdict().is_none() && front.can_send(stimulus)))
    }

    fn take(&mut self, what: &Occurrence) -> Judged {
        match what {
            Occurrence::Stimulus(event) => self.send(event),
            Occurrence::Observation(event) => self.observe(event),
            Occurrence::Silence(time) => self.be_silent(what, *time),
            Occurrence::Delay(time) => {
                self.pass(*time);
                Judged::Followed(None)
            }
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        self.ended.or_else(|| {
            let is_met = self.live().next().is_none();
            is_met.then(|| self.interleavings.first()?.judge.verdict()).flatten()
        })
    }

    fn shown(&self) -> ShownState {
        let all: Vec<ShownState> = self.fronts().map(Judge::shown).collect();
        let Some(first) = all.first() else { return self.initial.shown() };
        let places: BTreeSet<&str> = all.iter().map(|shown| shown.place.as_str()).collect();
        // Only what is the same in all of them.
        let data = first.data.iter().filter(|pair| all.iter().all(|shown| shown.data.contains(pair)));
        ShownState {
            place: places.into_iter().collect::<Vec<_>>().join(" or "),
            data: data.cloned().collect(),
        }
    }

    fn silence(&self) -> Option<AfterSilence> {
        // Who waits until it is silence has waited until what is under way has been taken.
        self.first().silence().filter(|_| self.interleavings.len() == 1)
    }

    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        self.first().scene()
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.fronts().flat_map(Judge::specification_locations).collect()
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

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Why {
        self.first().why(observed, verdict)
    }

    fn due(&self) -> Option<Duration> {
        let oldest = self.sent.front().filter(|_| self.verdict().is_none())?;
        Some(self.delay.saturating_sub(oldest.age))
    }

    fn link(&self) -> Option<Duration> {
        Some(self.delay)
    }

    /// It is none in any order; but an interleaving that has taken what its model does not speak of may do
    /// anything.
    fn alien(&self, text: String) -> Judged {
        if self.live().any(|interleaving| interleaving.front.is_none()) {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        Judged::Ends(Verdict::Fail, Cause::Alien(text))
    }

    fn crossed(&self) -> usize {
        self.crossed
    }
}
