//! Writes a path-guided test case in the form that the authors of the publication of 2024 use (SPTG, of the
//! Diversity platform).
//!
//! **Contents.** `SUT` has the ports with their parameters. `TESTCASE` has the variables, and for each
//! context of the path its transitions: `timed_guard`, which is about TM, `guard`, the `action`, and `next`
//! or `verdict`. There are two documents, one with guards as text, one with guards as SMT-LIB commands.
//!
//! **Where their documents differ from ours** (`json`), and what is done about it: theirs have no
//! assignments. Each event has variables of its own, `amount_1`, `delay_1`, which are bound when it happens,
//! and guards use these. So registers are replaced by the terms over such variables that the assignments
//! along the path give them.
//!
//! **Where ours differ from theirs**: in their SMT-LIB text some names are no symbols (`#2`), some variables
//! are declared twice, and the bounds of types are missing. Here names are legal or quoted, each constant is
//! declared once for each text, and the bounds of its type are asserted. Our documents have no date. Words
//! for verdicts and names of transitions are those of their tool, with its spelling.

use coreach_analyses::solver::smtlib;
use coreach_model::iosts::{Action, ActionKind, Transition};
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute};
use coreach_model::visible::visible_json;
use coreach_model::{Datum, LocationId, Term, TransitionId};
use serde_json::{Value as Json, json};

use crate::names::{UsedNames, names_in_scope};
use crate::timed::rules::{Ends, LATE};
use crate::timed::{PathGuided, Rule};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guards {
    Text,
    SmtLib,
}

pub fn to_sptg(made: &PathGuided, guards: Guards) -> String {
    let document =
        SptgShape { made, guards, names: names_in_scope(&made.iosts), declared: Vec::new() }.document();
    let text = match serde_json::to_string_pretty(&document) {
        Ok(text) => text,
        Err(error) => panic!("strings, numbers and lists cannot be serialized into memory: {error}"),
    };
    format!("{}\n", visible_json(&text))
}

struct SptgShape<'a> {
    made: &'a PathGuided,
    guards: Guards,
    names: UsedNames,
    declared: Vec<Datum>,
}

