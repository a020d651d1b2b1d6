//! A test case as a module of TTCN-3 (ETSI ES 201 873-1).
//!
//! **The shape.** A record for each action, a port that takes them, a component with the variables of the
//! test case, and for each location three functions: one that sends what may be sent, one that takes what
//! comes (an `alt`), one for silence. A guard is a Boolean expression over the message and the component's
//! variables. Symbolic constants are module parameters. The port is the user's: a test port for its messages,
//! or a mapping.
//!
//! **Values for stimuli.** TTCN-3 evaluates guards and solves none. For each stimulus there is a module
//! parameter with a list of values that come first, in its order; then candidates are gone through, begun at
//! a random place: what the guard compares the parameter with, and its neighbours, small numbers, all
//! literals. The first for which the guard holds is sent. Where none does, the stimulus is left out, and a
//! run that ends in silence for that is Inconclusive and says so.
//!
//! **The same verdicts** as our judge's: a message that no transition takes is a fail, one outside its type,
//! too; silence is inconc, or what a test of ioco says of it. Operations are total here: what a guard needs
//! to be defined stands in it (`coreach_model::obligation`).
//!
//! **What cannot be said** is refused: reals, which are exact here and floating there, and strings. **Texts**
//! in messages are of letters, digits and signs that nobody obeys.

mod location;
mod terms;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write;

use coreach_model::iosts::Action;
use coreach_model::term::node::{Comparison, Node};
use coreach_model::{ActionId, ActionKind, Datum, Iosts, LocationId, Term, Type, Value, Verdict};

use super::{Scope, Unsuited, Words, first_with, identifier, judged_by_its_graph};
use crate::artifact::Mark;
use crate::export::View;
use types::TtcnTypes;

/// A larger module is refused: its guards are written out, with what they share.
const MOST_PARTS: u64 = 2_000_000;

/// The module.
pub fn ttcn3(view: &View<'_>) -> Result<String, Unsuited> {
    judged_by_its_graph("ttcn3", view)?;
    sayable(view.iosts)?;
    Ok(Module::of(view).text())
}

fn sayable(iosts: &Iosts) -> Result<(), Unsuited> {
    let form = "ttcn3";
    let guards = iosts.transitions.iter().flat_map(|one| one.assignments.values().chain([&one.guard]));
    let terms = guards.chain([&iosts.initial_condition]);
    let size: u64 = terms.map(|term| term.written_size()).fold(0, u64::saturating_add);
    if size > MOST_PARTS {
        return Err(Unsuited {
            form,
            why: format!("its guards have {size} parts, and a module has at most {MOST_PARTS}"),
            instead: "take `python` or `rust`",
        });
    }
    type Refusal = (fn(&Type) -> bool, &'static str);
    let refused: [Refusal; 3] = [
        (|ty| *ty == Type::Real, "a real, which is exact here, and TTCN-3 has floating numbers only"),
        (|ty| *ty == Type::String, "a string, which this form does not translate"),
        (Type::is_id, "an id, which this form does not translate"),
    ];
    for (is_it, why) in refused {
        if let Some(name) = first_with(iosts, &is_it) {
            let why = format!("`{name}` has {why}");
            return Err(Unsuited { form, why, instead: "take `python` or `rust`" });
        }
    }
    Ok(())
}

struct Module<'a> {
    view: &'a View<'a>,
    iosts: &'a Iosts,
    words: Words,
    types: TtcnTypes,
}

/// What needs no question.
const ALWAYS: &str = "true";

/// Names of our own: none of the model's becomes one.
const OWN: [&str; 4] = ["v_location", "v_steps", "v_silent", "v_without"];

impl<'a> Module<'a> {
    fn of(view: &'a View<'a>) -> Self {
        Module { view, iosts: view.iosts, words: Words::without(&OWN), types: TtcnTypes::default() }
    }

