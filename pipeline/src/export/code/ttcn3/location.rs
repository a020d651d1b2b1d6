//! What is done at one location: a stimulus is sent, what comes is taken, silence is looked at.

use std::fmt::Write;

use coreach_model::iosts::Transition;
use coreach_model::{ActionId, ActionKind, Datum, LocationId, TransitionId, Verdict};

use super::super::Scope;
use super::terms::TtcnMessage;
use super::{ALWAYS, Module, told};
use crate::artifact::Mark;

impl Module<'_> {
    /// What a transition does: its assignments, at once, and where it leads.
    fn taken(&mut self, transition: &Transition, message: TtcnMessage<'_>, indent: &str) -> String {
        let mut out = String::new();
        for (number, (variable, value)) in transition.assignments.iter().enumerate() {
            let ty = self.types.of(variable.ty(), &mut self.words);
            let value = self.term(value, message);
            let _ = writeln!(out, "{indent}var {ty} new_{number} := {value};");
        }
        for (number, (variable, _)) in transition.assignments.iter().enumerate() {
            let _ =
                writeln!(out, "{indent}{} := new_{number};", self.words.of(Scope::Datum, variable.name()));
        }
        let _ = writeln!(out, "{indent}v_location := {};", self.place(transition.target));
        out
    }

    pub fn location(
        &mut self,
        at: LocationId,
        leaving: &[TransitionId],
        observations: &[ActionId],
    ) -> String {
        let iosts = self.iosts;
        let name = self.place(at);
        let label = told(&iosts.location(at).label);
        let of_kind = |kind: ActionKind| -> Vec<&Transition> {
            let all = leaving.iter().map(|number| &iosts.transitions[*number]);
            all.filter(|one| iosts.action(one.action).kind == kind).collect()
        };
        let (sent, seen, quiet) =
            (of_kind(ActionKind::Input), of_kind(ActionKind::Output), of_kind(ActionKind::Quiescence));
        let mut out = format!("\n  // {label}\n");
        let mut senders = Vec::new();
        for (number, transition) in sent.iter().enumerate() {
            let sender = format!("send_{name}_{number}");
            out.push_str(&self.sender(&sender, transition));
            senders.push(sender);
        }
        out.push_str(&self.observer(&name, &label, &seen, observations));
        out.push_str(&self.silence(&name, &label, &quiet));
        let welcome = seen.iter().any(|one| {
            !matches!(self.view.mark(one.target), Some(Mark::Verdict(Verdict::Fail | Verdict::Inconclusive)))
        });
        let patient = match welcome {
            true => "    if (rnd() < 0.25) { waited := h_least(tsp_patience, tsp_quiescence); }\n",
            false => "",
        };
        let idles = self.idles(&name, &quiet);
        let mut tries = String::new();
        if !senders.is_empty() {
            let count = senders.len();
            let _ = writeln!(tries, "    var integer first := h_below({count});");
            let _ = writeln!(tries, "    for (var integer i := 0; i < {count}; i := i + 1) {{");
            for (number, sender) in senders.iter().enumerate() {
                let _ = writeln!(
                    tries,
                    "      if ((i + first) mod {count} == {number}) {{ if ({sender}()) {{ return; }} }}"
                );
            }
            tries.push_str("    }\n");
        }
        let does = if senders.is_empty() {
            format!("    if (observe_{name}(tsp_quiescence)) {{ return; }}\n")
        } else {
            format!(
                "    var float waited := 0.0;\n{idles}{patient}    // What has arrived comes first.\n    if (observe_{name}(waited)) {{ return; }}\n{tries}    if (observe_{name}(tsp_quiescence - waited)) {{ return; }}\n"
            )
        };
        let _ = write!(
            out,
            "  function at_{name}() runs on Tester {{\n    v_without := \"\";\n{does}    silence_{name}();\n  }}\n"
        );
        out
    }

    fn sender(&mut self, sender: &str, transition: &Transition) -> String {
        let action = self.iosts.action(transition.action);
        let record = self.words.of(Scope::Action, &action.name);
        let parameters: &[Datum] = &action.parameters;
        let typed = self.typed(action, "m");
        let guard = self.term(&transition.guard, Some(("m", parameters)));
        let taken = self.taken(transition, Some(("m", parameters)), "    ");
        let (mut lists, mut loops, mut ends) = (String::new(), String::new(), String::new());
        let mut indent = "    ".to_owned();
        for (number, datum) in parameters.iter().enumerate() {
            let ty = self.types.of(datum.ty(), &mut self.words);
            self.types.listed(&ty);
            let candidates = self.candidates(transition, datum, parameters);
            let field = self.words.of(Scope::Field, datum.name());
            let _ = writeln!(lists, "    var ListOf_{ty} c{number} := {{ {} }};", candidates.join(", "));
            let _ = writeln!(lists, "    var integer o{number} := h_below(lengthof(c{number}));");
            let _ = writeln!(
                loops,
                "{indent}for (var integer i{number} := 0; i{number} < lengthof(c{number}); i{number} := i{number} + 1) {{"
            );
            let _ = writeln!(
                loops,
                "{indent}  m.{field} := c{number}[(i{number} + o{number}) mod lengthof(c{number})];"
            );
            ends.insert_str(0, &format!("{indent}}}\n"));
            indent.push_str("  ");
        }
        format!(
            r#"  function may_{sender}({record} m) runs on Tester return boolean {{
    return {may};
  }}
  function now_{sender}({record} m) runs on Tester {{
    p.send(m);
    v_steps := v_steps + 1;
    v_silent := false;
{taken}  }}
  function {sender}() runs on Tester return boolean {{
    var {record} m{begin};
    for (var integer i := 0; i < lengthof(tsp_{record}); i := i + 1) {{
      m := tsp_{record}[i];
      if (may_{sender}(m)) {{ now_{sender}(m); return true; }}
    }}
{lists}{loops}{indent}if (may_{sender}(m)) {{ now_{sender}(m); return true; }}
{ends}    v_without := v_without & " {told}";
    return false;
  }}
