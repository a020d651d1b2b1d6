//! What several runs may share, and by which name it is known: of one name, one run at a time.
//!
//! **Problem.** Two runs at one system see each other's doings, and are both wrong about it. A system that
//! is brought up for each run at a free port is nobody else's; one that is reached at an address that stands
//! in the file is, whoever brings it up, and so is what a command speaks to whose words name an address: a
//! client of a broker, for instance.
//!
//! **Method.** The address is the name, whatever the way. Where the file says [`Shared::Named`], that is;
//! where it says [`Shared::Safe`], runs do not disturb each other, and there is none.
//!
//! **Falls short**: an address that stands in the program is not seen, and two names of one machine are two,
//! but for `localhost`.

use crate::address::{host_and_port, is_address, is_port, of_address};
use crate::template::Template;

/// What an IUT file says of runs at the same time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Shared {
    /// Nothing: the address tells.
    #[default]
    ByAddress,
    /// They do not disturb each other.
    Safe,
    Named(String),
}

/// The name of what is at an address. None where its port is chosen for each run.
pub fn at(address: &Template) -> Option<String> {
    let filled = address.fill(|hole| (hole != "port").then(|| format!("{{{hole}}}"))).ok()?;
    Some(of_address(&host_and_port(&filled)))
}

/// The name of what a command speaks to, where its words or its environment tell.
pub fn of_command(words: &[Template], environment: &[(String, String)]) -> Option<String> {
    let hole = |hole: &str| Some(format!("{{{hole}}}"));
    let words: Vec<String> = words.iter().filter_map(|word| word.fill(hole).ok()).collect();
    let values = words.iter().chain(environment.iter().map(|(_, value)| value));
    let parts = values.flat_map(|value| value.split(['=', ',', ' ']));
    let named = parts.filter(|part| is_address(part)).map(|part| of_address(&host_and_port(part))).next();
    named.or_else(|| {
        let is_option = |word: &str| matches!(word, "-p" | "--port" | "-port");
        let mut pairs = words.iter().zip(words.iter().skip(1));
        let pair = pairs.find(|(option, port)| is_option(option) && is_port(port));
        let port = pair.map(|(_, port)| port.as_str());
        let port = port.or_else(|| {
            words.iter().find_map(|word| word.strip_prefix("--port=").filter(|port| is_port(port)))
        });
        port.map(|port| of_address(&format!("localhost:{port}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Option<String> {
        let words: Vec<Template> = words.iter().map(|word| Template::fixed(word)).collect();
        of_command(&words, &[])
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
