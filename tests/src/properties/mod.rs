//! What must hold of every pair, and where it is proved or defined.
//!
//! [`PROPERTIES`] is the list. [`check`] runs a pair through the pipeline, one stage after the other, and
//! holds every artifact against [`crate::brute`]. A stage that stops with a reason
//! ([`coreach_pipeline::stop::Stop`]) ends the case there; what was made before is still checked.

pub mod artifacts;
pub mod doubtful;
pub mod exact;
pub mod facts;
pub mod ioco;
pub mod lookahead;
pub mod offline;
pub mod online;
mod online_safety;
pub mod plan;
pub mod queues;
pub mod safety;
pub mod silence;
pub mod stages;
pub mod symbolic;
pub mod test_case;
pub mod verdicts;
pub mod written;
pub mod yaml;

use std::collections::BTreeMap;

use coreach_analyses::domains::DomainKind;
use coreach_analyses::places::Arrays;
use coreach_analyses::reachability::{Analysis, Loops, Thresholds};
use coreach_analyses::solver::z3::Z3Solver;

use crate::brute::TooLarge;
use crate::brute::alphabet::Alphabet;
use crate::brute::explore::{Concrete, bind, labels, valuations};
use crate::brute::pair::{Behaviour, Instance};
use crate::generator::Pair;
use crate::generator::random::Random;
use crate::{source, text};
use artifacts::Artifacts;
use doubtful::Doubt;

/// A property: its name, what it says, and its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Property {
    /// The name under which it is reported and chosen.
    pub name: &'static str,
    /// What must hold.
    pub statement: &'static str,
    /// Thesis, unless said otherwise.
    pub source: &'static str,
}

macro_rules! properties {
    ($($constant:ident = $name:literal, $statement:literal, $source:literal;)*) => {
        $(
            #[doc = $statement]
            pub const $constant: Property =
                Property { name: $name, statement: $statement, source: $source };
        )*
        /// All properties, in the order in which they are checked.
        pub const PROPERTIES: &[Property] = &[$($constant),*];
    };
}

