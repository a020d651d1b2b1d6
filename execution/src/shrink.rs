//! A shorter run with the same failure, and simpler values in it, found by running again.
//!
//! **Problem.** A fault that was met after forty events is easier to understand after four, and with `Add(1)`
//! instead of `Add(-9223372036854775807)`. Only the implementation knows what it does after another trace. A
//! faulty implementation may have several faults, and the shortest failing run may be that of another one.
//!
//! **Method.** A candidate is executed, and kept if it fails in the *same bucket* ([`crate::bucket`]):
//!
//! 1. *Loops.* If the specification was in the same state before, the events in between are left out, first
//!    those that leave the fewest at the end.
//! 2. *Search.* Runs with other seeds, each limited to fewer events than the best: a long trace is rarely the
//!    only way to a fault.
//! 3. *Cut.* Delta debugging over the stimuli (Zeller and Hildebrandt, TSE 2002): leave out halves, quarters,
//!    ..., single ones. The observations in between are observed anew. A candidate whose next stimulus the
//!    judge does not allow is skipped.
//! 4. *Simplify.* For each value of each stimulus, try the boundaries that the guard has for it there, then 0
//!    and other simple values, the simplest first ([`simpler`]). For a number, then halve the distance
//!    between a size that does not fail and one that does. If several stimuli have the same value and it
//!    cannot change alone, all of them change together.
//!
//! All steps are repeated until none helps. An implementation that is not deterministic may fail now and pass
//! then. If the given run fails again three times, each run that is kept has to fail again, too. Otherwise a
//! candidate gets three chances. The returned run has really happened. At last it is repeated as `replay`
//! does it, and the repetitions that came to the same bucket are counted. The symbolic constants stay.
//!
//! **Ends** when the time or the number of runs is used up, or nothing remains to try: each success has fewer
//! events, or as many and simpler values. The time for the last repetitions is reserved.

pub mod simpler;
pub mod told;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use coreach_model::Value;
use coreach_model::semantics::Event;
use dashu_base::Abs;
use dashu_int::IBig;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::explain::bucket_of;
use crate::judge::{Judge, Judged};
use crate::replay::script_of;
use crate::run::{Cause, Cue, Fidelity, Occurrence, Outcome, Run, RunStep, ShownState, events};
use crate::session::TestSession;
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::values::are_typed;

/// How often the given run is repeated to see whether it always fails.
const CHANCES: usize = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The least run of this bucket that was seen; the given run if none was less.
    pub run: Run,
    /// The failure, in the given run and in this one.
    pub bucket: Bucket,
    /// How many runs were made, without the last repetitions.
    pub runs: usize,
    /// The limit that ended the search before nothing was left to try.
    pub stopped: Option<Stopped>,
    pub again: Again,
}

coreach_model::words! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Stopped {
        Runs = "runs",
        Time = "time",
    }
}

/// The repetitions of the result.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Again {
    pub times: usize,
    /// How often it came to the same bucket.
    pub same: usize,
    /// The other buckets that it came to, and how often.
    pub others: BTreeMap<Bucket, usize>,
}

#[derive(Clone, Copy, Debug)]
pub enum ShrinkProgress<'a> {
    /// One more run was made; the number of runs until now.
    Tried(usize),
    /// A run was found that is less than the best before.
    Better(&'a Run),
    /// The search is over, and the result is repeated.
    Repeats,
}

pub struct Shrink<'a> {
    /// The judge, the settings and the implementation of all runs.
    pub session: TestSession<'a>,
    /// The most runs, without the last repetitions.
    pub budget: usize,
    pub time: Duration,
    pub again: usize,
    pub seen: &'a mut dyn FnMut(ShrinkProgress<'_>),
}

