//! A judge behind a link. The tester sends and sees events in another order than the implementation takes and
//! sends them, since the way takes time, or since there are several connections.
//!
//! **Problem.** Conformance is about the order in which the implementation takes and sends (Definition 6.2).
//! Over a link, the tester sees another order: it sends `a`, and then sees `x`, which was on its way already.
//! For the implementation, `x` came first. Between two connections there is no order at all. A judge that
//! takes the seen order for the real one blames an implementation for an order that nobody has seen.
//!
//! **Method.** The events are partially ordered. An event is *before* a later one (as the tester saw them) if
//!
//! - both go over one connection, in one direction: each direction keeps its order;
//! - an observation was seen before a stimulus was sent, over any connection: a message that was read had
//!   been sent;
//! - a stimulus was sent before an observation over the same connection, and longer ago than the link delays.
//!   After this delay it has been taken, so an observation that is seen later was sent later. A busy system
//!   takes stimuli one after the other, so the delay of a stimulus begins when those before it were taken.
//!
//! The judge keeps a set of *interleavings*: a state of the inner judge, and those of the last events that
//! have not happened in it. A new event has happened in no interleaving at first. Then all events that may
//! happen do happen, in all orders. An order that the inner judge calls Fail is dropped. An interleaving is
//! also dropped if no new event can come next in it. An interleaving in which an observation has not happened
//! goes on only if an event that was *not* seen yet can come before that observation, over a connection on
//! which nothing seen is waiting ([`Follower::may_come`]). The verdict is *Fail* if no interleaving remains:
//! no order that the link allows explains the observation. If all that remain wait for something, nothing is
//! sent. Time is not read here: the tester shows it, as a delay in which nothing has come
//! ([`crate::run::Occurrence::Delay`]). Then all interleavings have taken the oldest stimulus.
//!
//! **Silence** says nothing while a stimulus is under way. Otherwise the inner judge of each interleaving
//! takes it. An interleaving that must have gone on is dropped, and if all are dropped, it is a Fail. An
//! interleaving that waits stays as it is, since its event may be held back for longer than silence takes. If
//! all that remain wait, it is Inconclusive.
//!
//! **Verdicts.** No one knows which interleaving is the true one, so a verdict must be right for each.
//!
//! - *Pass* is given if all interleavings have Pass: then the trace was accepted in whatever order it came
//!   (accuracy, Definition 6.16). An interleaving with Pass allows everything from then on, so no Fail comes
//!   after it, and the others are followed to their end.
//! - The run is Inconclusive if an observation is possible only after Pass, where nothing is judged. If one
//!   order has judged the one observation and another order the other one, it is Pass.
//! - If the purpose is out of reach in one interleaving, the whole run is *Inconclusive*: this interleaving
//!   allows everything, so there can be no Fail, and it is never accepted, so there can be no Pass.
//! - The run is Inconclusive, too, if in one interleaving a stimulus came about which the model says nothing
//!   in that state, and then an observation is seen that this interleaving allows. The tester sends only
//!   stimuli that all interleavings can take, but an output that comes in between may lead elsewhere.
//!
//! The tester's offers, and the state that people are shown, are those of the first interleaving, in which as
//! many events have happened as in any: without a crossing it is the state of the inner judge. An observation
//! that this order would not have allowed has *crossed*, and is counted.
//!
//! **Source**: Verhaard, Tretmans, Kars, Brinksma, "On asynchronous testing" (IWPTS 1992), compose the
//! specification with unbounded queues, which ignores the delay. Herlihy and Wing, "Linearizability" (1990),
//! call a history right if an order that real time allows explains it. Here the search goes on while the
//! history grows. `tests/src/properties/queues.rs` composes conforming implementations with queues: never a
//! Fail.
//!
//! **Ends**: there are at most `FEW_STATES` interleavings, each with at most `MOST_PENDING` events
//! that have not happened; with more the run is Inconclusive, for the cause `crossed`. At most
//! `MOST_UNDER_WAY` stimuli are under way, and then none is offered. **Costs** the inner judge, times the
//! interleavings; without a crossing, once.

