//! The teller machine of Gaston, Le Gall, Rapin, Touil (2006): figures 1, 2 and 4, examples 1 to 4, without their misprints.
//!
//! In figure 2 `m0 <= 1000` must be `m0 >= 1000`, `cp0` is tested where `cp0 + 1` is meant, and after a deposit `cp` is 0.

use std::path::Path;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{
    End, Growth, Move, NodeId, Quiescence, Refuted, System, Tree, TreeLimits, all_paths, k_inclusion, symbol,
};
use coreach_model::iosts::Iosts;
use coreach_model::reader::read_specification;
use coreach_model::{Number, SourceFile, Term};

fn teller_machine() -> Iosts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/teller_machine.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    read_specification(SourceFile { name: "teller_machine.yaml".to_owned(), text }.into()).unwrap().0.iosts
}

/// The path to a node in words: actions, with the transition's number where an action has several.
fn path(system: &System<'_>, tree: &Tree, node: NodeId) -> String {
    let word = |node: NodeId| match &tree.nodes[node].by {
        Move::Start => String::new(),
        Move::Quiet => "quiet".to_owned(),
        Move::Take(step) => {
            let name = &system.iosts.action(system.iosts.transitions[step.transition].action).name;
            if name == "cash" { format!("cash{}", step.transition.place()) } else { name.clone() }
        }
    };
    tree.path(node).into_iter().skip(1).map(word).collect::<Vec<_>>().join(".")
}

fn paths(system: &System<'_>, tree: &Tree, nodes: impl IntoIterator<Item = NodeId>) -> Vec<String> {
    let mut all: Vec<String> = nodes.into_iter().map(|node| path(system, tree, node)).collect();
    all.sort();
    all
}

fn limits(quiescence: Quiescence) -> TreeLimits {
    TreeLimits { quiescence, ..TreeLimits::default() }
}

fn restriction(system: &System<'_>, quiescence: Quiescence) -> Tree {
    let limits = TreeLimits { is_restricted: true, ..limits(quiescence) };
    Growth::new(system, limits).finish(&mut Z3Solver::default())
}

fn find(system: &System<'_>, tree: &Tree, wanted: &str) -> NodeId {
    tree.nodes.numbers().find(|node| path(system, tree, *node) == wanted).unwrap()
}

/// A condition in the words of the model: what has no value yet is called like its datum.
fn holds_exactly_where(tree: &Tree, node: NodeId, expected: &Term) {
    let condition = Term::and(tree.nodes[node].state.condition.iter().cloned());
    let differ = Term::or([
        Term::and([condition.clone(), expected.not()]),
        Term::and([condition.not(), expected.clone()]),
    ]);
    assert_eq!(Z3Solver::default().check(std::slice::from_ref(&differ)), Answer::Unsat, "{differ}");
}

#[test]
fn figure_2_is_a_restriction_by_inclusion() {
    let iosts = teller_machine();
    let system = System::new(&iosts);
    let tree = restriction(&system, Quiescence::Sink);
    assert_eq!(
        paths(&system, &tree, tree.nodes.numbers()),
        [
            "",
            "amount",
            "amount.cash3",
            "amount.cash4",
            "amount.screen",
            "check",
            "check.sum",
            "deposit",
            "quiet"
        ]
    );
    let included: Vec<NodeId> =
        tree.nodes.numbers().filter(|number| matches!(tree.nodes[*number].end, End::Included(_))).collect();
    for number in &included {
        assert_eq!(tree.nodes[*number].end, End::Included(NodeId(0)), "{}", path(&system, &tree, *number));
    }
    // Example 3: all that come back to q0.
    assert_eq!(
        paths(&system, &tree, included),
        ["amount.cash3", "amount.cash4", "amount.screen", "check.sum", "deposit"]
    );
    // Example 1: q1 and q2 are never quiescent.
    for name in ["amount", "check"] {
        let node = &tree.nodes[find(&system, &tree, name)];
        assert_eq!(node.refuted, [Refuted::Quiet], "{name}");
    }
    assert!(tree.is_complete() && tree.nodes.iter().all(|node| node.is_certain));
    assert_eq!(tree.longest_path(), 2);
}