properties! {
    YAML = "yaml", "A pair is read; written as YAML and read again it is the same.", "model format";
    NO_PANIC = "no_panic", "No stage panics.", "house rule 8";
    PROMISES = "promises", "Each artifact keeps the rules of the pipeline's own checks.", "pipeline/src/check";
    NO_LIVELOCK = "no_livelock", "No livelock is reported where internal steps lead forward only.", "Definition A.4";
    REPEATABLE = "repeatable", "Two runs give the same artifacts.", "house style";
    WRITTEN = "written", "What every stage made is read as it was written, in each format that is read.", "docs/reference/json.md";
    COMPLETE = "complete", "The completed purpose follows every event as its definition says.", "Algorithm 7.1, corrected; Observation 7.1";
    PRODUCT = "product_traces", "The product has the traces and accepted traces of the pair.", "Definitions 5.4 and 6.10; Theorem 5.5";
    CLOSED = "closed_traces", "Closing keeps traces and accepted traces.", "Theorems A.3 and A.4";
    VISIBLE = "visible_traces", "Determinizing keeps traces and accepted traces, but for what follows an accepted trace, or one that cannot be accepted any more.", "Theorems A.5-A.7; Definition A.12";
    VISIBLE_DETERMINISTIC = "visible_deterministic", "No reachable state has two successors by one event.", "Definition 4.20";
    REACH = "reach", "Every reachable state is in reach.", "(7.7), p. 182";
    COREACH = "coreach", "Every reachable state from which Accept can be reached is in coreach.", "(7.9), p. 183";
    EXACT = "exact", "The exact reference contradicts neither brute force nor a domain: what it proves to lie on no run does not, what it shows does, and no domain cuts that.", "analyses/src/exact";
    LATE = "late", "The late states of a test graph are the reachable ones from which Pass cannot be reached.", "pipeline/src/late_states.rs";
    GRAPH_FACTS = "graph_facts", "Every reachable state of test graph and test case is in its reach.", "Algorithm 7.2";
    GRAPH_TRACES = "graph_traces", "Traces of the test graph are the specification's; Pass after accepted traces only.", "Corollary 7.1; Lemmas 7.2 and 7.3";
    GRAPH_KEEPS = "graph_keeps", "A strict prefix of an accepted trace leads to no verdict, a shortest accepted trace to Pass.", "proof of Theorem 7.3";
    DETERMINISTIC = "deterministic", "No reachable state of the test case has two successors by one event.", "Theorem 7.2";
    INPUT_COMPLETE = "input_complete", "Every reachable state of the test case without verdict takes every output of the implementation.", "Theorem 7.2";
    VERDICTS = "verdicts", "Every trace of the test case to a verdict deserves it.", "Lemmas 7.4-7.7";
    SOUND = "sound", "An implementation that conforms (ioc) never gets Fail.", "Definition 6.7";
    EXHAUSTIVE = "exhaustive", "An implementation that does not conform relative to the purpose (ioc_TP) can get Fail.", "Definition 6.15";
    ACCURATE = "accurate", "Pass and Inconclusive against implementations are what their definitions allow.", "Definitions 6.16 and 6.17";
    QUEUES = "queues", "An implementation that conforms (ioc) never gets Fail behind queues of 0 to 3 messages from the judge that knows of them, and Pass only if it deserves it.", "Definitions 6.7 and 6.16; execution/src/judge/crossing.rs";
    SILENCE = "silence", "Where a test case says that the specification must answer, no state of the specification is quiescent.", "pipeline/src/stages/must_answer.rs; quiescence, 3.3";
    PLAN = "plan", "A plan to Pass is a run of the test case, no shorter than the shortest; where none is said to be, there is none.", "analyses/src/symbolic/search.rs";
    ONLINE = "online", "Judging on line gives each set of states the verdict that it deserves.", "Gaston et al. 2006, rules R0 to R6";
    SUSPENDED = "suspended", "The suspended specification is quiescent in the states that are, and nowhere else.", "Definition 3.9";
    IOCO = "ioco", "Under ioco, an implementation that conforms never gets Fail, and one that does not, relative to the purpose, can.", "Definitions 3.11, 6.7 and 6.15 over suspension traces";
    SAFETY = "safety", "A property that is proved is violated by no run, and the run that violates one does.", "thesis 9.2; Rusu, Marchand, Jéron 2004";
    PROPERTY_TESTED = "property_tested", "Every trace of a property's test case has the verdict that specification and property give it.", "pipeline/src/violations.rs";
    TREE = "tree", "A node of a symbolic tree stands for the runs along its path; what is cut is included in what is expanded; a restriction that fits shows every state.", "Gaston et al. 2006, Definitions 9 to 11";
    COVER = "cover", "A goal that is covered is met by its run however its trace is explained; one that is proved unreachable is met by none.", "project/src/cover";
    OFFLINE = "offline", "Judging off line gives each timed trace the verdict that it deserves: Fail exactly where it is none of the model.", "Bannour et al. 2012, rules R0 to R6, corrected";
    THEOREM_6_2 = "ioc_implies_ioc_tp", "What conforms conforms relative to every purpose.", "Theorem 6.2: checks the oracle itself";
}

/// A property that does not hold of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The property.
    pub property: Property,
    /// What was seen.
    pub text: String,
}

/// Sizes beyond which a case is left alone or a comparison is cut.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Valued actions.
    pub events: usize,
    /// Valuations of the constants that are looked at, spread over all.
    pub instances: usize,
    /// States of one system.
    pub states: usize,
    /// Nodes of one walk.
    pub walk: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { events: 64, instances: 4, states: 3000, walk: 3000 }
    }
}

/// How a case is checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The analysis behind `select`.
    pub analysis: Analysis,
    /// Analyses whose facts are checked beside it.
    pub others: Vec<Analysis>,
    /// The longest postponement.
    pub max_lookahead: usize,
    /// How many mutants meet the test case.
    pub mutants: usize,
    /// How many explicit ones.
    pub explicit_mutants: usize,
    /// The seed of the mutants.
    pub seed: u64,
    /// Sizes.
    pub limits: Limits,
    /// Check this property only.
    pub only: Option<String>,
    /// Run the pipeline twice.
    pub twice: bool,
    /// Let the stages' solver not know some answers. The checks ask one that does.
    pub doubt: Option<Doubt>,
}