/// Looks for a shorter and simpler run of the given one's bucket.
pub fn shrink(given: &Run, with: Shrink<'_>) -> Shrunk {
    let end = Instant::now() + with.time;
    let bucket = bucket_of(with.session.judge, given);
    let (best, longest) = (given.clone(), given.time);
    let mut search = ShrinkSearch { with, bucket, best, runs: 0, end, longest, is_sure: false };
    let script = script_of(&given.trace);
    search.is_sure =
        (0..CHANCES).all(|_| search.stopped().is_none() && search.comes_again(given.seed, &script));
    let chances = if search.is_sure { 1 } else { CHANCES };
    // With `|`, each step is taken in each round.
    while search.leave_out_loops(chances)
        | search.try_other_seeds()
        | search.leave_out_stimuli(chances)
        | search.simplify(chances)
    {}
    let stopped = search.stopped();
    let again = search.repeat_best();
    let stopped = if again.times < search.with.again { Some(Stopped::Time) } else { stopped };
    let ShrinkSearch { best, bucket, runs, .. } = search;
    Shrunk { run: best, bucket, runs, stopped, again }
}

fn stimuli_of(run: &Run) -> Vec<Event> {
    let sent = |step: &RunStep| match &step.what {
        Occurrence::Stimulus(event) => Some(event.clone()),
        _ => None,
    };
    run.trace.iter().filter_map(sent).collect()
}

/// Makes the script of a run with these stimuli. `None` is left out, with the observations after it.
fn make_script(run: &Run, stimuli: &[Option<Event>]) -> Vec<Cue> {
    let mut stimuli = stimuli.iter();
    let mut is_left_out = false;
    let mut cues = Vec::new();
    for cue in script_of(&run.trace) {
        if matches!(cue, Cue::Send(_)) {
            let stimulus = stimuli.next().cloned().flatten();
            is_left_out = stimulus.is_none();
            cues.extend(stimulus.map(Cue::Send));
        } else if !is_left_out {
            cues.push(cue);
        }
    }
    cues
}

/// Has the run fewer events than the best one, or as many, the same stimuli, and simpler values in them?
fn is_less(run: &Run, best: &Run) -> bool {
    if events(&run.trace) != events(&best.trace) {
        return events(&run.trace) < events(&best.trace);
    }
    let (ours, theirs) = (stimuli_of(run), stimuli_of(best));
    let is_alike = ours.iter().map(|event| &event.action).eq(theirs.iter().map(|event| &event.action));
    let values =
        |stimuli: &[Event]| stimuli.iter().flat_map(|event| event.values.clone()).collect::<Vec<_>>();
    is_alike && simpler::compare_sequences(&values(&ours), &values(&theirs)).is_lt()
}

struct ShrinkSearch<'a> {
    with: Shrink<'a>,
    bucket: Bucket,
    best: Run,
    runs: usize,
    end: Instant,
    /// The longest time that a run of the bucket took.
    longest: Duration,
    /// Has the given run always failed again? Then each run that is kept has to, as well.
    is_sure: bool,
}

