//! `post` and `pre` of a single transition, from condition to condition (thesis, Definitions 7.1 and 7.2, p.
//! 181).
//!
//! The fixpoints work on abstract values throughout ([`crate::reachability`]). Here a condition goes in and a
//! condition comes out, for whoever wants to look at one step: both are over-approximations in the domain.

use coreach_model::Iosts;
use coreach_model::iosts::Transition;
use coreach_model::term::Term;

use crate::domains::{Domain, WithDomain};
use crate::facts::FactWriter;
use crate::reachability::Options;
use crate::transfer::Abstraction;

/// What holds behind the transition, where the condition held in front of it.
pub fn post(iosts: &Iosts, transition: &Transition, condition: &Term, options: &Options) -> Term {
    options.domain.with(Step { iosts, transition, condition, options, forward: true })
}

/// What holds in front of the transition, where *some* parameters lead to the condition behind it.
pub fn pre(iosts: &Iosts, transition: &Transition, condition: &Term, options: &Options) -> Term {
    options.domain.with(Step { iosts, transition, condition, options, forward: false })
}

struct Step<'a> {
    iosts: &'a Iosts,
    transition: &'a Transition,
    condition: &'a Term,
    options: &'a Options,
    forward: bool,
}

impl WithDomain for Step<'_> {
    type Output = Term;

    fn run<D: Domain>(self) -> Term {
        let limit = self.options.partition_limit;
        let alone = Iosts { transitions: vec![self.transition.clone()].into(), ..self.iosts.clone() };
        let frame = Abstraction::<D>::frame_for(&alone, limit);
        let mut abstraction = Abstraction::<D>::new(&alone, limit, Vec::new(), frame);
        let from = abstraction.satisfying(self.condition);
        let result = if self.forward {
            abstraction.post(0, &from)
        } else {
            let top = abstraction.top();
            abstraction.pre(0, &from, &top)
        };
        FactWriter::new(usize::MAX).term(&abstraction.frame, &abstraction.store, &result)
    }
}
