//! Keepers of launched processes: the program started anew, as `coreach keep-processes`.

use coreach_adapters::keeper;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// The subcommand, which no help shows.
pub const SUBCOMMAND: &str = "keep-processes";

/// Makes each process that is launched from now on have such a keeper.
pub fn provide() {
    keeper::provide("/proc/self/exe".into(), vec![SUBCOMMAND.to_owned()]);
}

/// The other side: does the work of a keeper until the program that started it ends.
pub fn serve() -> Exit {
    // A signal to all processes of a service is for that program. The keeper ends when it ends.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register(signal, std::sync::Arc::default());
    }
    keeper::serve_standard_input().map_or(Exit::Environment, |()| Exit::Fine)
}
