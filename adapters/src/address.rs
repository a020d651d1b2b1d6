//! Addresses as users write them: a host and a port, or the beginning of a page.

/// Returns host and port of an address, or of the beginning of a URL.
pub fn host_and_port(address: &str) -> String {
    let (rest, port) = match (address.strip_prefix("http://"), address.strip_prefix("https://")) {
        (Some(rest), _) => (rest, 80),
        (None, Some(rest)) => (rest, 443),
        (None, None) => return address.to_owned(),
    };
    let host = rest.split('/').next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { host.to_owned() } else { format!("{host}:{port}") }
}

pub fn host_of_address(address: &str) -> String {
    let address = host_and_port(address);
    address.rsplit_once(':').map_or(address.clone(), |(host, _)| host.to_owned())
}

/// Says whether a word is a host and a port, or the beginning of a page.
pub fn is_address(word: &str) -> bool {
    let is_page = word.starts_with("http://") || word.starts_with("https://");
    let address = word.split_once("://").map_or(word, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || ".-_[]:".contains(sign);
    let is_host = |host: &str| host.chars().all(is_sign) && host.chars().any(char::is_alphanumeric);
    is_page || address.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && is_port(port))
}

pub fn is_port(word: &str) -> bool {
    word.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Returns one spelling for an address: host and port in small letters, and one name for this machine.
pub fn normalize(address: &str) -> String {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let address = address.split('/').next().unwrap_or_default().to_ascii_lowercase();
    match address.rsplit_once(':') {
        Some(("localhost" | "0.0.0.0" | "[::1]" | "[::]", port)) => format!("127.0.0.1:{port}"),
        _ => address,
    }
}
