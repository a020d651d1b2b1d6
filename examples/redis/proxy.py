#!/usr/bin/env python3
"""A Redis server that is wrong once in a connection: the second reply to an INCRBY is one too large.

It brings up a real server on a port of its own, hands commands and replies through, and looks at nothing but lines. The
counter itself stays right: only the reply is falsified, as by a cache that counts twice.

    proxy.py PORT
"""

import signal
import socket
import subprocess
import sys
import time

WRONG = 2  # which INCRBY of a connection gets the wrong reply


def serve(client, port):
    """One connection: a command in, its reply out, until one side ends."""
    server = socket.create_connection(("127.0.0.1", port))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, server:
        hand_through(client, server)


def hand_through(client, server):
    commands, replies = client.makefile("rb"), server.makefile("rb")
    increments = 0
    for command in commands:
        server.sendall(command)
        reply = replies.readline()
        if not reply:
            break
        if reply.startswith(b"$") and reply != b"$-1\r\n":
            reply += replies.readline()
        if command.upper().startswith(b"INCRBY ") and reply.startswith(b":"):
            increments += 1
            if increments == WRONG:
                reply = b":%d\r\n" % (int(reply[1:]) + 1)
        client.sendall(reply)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as once:
        return once.getsockname()[1]


def accepts(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def main():
    port = free_port()
    redis = subprocess.Popen(
        ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
    )
    try:
        while not accepts(port):
            if redis.poll() is not None:
                sys.exit("redis-server did not start")
            time.sleep(0.01)
        # Only now do we listen: who can connect finds a server that answers.
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # One after the other: what an old connection still has under way must not reach into the next run.
            try:
                serve(client, port)
            except ConnectionError:
                pass
    finally:
        redis.kill()
        redis.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
