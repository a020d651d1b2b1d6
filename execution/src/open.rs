//! From what an IUT file says to the adapter that does it: the one place that knows all adapters.

use std::collections::HashMap;
use std::sync::Mutex;

use coreach_adapters::Adapter;
use coreach_adapters::description::{Iut, Transport};
use coreach_adapters::http::HttpAdapter;
use coreach_adapters::in_process::InProcess;
use coreach_adapters::stdio::StdioAdapter;
use coreach_adapters::tcp::TcpAdapter;
use coreach_model::lock::lock;

use crate::lazy::Lazy;
use crate::simulated::Simulated;
use crate::timed::simulated::TimedSystem;

/// An adapter that nothing was started by yet.
enum Link {
    /// A model, which has a solver of its own thread.
    Here(Box<dyn Adapter>),
    Elsewhere(Box<dyn Adapter + Send>),
}

/// The adapter of a description. Nothing is started yet.
pub fn open(iut: &Iut) -> Box<dyn Adapter> {
    match link(iut) {
        Link::Here(adapter) => adapter,
        Link::Elsewhere(adapter) => adapter,
    }
}

fn link(iut: &Iut) -> Link {
    Link::Elsewhere(match &iut.way {
        Transport::Simulated(model) => {
            let simulated = Simulated::new(model.iosts.clone(), Lazy::default());
            return Link::Here(Box::new(InProcess(simulated.completed(model.completion))));
        }
        Transport::SimulatedTimed(model) => {
            return Link::Here(Box::new(TimedSystem::new((**model).clone(), Lazy::default())));
        }
        Transport::Stdio(stdio) => {
            let adapter = StdioAdapter::new(stdio.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Transport::Tcp(tcp) => {
            let adapter = TcpAdapter::new(tcp.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Transport::Udp(udp) => {
            let adapter = TcpAdapter::of_datagrams(udp.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Transport::Http(http) => {
            let adapter = HttpAdapter::new(http.clone(), iut.evidence.clone());
            Box::new(adapter.sharing(&iut.behaviour.shared))
        }
    })
}

/// Ways to implementations that outlive runs, those that no run uses now, by a number of each implementation.
/// What a run leaves under way to such a system the next one must know ([`coreach_adapters::system`]), so the
/// way to it is kept.
#[derive(Default)]
pub struct Links(Mutex<HashMap<usize, Vec<Box<dyn Adapter + Send>>>>);

impl Links {
    /// Uses a way to an implementation: one that was kept, or a new one.
    pub fn with<R>(&self, number: usize, iut: &Iut, work: impl FnOnce(&mut dyn Adapter) -> R) -> R {
        let kept = || lock(&self.0);
        if !iut.way.outlives_runs() {
            return work(open(iut).as_mut());
        }
        let free = kept().get_mut(&number).and_then(Vec::pop);
        match free.map_or_else(|| link(iut), Link::Elsewhere) {
            Link::Here(mut adapter) => work(adapter.as_mut()),
            Link::Elsewhere(mut adapter) => {
                let result = work(adapter.as_mut());
                kept().entry(number).or_default().push(adapter);
                result
            }
        }
    }
}
