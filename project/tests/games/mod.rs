//! Small games of a tester against a system that answers as badly as the specification allows.
//!
//! **Question.** Does `plan` pass where moves exist that no answer keeps from Pass, and elsewhere at least as
//! often as `random`? The first three are games that it lost once; used by `planning` (an example) and by the
//! tests of this crate.
//!
//! **The system** is a model, the specification itself or one that does less: it takes what comes, and gives
//! at once the first answer that its model lists where it is. Games list the bad ones first. Values of an
//! answer are drawn.

use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::values::{MIX, Values};
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession, initial};
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_purpose, read_specification};
use coreach_model::semantics::{Event, State, fire, step};
use coreach_model::{Datum, Iosts, Value, Verdict};
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, Stage, StageOptions, generate_for};

/// A game.
pub struct Game {
    pub name: &'static str,
    /// Is there a way that no answer keeps from Pass?
    pub is_sure: bool,
    specification: &'static str,
    /// The steps of the purpose, from `Begin`.
    purpose: &'static str,
    /// What the system does otherwise: texts of the specification and what stands in their place.
    system: &'static [(&'static str, &'static str)],
}

/// What is played: the test case and the system.
pub struct Played {
    pub case: TestCase,
    pub system: Iosts,
    /// The most events of a run.
    steps: usize,
}

impl Game {
    /// Makes the test case; of the counter, with another end where one is given.
    pub fn made(&self, end: Option<u32>) -> Played {
        let model = |text: &str| {
            let file = from_bytes(self.name.to_owned(), text.as_bytes().to_vec()).unwrap();
            read_specification(file).unwrap_or_else(|found| panic!("{}: {found:#?}", self.name)).0
        };
        let mut text = format!("iosts: {}{}", self.name, self.specification);
        if let Some(end) = end {
            text = text.replace("300", &end.to_string());
        }
        let specification = model(&text);
        let purpose = format!(
            "purpose: goal\nof: {}\ninitial: {{ location: Begin }}\ntransitions:\n{}",
            self.name, self.purpose
        );
        let purpose = from_bytes("purpose".to_owned(), purpose.into_bytes()).unwrap();
        let (purpose, _) = read_purpose(purpose, &specification).unwrap();
        let theory = match self.purpose.contains("quiescence") {
            true => Conformance::Ioco,
            false => Conformance::Ioc,
        };
        let (analysis, limits) = (Analysis::default(), Limits::default());
        let options = StageOptions { max_lookahead: 8, analysis, limits, check: false };
        let mut solver = Z3Solver::default();
        let made =
            generate_for(theory, &specification.iosts, purpose, &options, &mut solver, &mut |_| {}).unwrap();
        let view = View::of(&made, Stage::InputComplete);
        let document = export(&view, Format::Json, ExportOptions::default()).unwrap();
        let mut system = text.clone();
        for (old, new) in self.system {
            assert!(system.contains(old), "{}: {old}", self.name);
            system = system.replace(old, new);
        }
        let case = TestCase::from_json(document.as_bytes()).unwrap();
        Played { case, system: model(&system).iosts, steps: end.map_or(1_000, |end| 3 * end as usize) }
    }
}

impl Played {
    /// One run.
    pub fn once(&self, seed: u64, strategy: Strategy<'_>) -> Run {
        let initial = initial_state(&self.case, &Default::default(), seed, &mut Lazy::default()).unwrap();
        TestSession {
            judge: &mut CaseJudge::new(&self.case, initial),
            settings: &Settings { steps: self.steps, ..Settings::default() },
            adapter: &mut InProcess(Worst::new(self.system.clone())),
        }
        .run(seed, strategy)
    }

