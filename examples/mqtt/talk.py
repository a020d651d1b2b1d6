#!/usr/bin/env python3
"""A Mosquitto broker with keys of its own, and a TLS connection to it over standard input and output.

It makes an authority, certificates for the broker, for alice and for bob, and brings up the broker on a free port. `openssl
s_client` makes the connection with the certificate of WHO. All of it ends with the standard input, and no file is left.

    talk.py ALICE|BOB [--believe]

With --believe, who may write what is decided by the name that a client gives itself, and not by its certificate.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, stderr=subprocess.DEVNULL)


def make_keys(folder):
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(folder, "req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority")
    for name in ("localhost", "alice", "bob"):
        request, key, signed = name + ".csr", name + ".key", name + ".pem"
        openssl(folder, "req", *new, "-keyout", key, "-out", request, "-subj", "/CN=" + name)
        openssl(folder, "x509", "-req", "-in", request, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-out", signed)


def configuration(folder, port, believe):
    with open(os.path.join(folder, "acl"), "w", encoding="utf-8") as acl:
        # %u is the name in the certificate, %c the one that the client gives itself.
        acl.write("pattern read #\npattern write %s\n" % ("%c" if believe else "%u"))
    path = os.path.join(folder, "mosquitto.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""listener {port} 127.0.0.1
cafile {folder}/ca.pem
certfile {folder}/localhost.pem
keyfile {folder}/localhost.key
require_certificate true
use_identity_as_username true
acl_file {folder}/acl
persistence false
log_dest none
""")
    # A broker that is started by root goes on as another user.
    os.chmod(folder, 0o755)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)
    return path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as once:
        return once.getsockname()[1]


def accepts(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def main():
    who, believe = sys.argv[1].lower(), "--believe" in sys.argv
    folder = tempfile.mkdtemp()
    broker = None
    try:
        make_keys(folder)
        port = free_port()
        path = os.environ["PATH"] + ":/usr/sbin"
        broker = subprocess.Popen(["mosquitto", "-c", configuration(folder, port, believe)],
                                  env=os.environ | {"PATH": path}, stdin=subprocess.DEVNULL)
        while not accepts(port):
            if broker.poll() is not None:
                sys.exit("mosquitto did not start")
            time.sleep(0.01)
        subprocess.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-quiet", "-no_ign_eof", "-verify_return_error",
             "-verify_hostname", "localhost", "-CAfile", "ca.pem", "-cert", who + ".pem", "-key", who + ".key"],
            cwd=folder, stderr=subprocess.DEVNULL, check=False)
    finally:
        if broker:
            broker.kill()
            broker.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