impl SptgShape<'_> {
    /// Makes the document: the ports, then the contexts along the path.
    fn document(mut self) -> Json {
        let made = self.made;
        let iosts = &made.iosts;
        // TM is `silence_after`. If it is a constant, it comes first.
        let tm = made.timing.silence_after.as_datum();
        self.declared.extend(tm.cloned());
        self.declared.extend(iosts.constants.iter().filter(|datum| Some(*datum) != tm).cloned());
        let outgoing = iosts.outgoing();
        let mut registers = Substitution::new();
        let mut states = Vec::new();
        for location in iosts.location_ids().filter(|at| made.verdicts[*at].is_none()) {
            let state;
            (state, registers) = self.write_context(location, &outgoing[location], &registers);
            states.push(state);
        }
        let ports = |is_wanted: &dyn Fn(&str, ActionKind) -> bool| -> Vec<Json> {
            let chosen = iosts.actions.iter().filter(|action| is_wanted(&action.name, action.kind));
            let parameters = |action: &Action| self.port_parameters(&action.parameters);
            chosen.map(|action| json!({ "name": action.name, "parameters": parameters(action) })).collect()
        };
        // An input that the tester does not send is an output here (`with_silence_action`).
        let is_uncontrollable = |name: &str| made.timing.uncontrollable.contains(name);
        let declare = |datum: &Datum| json!({ "name": self.name_of(datum), "type": self.type_of(datum) });
        let variables: Vec<Json> = self.declared.iter().map(declare).collect();
        json!({
            "manifest": {
                "version": 0.1,
                "description": "A path-guided test case",
                "service": "Testcase Specification",
                "generator": concat!("coreach ", env!("CARGO_PKG_VERSION")),
            },
            "SUT": {
                "output_ports": ports(&|name, kind| kind == ActionKind::Output && !is_uncontrollable(name)),
                "input_ports": ports(&|_, kind| kind == ActionKind::Input),
                "uncontrollable_input_ports": ports(&|name, _| is_uncontrollable(name)),
            },
            "TESTCASE": { "variables": variables, "states": states },
        })
    }

    /// Lists the parameters of a port, without the delay.
    fn port_parameters(&self, parameters: &[Datum]) -> Vec<Json> {
        let without_delay = parameters.iter().filter(|datum| **datum != self.made.timing.delay);
        without_delay
            .map(|datum| json!({ "name": self.name_of(datum), "type": self.type_of(datum) }))
            .collect()
    }

    fn name_of(&self, datum: &Datum) -> String {
        match self.guards {
            Guards::Text => datum.name().to_owned(),
            Guards::SmtLib => smtlib::symbol(datum.name()),
        }
    }

    fn type_of(&self, datum: &Datum) -> String {
        match self.guards {
            Guards::Text => datum.ty().to_string(),
            Guards::SmtLib => smtlib::sort_to_smtlib(datum.ty()),
        }
    }

    /// Writes a context. Gives also the values of the registers behind the path's step.
    fn write_context(
        &mut self,
        location: LocationId,
        outgoing: &[TransitionId],
        registers: &Substitution,
    ) -> (Json, Substitution) {
        let made = self.made;
        let number = location.0 + 1;
        let delay = self.declare_variable(&made.timing.delay, number);
        let mut registers_after = registers.clone();
        let mut transitions = Vec::new();
        // Transitions for events that are seen when silence is a fact belong to no rule there.
        for id in outgoing.iter().filter(|id| made.made_by[**id].rule != LATE) {
            let transition = &made.iosts.transitions[*id];
            let parameters = &made.iosts.action(transition.action).parameters;
            let mut values = registers.clone();
            let mut parameter_names = Vec::new();
            for parameter in parameters {
                let symbol = match *parameter == made.timing.delay {
                    true => delay.clone(),
                    false => {
                        let symbol = self.declare_variable(parameter, number);
                        parameter_names.push(self.name_of(&symbol));
                        symbol
                    }
                };
                values.insert(parameter.clone(), Term::datum(&symbol));
            }
            transitions.push(self.write_transition(*id, transition, &values, parameter_names));
            if made.verdicts[transition.target].is_none() {
                for (register, value) in &transition.assignments {
                    registers_after.insert(register.clone(), substitute(value, &values));
                }
            }
        }
        let name = format!("ec_{number}");
        let state = json!({
            "name": name, "sut_state": made.iosts.location(location).label, "time_var": self.name_of(&delay),
            "transitions": transitions,
        });
        (state, registers_after)
    }

    /// Makes a variable for a parameter at a context, with a name that is free. Each transition has its own,
    /// and each is declared once.
    fn declare_variable(&mut self, parameter: &Datum, number: u32) -> Datum {
        let name = self.names.unique(&format!("{}_{number}", parameter.name()));
        let datum = Datum::new(name, parameter.ty().clone());
        self.declared.push(datum.clone());
        datum
    }

    /// Writes a transition, whose guard is split into the part about TM and the rest.
    fn write_transition(
        &self,
        id: TransitionId,
        transition: &Transition,
        values: &Substitution,
        parameter_names: Vec<String>,
    ) -> Json {
        let made = self.made;
        let action = made.iosts.action(transition.action);
        let (time_parts, other_parts): (Vec<Term>, Vec<Term>) =
            transition.guard.conjuncts().into_iter().partition(|part| self.is_of_time(part));
        let guard = |parts: Vec<Term>| self.write_guard(&substitute(&Term::and(parts), values));
        let ends = made.verdicts[transition.target]
            .and_then(|_| Ends::named(&made.iosts.location(transition.target).name));
        let (nature, port) = match action.kind {
            ActionKind::Quiescence => ("QUIESCENCE", "Quiescence"),
            ActionKind::Input if !made.timing.uncontrollable.contains(&action.name) => {
                ("STIMULATION", action.name.as_str())
            }
            _ => ("OBSERVATION", action.name.as_str()),
        };
        let mut action_shown = json!({ "nature": nature, "port": port });
        if !parameter_names.is_empty() {
            action_shown["parameters"] = json!(parameter_names);
        }
        let next = transition.target.0 + 1;
        let head = match (made.made_by[id].rule, ends) {
            (Rule(1 | 2 | 6), None) => format!("tr_ec{next}"),
            (_, Some(Ends::IncUcInSpec)) => "tr_INCucInSpec".to_owned(),
            (_, Some(Ends::IncUcInUspec)) => "tr_INCucInUspec".to_owned(),
            (_, Some(ends)) => format!("tr_{}", ends.name()),
            (_, None) => "tr".to_owned(),
        };
        let mut written = json!({
            "name": format!("{head}_{port}"),
            "timed_guard": guard(time_parts), "guard": guard(other_parts), "action": action_shown,
        });
        match ends {
            None => written["next"] = json!(format!("ec_{next}")),
            Some(ends) => written["verdict"] = json!(verdict_word(ends)),
        }
        written
    }

    /// Does the part compare the delay with TM or with 0?
    fn is_of_time(&self, part: &Term) -> bool {
        use coreach_model::term::node::Node;
        let delay = Term::datum(&self.made.timing.delay);
        let zero = Term::int(0).to_real();
        match part.node() {
            Node::Compare(Comparison::AtLeast, a, b) => {
                *a == delay && (*b == zero || *b == self.made.timing.silence_after)
            }
            Node::Compare(Comparison::Less, a, b) => *a == delay && *b == self.made.timing.silence_after,
            _ => false,
        }
    }

    /// Writes a guard as text, or as SMT-LIB commands with their declarations.
    fn write_guard(&self, guard: &Term) -> String {
        match self.guards {
            Guards::Text => guard.to_string(),
            Guards::SmtLib => {
                let terms = [guard.clone()];
                let mut lines = smtlib::declarations(&terms);
                let constraints = smtlib::type_constraints(&terms);
                lines.extend(constraints.iter().map(|constraint| format!("(assert {constraint})")));
                lines.push(format!("(assert {})", smtlib::term_to_smtlib(guard)));
                lines.concat()
            }
        }
    }
}

/// Gives the word of their tool for a verdict, with its spelling.
fn verdict_word(ends: Ends) -> &'static str {
    match ends {
        Ends::Pass => "PASS",
        Ends::FailOut => "FAIL_OUTPUT",
        Ends::FailDur => "FAIL_DURATION",
        Ends::IncOut => "INCONCLUSIVE_OUTPUT",
        Ends::IncDur => "INCONCLUSIVE_DURATION",
        Ends::IncUcInSpec => "INCONCLUSIVE_UNCROLLABLE_INPUT_SPECIFIED",
        Ends::IncUcInUspec => "INCONCLUSIVE_UNCROLLABLE_INPUT_UNSPECIFIED",
    }
}