impl Settings {
    /// The settings of a seed: which domain, which iteration.
    pub fn of(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5e77_1465);
        // From a stream of their own: a build with another list of domains must not change the rest.
        let mut aside = Random::new(seed ^ 0x6f74_6865);
        let others = DomainKind::ALL.iter().map(|domain| options(&mut aside, *domain)).collect();
        let domains =
            [DomainKind::Polyhedra, DomainKind::Polyhedra, DomainKind::Interval, DomainKind::Location];
        let domain = domains[random.below(domains.len())];
        let analysis = options(&mut random, domain);
        let max_lookahead = random.between((3, 6));
        let twice = random.chance(6);
        let doubt = random.chance(20).then(|| Doubt { percent: random.between((5, 25)), seed });
        Settings {
            analysis,
            others,
            max_lookahead,
            mutants: 4,
            explicit_mutants: 4,
            seed,
            limits: Limits::default(),
            only: None,
            // The same doubts must lead to the same artifacts: tried more often.
            twice: twice || (doubt.is_some() && random.chance(20)),
            doubt,
        }
    }

    /// Is the property to be checked?
    pub fn wants(&self, property: Property) -> bool {
        self.only.as_ref().is_none_or(|only| only == property.name)
    }
}

fn options(random: &mut Random, domain: DomainKind) -> Analysis {
    let defaults = Analysis { domain, ..Analysis::default() };
    if random.chance(35) {
        return defaults;
    }
    let thresholds = if random.chance(50) {
        Thresholds::Auto
    } else {
        Thresholds::List((0..random.below(3)).map(|number| number.into()).collect())
    };
    let drawn = Analysis {
        delay: random.below(4),
        thresholds,
        descending_steps: random.below(4),
        rounds: random.between((1, 4)),
        partition_limit: [256, 256, 4, 1][random.below(4)],
        step_limit: if random.chance(10) { random.between((1, 30)) } else { 1_000_000 },
        fact_limit: [200, 200, 20, 3, 0][random.below(5)],
        ..defaults
    };
    // Nothing is drawn for it: another draw would change what all seeds mean.
    let condition_limit = if drawn.fact_limit == 20 { 3 } else { drawn.condition_limit };
    let disjuncts = [1, 2, 4, 8][drawn.delay];
    let loops = match drawn.rounds {
        4 => Loops::Widened,
        3 => Loops::Guided,
        _ => Loops::Accelerated,
    };
    // Arrays of the generator have two cells: with 1 one of them stands for both. Its lists are short: with 0
    // or 1 slots one element stands for all.
    let (cells, slots) = [(4, 8), (1, 0), (4, 8), (1, 1)][drawn.descending_steps];
    let arrays = Arrays { cells, slots, ..Arrays::default() };
    Analysis { condition_limit, disjuncts, loops, arrays, ..drawn }
}

/// What was seen of one case.
#[derive(Default, Debug)]
pub struct Report {
    /// How often each property was tried: once per instance, artifact or implementation.
    pub tried: BTreeMap<&'static str, usize>,
    /// What does not hold.
    pub found: Vec<Counterexample>,
    /// Why the pipeline stopped, where it did.
    pub stopped: Option<String>,
    /// Counts of what is no violation and worth knowing.
    pub counts: BTreeMap<&'static str, usize>,
}

impl Report {
    /// Notes one trial of a property.
    pub fn note(&mut self, property: Property, outcome: Result<(), String>) {
        *self.tried.entry(property.name).or_default() += 1;
        if let Err(text) = outcome {
            self.found.push(Counterexample { property, text });
        }
    }

    /// Counts something.
    pub fn count(&mut self, what: &'static str, how_many: usize) {
        *self.counts.entry(what).or_default() += how_many;
    }
}

/// What brute force knows about a pair.
pub struct Known {
    /// What it read.
    pub pair: Behaviour,
    /// The events.
    pub alphabet: Alphabet,
    /// The instances that are looked at.
    pub instances: Vec<Instance>,
}

impl Known {
    /// Explores a pair, from its text.
    ///
    /// # Errors
    /// A limit is met.
    pub fn of(pair: &Pair, limits: &Limits) -> Result<Self, TooLarge> {
        match Behaviour::read(&text::specification(pair), &text::purpose(pair)) {
            Ok(pair) => Known::of_behaviour(pair, limits),
            Err(why) => panic!("the oracle cannot read a pair: {why}"),
        }
    }

    /// Explores what was read.
    ///
    /// # Errors
    /// A limit is met.
    pub fn of_behaviour(pair: Behaviour, limits: &Limits) -> Result<Self, TooLarge> {
        let alphabet = Alphabet::of(&pair.specification, limits.events)?;
        let own = &pair.purpose.machine.constants[..pair.purpose.own_constants];
        let constants: Vec<_> = pair.specification.constants.iter().chain(own).cloned().collect();
        let all = valuations(&constants, 4096)?;
        let step = all.len().div_ceil(limits.instances.max(1)).max(1);
        let chosen = all.iter().step_by(step);
        let instances = chosen.map(|constants| Instance::explore(&pair, constants, &alphabet, limits.states));
        let instances = instances.collect::<Result<_, _>>()?;
        Ok(Known { instances, alphabet, pair })
    }
}