#[test]
fn figure_2_has_these_conditions_and_values() {
    let iosts = teller_machine();
    let system = System::new(&iosts);
    let tree = restriction(&system, Quiescence::Sink);
    let named = |name: &str| Term::datum(iosts.find_datum(name).unwrap());
    let parameter = |action: &str, depth| {
        let action = iosts.action(iosts.find_action(action).unwrap());
        Term::datum(&symbol(&action.parameters[0], depth))
    };
    let (m, cp, x1) = (named("m"), named("cp"), parameter("amount", 0));
    let compare = |comparison, a: &Term, b: &Term| Term::compare(comparison, a, b);
    use coreach_model::term::node::Comparison::{AtLeast, AtMost, Greater, Less};
    let one_more = Term::add(&cp, &Term::int(1));
    let allowed = |rest: Term| {
        Term::and([
            Term::equal(&parameter("cash", 1), &x1),
            compare(AtMost, &one_more, &Term::int(2)),
            compare(AtMost, &x1, &m),
            rest,
        ])
    };
    let rich = compare(AtLeast, &m, &Term::int(1000));
    holds_exactly_where(&tree, find(&system, &tree, "amount.cash3"), &allowed(rich));
    let poor = compare(Less, &m, &Term::int(1000));
    holds_exactly_where(&tree, find(&system, &tree, "amount.cash4"), &allowed(poor));
    let refused = Term::or([compare(Greater, &one_more, &Term::int(2)), compare(Greater, &x1, &m)]);
    holds_exactly_where(&tree, find(&system, &tree, "amount.screen"), &refused);
    let value = |node: &str, datum: &str| {
        let node = find(&system, &tree, node);
        tree.nodes[node].state.value(iosts.find_datum(datum).unwrap()).to_string()
    };
    assert_eq!(value("amount", "cp"), "cp + 1");
    assert_eq!(value("deposit", "cp"), "0");
    assert_eq!(value("deposit", "m"), "m + d#0");
    assert_eq!(value("amount.cash3", "m"), "m - a#0");
    assert_eq!(value("amount.cash4", "m"), "m - a#0 - 1");
}

#[test]
fn example_4_the_purpose_of_1_inclusion_accepts_ten_states() {
    let iosts = teller_machine();
    let system = System::new(&iosts);
    let purpose = k_inclusion(&system, limits(Quiescence::Sink), 1, &mut Z3Solver::default()).unwrap();
    assert!(purpose.is_complete);
    // The publication counts eta12 out, which its own Definition 18 counts in.
    assert_eq!(
        paths(&system, &purpose.tree, purpose.accepting.iter().copied()),
        [
            "amount.cash3",
            "amount.cash4",
            "amount.screen",
            "check.sum",
            "deposit.amount.cash3",
            "deposit.amount.cash4",
            "deposit.amount.screen",
            "deposit.check.sum",
            "deposit.deposit.quiet",
            "deposit.quiet",
        ]
    );
}

#[test]
fn quiescence_that_leads_back_goes_on() {
    let iosts = teller_machine();
    let system = System::new(&iosts);
    let tree = restriction(&system, Quiescence::Loop);
    // Nothing was forgotten by being quiescent: that state is the first one.
    assert_eq!(tree.nodes[find(&system, &tree, "quiet")].end, End::Included(NodeId(0)));
    assert_eq!((tree.nodes.len(), tree.longest_path()), (9, 2));
    let purpose = all_paths(&system, limits(Quiescence::Loop), 2, &mut Z3Solver::default());
    let all = paths(&system, &purpose.tree, purpose.accepting.iter().copied());
    for behind in ["quiet.quiet", "quiet.check.sum", "quiet.amount.cash3", "quiet.deposit.quiet"] {
        assert!(all.iter().any(|path| path == behind), "{behind} of {all:?}");
    }
    // Outputs do not follow quiescence.
    assert!(all.iter().all(|path| !path.ends_with("quiet.sum")), "{all:?}");
}

/// deposit(250), amount(50), cash(50): eta11 and eta12 are both possible, since nobody knows what is on the account.
#[test]
fn the_trace_of_example_4_leads_to_two_accepted_states() {
    let iosts = teller_machine();
    let system = System::new(&iosts);
    let purpose = k_inclusion(&system, limits(Quiescence::Sink), 1, &mut Z3Solver::default()).unwrap();
    let values = [250, 50, 50];
    let fits = |node: NodeId| {
        let steps = purpose.tree.path(node).into_iter().skip(1).zip(values);
        let mut condition = purpose.tree.nodes[node].state.condition.clone();
        for (node, value) in steps {
            let Move::Take(step) = &purpose.tree.nodes[node].by else { return false };
            let Some(symbol) = step.parameters.first() else { return false };
            condition.push(Term::equal(&Term::datum(symbol), &Term::int(value)));
        }
        Z3Solver::default().check(&condition) == Answer::Sat
    };
    let three = purpose.accepting.iter().copied().filter(|node| purpose.tree.nodes[*node].state.depth == 3);
    assert_eq!(
        paths(&system, &purpose.tree, three.filter(|node| fits(*node))),
        ["deposit.amount.cash3", "deposit.amount.cash4"]
    );
}
