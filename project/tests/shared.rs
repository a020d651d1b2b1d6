//! What runs share goes by the address, or by what the IUT file says of it.

use std::path::Path;

use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_project::iut;

const MODEL: &str = "
iosts: m
locations: [A]
initial: { location: A }
outputs: { O: {} }
transitions: [{ from: A, to: A, on: O }]
";

fn model() -> Iosts {
    read_specification(from_bytes("m".to_owned(), MODEL.into()).unwrap()).unwrap().0.iosts
}

/// The name of what runs of this file share, or what is wrong with it.
fn shared(text: &str) -> Result<Option<String>, String> {
    let text = format!("iut: m\n{text}\n");
    let read = iut::read(from_bytes("iut".to_owned(), text.into()).unwrap(), Path::new("."), Some(&model()));
    read.map(|(iut, _)| iut.system()).map_err(|found| format!("{found:?}"))
}

#[test]
fn one_address_is_one_system_unless_the_file_says_so() {
    let launch = "launch: { command: [broker] }";
    let lines = "encoding: lines, observations: { O: o }";
    for (text, wanted) in [
        (format!("tcp: {{ address: \"localhost:1883\", {lines} }}"), Some("127.0.0.1:1883")),
        // Two of them would meet, though each run launches its own.
        (format!("tcp: {{ address: \"127.0.0.1:1883\", {launch}, {lines} }}"), Some("127.0.0.1:1883")),
        (format!("tcp: {{ address: \"127.0.0.1:{{port}}\", {launch}, {lines} }}"), None),
        (format!("tcp: {{ address: \"127.0.0.1:1883\", {lines} }}\nshared: safe"), None),
        (format!("tcp: {{ address: \"127.0.0.1:1883\", {lines} }}\nshared: broker"), Some("broker")),
        (
            format!("udp: {{ address: \"127.0.0.1:69\", {lines}, settle: {{ quiet_ms: 9 }} }}"),
            Some("127.0.0.1:69 (udp)"),
        ),
        (
            "http: { base: \"http://Shop.example/api\", observations: { O: { status: 200 } } }".to_owned(),
            Some("shop.example:80"),
        ),
        (
            "stdio: { command: [client, --broker, \"tcp://localhost:1883\"] }".to_owned(),
            Some("127.0.0.1:1883"),
        ),
        (
            "stdio: { command: [client], environment: { BROKER: \"localhost:1883\" } }".to_owned(),
            Some("127.0.0.1:1883"),
        ),
        ("stdio: { command: [client] }".to_owned(), None),
        ("stdio: { command: [client] }\nshared: broker".to_owned(), Some("broker")),
    ] {
        assert_eq!(shared(&text), Ok(wanted.map(str::to_owned)), "{text}");
    }
    let refused = shared("simulated: { model: m.yaml }\nshared: safe").unwrap_err();
    assert!(refused.contains("`shared` has no meaning"), "{refused}");
}
