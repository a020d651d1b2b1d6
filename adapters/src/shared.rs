//! What several runs may share, and by which name it is known. One run at a time may use a name.
//!
//! **Problem.** Two runs at one system see each other's doings, and are both wrong about it. A system that
//! is started for each run at a free port belongs to this run alone. But a system at a fixed address is
//! shared, whoever starts it. So is the system to which a command speaks if an address is among its words,
//! as in a client of a broker.
//!
//! **Method.** The address is the name, whatever the way. With [`SharedRuns::Named`], the file gives the
//! name. With [`SharedRuns::Safe`], runs do not disturb each other, and there is no name.
//!
//! **Falls short**: an address within the program is not seen. Two names of one machine count as two, except
//! those of `localhost`.

use crate::address::{host_and_port, is_address, is_port, normalize};
use crate::template::Template;

/// What an IUT file says of runs at the same time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum SharedRuns {
    /// The file says nothing, so the address decides.
    #[default]
    ByAddress,
    /// They do not disturb each other.
    Safe,
    Named(String),
}

/// Names the system at an address. `None` if its port is chosen for each run.
pub fn system_at(address: &Template) -> Option<String> {
    let filled = address.fill(|hole| (hole != "port").then(|| format!("{{{hole}}}"))).ok()?;
    Some(normalize(&host_and_port(&filled)))
}

/// Names the system to which a command speaks, if its words or its environment have an address or a port.
pub fn system_of_command(words: &[Template], environment: &[(String, String)]) -> Option<String> {
    let keep_hole = |name: &str| Some(format!("{{{name}}}"));
    let words: Vec<String> = words.iter().filter_map(|word| word.fill(keep_hole).ok()).collect();
    let values = words.iter().chain(environment.iter().map(|(_, value)| value));
    if let Some(address) = values.flat_map(|value| value.split(['=', ',', ' '])).find(|part| is_address(part))
    {
        return Some(normalize(&host_and_port(address)));
    }
    let is_option = |word: &str| matches!(word, "-p" | "--port" | "-port");
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let pair = pairs.find(|(option, port)| is_option(option) && is_port(port));
    let joined = || words.iter().find_map(|word| word.strip_prefix("--port=").filter(|port| is_port(port)));
    let port = pair.map(|(_, port)| port.as_str()).or_else(joined)?;
    Some(normalize(&format!("localhost:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Option<String> {
        let words: Vec<Template> = words.iter().map(|word| Template::fixed(word)).collect();
        system_of_command(&words, &[])
    }

    #[test]
    fn the_address_in_a_command_is_what_its_runs_share() {
        let at = |name: &str| Some(name.to_owned());
        assert_eq!(command(&["python3", "client.py", "Broker.example:1883"]), at("broker.example:1883"));
        assert_eq!(command(&["client", "--url=mqtt://localhost:1883/topic"]), at("127.0.0.1:1883"));
        assert_eq!(command(&["client", "-h", "localhost", "-p", "1883"]), at("127.0.0.1:1883"));
        assert_eq!(command(&["client", "--port=1883"]), at("127.0.0.1:1883"));
        assert_eq!(command(&["client", "https://shop.example/path"]), at("shop.example:443"));
        for private in [
            &["python3", "sut.py"][..],
            &["sut", "-p", "fast"],
            &["sut", "a:b"],
            &["sut", "1:99999"],
            &[":1"],
        ] {
            assert_eq!(command(private), None, "{private:?}");
        }
    }
}