/// Checks every property of a pair.
pub fn check(pair: &Pair, settings: &Settings) -> Report {
    let mut report = Report::default();
    if settings.wants(OFFLINE) {
        // Of a timed model of this seed: the pair has no part in it.
        offline::offline(settings.seed, &mut report);
        offline::unseen_steps(settings.seed, &mut report);
        if settings.only.is_some() {
            return report;
        }
    }
    let input = match source::read(pair) {
        Ok(input) => input,
        Err(why) => {
            report.note(YAML, Err(why));
            return report;
        }
    };
    yaml::yaml(&input, settings, &mut report);
    let Ok(known) = Known::of(pair, &settings.limits) else {
        report.count("too large for brute force", 1);
        return report;
    };
    let met = known.instances.iter().any(|i| i.both.graph.initial.iter().any(|at| i.alive[*at as usize]));
    report.count(if met { "purpose in reach" } else { "purpose out of reach" }, 1);
    if pair.purpose.model.initial == pair.purpose.accept {
        report.count("purpose accepts at once", 1);
    }
    if known.instances.iter().any(|instance| lacks_a_value(&known, instance)) {
        report.count("pairs in which a reachable operation has no value", 1);
    }
    online::judge(&input, &known, settings, &mut report);
    safety::safety(pair, &known, settings, &mut report);
    ioco::ioco(&input, &known, settings, &mut report);
    symbolic::symbolic(pair, &input, settings, &mut report);
    let artifacts = artifacts::make(&input, settings, &mut report);
    let Artifacts { complete, product, closed, visible, graph, case, unresolved } = &artifacts;
    written::written(&input.specification, &artifacts, settings, &mut report, &mut Z3Solver::default());
    if let Some(complete) = complete {
        stages::complete(complete, &known, settings, &mut report);
    }
    if let Some(product) = product {
        stages::traces(PRODUCT, &product.iosts, &product.accepting, None, &known, settings, &mut report);
        facts::facts(&product.iosts, &product.accepting, &known, settings, &mut report);
    }
    if let Some(closed) = closed {
        stages::traces(CLOSED, &closed.iosts, &closed.accepting, None, &known, settings, &mut report);
    }
    if let (Some(closed), Some(cycle)) = (closed, unresolved) {
        lookahead::justified(closed, cycle, &known, settings, &mut report);
    }
    if let Some(visible) = visible {
        stages::traces(
            VISIBLE,
            &visible.iosts,
            &visible.accepting,
            Some(&visible.ends),
            &known,
            settings,
            &mut report,
        );
        stages::deterministic(VISIBLE_DETERMINISTIC, &visible.iosts, &known, settings, &mut report);
        facts::facts(&visible.iosts, &visible.accepting, &known, settings, &mut report);
        exact::exact(visible, &known, settings, &mut report);
    }
    if let (Some(graph), Some(case)) = (graph, case) {
        report.count("pairs through every stage", 1);
        exact::late(graph, &known, settings, &mut report);
        test_case::graph(graph, &known, settings, &mut report);
        test_case::case(case, &known, settings, &mut report);
        silence::silence(case, &known, settings, &mut report);
        plan::plan(case, &known, settings, &mut report);
        verdicts::implementations(&input, case, &known, settings, &mut report);
    }
    report
}

/// Is there a reachable state of the specification, and a message, with which an operation is evaluated that
/// has no value?
fn lacks_a_value(known: &Known, instance: &Instance) -> bool {
    let machine = &known.pair.specification;
    let concrete = Concrete::new(machine, &instance.constants, &known.alphabet);
    instance.specification.states.iter().any(|state| {
        let mut places = concrete.places(state);
        let mut here = machine.steps.iter().filter(|step| step.source == state.location);
        here.any(|step| {
            labels(machine, step, &known.alphabet).into_iter().any(|label| {
                bind(machine, &known.alphabet, label, &mut places);
                match step.guard.truth(&places) {
                    Ok(holds) => holds && step.assign.iter().any(|(_, value)| value.value(&places).is_err()),
                    Err(_) => true,
                }
            })
        })
    })
}