mod judging;

use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_model::Verdict;
use coreach_model::limits::FEW_STATES;
use coreach_model::semantics::Event;

use crate::judge::contract::{Follower, Judged};
use crate::run::{Cause, Occurrence};

/// The most events that have not happened in some interleaving. A set of them has a bit for each.
const MOST_PENDING: usize = 60;

/// The most stimuli that may be under way.
pub const MOST_UNDER_WAY: usize = 16;

/// Some of the pending events, a bit for each.
type Events = u64;

/// The bit for the events that are not pending any more.
const NOT_PENDING: Events = 1 << 63;

/// One of the possible orders of events: the state after it.
#[derive(Clone, Debug)]
struct Interleaving<J> {
    judge: J,
    /// The pending events that have not happened in it.
    not_happened: Events,
    /// It allows everything and will never be accepted: the purpose is out of reach, or its model says
    /// nothing of an event that it has taken.
    is_lost: bool,
    /// The observations that had not happened in it when it got its verdict. It judges none of them.
    unjudged: Events,
}

/// An event that has not happened in some interleaving.
#[derive(Clone, Debug)]
struct PendingEvent {
    what: Occurrence,
    /// The number of its connection.
    connection: usize,
    /// For a stimulus: for how long it has been the oldest under way.
    age: Duration,
    /// The events that have happened before it.
    before: Events,
}

/// The result of following an event in all interleavings.
enum Coming {
    /// It was followed. `has_lost`: an observation has led an interleaving out of the purpose's reach.
    Followed { has_lost: bool },
    /// No order explains it.
    Refused,
    /// More orders explain it than are followed.
    TooMany,
}

/// A judge behind a link.
#[derive(Clone, Debug)]
pub struct Crossing<J> {
    link: Link,
    initial: J,
    /// Never empty. In the first, as many events have happened as in any.
    interleavings: Vec<Interleaving<J>>,
    pending: Vec<PendingEvent>,
    /// The verdict, if it is not that of the interleavings.
    ended: Option<Verdict>,
    crossed: usize,
    /// Has nothing come since a silence that left everything as it was?
    is_still: bool,
    /// May stimuli be under way for ever?
    is_loose: bool,
}

impl<J: Follower> Interleaving<J> {
    /// Returns the order in which all events have happened.
    fn complete(judge: J) -> Self {
        Interleaving { judge, not_happened: 0, is_lost: false, unjudged: 0 }
    }

    /// Has it no verdict, and has it not been lost?
    fn is_live(&self) -> bool {
        self.judge.verdict().is_none() && !self.is_lost
    }
}

impl PendingEvent {
    fn is_stimulus(&self) -> bool {
        matches!(self.what, Occurrence::Stimulus(_))
    }
}

impl<J: Follower> Crossing<J> {
    /// Returns a judge behind this link, in the inner judge's initial state.
    pub fn new(link: Link, mut judge: J) -> Self {
        judge.begin();
        Crossing {
            link,
            interleavings: vec![Interleaving::complete(judge.clone())],
            initial: judge,
            pending: Vec::new(),
            ended: None,
            crossed: 0,
            is_still: false,
            is_loose: false,
        }
    }

    /// Returns how long a stimulus may be under way, if that matters.
    fn delay(&self) -> Option<Duration> {
        if self.is_loose { Some(Duration::MAX) } else { self.link.delay() }
    }

    /// Lists the possible states, each with the number of the last events that have not happened in it.
    pub fn interleavings(&self) -> impl Iterator<Item = (&J, usize)> {
        self.interleavings.iter().map(|order| (&order.judge, order.not_happened.count_ones() as usize))
    }

    /// Lists the interleavings in which all events have happened.
    fn complete_interleavings(&self) -> impl Iterator<Item = &Interleaving<J>> {
        self.interleavings.iter().filter(|order| order.not_happened == 0)
    }

    /// Lists the complete interleavings that have no verdict yet.
    fn complete_live_interleavings(&self) -> impl Iterator<Item = &Interleaving<J>> {
        self.complete_interleavings().filter(|order| order.is_live())
    }

