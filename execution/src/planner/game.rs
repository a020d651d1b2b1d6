//! The test case as a game of two players: the tester moves, and the implementation answers as it likes.
//!
//! **Problem.** A way to Pass says that an implementation *may* lead there. An implementation that answers
//! otherwise each time never does, though a move one event longer may leave it no choice.
//!
//! **Method.** The game is a graph of concrete states, kept for the run. Each expanded state has its moves:
//! each stimulus, with values in several classes of data ([`crate::walk`]'s candidates), and waiting. Each
//! move has the states that the specification allows after it. An output may come before a stimulus is taken,
//! so it is an answer to the stimulus as well. Silence is an answer if a test of ioco says so. Otherwise,
//! waiting is sure only if the specification must answer or there is nothing to send.
//!
//! Two queues decide in turn which state is expanded next: the nearest state, and then the one with the least
//! *slack*. Slack is the distance in the graph and, for each condition on the way from there that the data do
//! not satisfy, how far its sides are apart (branch distance: Korel 1990). So if a later guard asks for a
//! high counter, the counter is increased. States with data of a class that was seen come later than others
//! of their depth.
//!
//! Then the graph is *solved*. A state is **sure** if it has a move all whose answers are sure (an
//! attractor). Its rank is the least number of events by which Pass is certain, computed as by Dijkstra with
//! the greatest rank of the answers. For the other states a chance is estimated: for a move the mean of its
//! answers, weighed by [`Experience`], for a state that of the best move. A state that was not expanded is
//! worth little, and less the greater its slack. By ioc an output may stay away. After a wait in vain, the
//! wait is no longer a move of that state, and the graph is solved again.
//!
//! **It is inexact**: if a transition has at most [`MOST_LISTED`] vectors of values, all are tried, and
//! otherwise some. A state that is called sure may be lost to an answer with other values, and then it is
//! planned again. Nothing is judged by it.
//!
//! **Ends** after [`MOST_EXPANDED`] states of one search, or its work; the graph begins anew at
//! [`MOST_REMEMBERED`] states. **Costs** a few evaluations for each candidate, and four times a pass over the
//! graph.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use coreach_model::budget::{self, Budget, Limit};
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::holds;
use coreach_model::term::substitute;
use coreach_model::{LocationId, Numbered, Term, TransitionId, Value, Verdict};

use crate::judge::Choice;
use crate::judge::case::take_silence;
use crate::limits::{MOST_EXPANDED, MOST_REMEMBERED};
use crate::planner::experience::{Experience, IN_TIME, KEPT, SignClass, factor_for_steps};
use crate::planner::goal::search_goal;
use crate::planner::listed::PositionWorth;
use crate::planner::moves::{GameMove, Reaction, find_wait};
use crate::planner::queues::{Queues, slack};
use crate::test_case::TestCase;
use crate::walk::candidates::{all_candidates, candidates};
use crate::walk::goals::WalkModel;
use crate::walk::search::Planned;

/// The most states that are expanded if the run is in the state that was hoped for.
const FEW: usize = 60;

/// Values are drawn so often for each stimulus of the run's present state.
const DRAWN: usize = 12;

/// The most work of one search, in steps. A second has about a million.
pub(super) const WORK: u64 = 200_000;

/// The chance of a state that was not expanded.
const UNKNOWN: f64 = 0.2;

/// The most passes over the graph until the chances no longer change.
pub(super) const PASSES: usize = 40;

/// The number of values that each parameter of a stimulus tries, other than drawn ones.
const TRIED: usize = 24;

/// The most vectors of values of one transition in one state.
const MOST_VALUES: usize = 8;

/// If a transition has at most so many vectors of values, all are listed.
const MOST_LISTED: usize = 16;

/// The most vectors of values of one class.
const OF_A_CLASS: usize = 2;

struct GameNode {
    state: State,
    /// The stimulus before it, on the way by which it was found.
    stimulus_before: Option<Event>,
    end: PositionWorth,
    /// The steps to Pass, as estimated by graph and slack.
    steps_left: u64,
    /// The number of nodes of the same class that were found before it.
    earlier_of_class: usize,
    moves: Option<Vec<GameMove>>,
    rank: Option<usize>,
    chance: f64,
}