impl ShrinkSearch<'_> {
    /// Returns the limit that is reached, if one is. Time for the last repetitions is reserved.
    fn stopped(&self) -> Option<Stopped> {
        let reserved = self.longest.saturating_mul(u32::try_from(self.with.again).unwrap_or(u32::MAX));
        if Instant::now() + reserved.min(self.with.time / 2) >= self.end {
            Some(Stopped::Time)
        } else {
            (self.runs >= self.with.budget).then_some(Stopped::Runs)
        }
    }

    /// Returns the settings, with no more time than is left.
    fn settings(&self) -> Settings {
        let remaining = self.end.saturating_duration_since(Instant::now());
        let settings = self.with.session.settings.clone();
        Settings { time: settings.time.min(remaining.max(Duration::from_millis(1))), ..settings }
    }

    fn session<'s>(&'s mut self, settings: &'s Settings) -> TestSession<'s> {
        let TestSession { judge, adapter, .. } = &mut self.with.session;
        TestSession { judge: *judge, settings, adapter: *adapter }
    }

    /// Performs a script once more, and counts the run.
    fn perform(&mut self, seed: u64, script: &[Cue], fidelity: Fidelity) -> Run {
        self.runs += 1;
        (self.with.seen)(ShrinkProgress::Tried(self.runs));
        let settings = self.settings();
        self.session(&settings).perform_as(seed, script, fidelity)
    }

    /// Does the run fail as the given one did?
    fn is_same(&mut self, run: &Run) -> bool {
        !self.is_cut(run)
            && run.outcome.kind() == self.bucket.verdict
            && bucket_of(self.with.session.judge, run) == self.bucket
    }

    /// Did our own end of time cut the run short? A run gets less time than its settings say if less is left.
    /// That may have cut a start or an answer short, as well.
    fn is_cut(&self, run: &Run) -> bool {
        match &run.outcome {
            Outcome::Verdict(_, Cause::Time(time)) => *time < self.with.session.settings.time,
            Outcome::RunError(_) => Instant::now() >= self.end,
            Outcome::Verdict(..) => false,
        }
    }

    fn comes_again(&mut self, seed: u64, script: &[Cue]) -> bool {
        let run = self.perform(seed, script, Fidelity::Exact);
        self.is_same(&run)
    }

    /// Keeps the run if it has the same bucket and is less than the best. Returns whether it was kept.
    fn keep_if_less(&mut self, run: Run) -> bool {
        if !is_less(&run, &self.best) || !self.is_same(&run) {
            return false;
        }
        if self.is_sure && !self.comes_again(run.seed, &script_of(&run.trace)) {
            return false;
        }
        (self.with.seen)(ShrinkProgress::Better(&run));
        self.longest = self.longest.max(run.time);
        self.best = run;
        true
    }

    /// Runs these stimuli until one run can be kept, at most `chances` times. Returns whether one is kept.
    fn try_stimuli(&mut self, stimuli: &[Option<Event>], chances: usize) -> bool {
        let script = make_script(&self.best, stimuli);
        for _ in 0..chances {
            if self.stopped().is_some() {
                return false;
            }
            let run = self.perform(self.best.seed, &script, Fidelity::Loose);
            if self.keep_if_less(run) {
                return true;
            }
        }
        false
    }

    /// Leaves out the events between two equal states of the specification. The last 1, 2, 4, ... stimuli
    /// stay. Returns whether that helped.
    fn leave_out_loops(&mut self, chances: usize) -> bool {
        let (mut helped, mut kept) = (false, 1);
        let mut states = self.list_states_before_stimuli();
        loop {
            let Some(end) = states.len().checked_sub(kept).filter(|_| self.stopped().is_none()) else {
                return helped;
            };
            let begin = states.iter().position(|state| *state == states[end]).unwrap_or(end);
            let mut stimuli: Vec<Option<Event>> = stimuli_of(&self.best).into_iter().map(Some).collect();
            stimuli[begin..end].fill(None);
            if begin < end && self.try_stimuli(&stimuli, chances) {
                (helped, kept, states) = (true, 1, self.list_states_before_stimuli());
            } else {
                kept *= 2;
            }
        }
    }

    /// Lists the state of the judge before each stimulus of the best run.
    fn list_states_before_stimuli(&mut self) -> Vec<ShownState> {
        let judge = &mut self.with.session.judge;
        judge.begin();
        let mut states = Vec::new();
        for step in &self.best.trace {
            if matches!(step.what, Occurrence::Stimulus(_)) {
                states.push(judge.shown());
            }
            judge.take(&step.what);
        }
        states
    }

    /// Leaves out stimuli, in pieces that become smaller (delta debugging). Returns whether that helped.
    fn leave_out_stimuli(&mut self, chances: usize) -> bool {
        let mut helped = false;
        let mut size = stimuli_of(&self.best).len().div_ceil(2);
        while size > 0 && self.stopped().is_none() {
            let (mut start, mut has_shortened) = (0, false);
            loop {
                let mut stimuli: Vec<Option<Event>> = stimuli_of(&self.best).into_iter().map(Some).collect();
                if start >= stimuli.len() {
                    break;
                }
                stimuli.iter_mut().skip(start).take(size).for_each(|stimulus| *stimulus = None);
                if self.try_stimuli(&stimuli, chances) {
                    has_shortened = true;
                } else {
                    start += size;
                }
            }
            helped |= has_shortened;
            // Pieces become smaller. Single stimuli are tried again as long as one of them could go.
            size = if size == 1 && has_shortened { 1 } else { size / 2 };
        }
        helped
    }

    /// Looks for runs with fewer events by other seeds. Returns whether one was found.
    fn try_other_seeds(&mut self) -> bool {
        let (mut tries, mut helped) = (0_u64, false);
        // It gives up after 25 seeds in a row without success.
        while tries < 25 && self.stopped().is_none() && events(&self.best.trace) > 1 {
            tries += 1;
            self.runs += 1;
            (self.with.seen)(ShrinkProgress::Tried(self.runs));
            let settings = Settings { steps: events(&self.best.trace) - 1, ..self.settings() };
            let seed = self.best.seed.wrapping_add(tries.wrapping_mul(0x9e37_79b9));
            let run = self.session(&settings).run(seed, Strategy::random());
            if self.keep_if_less(run) {
                (tries, helped) = (0, true);
            }
        }
        helped
    }

    /// Makes each value of each stimulus as simple as possible. Returns whether that helped.
    fn simplify(&mut self, chances: usize) -> bool {
        let mut helped = false;
        let mut stimulus = 0;
        // A simpler run may have fewer stimuli.
        while stimulus < stimuli_of(&self.best).len() {
            let count = stimuli_of(&self.best).get(stimulus).map_or(0, |event| event.values.len());
            for parameter in 0..count {
                helped |= self.simplify_one(ValuePlace { stimulus, parameter }, chances);
            }
            stimulus += 1;
        }
        helped
    }

    /// Makes one value simpler for as long as the run still fails. Returns whether that helped.
    fn simplify_one(&mut self, place: ValuePlace, chances: usize) -> bool {
        let mut helped = false;
        // Arrays lose cells first.
        while let Some(value) = self.value(place) {
            if !simpler::with_less(&value).iter().any(|less| self.try_value(place, less, chances)) {
                break;
            }
            helped = true;
        }
        for way in self.value(place).map_or(Vec::new(), |value| simpler::leaves(&value)) {
            helped |= self.simplify_leaf(place, &way, chances);
        }
        helped
    }

    /// Simplifies one leaf: tries simple values, the simplest first, then halves a number's distance.
    fn simplify_leaf(&mut self, place: ValuePlace, way: &[usize], chances: usize) -> bool {
        let Some(leaf) = self.leaf(place, way) else { return false };
        let mut candidates = simpler::simpler_leaves(&leaf);
        if way.is_empty() {
            candidates.extend(self.boundaries(place));
        }
        if let Value::Id(..) = leaf {
            // An id that occurs in the run is simpler than another one.
            let events = self.best.trace.iter().filter_map(|step| step.what.event());
            let values = events.flat_map(|event| &event.values);
            candidates.extend(values.filter(|value| value.sort() == leaf.sort()).cloned());
        }
        candidates.retain(|candidate| simpler::compare_simplicity(candidate, &leaf).is_lt());
        candidates.sort_by(simpler::compare_simplicity);
        candidates.dedup();
        let kept = candidates.iter().position(|candidate| self.try_leaf(place, way, candidate, chances));
        let passing = &candidates[..kept.unwrap_or(candidates.len())];
        self.halve_distance(place, way, passing, chances) || kept.is_some()
    }

    /// Halves between the size of a number, which fails, and the greatest passing one of its sign, until they
    /// meet. Returns whether that helped.
    fn halve_distance(
        &mut self,
        place: ValuePlace,
        way: &[usize],
        passing: &[Value],
        chances: usize,
    ) -> bool {
        let Some(leaf) = self.leaf(place, way) else { return false };
        let Some(number) = simpler::as_integer(&leaf) else { return false };
        let (sign, mut fails) = (number.signum(), number.abs());
        let same_sign = passing.iter().filter_map(simpler::as_integer).filter(|other| other.signum() == sign);
        let sizes = same_sign.map(Abs::abs);
        let mut passes = sizes.filter(|size| *size < fails).max().unwrap_or(IBig::ZERO);
        let mut helped = false;
        while &fails - &passes > IBig::ONE && self.stopped().is_none() {
            let middle = (&fails + &passes) / IBig::from(2);
            if self.try_leaf(place, way, &simpler::number_like(&leaf, &middle * &sign), chances) {
                helped = true;
                match self.leaf(place, way).as_ref().and_then(simpler::as_integer) {
                    Some(new) if new.signum() == sign => fails = new.abs(),
                    // The kept run is a different one now.
                    _ => return true,
                }
            } else {
                passes = middle;
            }
        }
        helped
    }

    fn value(&self, place: ValuePlace) -> Option<Value> {
        stimuli_of(&self.best).get(place.stimulus)?.values.get(place.parameter).cloned()
    }

    fn leaf(&self, place: ValuePlace, way: &[usize]) -> Option<Value> {
        simpler::leaf(&self.value(place)?, way).cloned()
    }

    fn try_leaf(&mut self, place: ValuePlace, way: &[usize], new: &Value, chances: usize) -> bool {
        let value = self.value(place).and_then(|value| simpler::with_leaf(&value, way, new));
        value.is_some_and(|value| self.try_value(place, &value, chances))
    }

    /// Tries another value at this place alone. If that is not kept, tries it wherever the old value occurs.
    /// Each attempt has so many `chances` to fail. Returns whether a run is kept.
    fn try_value(&mut self, place: ValuePlace, new: &Value, chances: usize) -> bool {
        let stimuli = stimuli_of(&self.best);
        let Some(old) = self.value(place) else { return false };
        let mut alone = stimuli.clone();
        if let Some(value) = alone[place.stimulus].values.get_mut(place.parameter) {
            *value = new.clone();
        }
        let mut together = stimuli.clone();
        for value in together.iter_mut().flat_map(|event| &mut event.values).filter(|value| **value == old) {
            *value = new.clone();
        }
        let first_changed = together.iter().zip(&stimuli).position(|(new, old)| new != old);
        let first_changed = first_changed.unwrap_or(place.stimulus);
        self.try_fitting(&alone, place.stimulus, chances)
            || alone != together && self.try_fitting(&together, first_changed, chances)
    }

    /// Runs stimuli if the judge allows the one at `first_changed`: waiting for its turn in vain takes long.
    fn try_fitting(&mut self, stimuli: &[Event], first_changed: usize, chances: usize) -> bool {
        let is_allowed = match stimuli.get(first_changed) {
            Some(event) if is_of_model(self.with.session.judge, event) => {
                self.go_before(first_changed);
                self.with.session.judge.can_send(event)
            }
            _ => false,
        };
        let script: Vec<Option<Event>> = stimuli.iter().cloned().map(Some).collect();
        is_allowed && self.try_stimuli(&script, chances)
    }

    /// Returns the boundaries of the guards for the value at this place.
    fn boundaries(&mut self, place: ValuePlace) -> Vec<Value> {
        let Some(event) = stimuli_of(&self.best).get(place.stimulus).cloned() else { return Vec::new() };
        self.go_before(place.stimulus);
        let by_parameter = self.with.session.judge.boundaries(&event);
        by_parameter.into_iter().nth(place.parameter).unwrap_or_default()
    }

    /// Shows the judge the best run up to this stimulus.
    fn go_before(&mut self, stimulus: usize) {
        let judge = &mut self.with.session.judge;
        judge.begin();
        let mut sent = 0;
        for step in &self.best.trace {
            let is_sent = matches!(step.what, Occurrence::Stimulus(_));
            if is_sent && sent == stimulus || matches!(judge.take(&step.what), Judged::Ends(..)) {
                return;
            }
            sent += usize::from(is_sent);
        }
    }

    /// Repeats the best run, as `replay` does. A repetition that the end of time cut short is not counted.
    fn repeat_best(&mut self) -> Again {
        (self.with.seen)(ShrinkProgress::Repeats);
        let script = script_of(&self.best.trace);
        let mut again = Again::default();
        while again.times < self.with.again && Instant::now() < self.end {
            let settings = self.settings();
            let seed = self.best.seed;
            let run = self.session(&settings).perform(seed, &script);
            if self.is_cut(&run) {
                break;
            }
            again.times += 1;
            if self.is_same(&run) {
                again.same += 1;
            } else {
                *again.others.entry(bucket_of(self.with.session.judge, &run)).or_default() += 1;
            }
        }
        again
    }
}

/// A value in a run: the number of its stimulus, and of its parameter.
#[derive(Clone, Copy)]
struct ValuePlace {
    stimulus: usize,
    parameter: usize,
}

/// Has the judge's model this action, with values of these types?
fn is_of_model(judge: &dyn Judge, event: &Event) -> bool {
    let action = judge.iosts().find_action(&event.action);
    action.is_some_and(|action| are_typed(&judge.iosts().action(action).parameters, &event.values))
}
