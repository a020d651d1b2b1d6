#!/usr/bin/env python3
"""A sender with bounded retransmission over a pipe that loses, delays and doubles: whoever holds the pipe's other end.

Standard input brings requests and acknowledgements, standard output takes frames and what the user is told: JSON, one
message to a line, as coreach speaks it. A frame that is not acknowledged in time goes out again, at most `cRepeats`
times. The timer is a real one.

    sender.py [--timeout MS] [--faulty] [--listen PORT]

With --faulty a frame is repeated once more than `cRepeats` says. With --listen each connection to the port is a pipe,
with a process of its own behind it: that is the same program without the price of starting Python.
"""

import json
import os
import select
import signal
import socket
import sys
import time


def lines():
    """Our standard input: `read(seconds)` gives a message, or None when that time has passed (None: wait for ever)."""
    rest = b""

    def read(seconds):
        nonlocal rest
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in rest:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([0], [], [], left)[0]:
                return None
            more = os.read(0, 65536)
            if not more:
                sys.exit(0)
            rest += more
        line, rest = rest.split(b"\n", 1)
        return json.loads(line)

    return read


def write(message):
    os.write(1, json.dumps(message).encode() + b"\n")


def output(action, **values):
    write({"output": action, "values": values})


def acknowledged(read, bit, timeout):
    """Waits for the acknowledgement with this bit; False when it did not come in time."""
    until = time.monotonic() + timeout
    while True:
        left = until - time.monotonic()
        message = read(left) if left > 0 else None
        if message is None:
            return False
        if message["input"] == "Ack" and message["values"]["pBit"] == bit:
            return True
        # An old acknowledgement, or a request in between: ignored.


def transmit(read, chunks, bit, most, timeout):
    """Sends the chunks. Returns what the user is told, and the next bit."""
    for number, data in enumerate(chunks):
        last = number + 1 == len(chunks)
        sent = 0
        while True:
            output("Frame", pData=data, pBit=bit, pLast=last)
            sent += 1
            if acknowledged(read, bit, timeout):
                break
            if sent > most:
                return ("DontKnow" if last else "NotOk"), bit
        bit = not bit
    return "Ok", bit


def one_for_each_connection(port):
    """Listens. Returns once for each connection, in a process of its own whose standard streams it is."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        pipe, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            pipe.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            os.dup2(pipe.fileno(), 0)
            os.dup2(pipe.fileno(), 1)
            pipe.close()
            return
        pipe.close()


def option(arguments, name, otherwise):
    return arguments[arguments.index(name) + 1] if name in arguments else otherwise


def main():
    arguments = sys.argv[1:]
    timeout = float(option(arguments, "--timeout", "20")) / 1000
    port = option(arguments, "--listen", None)
    if port is not None:
        one_for_each_connection(int(port))
    read = lines()
    constants = read(None)["start"]["constants"]
    most = constants["cRepeats"] + (1 if "--faulty" in arguments else 0)
    bit = True
    write({"ready": True})
    while True:
        message = read(None)
        if message["input"] != "Request":
            continue
        file = message["values"]["pFile"]
        cells = {index: value for index, value in file["cells"]}
        chunks = [cells.get(number, file["default"]) for number in range(constants["cChunks"])]
        told, bit = transmit(read, chunks, bit, most, timeout)
        output(told)


if __name__ == "__main__":
    main()