impl GameNode {
    /// Lists the chance of each answer that may come while the tester waits.
    fn chances_of_answers(&self, experience: &Experience) -> Vec<f64> {
        let wait = self.moves.as_deref().and_then(find_wait);
        let answers = wait.iter().flat_map(|wait| &wait.answers);
        let answers: Vec<TransitionId> = answers.map(|answer| answer.transition).collect();
        experience.chances(&self.state, self.stimulus_before.as_ref(), &answers)
    }
}

/// The best move of a state, the class of its stimulus, and the hoped-for state.
pub(super) struct ChosenMove {
    pub(super) planned: Planned,
    pub(super) class: Option<SignClass>,
    pub(super) hoped: usize,
}

/// The game of a test case.
pub(super) struct Game {
    model: WalkModel,
    ends: Numbered<LocationId, PositionWorth>,
    distances: Numbered<LocationId, Option<usize>>,
    /// For each location: the conditions on the data that a shortest way to Pass asks from there on.
    gates: Numbered<LocationId, Vec<Term>>,
    nodes: Vec<GameNode>,
    known: HashMap<State, usize>,
    /// How many nodes were found by a stimulus of each class.
    classes: HashMap<SignClass, usize>,
}

impl Game {
    /// Makes the game of a test case, with the distances in its graph.
    pub(super) fn new(test: &TestCase) -> Self {
        let goal = search_goal(test);
        let ends = test.verdicts.map(|_| PositionWorth::Open);
        // The signs of its comparisons tell the classes of data.
        let with_classes = true;
        let mut game = Game {
            model: WalkModel::new(test.iosts.clone(), &[], with_classes),
            distances: ends.map(|_| None),
            gates: ends.map(|_| Vec::new()),
            ends,
            nodes: Vec::new(),
            known: HashMap::new(),
            classes: HashMap::new(),
        };
        for location in test.iosts.location_ids() {
            game.ends[location] = match (goal.locations[location], goal.closed[location]) {
                (true, _) => PositionWorth::Won,
                (_, true) => PositionWorth::Lost,
                _ => PositionWorth::Open,
            };
        }
        game.measure_distances(test);
        game
    }

