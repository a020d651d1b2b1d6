//! Keepers of launched processes: the program started anew, as `coreach keep-processes`.

use coreach_adapters::keeper;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// The subcommand, which no help shows.
pub const SUBCOMMAND: &str = "keep-processes";

/// From now on, what is launched has such a keeper.
pub fn provide() {
    keeper::provide("/proc/self/exe".into(), vec![SUBCOMMAND.to_owned()]);
}

/// The other side: does the work of a keeper until the program that started it ends.
pub fn serve() -> Exit {
    // A signal to all of a service is one to that program, and the keeper ends with it.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register(signal, std::sync::Arc::default());
    }
    keeper::serve_standard_input().map_or(Exit::Environment, |()| Exit::Fine)
}
