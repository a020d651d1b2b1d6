//! From what an IUT file says to the adapter that does it: the one place that knows all adapters.

use coreach_adapters::Adapter;
use coreach_adapters::description::{Iut, Way};
use coreach_adapters::http::HttpAdapter;
use coreach_adapters::in_process::InProcess;
use coreach_adapters::stdio::StdioAdapter;
use coreach_adapters::tcp::TcpAdapter;
use coreach_analyses::solver::Solver;

use crate::simulated::Simulated;
use crate::timed::simulated::TimedSystem;

/// The adapter of a description. Nothing is started yet. `solver` is asked for only where the implementation is a model,
/// which needs one to choose its outputs' values.
pub fn open<S: Solver + 'static>(iut: &Iut, solver: impl FnOnce() -> S) -> Box<dyn Adapter> {
    match &iut.way {
        Way::Simulated(model) => {
            let simulated = Simulated::new(model.iosts.clone(), solver());
            Box::new(InProcess(simulated.completed(model.completion)))
        }
        Way::SimulatedTimed(model) => Box::new(TimedSystem::new((**model).clone(), solver())),
        Way::Stdio(stdio) => {
            let adapter = StdioAdapter::new(stdio.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Way::Tcp(tcp) => {
            let adapter = TcpAdapter::new(tcp.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Way::Udp(udp) => {
            let adapter = TcpAdapter::of_datagrams(udp.clone(), iut.evidence.clone());
            Box::new(adapter.behaving(&iut.behaviour))
        }
        Way::Http(http) => {
            let adapter = HttpAdapter::new(http.clone(), iut.evidence.clone());
            Box::new(adapter.sharing(&iut.behaviour.shared))
        }
    }
}