"#,
            begin = if parameters.is_empty() { " := {}" } else { "" },
            may = if typed == ALWAYS { guard } else { format!("({typed}) and {guard}") },
            told = told(&action.name),
        )
    }

    fn observer(
        &mut self,
        name: &str,
        label: &str,
        seen: &[&Transition],
        observations: &[ActionId],
    ) -> String {
        let mut messages = String::new();
        let mut alternatives = String::new();
        for (number, id) in observations.iter().enumerate() {
            let action = self.iosts.action(*id);
            let record = self.words.of(Scope::Action, &action.name);
            let message = format!("m{number}");
            let _ = writeln!(messages, "    var {record} {message};");
            let what = told(&action.name);
            let _ = writeln!(alternatives, "      [] p.receive({record}:?) -> value {message} {{");
            alternatives
                .push_str("        t.stop;\n        v_steps := v_steps + 1;\n        v_silent := false;\n");
            // What leads to Fail is what nothing else takes.
            let others =
                seen.iter().copied().filter(|one| one.action == *id && !self.view.is_fail(one.target));
            let others: Vec<&Transition> = others.collect();
            let mut branches = Vec::new();
            let typed = self.typed(action, &message);
            if typed != ALWAYS && !others.is_empty() {
                branches.push((
                    format!("not ({typed})"),
                    format!("          h_fail(\"{what} with a value outside its type in {label}\");\n"),
                ));
            }
            for transition in others {
                let parameters: &[Datum] = &action.parameters;
                let guard = self.term(&transition.guard, Some((&message, parameters)));
                let mut does = self.taken(transition, Some((&message, parameters)), "          ");
                if self.view.mark(transition.target) == Some(Mark::Verdict(Verdict::Inconclusive)) {
                    does +=
                        &format!("          h_why(\"{what} in {label} puts the purpose out of reach\");\n");
                }
                branches.push((guard, does));
            }
            branches.push((
                ALWAYS.to_owned(),
                format!("          h_fail(\"{what} is not allowed in {label}\");\n"),
            ));
            alternatives.push_str(&chosen(&branches));
            alternatives.push_str("        return true;\n      }\n");
        }
        if !observations.is_empty() {
            let why = format!("what came in {label} is no output of the specification");
            let _ =
                writeln!(alternatives, "      [] p.receive {{ t.stop; h_fail(\"{why}\"); return true; }}");
        }
        format!(
            "  function observe_{name}(float seconds) runs on Tester return boolean {{\n{messages}    t.start(seconds);\n    alt {{\n{alternatives}      [] t.timeout {{ }}\n    }}\n    return false;\n  }}\n"
        )
    }

    /// Is silence by this transition a verdict, or does it lead elsewhere?
    fn decides(&self, quiet: &Transition) -> bool {
        match self.view.mark(quiet.target) {
            Some(Mark::Verdict(verdict)) => verdict != Verdict::Inconclusive,
            _ => quiet.target != quiet.source,
        }
    }

    /// By lot, a wait until it is silence where that decides.
    fn idles(&mut self, name: &str, quiet: &[&Transition]) -> String {
        let mut guards = Vec::new();
        for one in quiet {
            if self.decides(one) {
                guards.push(format!("({})", self.term(&one.guard, None)));
            }
        }
        if guards.is_empty() {
            return String::new();
        }
        format!(
            "    if (({}) and rnd() < 0.25) {{\n      if (observe_{name}(tsp_quiescence)) {{ return; }}\n      silence_{name}();\n      return;\n    }}\n",
            guards.join(" or ")
        )
    }

    fn silence(&mut self, name: &str, label: &str, quiet: &[&Transition]) -> String {
        let mut out = format!("  function silence_{name}() runs on Tester {{\n");
        for transition in quiet {
            let guard = self.term(&transition.guard, None);
            let taken = self.taken(transition, None, "      ");
            let why = match self.view.mark(transition.target) {
                Some(Mark::Verdict(Verdict::Fail)) => {
                    format!("      h_why(\"silence is not allowed in {label}\");\n")
                }
                Some(Mark::Verdict(Verdict::Inconclusive)) => {
                    format!("      h_why(\"silence in {label}\");\n")
                }
                _ => String::new(),
            };
            // One more silence that leads nowhere tells nothing.
            let new = if self.decides(transition) { "" } else { "not v_silent and " };
            let _ = write!(
                out,
                "    if ({new}{guard}) {{\n      v_silent := true;\n{taken}{why}      return;\n    }}\n"
            );
        }
        let _ = write!(out, "    h_inconc(\"silence in {label}\");\n  }}\n");
        out
    }
}

/// The first of these whose condition holds, up to one that always does.
fn chosen(branches: &[(String, String)]) -> String {
    let mut out = String::new();
    for (number, (condition, does)) in branches.iter().enumerate() {
        if condition == ALWAYS && number == 0 {
            // No block is needed.
            return does.lines().map(|line| format!("{}\n", line.replacen("  ", "", 1))).collect();
        }
        let otherwise = if number == 0 { "        " } else { " else " };
        let when = if condition == ALWAYS { String::new() } else { format!("if ({condition}) ") };
        let _ = write!(out, "{otherwise}{when}{{\n{does}        }}");
        if condition == ALWAYS {
            break;
        }
    }
    out.push('\n');
    out
}