    /// Has some order judged each observation, or may it? An order that is live may judge all.
    fn is_judged(&self) -> bool {
        let judged_by_none = |events, order: &Interleaving<J>| events & order.unjudged;
        self.interleavings.iter().fold(Events::MAX, judged_by_none) == 0
    }

    /// Returns the inner judge whose state people are shown.
    fn first(&self) -> &J {
        let first = self
            .complete_live_interleavings()
            .next()
            .or_else(|| self.interleavings.iter().find(|order| order.is_live()));
        first.or(self.interleavings.first()).map_or(&self.initial, |order| &order.judge)
    }

    /// Lists the stimuli that may be under way.
    fn sent(&self) -> impl Iterator<Item = &PendingEvent> {
        self.pending.iter().filter(|event| event.is_stimulus())
    }

    /// Selects the pending events with `is_wanted`.
    fn select_pending(&self, is_wanted: impl Fn(&PendingEvent) -> bool) -> Events {
        let wanted = self.pending.iter().enumerate().filter(|(_, event)| is_wanted(event));
        wanted.fold(0, |events, (place, _)| events | 1 << place)
    }

    /// Returns the pending events that are before an event that comes now.
    fn events_before(&self, is_stimulus: bool, connection: usize) -> Events {
        self.select_pending(|earlier| {
            let has_been_taken = self.delay().is_none_or(|delay| earlier.age >= delay);
            match (earlier.is_stimulus(), is_stimulus) {
                (false, true) => true,
                (true, false) => earlier.connection == connection && has_been_taken,
                _ => earlier.connection == connection,
            }
        })
    }

    /// May an event that has not come yet happen next in this interleaving?
    fn may_go_on(&self, order: &Interleaving<J>) -> bool {
        if order.not_happened == 0 {
            return true;
        }
        let is_free = |is_stimulus: bool, connection: usize| {
            order.not_happened & self.events_before(is_stimulus, connection) == 0
        };
        let mut connections = 0..self.link.connections();
        connections.clone().any(|connection| is_free(true, connection))
            || connections.any(|connection| {
                is_free(false, connection)
                    && order.judge.may_come(&|action| self.link.number(action) == connection)
            })
    }

    /// Lets each event from `from` on happen that may, one in each new interleaving. Returns whether an
    /// observation has led out of the purpose's reach.
    fn let_happen(&self, order: &Interleaving<J>, from: usize, orders: &mut Vec<Interleaving<J>>) -> bool {
        let mut has_lost = false;
        for (place, event) in self.pending.iter().enumerate().skip(from) {
            if !order.is_live()
                || order.not_happened & (1 << place) == 0
                || order.not_happened & event.before != 0
            {
                continue;
            }
            let mut judge = order.judge.clone();
            let verdict = match judge.take(&event.what) {
                Judged::Followed(_) => judge.verdict(),
                Judged::Ends(verdict, _) => Some(verdict),
            };
            let is_lost = verdict == Some(Verdict::Inconclusive);
            has_lost |= is_lost && !event.is_stimulus();
            if verdict != Some(Verdict::Fail) {
                let others = order.not_happened & !(1 << place);
                // With a verdict it allows everything, so it waits for nothing, and judges nothing any more.
                let (not_happened, unjudged) = match verdict {
                    Some(_) => (0, others & self.select_pending(|event| !event.is_stimulus())),
                    None => (others, 0),
                };
                push_new(orders, Interleaving { judge, not_happened, is_lost, unjudged });
            }
        }
        has_lost
    }