    /// Computes each location's distance, and the conditions there for a shortest way in the graph.
    fn measure_distances(&mut self, test: &TestCase) {
        let iosts = &test.iosts;
        let mut incoming = iosts.locations.map(|_| Vec::new());
        for (number, transition) in iosts.transitions.numbered() {
            incoming[transition.target].push(number);
        }
        let mut level: Vec<LocationId> =
            iosts.location_ids().filter(|location| self.ends[*location] == PositionWorth::Won).collect();
        level.iter().for_each(|location| self.distances[*location] = Some(0));
        for length in 1.. {
            let mut next = Vec::new();
            for number in level.iter().flat_map(|location| incoming[*location].clone()) {
                let source = iosts.transitions[number].source;
                if self.distances[source].is_none() && self.ends[source] == PositionWorth::Open {
                    self.distances[source] = Some(length);
                    self.gates[source] = self.gates_before(test, number);
                    next.push(source);
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
    }

    /// Lists the conditions for a transition and the steps after it, and against other answers that lose.
    fn gates_before(&self, test: &TestCase, number: TransitionId) -> Vec<Term> {
        let iosts = &test.iosts;
        let transition = &iosts.transitions[number];
        let mut gates: Vec<Term> = transition.guard.conjuncts();
        if iosts.action(transition.action).kind == ActionKind::Output {
            // The answer must not be one that loses.
            let answers = test.observations[transition.source].iter().map(|id| &iosts.transitions[*id]);
            let losing = answers.filter(|answer| test.verdict(answer.target) == Some(Verdict::Inconclusive));
            gates.extend(losing.map(|answer| Term::not(&answer.guard)));
        }
        let later_gates = self.gates[transition.target].iter();
        gates.extend(later_gates.map(|gate| substitute(gate, &transition.assignments)));
        let is_known = |gate: &Term| {
            gate.data().iter().all(|datum| iosts.variables.contains(datum) || iosts.constants.contains(datum))
        };
        gates.retain(|gate| is_known(gate) && !gate.is_true());
        // Slack is measured by so many conditions at most.
        gates.truncate(16);
        gates
    }

    /// Finds or makes the node of a state, which came about after a stimulus.
    pub(super) fn node(&mut self, state: &State, sent: Option<&Event>, class: Option<&SignClass>) -> usize {
        if let Some(number) = self.known.get(state) {
            return *number;
        }
        let end = match self.distances[state.location] {
            Some(_) => self.ends[state.location],
            None => PositionWorth::Lost,
        };
        let slacks = self.gates[state.location].iter().map(|gate| slack(gate, &state.valuation));
        let distance = self.distances[state.location].unwrap_or(0) as u64;
        let steps_left = slacks.fold(distance, u64::saturating_add);
        let earlier_of_class = class.map_or(0, |class| {
            let count = self.classes.entry(class.clone()).or_default();
            *count += 1;
            *count - 1
        });
        let chance = match end {
            PositionWorth::Won => 1.0,
            PositionWorth::Lost => 0.0,
            PositionWorth::Open => UNKNOWN * factor_for_steps(steps_left as f64),
        };
        let rank = (end == PositionWorth::Won).then_some(0);
        let (state, stimulus_before, moves) = (state.clone(), sent.cloned(), None);
        self.known.insert(state.clone(), self.nodes.len());
        let node =
            GameNode { state, stimulus_before, end, steps_left, earlier_of_class, moves, rank, chance };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Begins anew if the graph is too large.
    pub(super) fn reset_if_too_large(&mut self) {
        if self.nodes.len() > MOST_REMEMBERED {
            self.nodes.clear();
            self.known.clear();
            self.classes.clear();
        }
    }

    /// Notes that no way leads to Pass from a state.
    pub(super) fn note_lost(&mut self, node: usize) {
        (self.nodes[node].end, self.nodes[node].chance) = (PositionWorth::Lost, 0.0);
    }

    pub(super) fn is_sure(&self, node: usize) -> bool {
        self.nodes[node].rank.is_some()
    }

    pub(super) fn is_expanded(&self, node: usize) -> bool {
        self.nodes[node].moves.is_some()
    }

    /// Drops the wait of a state in which nothing came. `false`: the state had no such move.
    pub(super) fn drop_wait(&mut self, state: &State) -> bool {
        let Some(node) = self.known.get(state) else { return false };
        let Some(moves) = &mut self.nodes[*node].moves else { return false };
        let count = moves.len();
        moves.retain(|play| play.sends.is_some());
        let is_dropped = moves.len() < count;
        self.solve_ranks();
        is_dropped
    }

    /// Notes that the state came about after this stimulus.
    pub(super) fn note_stimulus_before(&mut self, node: usize, stimulus: Option<&Event>) {
        self.nodes[node].stimulus_before = stimulus.cloned();
    }

    /// Adds the steps of a way, with all other events that may happen at each of them.
    pub(super) fn add_way(
        &mut self,
        test: &TestCase,
        way: &[Planned],
        last: &State,
        sources: &mut Choice<'_>,
    ) {
        let states_after = way.iter().skip(1).map(|step| &step.state).chain([last]);
        for (step, next) in way.iter().zip(states_after) {
            let node = self.node(&step.state, None, None);
            self.expand(test, node, sources);
            let after = match step.kind {
                ActionKind::Input => Some(step.event.clone()),
                _ => self.nodes[node].stimulus_before.clone(),
            };
            let to = self.node(next, after.as_ref(), None);
            let Planned { transition, event, kind, .. } = step.clone();
            let answer = Reaction { transition, event, kind, to };
            if kind == ActionKind::Input {
                self.add_stimulus(node, answer);
                continue;
            }
            let is_answer = |known: &Reaction| known.transition == transition && known.event == answer.event;
            // The way's answer may have values that were not tried.
            let moves = self.nodes[node].moves.iter_mut().flatten();
            let lacks = |play: &&mut GameMove| !play.answers.iter().any(is_answer);
            moves.filter(lacks).for_each(|play| play.answers.insert(0, answer.clone()));
        }
    }

    /// Expands states from the root until it is sure or a limit is met. If the root was hoped for, it expands
    /// few states, and only if a new stimulus was drawn.
    pub(super) fn search(
        &mut self,
        test: &TestCase,
        root: usize,
        is_hoped: bool,
        experience: &Experience,
        sources: &mut Choice<'_>,
    ) {
        let is_certain = false;
        let budget = Budget::new("plan", Some(Limit::Work(WORK)), is_certain);
        // States that were found within the limits count.
        let _ = budget::within(&budget, || {
            self.expand(test, root, sources);
            let is_new = self.draw_stimuli(test, root, experience, sources);
            if is_new || !is_hoped {
                self.expand_from(test, root, if is_hoped { FEW } else { MOST_EXPANDED }, sources);
            }
        });
        self.solve_ranks();
        self.solve_chances(experience);
    }

    /// Adds stimuli with drawn values, and with values that were sent before. Returns whether one is new.
    fn draw_stimuli(
        &mut self,
        test: &TestCase,
        node: usize,
        experience: &Experience,
        sources: &mut Choice<'_>,
    ) -> bool {
        let state = self.nodes[node].state.clone();
        let mut is_new = false;
        for number in test.stimuli[state.location].iter().copied() {
            let transition = &test.iosts.transitions[number];
            let action = test.iosts.action(transition.action);
            if action.parameters.is_empty() || self.distances[transition.target].is_none() {
                continue;
            }
            let Choice { values, random, solver } = &mut *sources;
            let mut draw = || {
                values.choose(&transition.guard, &action.parameters, &state.valuation, random, &mut **solver)
            };
            let drawn: Vec<Vec<Value>> = (0..DRAWN).map_while(|_| draw()).collect();
            // An id that another run sent is not known in this one: the system may hand it out as a new one.
            let has_ids = action.parameters.iter().any(|parameter| parameter.ty().has_ids());
            let sent_before = experience.stimuli().filter(|event| !has_ids && event.action == action.name);
            for values in drawn.into_iter().chain(sent_before.map(|event| event.values.clone())) {
                let Some(next) = fire(&test.iosts, transition, &state, &values) else { continue };
                let event = Event::new(action.name.clone(), values);
                let to = self.node(&next, Some(&event), None);
                let answer = Reaction { transition: number, event, kind: ActionKind::Input, to };
                is_new |= self.add_stimulus(node, answer);
            }
        }
        is_new
    }

    /// Adds a stimulus to the moves of a state, if it is not among them. Returns whether it was added.
    fn add_stimulus(&mut self, node: usize, answer: Reaction) -> bool {
        let Some(moves) = &mut self.nodes[node].moves else { return false };
        let is_sent = |sent: &Reaction| sent.transition == answer.transition && sent.event == answer.event;
        let is_new = !moves.iter().any(|play| play.sends.as_ref().is_some_and(|(sent, _)| is_sent(sent)));
        if is_new {
            let mut answers = find_wait(moves).map_or_else(Vec::new, |wait| wait.answers.clone());
            answers.retain(|answer| answer.kind != ActionKind::Quiescence);
            moves.push(GameMove { sends: Some((answer, None)), answers, is_sure: true });
        }
        is_new
    }

    /// Lists the moves of up to `limit` states, the most promising first, until the root is sure.
    fn expand_from(&mut self, test: &TestCase, root: usize, limit: usize, sources: &mut Choice<'_>) {
        let mut queues = Queues::default();
        // Expanded states are passed through. The search goes on from the first states that are not expanded.
        let mut seen = HashMap::from([(root, 0)]);
        let mut level = vec![root];
        for depth in 0.. {
            let mut next_level = Vec::new();
            for node in level {
                match self.nodes[node].moves {
                    None => self.queue_unexpanded(&mut queues, node, depth),
                    Some(_) => next_level
                        .extend(self.successors(node).filter(|to| seen.insert(*to, depth + 1).is_none())),
                }
            }
            if next_level.is_empty() {
                break;
            }
            level = next_level;
        }
        // Only solved ranks show that the root is sure. They are solved ever more rarely.
        let mut solve_at = 30;
        for count in 0..limit {
            if count == solve_at {
                self.solve_ranks();
                solve_at *= 4;
            }
            let Some(node) = queues.pop(|node| self.nodes[node].moves.is_none()) else { break };
            if self.is_sure(root) {
                break;
            }
            let depth = seen.get(&node).copied().unwrap_or(0) + 1;
            self.expand(test, node, sources);
            for successor in self.successors(node).collect::<Vec<_>>() {
                if seen.insert(successor, depth).is_none() && self.nodes[successor].moves.is_none() {
                    self.queue_unexpanded(&mut queues, successor, depth);
                }
            }
        }
    }

    fn queue_unexpanded(&self, queues: &mut Queues, number: usize, depth: usize) {
        let node = &self.nodes[number];
        if node.end == PositionWorth::Open {
            queues.push(number, depth + node.earlier_of_class, node.steps_left);
        }
    }

    /// Lists the states that the moves of a state lead to.
    fn successors(&self, node: usize) -> impl Iterator<Item = usize> {
        self.nodes[node].moves.iter().flatten().flat_map(GameMove::results).map(|answer| answer.to)
    }

    /// Lists the moves of a state, unless that was done.
    fn expand(&mut self, test: &TestCase, node: usize, sources: &mut Choice<'_>) {
        let GameNode { state, stimulus_before, end: PositionWorth::Open, moves: None, .. } =
            &self.nodes[node]
        else {
            return;
        };
        let (state, stimulus) = (state.clone(), stimulus_before.clone());
        budget::ask();
        let mut answers_in_time = Vec::new();
        for number in test.observations[state.location].iter().copied() {
            let transition = &test.iosts.transitions[number];
            // A Fail may be what a property looks for. Every other one is no answer that the model allows.
            let is_wrong = test.verdict(transition.target) == Some(Verdict::Fail)
                && self.ends[transition.target] == PositionWorth::Lost;
            if transition.source == state.location && !is_wrong {
                let steps = self.steps_through(number, &state, stimulus.as_ref(), sources);
                answers_in_time.extend(steps.into_iter().map(|(answer, _)| answer));
            }
        }
        let mut answers = answers_in_time.clone();
        let silence = take_silence(test, &state, Duration::ZERO);
        if let Some((transition, next)) = &silence
            && test.verdict(next.location) != Some(Verdict::Fail)
        {
            let event = Event::new(String::new(), []);
            let to = self.node(next, stimulus.as_ref(), None);
            answers.push(Reaction { transition: *transition, event, kind: ActionKind::Quiescence, to });
        }
        let mut moves = Vec::new();
        for number in test.stimuli[state.location].iter().copied() {
            if self.distances[test.iosts.transitions[number].target].is_some() {
                for (sent, class) in self.steps_through(number, &state, None, sources) {
                    let sends = Some((sent, Some(class)));
                    moves.push(GameMove { sends, answers: answers_in_time.clone(), is_sure: true });
                }
            }
        }
        if !answers.is_empty() {
            let must_answer = || holds(&test.must_answer[state.location], &state.valuation) == Ok(true);
            let is_sure = moves.is_empty() || silence.is_some() || must_answer();
            moves.push(GameMove { sends: None, answers, is_sure });
        }
        self.nodes[node].moves = Some(moves);
    }

    /// Lists the steps through a transition, with their classes: all if they are few, or a few of each.
    fn steps_through(
        &mut self,
        number: TransitionId,
        state: &State,
        stimulus: Option<&Event>,
        sources: &mut Choice<'_>,
    ) -> Vec<(Reaction, SignClass)> {
        let action = self.model.iosts.action_of(number);
        let (name, kind) = (action.name.clone(), action.kind);
        let mut reactions = Vec::new();
        let mut count_of_class: HashMap<SignClass, usize> = HashMap::new();
        let listed = all_candidates(&self.model, number, state, MOST_LISTED);
        let is_listed = listed.is_some();
        let steps = listed.unwrap_or_else(|| candidates(&self.model, number, state, TRIED, sources));
        for step in steps {
            let class = (number, step.signs);
            let count = count_of_class.entry(class.clone()).or_default();
            *count += 1;
            if *count > OF_A_CLASS && !is_listed {
                continue;
            }
            if reactions.len() >= MOST_VALUES && !is_listed {
                break;
            }
            let event = Event::new(name.clone(), step.values);
            let sent = (kind == ActionKind::Input).then_some(&event).or(stimulus);
            let to = self.node(&step.to, sent, Some(&class));
            reactions.push((Reaction { transition: number, event, kind, to }, class));
        }
        reactions
    }

    /// Ranks the states that are sure to reach Pass, backwards: a move counts once all its answers do.
    fn solve_ranks(&mut self) {
        let mut moves_leading_to: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.nodes.len()];
        let mut unranked_answers: Vec<Vec<usize>> = Vec::with_capacity(self.nodes.len());
        let mut ready: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            node.rank = None;
            if node.end == PositionWorth::Won {
                ready.push(Reverse((0, number)));
            }
            let moves = node.moves.as_deref().unwrap_or_default();
            for (move_number, play) in moves.iter().enumerate().filter(|(_, play)| play.is_sure) {
                play.results().for_each(|answer| moves_leading_to[answer.to].push((number, move_number)));
            }
            unranked_answers.push(moves.iter().map(|play| play.results().count()).collect());
        }
        while let Some(Reverse((rank, number))) = ready.pop() {
            if self.nodes[number].rank.is_some() {
                continue;
            }
            self.nodes[number].rank = Some(rank);
            // A move whose last answer is ranked makes its state sure. The greatest rank comes last.
            for &(from, move_number) in &moves_leading_to[number] {
                unranked_answers[from][move_number] -= 1;
                if unranked_answers[from][move_number] == 0 {
                    ready.push(Reverse((rank + 1, from)));
                }
            }
        }
    }

    /// Computes the chances, from the last states to the first, until they no longer change.
    fn solve_chances(&mut self, experience: &Experience) {
        let mut weights: Vec<Vec<f64>> = Vec::with_capacity(self.nodes.len());
        for node in &mut self.nodes {
            match node.rank {
                Some(rank) => node.chance = factor_for_steps(rank as f64),
                None if node.moves.is_some() => node.chance = 0.0,
                None => {}
            }
            weights.push(node.chances_of_answers(experience));
        }
        for _ in 0..PASSES {
            let mut greatest_change: f64 = 0.0;
            for number in (0..self.nodes.len()).rev() {
                let node = &self.nodes[number];
                let Some(moves) = node.moves.as_ref().filter(|_| node.rank.is_none()) else { continue };
                let best = moves.iter().map(|play| self.chance(play, &weights[number])).fold(0.0, f64::max);
                greatest_change = greatest_change.max((best - node.chance).abs());
                self.nodes[number].chance = best;
            }
            if greatest_change < 1e-6 {
                break;
            }
        }
    }

    /// Returns the chance that a move leads to Pass.
    fn chance(&self, play: &GameMove, weights: &[f64]) -> f64 {
        let weighed = play.answers.iter().zip(weights);
        let chance_of_answers: f64 =
            weighed.map(|(answer, weight)| self.nodes[answer.to].chance * weight).sum();
        KEPT * match &play.sends {
            Some((sent, _)) if play.answers.is_empty() => self.nodes[sent.to].chance,
            Some((sent, _)) => IN_TIME * self.nodes[sent.to].chance + (1.0 - IN_TIME) * chance_of_answers,
            None => chance_of_answers,
        }
    }

    /// Chooses the best move of a state. Among equal ones, classes that were sent least often come first.
    pub(super) fn choose(
        &self,
        number: usize,
        experience: &Experience,
        random: &mut Random,
    ) -> Option<ChosenMove> {
        let node = &self.nodes[number];
        let moves = node.moves.as_deref()?;
        let weights = node.chances_of_answers(experience);
        let worth = |play: &GameMove| match node.rank {
            Some(rank) => f64::from(play.is_sure && self.rank(play).is_some_and(|worst| worst < rank)),
            None => self.chance(play, &weights),
        };
        let best = moves.iter().map(worth).fold(0.0, f64::max);
        if best <= 0.0 {
            return None;
        }
        let times_sent = |play: &GameMove| match &play.sends {
            Some((_, Some(class))) => experience.classes.get(class).copied().unwrap_or(0),
            _ => 0,
        };
        let mut best_moves: Vec<&GameMove> = moves.iter().collect();
        best_moves.retain(|play| worth(play) >= best * (1.0 - 1e-9));
        let fewest_sent = best_moves.iter().map(|play| times_sent(play)).min()?;
        best_moves.retain(|play| times_sent(play) == fewest_sent);
        let chosen = *random.pick(&best_moves)?;
        // The best answer has the least rank, or else the greatest chance.
        let order = |answer: &&Reaction| {
            let node = &self.nodes[answer.to];
            (node.rank.is_none(), node.rank, Reverse((node.chance * 1e12) as u64))
        };
        let (hoped, class) = match &chosen.sends {
            Some((sent, class)) => (sent, class.clone()),
            None => (chosen.answers.iter().min_by_key(order)?, None),
        };
        let Reaction { transition, event, kind, to } = hoped.clone();
        let planned = Planned { state: node.state.clone(), transition, event, kind };
        Some(ChosenMove { planned, class, hoped: to })
    }

    /// Returns the rank of the worst answer to a move; `None` if one is not sure.
    fn rank(&self, play: &GameMove) -> Option<usize> {
        play.results()
            .map(|answer| self.nodes[answer.to].rank)
            .try_fold(0, |worst, rank| Some(worst.max(rank?)))
    }

    /// Can the tester wait here without losing a sure Pass?
    pub(super) fn may_idle(&self, number: usize) -> bool {
        let node = &self.nodes[number];
        let wait = node.moves.as_deref().and_then(find_wait);
        node.rank.is_none() || wait.is_none_or(|wait| self.rank(wait).is_some())
    }
}
