//! Composes several machines of XLIA to one model, in parallel, like the parts of a specification.
//!
//! **Method.** Each machine is translated by itself. A rendezvous is one action with the name of the port
//! that sends. A port that is connected to the environment is an action with the port's name. If two machines
//! have ports of one name, the machine's name comes before it. Data that two machines have get a number. The
//! models are composed ([`coreach_model::timed::composed`]). Machines take a common action at the same time,
//! and any other action alone. A message from one machine to another is a visible output of the whole.
//!
//! **Not** translated: connections with a memory (buffers, broadcast), a port in two connections or in none.
//!
//! **Cost**: the reachable pairs of states.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::Datum;
use coreach_model::compose::{Incompatible, MOST};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::collect::{Collector, inventory};
use coreach_model::timed::composed::ComposedPart;
use coreach_model::types::Type;

use super::parse::{Machine, Name, Plug, XliaConnection, XliaSystem};
use super::translate::translate;
use crate::finish::Model;
use crate::options::Options;

/// Makes the model of all machines. `None` after a mistake, which has been reported.
pub fn join_machines(collector: &mut Collector, options: &Options, system: &mut XliaSystem) -> Option<Model> {
    let errors = collector.errors();
    name_actions_of_ports(collector, system);
    if collector.errors() > errors {
        return None;
    }
    let mut unknown = options.uncontrollable.clone();
    let inputs = |machine: &Machine| -> BTreeSet<String> {
        machine.ports.iter().filter(|port| port.is_input).map(|port| port.name.text.clone()).collect()
    };
    let own: Vec<BTreeSet<String>> = system.machines.iter().map(inputs).collect();
    unknown.retain(|name| own.iter().all(|inputs| !inputs.contains(name)));
    let mut taken = BTreeSet::new();
    let mut whole: Option<MachinePart> = None;
    for (machine, inputs) in system.machines.iter().zip(&own) {
        // A name that no machine has is given to the first machine, which reports it.
        let mut uncontrollable = std::mem::take(&mut unknown);
        uncontrollable.extend(options.uncontrollable.iter().filter(|name| inputs.contains(*name)).cloned());
        let options = Options { uncontrollable, ..options.clone() };
        let model = translate(collector, &options, machine, &system.name, &taken)?;
        taken.extend(data_names(&model));
        whole = Some(match whole {
            None => MachinePart::from(model),
            Some(whole) => compose_two(collector, whole, MachinePart::from(model), &machine.name)?,
        });
    }
    let MachinePart { graph, types, open } = whole?;
    let (iosts, clocks, uncontrollable) = graph.apart();
    Some(Model { iosts, types, time: Some((clocks, uncontrollable)), open })
}

/// The names of data, types and literals, which the machines after it must not use. Actions may be shared.
fn data_names(model: &Model) -> impl Iterator<Item = String> {
    let iosts = &model.iosts;
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let clocks = model.time.iter().flat_map(|(clocks, _)| &clocks.clocks);
    let data = iosts.variables.iter().chain(&iosts.constants).chain(parameters).chain(clocks);
    let literals = model.types.iter().flat_map(|(name, ty)| match ty {
        Type::Enum(enumeration) => [vec![name.clone()], enumeration.literals.clone()].concat(),
        _ => vec![name.clone()],
    });
    data.map(|datum| datum.name().to_owned()).chain(literals)
}

/// The number of a machine, and the number of one of its ports.
type PortPlace = (usize, usize);

