//! How many transitions each rule makes of the cash machine: computed with Z3 by others from the published
//! formulas.

use std::collections::BTreeMap;

use coreach_pipeline::timed::rules::sum_counts;
use coreach_pipeline::timed::{PathGuided, Rule, TimedOptions};

use super::support::{PURPOSE, atm, of, options};

fn made(path: &str, options: &TimedOptions) -> PathGuided {
    of(&atm(), path, options).unwrap()
}

/// Transitions of the test case, and those that the formulas taken literally have besides.
fn counted(made: &PathGuided) -> (usize, usize) {
    let own = made.by_rules();
    let late: usize = made.counts.iter().map(|counts| counts.late).sum();
    assert_eq!(own + late, made.iosts.transitions.len());
    (own, sum_counts(made.counts.iter().map(|counts| &counts.idle)))
}

/// precise: 34 transitions, rule by rule.
#[test]
fn each_rule_makes_what_it_should_at_each_context() {
    let made = made(PURPOSE, &options("5"));
    let rules = |counts: &[(u8, usize)]| -> BTreeMap<Rule, usize> {
        counts.iter().map(|(rule, count)| (Rule(*rule), *count)).collect()
    };
    let found: Vec<_> = made.counts.iter().map(|counts| counts.made.clone()).collect();
    let expected = [
        rules(&[(1, 1), (5, 4), (7, 1), (9, 1)]),
        rules(&[(2, 1), (4, 2), (5, 4), (8, 1), (10, 1)]),
        rules(&[(6, 1), (4, 1), (5, 4), (8, 1), (9, 1), (10, 1)]),
        rules(&[(3, 1), (4, 2), (5, 4), (8, 1), (10, 1)]),
    ];
    assert_eq!(found, expected);
    assert_eq!(counted(&made), (34, 0));
}

/// precise: with TM as a constant, silence may come early enough at two more contexts.
#[test]
fn a_constant_allows_for_every_time() {
    assert_eq!(counted(&made(PURPOSE, &options(""))), (36, 0));
}

/// precise: TM = 1. By the published formulas 35, one of them for values with which the path cannot have
/// come; corrected, a silence of 1 is too late where the answer was due by 1, and two rules less apply.
#[test]
fn silence_as_published_and_corrected() {
    let published = TimedOptions { published: true, ..options("1") };
    assert_eq!(counted(&made(PURPOSE, &published)), (34, 1));
    assert_eq!(counted(&made(PURPOSE, &options("1"))), (32, 1));
    let published = TimedOptions { published: true, ..options("5") };
    assert_eq!(counted(&made(PURPOSE, &published)), (34, 0));
}

/// precise: size 8, 70 and 58 with the transitions that can never be taken.
#[test]
fn longer_purposes() {
    assert_eq!(counted(&made("(tr1 tr2 tr3 tr4)*2", &options("5"))), (68, 2));
    assert_eq!(counted(&made("(tr8 tr9)*4", &options("5"))), (52, 6));
}

/// The work does not grow along a periodic path: what was treated once is remembered, and no guard is longer
/// than in the first periods.
#[test]
fn a_long_purpose_repeats_itself() {
    let short = made("(tr1 tr2 tr3 tr4)*3", &options("5"));
    let long = made("(tr1 tr2 tr3 tr4)*30", &options("5"));
    let longest = |made: &PathGuided| made.iosts.transitions.iter().map(|t| t.guard.written_size()).max();
    assert_eq!(longest(&short), longest(&long));
    assert_eq!(short.iosts.variables, long.iosts.variables);
    let last = long.counts.last().unwrap();
    assert_eq!(Some(last), short.counts.last());
}