    /// Follows an event in all interleavings. The judge's state changes only if it is followed.
    fn follow(&mut self, event: PendingEvent) -> Coming {
        self.is_still = false;
        let place = self.pending.len();
        self.pending.push(event);
        let mut orders = self.interleavings.clone();
        let is_observation = !self.pending[place].is_stimulus();
        for order in &mut orders {
            match order.is_live() {
                true => order.not_happened |= 1 << place,
                false => order.unjudged |= Events::from(is_observation) << place,
            }
        }
        let (old_orders, mut next, mut has_lost) = (orders.len(), 0, false);
        // Each interleaving that is found goes to the end of the list, and is looked at later.
        while let Some(order) = orders.get(next).cloned()
            && orders.len() <= 4 * FEW_STATES
        {
            // In an old interleaving, only the new event is tried: the earlier ones were tried before.
            has_lost |= self.let_happen(&order, if next < old_orders { place } else { 0 }, &mut orders);
            next += 1;
        }
        let is_whole = next == orders.len();
        orders.retain(|order| self.may_go_on(order));
        orders.sort_by_key(|order| order.not_happened.count_ones());
        if !is_whole || orders.is_empty() || orders.len() > FEW_STATES {
            self.pending.pop();
            return if is_whole && orders.is_empty() { Coming::Refused } else { Coming::TooMany };
        }
        self.interleavings = orders;
        self.drop_happened();
        Coming::Followed { has_lost }
    }

    /// Drops the pending events that have happened in all interleavings, unless none is live. Of dropped
    /// events that an interleaving has not judged, one bit is kept.
    fn drop_happened(&mut self) {
        if self.interleavings.iter().all(|order| !order.is_live()) {
            return;
        }
        let not_happened = self.interleavings.iter().fold(0, |events, order| events | order.not_happened);
        for place in (0..self.pending.len()).rev().filter(|place| not_happened & (1 << place) == 0) {
            self.pending.remove(place);
            // The bits of later events move down by one place.
            let below: Events = (1 << place) - 1;
            let remove_bit = |events: Events| events & below | (events >> 1) & !below;
            for order in &mut self.interleavings {
                order.not_happened = remove_bit(order.not_happened);
                let is_unjudged = order.unjudged & (1 << place | NOT_PENDING) != 0;
                order.unjudged = remove_bit(order.unjudged & !NOT_PENDING);
                order.unjudged |= if is_unjudged { NOT_PENDING } else { 0 };
            }
            self.pending.iter_mut().for_each(|event| event.before = remove_bit(event.before));
        }
    }