    /// How many of so many runs pass; a strategy is made for each of them.
    pub fn passes(&self, runs: u64, mut strategy: impl FnMut() -> Strategy<'static>) -> u64 {
        let mut passed = 0;
        for seed in 1..=runs {
            let run = self.once(seed, strategy());
            let verdict = run.outcome.verdict().unwrap_or_else(|| panic!("{:?}", run.outcome));
            assert_ne!(verdict, Verdict::Fail, "{:?}", run.trace);
            passed += u64::from(verdict == Verdict::Pass);
        }
        passed
    }
}

/// A system that gives the first answer that its model lists.
struct Worst {
    model: Iosts,
    state: Option<State>,
    random: Random,
    values: Values,
}

impl Worst {
    fn new(model: Iosts) -> Self {
        Worst { model, state: None, random: Random::new(0), values: Values::new(MIX) }
    }
}

impl Implementation for Worst {
    fn reset(&mut self, _: &[(Datum, Value)], seed: u64) -> Result<(), String> {
        self.random = Random::new(seed);
        let states = initial::states(&self.model, &Default::default(), 2, &mut Lazy::default());
        self.state = states.map_err(|why| why.text().to_owned())?.into_iter().next();
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        let next = self.state.as_ref().and_then(|state| step(&self.model, state, input).into_iter().next());
        self.state = next.or(self.state.take());
    }

    fn output(&mut self, _: bool) -> Option<Event> {
        let state = self.state.as_ref()?;
        for transition in self.model.transitions.iter().filter(|one| one.source == state.location) {
            let action = self.model.action(transition.action);
            if action.kind != ActionKind::Output {
                continue;
            }
            let values = self.values.choose(
                &transition.guard,
                &action.parameters,
                &state.valuation,
                &mut self.random,
                &mut Lazy::default(),
            );
            let next =
                values.and_then(|values| Some((fire(&self.model, transition, state, &values)?, values)));
            if let Some((next, values)) = next {
                self.state = Some(next);
                return Some(Event::new(action.name.clone(), values));
            }
        }
        None
    }
}

/// The goal of most games.
const DONE: &str = "  - { from: Begin, to: Accept, on: Done }";

