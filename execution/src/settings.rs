//! How runs are driven: how long silence lasts, and the limits.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use coreach_adapters::behaviour::{Samples, TOLERANCE, Within};
use coreach_adapters::samples::SampleProgram;
use coreach_adapters::{Failure, Iut};

use crate::judge::Judge;
use crate::run::RunStep;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long silence must last to be quiescence.
    pub quiescence: Duration,
    /// How long silence must last in single locations, by name.
    pub quiescence_at: HashMap<String, Duration>,
    /// How long a reply may take, as the implementation's file says it. It replaces [`Settings::quiescence`],
    /// and [`Settings::quiescence_at`] replaces it.
    pub within: Within,
    /// How long a stimulus and an observation may take on their ways, as the implementation's file describes
    /// it: no silence is shorter.
    pub described_delay: Duration,
    /// How long to wait for an observation where a stimulus could be sent as well.
    pub patience: Duration,
    pub steps: usize,
    pub time: Duration,
    /// In a timed run, how far an instant may be from the measured one: carrier and adapter take time.
    pub tolerance: Duration,
    /// Values to try for parameters, as the implementation's file says.
    pub samples: Samples,
    /// Programs that print such values when a run begins.
    pub sample_programs: BTreeMap<String, SampleProgram>,
    /// How often actions are sent by lot. Actions without a weight have the weight 1.
    pub weights: BTreeMap<String, usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            quiescence: Duration::from_secs(1),
            quiescence_at: HashMap::new(),
            within: Within::default(),
            described_delay: Duration::ZERO,
            patience: Duration::from_millis(20),
            steps: 1000,
            time: Duration::from_secs(60),
            tolerance: TOLERANCE,
            samples: Samples::new(),
            sample_programs: BTreeMap::new(),
            weights: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Takes over the settings in the file of an implementation.
    #[must_use]
    pub fn against(self, iut: &Iut) -> Self {
        let behaviour = &iut.behaviour;
        let (within, samples) = (behaviour.within.clone(), behaviour.samples.clone());
        let sample_programs = behaviour.sample_programs.clone();
        let (described_delay, tolerance) = (iut.described_delay(), iut.tolerance());
        let weights = behaviour.weights.clone();
        Settings { within, described_delay, samples, sample_programs, weights, tolerance, ..self }
    }

    /// Collects the values to try in a run of this seed, with those that programs print.
    pub(crate) fn samples(&self, seed: u64, deadline: Instant) -> Result<Samples, Failure> {
        let mut samples = self.samples.clone();
        for (name, program) in &self.sample_programs {
            samples.entry(name.clone()).or_default().extend(program.values(name, seed, deadline)?);
        }
        Ok(samples)
    }

    pub(crate) fn longest_silence(&self) -> Duration {
        let Within { all, locations, after } = &self.within;
        let places = self.quiescence_at.values().chain(locations.values()).chain(after.values());
        places.copied().fold(all.unwrap_or(self.quiescence), Duration::max)
    }

    /// Returns how long silence must last now: at least as long as something may be under way.
    pub(crate) fn silence(&self, judge: &dyn Judge, trace: &[RunStep]) -> Duration {
        let delay = judge.link().and_then(|link| link.delay()).unwrap_or_default();
        // The system takes the stimuli one after the other: each later one may need the delay again.
        let later_stimuli = u32::try_from(judge.under_way().saturating_sub(1)).unwrap_or(u32::MAX);
        let until_taken = judge.due().map_or(Duration::ZERO, |due| due + delay.saturating_mul(later_stimuli));
        self.silence_here(judge, trace).max(self.described_delay).max(until_taken)
    }

    /// Returns how long silence must last by the settings for this place and for the last action.
    fn silence_here(&self, judge: &dyn Judge, trace: &[RunStep]) -> Duration {
        if let Some(time) = self.quiescence_at.get(judge.place()) {
            return *time;
        }
        if self.within.is_empty() {
            return self.quiescence;
        }
        let last = trace.iter().rev().find_map(|step| step.what.event()).map(|event| event.action.as_str());
        self.within.of(&judge.specification_locations(), last).unwrap_or(self.quiescence)
    }
}
