//! A failure of a server behind TLS as a script: it trusts whom the description trusts, and shows who we are.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::process::{Command, Output};

use crate::common::Folder;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

/// The adder behind TLS 1.3; who has no certificate is not answered.
const SECURED: &str = r#"
import os, socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("server.pem", "server.key")
context.load_verify_locations("ca.pem")
context.verify_mode = ssl.CERT_REQUIRED
class Server(socket.socket):
    def accept(self):
        while True:
            connection, address = super().accept()
            try:
                return context.wrap_socket(connection, server_side=True), address
            except OSError:
                connection.close()
def create_server(address):
    server = Server(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(address)
    server.listen()
    return server
socket.create_server = create_server
import http.server
class Secured(http.server.HTTPServer):
    def get_request(self):
        while True:
            connection, address = self.socket.accept()
            try:
                return context.wrap_socket(connection, server_side=True), address
            except OSError:
                connection.close()
http.server.HTTPServer = Secured
exec(open("server.py").read())
"#;

fn certificates(folder: &Folder) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, "authority");
    let certificate = params.self_signed(&key).unwrap();
    fs::write(folder.0.join("ca.pem"), certificate.pem()).unwrap();
    let issuer = Issuer::new(params, key);
    for (file, name) in [("server", "machine.test"), ("client", "client.test")] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        fs::write(folder.0.join(format!("{file}.pem")), certificate.pem()).unwrap();
        fs::write(folder.0.join(format!("{file}.key")), key.serialize_pem()).unwrap();
    }
}

fn started(folder: &Folder, script: &str) -> Output {
    Command::new(folder.0.join(script)).current_dir(std::env::temp_dir()).output().unwrap()
}

#[test]
fn a_script_speaks_tls_with_whom_the_description_trusts() {
    let folder = crate::adder::folder();
    certificates(&folder);
    fs::write(folder.0.join("secured.py"), SECURED).unwrap();
    let tls = "  tls: { ca: ca.pem, server_name: machine.test, certificate: client.pem, key: client.key }\n";
    for way in ["tcp", "http"] {
        let path = folder.0.join(format!("{way}.yaml"));
        let text = fs::read_to_string(&path).unwrap();
        let text = text
            .replace("server.py", "secured.py")
            .replace("http://", "https://")
            .replace(&format!("{way}:\n"), &format!("{way}:\n{tls}"));
        fs::write(&path, text).unwrap();
        crate::adder::run(&folder, way, "none", "Pass");
        crate::adder::run(&folder, way, "sum", "Fail");
        let (run, iut, script) =
            (format!("{way}-sum/four.1.json"), format!("{way}_sum.yaml"), format!("again_{way}.py"));
        let output = folder.coreach(&["explain", &run, "--iut", &iut, "--reproducer", &script]);
        assert_eq!(output.status.code(), Some(0), "{way}: {output:?}");
        let seen = started(&folder, &script);
        assert_eq!(seen.status.code(), Some(1), "{way}: {seen:?}");
        assert!(
            String::from_utf8_lossy(&seen.stdout).contains("FAILED: the failure is seen again"),
            "{seen:?}"
        );
        let server = folder.0.join("server.py");
        let text = fs::read_to_string(&server).unwrap();
        fs::write(&server, text.replace("FAULT == \"sum\"", "False")).unwrap();
        let seen = started(&folder, &script);
        assert_eq!(seen.status.code(), Some(0), "{way}: {seen:?}");
        fs::write(&server, &text).unwrap();
        // Signed by somebody else.
        let held = fs::read(folder.0.join("ca.pem")).unwrap();
        let other = crate::adder::folder();
        certificates(&other);
        let script_text = fs::read_to_string(folder.0.join(&script)).unwrap();
        let authority = folder.0.join("ca.pem").display().to_string();
        assert!(script_text.contains(&authority), "{script_text}");
        fs::write(folder.0.join("other.pem"), fs::read(other.0.join("ca.pem")).unwrap()).unwrap();
        let distrusting = script_text.replace(&authority, &folder.0.join("other.pem").display().to_string());
        fs::write(folder.0.join(&script), distrusting).unwrap();
        let seen = started(&folder, &script);
        let said = String::from_utf8_lossy(&seen.stdout).into_owned();
        assert_eq!(seen.status.code(), Some(2), "{way}: {seen:?}");
        assert!(said.contains("no TLS with"), "{way}: {said}");
        assert_eq!(fs::read(folder.0.join("ca.pem")).unwrap(), held);
    }
}