    fn text(mut self) -> String {
        let iosts = self.iosts;
        let of_kind = |wanted: ActionKind| -> Vec<ActionId> {
            iosts.action_ids().filter(|id| iosts.action(*id).kind == wanted).collect()
        };
        let (stimuli, observations) = (of_kind(ActionKind::Input), of_kind(ActionKind::Output));
        let mut body = String::new();
        let parameters = self.parameters(&stimuli);
        for id in stimuli.iter().chain(&observations) {
            body.push_str(&self.message(iosts.action(*id)));
        }
        let names = |module: &mut Self, ids: &[ActionId]| -> String {
            ids.iter()
                .map(|id| module.words.of(Scope::Action, &iosts.action(*id).name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (sent, seen) = (names(&mut self, &stimuli), names(&mut self, &observations));
        // A port without messages is none.
        let out = if sent.is_empty() { String::new() } else { format!("out {sent}") };
        let between = if sent.is_empty() || seen.is_empty() { "" } else { "; " };
        let in_ = if seen.is_empty() { String::new() } else { format!("in {seen}") };
        let carried = match format!("{out}{between}{in_}") {
            none if none.is_empty() => "inout boolean".to_owned(),
            some => some,
        };
        let open: Vec<LocationId> = iosts
            .location_ids()
            .filter(|at| !matches!(self.view.mark(*at), Some(Mark::Verdict(_))))
            .collect();
        let all: Vec<LocationId> = iosts.location_ids().collect();
        let places: Vec<String> = all.iter().map(|at| self.place(*at)).collect();
        let _ = write!(
            body,
            r#"
  // The way to the implementation: what it takes, and what it sends.
  type port ImplementationPort message {{ {carried} }}
  type component System {{ port ImplementationPort p }}
  type enumerated Location {{ {} }}
  type component Tester {{
    port ImplementationPort p;
    timer t;
    var Location v_location;
    var integer v_steps := 0;
    var boolean v_silent := false;
    var charstring v_without := "";
{}  }}
{}
"#,
            places.join(", "),
            self.variables(),
            HELPERS
        );
        for id in &stimuli {
            let action = self.words.of(Scope::Action, &iosts.action(*id).name);
            let _ = writeln!(body, "  type record of {action} List_{action};");
        }
        let outgoing = iosts.outgoing();
        for at in &open {
            body.push_str(&self.location(*at, &outgoing[*at], &observations));
        }
        body.push_str(&self.test_case(&all));
        format!(
            "// The test case {}, made by coreach {}.\n// Values of stimuli: lists in module parameters come first, then candidates that the guard is asked about.\nmodule TestCase_{} {{\n{}\n{}{body}}}\n",
            told(&iosts.name),
            env!("CARGO_PKG_VERSION"),
            identifier(&iosts.name),
            self.types.lines,
            parameters,
        )
    }

    fn place(&mut self, at: LocationId) -> String {
        self.words.of(Scope::Location, &self.iosts.location(at).name)
    }

    fn message(&mut self, action: &Action) -> String {
        let name = self.words.of(Scope::Action, &action.name);
        let mut fields = Vec::new();
        for datum in &action.parameters {
            let ty = self.types.of(datum.ty(), &mut self.words);
            fields.push(format!("{ty} {}", self.words.of(Scope::Field, datum.name())));
        }
        format!("  type record {name} {{ {} }}\n", fields.join(", "))
    }

    /// The module's parameters: times, constants, variables that the initial condition leaves open, lists of
    /// stimuli.
    fn parameters(&mut self, stimuli: &[ActionId]) -> String {
        let mut out = String::from(
            "  modulepar float tsp_quiescence := 1.0;  // seconds without a message that are silence\n  \
             modulepar float tsp_patience := 0.02;  // seconds of a wait where a stimulus could be sent as well\n  \
             modulepar integer tsp_steps := 1000;  // the most events\n  modulepar float tsp_seed := 1.0;  // of all choices\n",
        );
        let determined = self.determined();
        let known: BTreeSet<&Datum> = determined.iter().map(|(datum, _)| datum).collect();
        let open = self.iosts.variables.iter().filter(|datum| !known.contains(datum));
        let given: Vec<Datum> = self.iosts.constants.iter().chain(open).cloned().collect();
        for datum in &given {
            let (ty, name) =
                (self.types.of(datum.ty(), &mut self.words), self.words.of(Scope::Datum, datum.name()));
            let value = self.types.literal(&Value::any(datum.ty()), &mut self.words);
            let _ = writeln!(out, "  modulepar {ty} tsp_{name} := {value};");
        }
        for id in stimuli {
            let action = self.words.of(Scope::Action, &self.iosts.action(*id).name);
            let _ = writeln!(out, "  modulepar List_{action} tsp_{action} := {{}};");
        }
        out
    }

    /// The variables that a conjunct of the initial condition gives a value, in the order in which they can
    /// be computed.
    fn determined(&self) -> Vec<(Datum, Term)> {
        let mut found: Vec<(Datum, Term)> = Vec::new();
        let conjuncts = self.iosts.initial_condition.conjuncts();
        loop {
            let is_known = |datum: &Datum| {
                self.iosts.constants.contains(datum) || found.iter().any(|(known, _)| known == datum)
            };
            let new = conjuncts.iter().find_map(|conjunct| {
                let pair = match conjunct.node() {
                    Node::Compare(Comparison::Equal, a, b) => {
                        [(a, b), (b, a)].into_iter().find_map(|(a, b)| {
                            let datum = a.as_datum().filter(|datum| !is_known(datum))?;
                            b.data().iter().all(is_known).then(|| (datum.clone(), b.clone()))
                        })
                    }
                    Node::Data(flag) => Some((flag.clone(), Term::yes())),
                    Node::Not(inner) => Some((inner.as_datum()?.clone(), Term::literal(Value::Bool(false)))),
                    _ => None,
                };
                pair.filter(|(datum, _)| self.iosts.variables.contains(datum) && !is_known(datum))
            });
            match new {
                Some(new) => found.push(new),
                None => return found,
            }
        }
    }

    fn variables(&mut self) -> String {
        let mut out = String::new();
        for datum in &self.iosts.variables {
            let (ty, name) =
                (self.types.of(datum.ty(), &mut self.words), self.words.of(Scope::Datum, datum.name()));
            let _ = writeln!(out, "    var {ty} {name};");
        }
        out
    }

    fn test_case(&mut self, all: &[LocationId]) -> String {
        let mut begin = String::new();
        let determined = self.determined();
        for datum in &self.iosts.variables {
            if !determined.iter().any(|(known, _)| known == datum) {
                let name = self.words.of(Scope::Datum, datum.name());
                let _ = writeln!(begin, "    {name} := tsp_{name};");
            }
        }
        for (datum, value) in &determined {
            let value = self.term(value, None);
            let _ = writeln!(begin, "    {} := {value};", self.words.of(Scope::Datum, datum.name()));
        }
        let mut allowed = vec![self.term(&self.iosts.initial_condition, None)];
        for datum in self.iosts.constants.iter().chain(&self.iosts.variables) {
            let text = self.datum(datum, None);
            allowed.extend(self.types.inside(datum.ty(), &text));
        }
        let mut places = String::new();
        for at in all {
            let name = self.place(*at);
            let does = match self.view.mark(*at) {
                Some(Mark::Verdict(Verdict::Pass | Verdict::WeakPass)) => {
                    "setverdict(pass); break;".to_owned()
                }
                Some(Mark::Verdict(Verdict::Inconclusive)) => "setverdict(inconc); break;".to_owned(),
                Some(Mark::Verdict(Verdict::Fail)) => "setverdict(fail); break;".to_owned(),
                _ => format!("at_{name}();"),
            };
            let _ = writeln!(places, "      else if (v_location == {name}) {{ {does} }}");
        }
        let initial = self.place(self.iosts.initial);
        format!(
            r#"
  testcase TC() runs on Tester system System {{
    map(mtc:p, system:p);
    var float first := rnd(tsp_seed);
{begin}    v_location := {initial};
    if (not ({allowed})) {{ h_inconc("the module parameters do not satisfy the initial condition"); }}
    while (getverdict == none) {{
      if (v_steps >= tsp_steps) {{ h_inconc("the run ended at its limit of events"); }}
{places}    }}
    unmap(mtc:p, system:p);
  }}

  control {{ execute(TC()); }}
"#,
            allowed = allowed.join(" and "),
        )
    }
}

const HELPERS: &str = r#"
  // `div` and `mod` are Euclidean: the remainder is never negative. A guard never lets a divisor of 0 come to them.
  function h_abs(integer a) return integer { if (a < 0) { return -a; } return a; }
  function h_mod(integer a, integer b) return integer { if (b == 0) { return 0; } return a mod h_abs(b); }
  function h_div(integer a, integer b) return integer { if (b == 0) { return 0; } return (a - h_mod(a, b)) / b; }
  function h_least(float a, float b) return float { if (a < b) { return a; } return b; }
  function h_below(integer bound) return integer {
    var integer drawn := float2int(rnd() * int2float(bound));
    if (drawn >= bound) { return bound - 1; }
    return drawn;
  }
  function h_fail(charstring why) runs on Tester { setverdict(fail, why); }
  function h_why(charstring why) runs on Tester { log(why); }
  function h_inconc(charstring why) runs on Tester {
    if (v_without == "") { setverdict(inconc, why); }
    else { setverdict(inconc, why & "; no values were found for" & v_without); }
  }
"#;

/// A text for people, of signs that neither a text nor a comment of TTCN-3 obeys.
fn told(plain: &str) -> String {
    const HARMLESS: &str = " _<>,.;()[]{}=+-*!&|:";
    let harmless = |sign: char| match sign {
        sign if sign.is_ascii_alphanumeric() || HARMLESS.contains(sign) => sign,
        _ => '?',
    };
    let text: String = plain.chars().map(harmless).collect();
    // Neither a comment begins in it nor ends.
    text.replace("*/", "??").replace("/*", "??").replace("//", "??")
}
