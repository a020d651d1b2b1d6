//! Does a bounded number of further events resolve every choice? The question behind `determinize`.
//!
//! **Problem.** Where two transitions of one action can be taken together, the tester does not know which was taken.
//! It can postpone their effects and wait for an event that only one of them can be followed by. If for some k no
//! sequence of k actions can follow both, the lookahead is at most k and determinization ends.
//!
//! **Source.** Thesis, appendix A.2: Definition A.8 (choice), A.14 (k-follower), A.15 (lookahead), Algorithm A.2.
//!
//! **Where we differ.** Algorithm A.2 counts one too many, takes a pair met twice on an acyclic part for a cycle, and
//! never looks at two transitions with one target. Here: the *pair graph* has the pairs of locations that a common
//! sequence of actions reaches from the two targets; it is searched depth-first; a cycle means that there is no
//! lookahead, and is returned with the way into it; otherwise the lookahead is the longest path plus one. Two
//! transitions with one target count unless their effects are equal (then they are one transition).
//!
//! Being syntactic it may find a cycle that the guards exclude; `determinize` asks it only for its reasons after its
//! own attempt, which knows the guards, has failed.
//!
//! **Ends**: at most |L|² pairs, each expanded once. **Cost**: per pair, the product of the two out-degrees.

use std::collections::HashMap;

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::iosts::Iosts;
use coreach_model::{ActionId, LocationId};

/// Two transitions of one location and action that can be taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The number of the one.
    pub first: usize,
    /// The number of the other.
    pub second: usize,
}

/// What the pair graph says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lookahead {
    /// The smallest k; 0 without any choice. With the choice that needs it.
    Exists(usize, Option<Choice>),
    /// A choice that common followers of every length leave open, and actions that show it.
    None {
        /// The two transitions.
        choice: Choice,
        /// The actions into the cycle.
        prefix: Vec<ActionId>,
        /// The actions of the cycle; never empty.
        cycle: Vec<ActionId>,
    },
}

/// The choices of an IOSTS without internal actions (Definition A.8), each pair once. Transitions of one target with
/// equal effects are no choice.
///
/// Over-approximation: an overlap of which the solver does not know counts.
pub fn choices(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Choice> {
    let mut found = Vec::new();
    for numbers in iosts.outgoing() {
        for (at, &first) in numbers.iter().enumerate() {
            for &second in &numbers[at + 1..] {
                let (t1, t2) = (&iosts.transitions[first], &iosts.transitions[second]);
                let same = t1.target == t2.target && t1.assignments == t2.assignments;
                if t1.action != t2.action || same {
                    continue;
                }
                let mut both = t1.guard.conjuncts();
                both.extend(t2.guard.conjuncts());
                if may_hold(solver, &both) {
                    found.push(Choice { first, second });
                }
            }
        }
    }
    found
}

/// The smallest lookahead that resolves all of the choices, or a reason why there is none.
pub fn lookahead(iosts: &Iosts, choices: &[Choice]) -> Lookahead {
    let mut graph = PairGraph { iosts, outgoing: iosts.outgoing(), longest: HashMap::new() };
    let mut worst = (0, None);
    for choice in choices {
        let targets = [choice.first, choice.second].map(|number| iosts.transitions[number].target);
        match graph.longest_from(Pair::of(targets)) {
            Ok(length) if length + 1 > worst.0 => worst = (length + 1, Some(*choice)),
            Ok(_) => {}
            Err((prefix, cycle)) => return Lookahead::None { choice: *choice, prefix, cycle },
        }
    }
    Lookahead::Exists(worst.0, worst.1)
}

/// Two locations, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair(LocationId, LocationId);

impl Pair {
    fn of([a, b]: [LocationId; 2]) -> Self {
        Pair(a.min(b), a.max(b))
    }
}

struct PairGraph<'a> {
    iosts: &'a Iosts,
    outgoing: Vec<Vec<usize>>,
    longest: HashMap<Pair, usize>,
}

/// The actions into a cycle, and the cycle.
type Lasso = (Vec<ActionId>, Vec<ActionId>);

/// A pair whose successors are being walked.
struct Frame {
    pair: Pair,
    successors: Vec<(ActionId, Pair)>,
    next: usize,
    longest: usize,
}

impl PairGraph<'_> {
    fn successors(&self, pair: Pair) -> Vec<(ActionId, Pair)> {
        let mut found = Vec::new();
        for &a in &self.outgoing[pair.0.0 as usize] {
            for &b in &self.outgoing[pair.1.0 as usize] {
                let (t1, t2) = (&self.iosts.transitions[a], &self.iosts.transitions[b]);
                if t1.action == t2.action {
                    let next = (t1.action, Pair::of([t1.target, t2.target]));
                    if !found.contains(&next) {
                        found.push(next);
                    }
                }
            }
        }
        found
    }

    /// The number of edges of the longest path from the pair. A stack of our own: a path may be as long as the model.
    fn longest_from(&mut self, start: Pair) -> Result<usize, Lasso> {
        if let Some(&known) = self.longest.get(&start) {
            return Ok(known);
        }
        let frame =
            |graph: &Self, pair| Frame { pair, successors: graph.successors(pair), next: 0, longest: 0 };
        let mut stack = vec![frame(self, start)];
        loop {
            let depth = stack.len() - 1;
            let top = &mut stack[depth];
            if let Some(&(_, pair)) = top.successors.get(top.next) {
                top.next += 1;
                if let Some(&known) = self.longest.get(&pair) {
                    top.longest = top.longest.max(known + 1);
                } else if let Some(entry) = stack.iter().position(|frame| frame.pair == pair) {
                    let taken = |frame: &Frame| frame.successors[frame.next - 1].0;
                    let actions: Vec<ActionId> = stack.iter().map(taken).collect();
                    return Err((actions[..entry].to_vec(), actions[entry..].to_vec()));
                } else {
                    let next = frame(self, pair);
                    stack.push(next);
                }
            } else {
                let longest = top.longest;
                self.longest.insert(top.pair, longest);
                stack.pop();
                match stack.last_mut() {
                    Some(below) => below.longest = below.longest.max(longest + 1),
                    None => return Ok(longest),
                }
            }
        }
    }
}