/// The games.
pub const GAMES: [Game; 15] = [
    // Thirteen sticks: who takes the last one wins, and the tester begins. All values of a small range count.
    Game {
        name: "sticks",
        is_sure: true,
        specification: "
variables: { v: int }
initial: { location: Idle, condition: 'v == 13' }
inputs: { Take: { p: 'int[1..3]' } }
outputs: { Took: { q: 'int[1..3]' }, Done: {}, Lost: {} }
transitions:
  - { from: Idle, to: Answers, on: Take, when: p <= v, assign: { v: v - p } }
  - { from: Answers, to: End, on: Done, when: v == 0 }
  - { from: Answers, to: Idle, on: Took, when: v > q, assign: { v: v - q } }
  - { from: Answers, to: End, on: Lost, when: 1 <= v <= 3 }
",
        purpose: DONE,
        system: &[(
            "  - { from: Answers, to: Idle, on: Took, when: v > q",
            "  - { from: Answers, to: Idle, on: Took, when: v > 3 && q == (if v mod 4 == 0 then 1 else v mod 4)",
        )],
    },
    // What may stay away by ioc stays away: another move is planned then.
    Game {
        name: "silent",
        is_sure: true,
        specification: "
initial: { location: Idle }
inputs: { Push: {}, Coin: {} }
outputs: { Ready: {}, Ok: {}, Done: {}, Sorry: {} }
transitions:
  - { from: Idle, to: Warm, on: Ready }
  - { from: Warm, to: Pour, on: Push }
  - { from: Pour, to: End, on: Done }
  - { from: Idle, to: Gamble, on: Push }
  - { from: Gamble, to: Dead, on: Sorry }
  - { from: Gamble, to: End, on: Done }
  - { from: Idle, to: Paid, on: Coin }
  - { from: Paid, to: Again, on: Ok }
  - { from: Again, to: Pour, on: Coin }
",
        purpose: DONE,
        system: &[("  - { from: Idle, to: Warm, on: Ready }\n", "")],
    },
    // A button delivers surely, one event later than shaking may.
    Game {
        name: "button",
        is_sure: true,
        specification: "
initial: { location: Ready }
inputs: { Shake: {}, Coin: {}, Button: {} }
outputs: { Nothing: {}, Done: {} }
transitions:
  - { from: Ready, to: Shaken, on: Shake }
  - { from: Shaken, to: End, on: Nothing }
  - { from: Shaken, to: End, on: Done }
  - { from: Ready, to: Paid, on: Coin }
  - { from: Paid, to: Chosen, on: Button }
  - { from: Chosen, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // The same, but one may shake for ever.
    Game {
        name: "again",
        is_sure: true,
        specification: "
initial: { location: Ready }
inputs: { Shake: {}, Coin: {}, Button: {} }
outputs: { Nothing: {}, Done: {} }
transitions:
  - { from: Ready, to: Shaken, on: Shake }
  - { from: Shaken, to: Ready, on: Nothing }
  - { from: Shaken, to: End, on: Done }
  - { from: Ready, to: Paid, on: Coin }
  - { from: Paid, to: Chosen, on: Button }
  - { from: Chosen, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // A bet is safe from six coins on.
    Game {
        name: "six_coins",
        is_sure: true,
        specification: "
variables: { vCoins: nat }
initial: { location: Ready, condition: vCoins == 0 }
inputs: { Coin: {}, Bet: {} }
outputs: { Lost: {}, Taken: {}, Done: {} }
transitions:
  - { from: Ready, to: Taking, on: Coin, when: vCoins < 20, assign: { vCoins: vCoins + 1 } }
  - { from: Taking, to: Ready, on: Taken }
  - { from: Ready, to: Rolling, on: Bet }
  - { from: Rolling, to: End, on: Lost, when: vCoins < 6 }
  - { from: Rolling, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // A sure way of ten events, a gamble of two.
    Game {
        name: "ten_events",
        is_sure: true,
        specification: "
variables: { vAt: nat }
initial: { location: Ready, condition: vAt == 0 }
inputs: { Next: { pAt: nat }, Jump: {} }
outputs: { Fell: {}, Ok: {}, Done: {} }
transitions:
  - { from: Ready, to: Stepping, on: Next, when: pAt == 2 * vAt + 1, assign: { vAt: vAt + 1 } }
  - { from: Stepping, to: Ready, on: Ok, when: vAt < 5 }
  - { from: Stepping, to: End, on: Done, when: vAt == 5 }
  - { from: Ready, to: Jumping, on: Jump }
  - { from: Jumping, to: End, on: Fell }
  - { from: Jumping, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // Heads must come, whenever it likes; then one may gamble on, or be sure.
    Game {
        name: "heads_first",
        is_sure: false,
        specification: "
variables: { vTails: nat }
initial: { location: Ready, condition: vTails == 0 }
inputs: { Toss: {}, Double: {}, Take: {}, Wallet: {} }
outputs: { Heads: {}, Tails: {}, Lost: {}, Opened: {}, Done: {} }
transitions:
  - { from: Ready, to: Tossed, on: Toss }
  - { from: Tossed, to: Ready, on: Tails, assign: { vTails: vTails + 1 } }
  - { from: Tossed, to: Won, on: Heads }
  - { from: Won, to: Doubled, on: Double }
  - { from: Doubled, to: End, on: Lost }
  - { from: Doubled, to: End, on: Done }
  - { from: Won, to: Opening, on: Wallet }
  - { from: Opening, to: Open, on: Opened }
  - { from: Open, to: Taken, on: Take }
  - { from: Taken, to: End, on: Done }
",
        purpose: DONE,
        system: &[("on: Tails,", "on: Tails, when: vTails < 3,")],
    },
    // A number that is answered must be said again; to guess one may do.
    Game {
        name: "echo",
        is_sure: true,
        specification: "
variables: { vToken: int }
initial: { location: Ready, condition: vToken == 0 }
inputs: { Ask: {}, Say: { pToken: int }, Guess: { pToken: int } }
outputs: { Token: { pGiven: int }, Denied: {}, Done: {} }
transitions:
  - { from: Ready, to: Asked, on: Ask }
  - { from: Asked, to: Known, on: Token, assign: { vToken: pGiven } }
  - { from: Known, to: Said, on: Say, when: pToken == vToken + 1 }
  - { from: Known, to: Guessed, on: Say, when: pToken != vToken + 1 }
  - { from: Said, to: End, on: Done }
  - { from: Ready, to: Guessed, on: Guess }
  - { from: Guessed, to: End, on: Denied }
  - { from: Guessed, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // Each step leads on by one or two, as the system likes; only far on the door opens surely.
    Game {
        name: "steps_of_two",
        is_sure: true,
        specification: "
variables: { vAt: nat }
initial: { location: Ready, condition: vAt == 0 }
inputs: { Go: {}, Push: {} }
outputs: { Gone: { pBy: 'int[1..2]' }, Broken: {}, Done: {} }
transitions:
  - { from: Ready, to: Going, on: Go }
  - { from: Going, to: Ready, on: Gone, assign: { vAt: vAt + pBy } }
  - { from: Ready, to: Pushed, on: Push }
  - { from: Pushed, to: End, on: Broken, when: vAt < 20 || vAt mod 3 == 0 }
  - { from: Pushed, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // Who rests may be ticked at; who is muted is silent for sure.
    Game {
        name: "muted",
        is_sure: true,
        specification: "
initial: { location: Ready }
inputs: { Rest: {}, Mute: {} }
outputs: { Tick: {}, Muted: {} }
internals: [Doze]
transitions:
  - { from: Ready, to: Resting, on: Rest }
  - { from: Resting, to: Lost, on: Tick }
  - { from: Resting, to: Dozing, on: Doze }
  - { from: Ready, to: Muting, on: Mute }
  - { from: Muting, to: Still, on: Muted }
  - { from: Still, to: Stiller, on: Mute }
  - { from: Lost, to: Lost, on: Tick }
",
        purpose: "  - { from: Begin, to: Moved, on: Rest }
  - { from: Begin, to: Second, on: Mute }
  - { from: Second, to: Moved, on: Mute }
  - { from: Moved, to: Accept, on: quiescence }
  - { from: Moved, to: Reject, on: Tick }",
        system: &[],
    },
    // Two bets, of which one is never won: only the answers tell.
    Game {
        name: "odds",
        is_sure: false,
        specification: "
variables: { vBets: nat, vRight: nat }
initial: { location: Ready, condition: vBets == 0 && vRight == 0 }
inputs: { Left: {}, Right: {} }
outputs: { Lost: {}, Closed: {}, Done: {} }
transitions:
  - { from: Ready, to: OnLeft, on: Left, assign: { vBets: vBets + 1 } }
  - { from: Ready, to: OnRight, on: Right, assign: { vBets: vBets + 1, vRight: vRight + 1 } }
  - { from: OnLeft, to: End, on: Closed, when: vBets >= 8 }
  - { from: OnLeft, to: Ready, on: Lost, when: vBets < 8 }
  - { from: OnLeft, to: End, on: Done }
  - { from: OnRight, to: End, on: Closed, when: vBets >= 8 }
  - { from: OnRight, to: Ready, on: Lost, when: vBets < 8 }
  - { from: OnRight, to: End, on: Done }
",
        purpose: DONE,
        system: &[(
            "to: Ready, on: Lost, when: vBets < 8 }\n  - { from: OnRight, to: End, on: Done",
            "to: Ready, on: Lost, when: vBets < 8 && vRight < 3 }\n  - { from: OnRight, to: End, on: Done",
        )],
    },
    // The short way is friendly at first.
    Game {
        name: "trap",
        is_sure: true,
        specification: "
initial: { location: Ready }
inputs: { Fast: {}, Slow: {}, Go: {} }
outputs: { Ok: {}, Caught: {}, Done: {} }
transitions:
  - { from: Ready, to: Hurried, on: Fast }
  - { from: Hurried, to: Trap, on: Ok }
  - { from: Trap, to: Running, on: Go }
  - { from: Running, to: Held, on: Caught }
  - { from: Held, to: Held, on: Caught }
  - { from: Running, to: End, on: Done }
  - { from: Ready, to: Slowing, on: Slow }
  - { from: Slowing, to: Slower, on: Ok }
  - { from: Slower, to: Walking, on: Slow }
  - { from: Walking, to: There, on: Ok }
  - { from: There, to: Arriving, on: Go }
  - { from: Arriving, to: End, on: Done }
",
        purpose: DONE,
        system: &[],
    },
    // One number of eleven is right, and twelve may be tried.
    Game {
        name: "secret",
        is_sure: false,
        specification: "
variables: { vTries: nat, vPicked: int }
initial: { location: Ready, condition: vTries == 0 && vPicked == 0 }
inputs: { Pick: { pNumber: 'int[0..10]' } }
outputs: { Wrong: {}, Closed: {}, Done: {} }
transitions:
  - { from: Ready, to: Picked, on: Pick, assign: { vTries: vTries + 1, vPicked: pNumber } }
  - { from: Picked, to: Ready, on: Wrong, when: vTries < 12 }
  - { from: Picked, to: End, on: Closed, when: vTries >= 12 }
  - { from: Picked, to: End, on: Done }
",
        purpose: DONE,
        system: &[
            ("on: Wrong, when: vTries < 12", "on: Wrong, when: vTries < 12 && vPicked != 7"),
            ("when: vTries >= 12", "when: vTries >= 12 && vPicked != 7"),
        ],
    },
    // One number of eleven is right, it is not the first one, and there is one try.
    Game {
        name: "second_number",
        is_sure: false,
        specification: "
variables: { vPicked: int }
initial: { location: Ready, condition: vPicked == 0 }
inputs: { First: { pFirst: 'int[0..10]' }, Second: { pSecond: 'int[0..10]' } }
outputs: { Ok: {}, Wrong: {}, Done: {} }
transitions:
  - { from: Ready, to: Picked, on: First }
  - { from: Picked, to: Waiting, on: Ok }
  - { from: Waiting, to: Tried, on: Second, assign: { vPicked: pSecond } }
  - { from: Tried, to: End, on: Wrong }
  - { from: Tried, to: End, on: Done }
",
        purpose: DONE,
        system: &[("on: Wrong", "on: Wrong, when: vPicked != 7")],
    },
    // A counter, and other things to do at each step.
    Game {
        name: "counter",
        is_sure: true,
        specification: "
variables: { vCount: int }
initial: { location: Ready, condition: vCount == 0 }
inputs: { Up: {}, Down: {}, Reset: {}, Peek: {} }
outputs: { Ok: {}, Count: { pCount: int }, Done: {} }
transitions:
  - { from: Ready, to: Stepping, on: Up, assign: { vCount: vCount + 1 } }
  - { from: Ready, to: Stepping, on: Down, assign: { vCount: vCount - 1 } }
  - { from: Ready, to: Stepping, on: Reset, assign: { vCount: 0 } }
  - { from: Ready, to: Peeked, on: Peek }
  - { from: Peeked, to: Ready, on: Count, when: pCount == vCount }
  - { from: Stepping, to: Ready, on: Ok, when: vCount != 300 }
  - { from: Stepping, to: End, on: Done, when: vCount == 300 }
",
        purpose: DONE,
        system: &[],
    },
];

#[cfg(test)]
mod tests;