/// Finds the action of each port by the connections. Each port must be connected once.
fn name_actions_of_ports(collector: &mut Collector, system: &mut XliaSystem) {
    let XliaSystem { machines, connections, .. } = system;
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, machine) in machines.iter().enumerate() {
        if known.insert(&machine.name.text, place).is_some() {
            let message = format!("two machines are called `{}`", machine.name.text);
            collector.error("duplicate-declaration", message, &machine.name.span, "the second one");
        }
    }
    // The action of each port. First all of them have the machine's name before them.
    let mut actions: BTreeMap<PortPlace, String> = BTreeMap::new();
    // Each connected port, with the action of its rendezvous, and its name there.
    let mut plugged: Vec<(PortPlace, Option<String>, Name)> = Vec::new();
    for XliaConnection { is_rendezvous, plugs, span } in connections.iter() {
        let ports: Vec<_> = plugs.iter().map(|plug| find_port(collector, machines, &known, plug)).collect();
        let senders: Vec<&Plug> = plugs.iter().filter(|plug| !plug.is_input).collect();
        let action = match (is_rendezvous, senders.as_slice()) {
            (false, _) => None,
            (true, [sender]) if plugs.len() > 1 => {
                Some(format!("{}.{}", sender.machine.text, sender.port.text))
            }
            (true, _) => {
                let message = "a rendezvous needs one port that sends, and others that receive";
                collector.error("contradiction", message, span, "not the case here");
                continue;
            }
        };
        for (plug, port) in plugs.iter().zip(ports) {
            plugged.extend(port.map(|place| (place, action.clone(), plug.port.clone())));
        }
    }
    for (machine_number, machine) in machines.iter().enumerate() {
        for (number, port) in machine.ports.iter().enumerate() {
            if machine.outside.contains(&port.name.text) {
                plugged.push(((machine_number, number), None, port.name.clone()));
            }
        }
    }
    for ((machine_number, number), action, name) in plugged {
        let machine = &machines[machine_number];
        let own = || format!("{}.{}", machine.name.text, machine.ports[number].name.text);
        if actions.insert((machine_number, number), action.unwrap_or_else(own)).is_some() {
            let message = format!("the port `{}` is connected twice", name.text);
            collector.error("contradiction", message, &name.span, "the second time");
        }
    }
    let all: BTreeSet<&String> = actions.values().collect();
    // `Machine.port` becomes `port`, if no other machine has such a port.
    let short = |action: &str| action.split_once('.').map_or(action, |(_, port)| port).to_owned();
    let is_alone = |action: &str| all.iter().filter(|other| short(other) == short(action)).count() == 1;
    let name = |action: &str| if is_alone(action) { short(action) } else { action.to_owned() };
    let names: BTreeMap<_, _> = all.iter().map(|action| ((*action).clone(), name(action))).collect();
    for (machine_number, machine) in machines.iter_mut().enumerate() {
        for (number, port) in machine.ports.iter_mut().enumerate() {
            port.action = actions.get(&(machine_number, number)).map(|action| names[action].clone());
            if port.action.is_none() {
                let message = format!("no connection has the port `{}`", port.name.text);
                collector.error("contradiction", message, &port.name.span, "not connected");
            }
        }
    }
}

/// Finds the numbers of the machine and the port that a connection names.
fn find_port(
    collector: &mut Collector,
    machines: &[Machine],
    known: &BTreeMap<&str, usize>,
    plug: &Plug,
) -> Option<PortPlace> {
    let Some(machine) = known.get(plug.machine.text.as_str()) else {
        let message = format!("there is no machine `{}`", plug.machine.text);
        let diagnostic = Diagnostic::error("unknown-name", message)
            .at(collector.origin(&plug.machine.span), "no such machine");
        collector.push(diagnostic.help(inventory("machines", known.keys().copied())));
        return None;
    };
    let ports = &machines[*machine].ports;
    let port = ports.iter().position(|port| port.name.text == plug.port.text);
    match port {
        None => {
            let message = format!("`{}` has no port `{}`", plug.machine.text, plug.port.text);
            let diagnostic = Diagnostic::error("unknown-name", message)
                .at(collector.origin(&plug.port.span), "not declared");
            let all = ports.iter().map(|port| port.name.text.as_str());
            collector.push(diagnostic.help(inventory("ports", all)));
        }
        Some(port) if ports[port].is_input != plug.is_input => {
            let message = format!("the port `{}` has the other direction", plug.port.text);
            collector.error("contradiction", message, &plug.port.span, "not this direction");
        }
        Some(_) => {}
    }
    port.map(|port| (*machine, port))
}

struct MachinePart {
    graph: ComposedPart,
    types: Vec<(String, Type)>,
    open: Vec<Datum>,
}

impl From<Model> for MachinePart {
    fn from(model: Model) -> Self {
        let Model { iosts, types, time, open } = model;
        MachinePart { graph: ComposedPart::of(iosts, time), types, open }
    }
}

/// Composes two parts, or reports why they do not fit. `name` is the second machine.
fn compose_two(
    collector: &mut Collector,
    first: MachinePart,
    second: MachinePart,
    name: &Name,
) -> Option<MachinePart> {
    match first.graph.with(&first.graph.iosts.name, &second.graph) {
        Ok(graph) => Some(MachinePart {
            graph,
            types: [first.types, second.types].concat(),
            open: [first.open, second.open].concat(),
        }),
        Err(reasons) => {
            for why in reasons {
                let label = "this machine and those before it";
                collector.error("incompatible-parts", explain_incompatible(&why), &name.span, label);
            }
            None
        }
    }
}

fn explain_incompatible(why: &Incompatible) -> String {
    match why {
        Incompatible::BothSend(action) => format!("two machines send `{action}`"),
        Incompatible::InternalAndVisible(action) => {
            format!("`{action}` is an internal action of one machine and a visible action of another")
        }
        Incompatible::Signatures(action, types, other_types) => {
            format!("`{action}` carries ({types}) in one machine and ({other_types}) in another")
        }
        Incompatible::SameName(name) => format!("two machines have something called `{name}`"),
        Incompatible::TooMany => {
            format!("the machines together have more than {MOST} states or transitions")
        }
    }
}