    /// Follows a stimulus that some complete interleaving can take.
    fn send(&mut self, event: &Event) -> Judged {
        if self.sent().count() >= MOST_UNDER_WAY || self.pending.len() >= MOST_PENDING {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        let what = Occurrence::Stimulus(event.clone());
        let through =
            self.complete_live_interleavings().find_map(|order| match order.judge.clone().take(&what) {
                Judged::Followed(transition) => Some(transition),
                Judged::Ends(..) => None,
            });
        let Some(through) = through else {
            return Judged::Ends(Verdict::Inconclusive, Cause::Unspecified);
        };
        match self.follow(self.make_pending(what, event)) {
            Coming::Followed { .. } => Judged::Followed(through),
            Coming::Refused | Coming::TooMany => Judged::Ends(Verdict::Inconclusive, Cause::Crossed),
        }
    }

    /// Makes the pending event for one that comes now.
    fn make_pending(&self, what: Occurrence, event: &Event) -> PendingEvent {
        let connection = self.link.number(&event.action);
        let before = self.events_before(matches!(what, Occurrence::Stimulus(_)), connection);
        PendingEvent { what, connection, age: Duration::ZERO, before }
    }

    /// Follows an observation in all interleavings. If none allows it, the verdict is that of the first one.
    fn observe(&mut self, event: &Event) -> Judged {
        let observation = Occurrence::Observation(event.clone());
        if self.pending.len() >= MOST_PENDING {
            return Judged::Ends(Verdict::Inconclusive, Cause::Crossed);
        }
        let had_lost = self.interleavings.iter().any(|order| order.is_lost);
        // What the first order says in which all has happened. It counts if no order explains the event.
        let first_judged = self.complete_interleavings().find(|order| !order.is_lost).map(|order| {
            let mut judge = order.judge.clone();
            let judged = if order.is_live() { judge.take(&observation) } else { Judged::Followed(None) };
            (judge, judged)
        });
        let (through, is_followed) = match &first_judged {
            Some((judge, Judged::Followed(through))) => (*through, judge.verdict() != Some(Verdict::Fail)),
            Some((_, Judged::Ends(verdict, _))) => (None, *verdict != Verdict::Fail),
            None => (None, false),
        };
        match self.follow(self.make_pending(observation, event)) {
            Coming::TooMany => return Judged::Ends(Verdict::Inconclusive, Cause::Crossed),
            Coming::Followed { has_lost } => {
                self.crossed += usize::from(!is_followed || !self.is_judged());
                if had_lost || has_lost {
                    self.ended = Some(Verdict::Inconclusive);
                }
            }
            // No order explains it. The answer is that of the first interleaving.
            Coming::Refused => {
                let verdict = match first_judged {
                    Some((_, ends @ Judged::Ends(..))) => return ends,
                    Some((judge, Judged::Followed(_))) => {
                        let verdict = judge.verdict();
                        self.interleavings = vec![Interleaving::complete(judge)];
                        self.pending.clear();
                        verdict
                    }
                    None => None,
                };
                self.ended = Some(verdict.unwrap_or(Verdict::Fail));
                return Judged::Followed(through);
            }
        }
        Judged::Followed(through.filter(|_| is_followed))
    }

    /// Lets time pass in which nothing has come: then the oldest stimulus may have been taken.
    fn let_time_pass(&mut self, time: Duration) {
        let Some(delay) = self.delay() else { return };
        let Some(oldest) = self.pending.iter().position(PendingEvent::is_stimulus) else { return };
        self.pending[oldest].age += time;
        if self.pending[oldest].age >= delay {
            // The interleavings in which it has happened are in the set already.
            self.interleavings.retain(|order| order.not_happened & (1 << oldest) == 0);
        }
        // No explanation is left of what came, so the judge may say nothing any more.
        if self.interleavings.is_empty() {
            self.interleavings =
                vec![Interleaving { is_lost: true, ..Interleaving::complete(self.initial.clone()) }];
        }
        self.drop_happened();
    }

    /// Follows silence. Interleavings in which it is a Fail are dropped; those that wait stay.
    fn follow_silence(&mut self, what: &Occurrence, time: Duration) -> Judged {
        // A stimulus under way may still be answered.
        if self.delay().is_some() && self.sent().next().is_some() {
            return Judged::silence(time);
        }
        let observations = self.select_pending(|event| !event.is_stimulus());
        let mut remaining = Vec::new();
        for order in &self.interleavings {
            // An interleaving that waits only for stimuli is not possible: they have been taken.
            if order.not_happened != 0 && order.not_happened & observations == 0 {
                continue;
            }
            let mut after = order.clone();
            let judged = if order.is_live() { after.judge.take(what) } else { Judged::Followed(None) };
            match judged {
                // It must have gone on, whatever is held back.
                Judged::Ends(Verdict::Fail, _) => {}
                _ if order.not_happened != 0 => push_new(&mut remaining, order.clone()),
                Judged::Ends(..) => return judged,
                Judged::Followed(_) => push_new(&mut remaining, after),
            }
        }
        if remaining.is_empty() {
            return Judged::silence_fails(time);
        }
        let goes_on = remaining.iter().any(|order| order.not_happened == 0 && order.is_live());
        if !goes_on && remaining.iter().any(|order| order.not_happened != 0) {
            return Judged::silence(time);
        }
        let mut pairs = remaining.iter().zip(&self.interleavings);
        self.is_still = remaining.len() == self.interleavings.len()
            && pairs.all(|(order, before)| order.judge.has_state_of(&before.judge));
        self.interleavings = remaining;
        self.drop_happened();
        Judged::Followed(None)
    }
}

/// Adds an interleaving, unless it is in the set.
fn push_new<J: Follower>(interleavings: &mut Vec<Interleaving<J>>, new: Interleaving<J>) {
    let is_same = |known: &&mut Interleaving<J>| {
        known.not_happened == new.not_happened
            && known.is_lost == new.is_lost
            && known.judge.has_state_of(&new.judge)
    };
    match interleavings.iter_mut().find(is_same) {
        Some(known) => known.unjudged &= new.unjudged,
        None => interleavings.push(new),
    }
}
