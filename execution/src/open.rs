//! Makes the adapter that an IUT file describes. This is the one place that knows all adapters.

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

/// An adapter that has not started anything yet.
enum NewAdapter {
    /// A model. Its solver belongs to this thread.
    Here(Box<dyn Adapter>),
    /// A way to another system. Any thread may use it.
    Elsewhere(Box<dyn Adapter + Send>),
}

/// Makes the adapter of a description. It starts nothing yet.
pub fn open(iut: &Iut) -> Box<dyn Adapter> {
    match make_adapter(iut) {
        NewAdapter::Here(adapter) => adapter,
        NewAdapter::Elsewhere(adapter) => adapter,
    }
}

fn make_adapter(iut: &Iut) -> NewAdapter {
    NewAdapter::Elsewhere(match &iut.way {
        Transport::Simulated(model) => {
            let simulated = Simulated::new(model.iosts.clone(), Lazy::default());
            return NewAdapter::Here(Box::new(InProcess(simulated.completed(model.completion))));
        }
        Transport::SimulatedTimed(model) => {
            return NewAdapter::Here(Box::new(TimedSystem::new((**model).clone(), Lazy::default())));
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

/// Adapters of implementations that outlive runs, while no run uses them, by a number of each implementation.
/// Such a system's adapter is kept: it knows what the last run left under way ([`coreach_adapters::system`]).
#[derive(Default)]
pub struct Links(Mutex<HashMap<usize, Vec<Box<dyn Adapter + Send>>>>);

impl Links {
    /// Does work with the adapter of an implementation: one that was kept, or a new one.
    pub fn with<R>(&self, number: usize, iut: &Iut, work: impl FnOnce(&mut dyn Adapter) -> R) -> R {
        let kept = || lock(&self.0);
        if !iut.way.outlives_runs() {
            return work(open(iut).as_mut());
        }
        let free = kept().get_mut(&number).and_then(Vec::pop);
        match free.map_or_else(|| make_adapter(iut), NewAdapter::Elsewhere) {
            NewAdapter::Here(mut adapter) => work(adapter.as_mut()),
            NewAdapter::Elsewhere(mut adapter) => {
                let result = work(adapter.as_mut());
                kept().entry(number).or_default().push(adapter);
                result
            }
        }
    }
}
