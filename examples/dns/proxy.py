#!/usr/bin/env python3
"""A DNS server that is wrong behind a cache: it remembers that a name is not there, and an update does not make it forget.

It brings up the real server on a port of its own, hands requests and replies through, and gives a reply of NXDOMAIN once
more when the same question is asked again: so do resolvers (RFC 2308), but one in front of the authority must not.

    proxy.py PORT SERIAL
"""

import os
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NXDOMAIN = b"\x84\x03"  # the flags of such a reply


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as once:
        once.bind(("127.0.0.1", 0))
        return once.getsockname()[1]


def bound(port):
    with open("/proc/net/udp", encoding="ascii") as table:
        return any(line.split()[1].endswith(":%04X" % port) for line in table.readlines()[1:])


def end_with(server):
    """Without the server we are of no use."""
    os._exit(server.wait())


def main():
    port = free_port()
    server = subprocess.Popen([os.path.join(HERE, "serve"), str(port), sys.argv[2]])
    threading.Thread(target=end_with, args=[server], daemon=True).start()
    while not bound(port):
        time.sleep(0.01)
    # Only now do we listen: whoever sends finds a server that answers.
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind(("127.0.0.1", int(sys.argv[1])))
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.connect(("127.0.0.1", port))
    missing = {}
    while True:
        request, client = here.recvfrom(65535)
        identifier, question = request[:2], request[2:]
        if question in missing:
            reply = identifier + missing[question]
        else:
            there.send(request)
            reply = there.recv(65535)
            if reply[2:4] == NXDOMAIN:
                missing[question] = reply[2:]
        here.sendto(reply, client)


if __name__ == "__main__":
    main()
