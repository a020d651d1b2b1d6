"""Adds what it is sent, over standard input and output, TCP, UDP or HTTP, or in frames of bytes over the first (`frames`) or the
third (`datagrams`): `python3 server.py WAY FAULT [PORT]`.

FAULT is what the third answer of a run is: `none`, `sum` (one too much), `alien` (no event), `kind` (a text where a number is to be,
and the time of the day), `half` (a piece of an answer, and the end), `close` (the end), `mute` (nothing), `late` (right, but something follows when the
run is over).
"""
import http.server
import json
import socket
import sys
import time

WAY, FAULT = sys.argv[1], sys.argv[2]


class Adder:
    def __init__(self):
        self.total, self.answers = 0, 0

    def add(self, number):
        self.total += number
        self.answers += 1
        is_third = self.answers == 3
        if is_third and FAULT == "mute":
            time.sleep(60)
        return self.total + (1 if is_third and FAULT == "sum" else 0), is_third


def stdio():
    adder = Adder()
    print("the adder is up", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "start" in message:
            print('{"ready":   true}', flush=True)
            continue
        total, is_third = adder.add(message["values"]["n"])
        if is_third and FAULT == "alien":
            print('{"output": "Nonsense", "values": {"what": "größer\\u0007"}}', flush=True)
        elif is_third and FAULT == "kind":
            print('{"output": "Sum", "values": {"s": "many"}%s}' % (" " * (time.time_ns() % 7)), flush=True)
        elif is_third and FAULT == "close":
            return
        elif is_third and FAULT == "half":
            print('{"output": "Su', end="", flush=True)
            return
        else:
            print('{"output":   "Sum", "values": {"s": %d}}' % total, flush=True)


def tcp():
    server = socket.create_server(("127.0.0.1", int(sys.argv[3])))
    print("the adder is up", file=sys.stderr, flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            serve(connection)


def serve(connection):
    adder = Adder()
    wire = connection.makefile("rb")
    connection.sendall(b"220 adder\r\n")
    for line in wire:
        word, *rest = line.decode().split()
        if word == "RESET":
            adder = Adder()
            connection.sendall(b"OK\r\n")
            continue
        total, is_third = adder.add(int(rest[0]))
        if is_third and FAULT == "alien":
            connection.sendall(b"what'; \x07 \"$(exit 3)\" %s \\\r\n")
        elif is_third and FAULT == "kind":
            connection.sendall(b"sum many at %d\r\n" % time.time_ns())
        elif is_third and FAULT == "close":
            return
        elif is_third and FAULT == "half":
            connection.sendall(b"su")
            return
        else:
            connection.sendall(b"sum %d\r\n" % total)
    if FAULT == "late":
        connection.sendall(b"bye\r\n")
        time.sleep(0.05)


def udp():
    adder = Adder()
    wire = socket.socket(type=socket.SOCK_DGRAM)
    wire.bind(("127.0.0.1", int(sys.argv[3])))
    while True:
        data, tester = wire.recvfrom(65536)
        word, *rest = data.decode().split()
        if word == "RESET":
            adder = Adder()
            wire.sendto(b"OK", tester)
            continue
        total, is_third = adder.add(int(rest[0]))
        if is_third and FAULT == "alien":
            wire.sendto(b"what'; \x07 \"$(exit 3)\" %s \\", tester)
        elif is_third and FAULT == "kind":
            wire.sendto(b"sum many at %d" % time.time_ns(), tester)
        elif is_third and FAULT == "half":
            return
        else:
            wire.sendto(b"sum %d" % total, tester)


def answer(total, is_third):
    """A frame without its length, and whether there is more of it than is sent."""
    if is_third and FAULT == "alien":
        return b"\x90what'; \x07 \"$(exit 3)\"\xff\\", False
    if is_third and FAULT == "kind":
        return b"\x81many\0" + bytes([time.time_ns() % 250]), False
    return b"\x81%d\0" % total + bytes([time.time_ns() % 250]), is_third and FAULT == "half"


def frames():
    adder = Adder()
    print("the adder is up", file=sys.stderr, flush=True)
    while len(head := sys.stdin.buffer.read(3)) == 3:
        frame = head[:1] + sys.stdin.buffer.read(int.from_bytes(head[1:], "little"))
        if frame == b"\x00":
            sys.stdout.buffer.write(b"\x8f\x00\x00")
        else:
            total, is_third = adder.add(int.from_bytes(frame[1:], "big"))
            if is_third and FAULT == "close":
                return
            said, is_cut = answer(total, is_third)
            sys.stdout.buffer.write(said[:1] + (len(said) - 1 + is_cut).to_bytes(2, "little") + said[1:])
            if is_cut:
                return
        sys.stdout.buffer.flush()


def datagrams():
    adder = Adder()
    wire = socket.socket(type=socket.SOCK_DGRAM)
    wire.bind(("127.0.0.1", int(sys.argv[3])))
    while True:
        frame, tester = wire.recvfrom(65536)
        if frame == b"\x00":
            wire.sendto(b"\x8f", tester)
            continue
        said, is_cut = answer(*adder.add(int.from_bytes(frame[1:], "big")))
        if is_cut:
            return
        wire.sendto(said, tester)


class Handler(http.server.BaseHTTPRequestHandler):
    adder = Adder()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/reset":
            Handler.adder = Adder()
            return self.answer(204, b"")
        total, is_third = Handler.adder.add(json.loads(body)["n"])
        if is_third and FAULT == "alien":
            return self.answer(500, b"what'; \x07 \"$(exit 3)\" %s \\")
        if is_third and FAULT == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"su")
            return None
        total = "many" if is_third and FAULT == "kind" else total
        return self.answer(200, json.dumps({"sum": total, "at": time.time()}).encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if WAY == "http":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
else:
    {"stdio": stdio, "tcp": tcp, "udp": udp, "frames": frames, "datagrams": datagrams}[WAY]()
