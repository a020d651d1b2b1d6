"""A coffee machine behind a socket, with bad habits: one for each name. It does what is right up to the point where its habit begins.

Called as `python3 server.py WAY HABIT PORT TAG FOLDER`, where the way is json, lines or http; the tag makes its processes
recognisable, and the folder is its own.
"""
import json
import os
import signal
import socket
import struct
import sys
import time

WAY, HABIT, PORT, TAG, FOLDER = sys.argv[1:6]
FOREVER = 30
HTTP = WAY == "http"
listener = wire = None
price = paid = 0
has_begun = False


def write(data):
    wire.sendall(data)


def flood(data):
    while True:
        write(data)


def sleep(seconds=FOREVER):
    time.sleep(seconds)
    os._exit(0)


def close():
    wire.close()


def reset():
    """A close that is an RST."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def child(action):
    if os.fork() == 0:
        try:
            action()
        finally:
            os._exit(0)


def daemon(action):
    """A daemon as the book says: own session, parent gone, files closed."""
    def second():
        os.setsid()
        child(lambda: (os.closerange(0, 100), action()))
    child(second)


def hop():
    """Never the same process for long."""
    until = time.monotonic() + 3
    while time.monotonic() < until:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        time.sleep(0.001)


def shed():
    """Another session and an empty environment."""
    os.setsid()
    os.closerange(0, 100)
    os.execve("/bin/sh", ["sh", "-c", "sleep %d; exit" % FOREVER, TAG], {})


def file(name, data=b"x"):
    with open(os.path.join(FOLDER, name), "wb") as out:
        out.write(data)


def litter():
    """Writes for as long as it lives."""
    os.setsid()
    for number in range(FOREVER * 100):
        file("litter-%d" % (number % 10))
        time.sleep(0.01)


def slowly(data, seconds):
    for byte in data:
        write(bytes([byte]))
        time.sleep(seconds)


def ignore():
    for one in (1, 2, 3, 13, 15):
        signal.signal(one, signal.SIG_IGN)


def encode(name, value):
    """An answer: Ready, Return or Deliver."""
    if WAY == "json":
        if name == "Ready":
            return b'{"ready": true}\n'
        parameter = {"Return": "pRemainingValue", "Deliver": "pBeverage"}[name]
        return json.dumps({"output": name, "values": {parameter: value}}).encode() + b"\n"
    if WAY == "lines":
        return {"Ready": "OK\n", "Return": f"change {value}\n", "Deliver": f"take\n{value}\n"}[name].encode()
    if name == "Ready":
        return b"HTTP/1.1 204 No Content\r\n\r\n"
    body = {"Return": {"back": [value]}, "Deliver": {"drink": value}}[name]
    return reply(json.dumps(body).encode(), b"200 OK" if name == "Return" else b"201 Created")


def reply(body, status=b"200 OK", fields=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), fields, body)


def said(text):
    """A text as the change that is given, whatever it is."""
    if WAY == "json":
        return b'{"output": "Return", "values": {"pRemainingValue": %s}}\n' % text
    return b"change %s\n" % text if WAY == "lines" else reply(b'{"back": [%s]}' % text)


def headed(fields, body=b""):
    return b"HTTP/1.1 200 OK\r\n%s\r\n\r\n%s" % (fields, body)


def chunked(body):
    return headed(b"Transfer-Encoding: chunked", body)


# In place of the answer to the coin: bytes, after which nothing is said, or something that is done with the right answer.
AT_COIN = {
    "hangs": lambda right: sleep(),
    "closes": lambda right: (close(), sleep()),
    "resets": lambda right: (reset(), sleep()),
    "half_and_hangs": lambda right: write(right[: len(right) // 2]),
    "half_and_closes": lambda right: (write(right[: len(right) // 2]), close(), sleep()),
    "half_and_resets": lambda right: (write(right[: len(right) // 2]), reset(), sleep()),
    "half_and_exits": lambda right: (write(right[: len(right) // 2]), os._exit(0)),
    "all_but_the_last_byte": lambda right: (write(right[:-1]), close(), sleep()),
    "shuts_its_side": lambda right: (wire.shutdown(socket.SHUT_WR), sleep()),
    "too_late": lambda right: (time.sleep(2), write(right)),
    "drips": lambda right: slowly(right, 0.15),
    "exits": lambda right: os._exit(0),
    "exits_with_a_word": lambda right: (os.write(2, b"Traceback: no beans\n"), os._exit(7)),
    "segfault": lambda right: os.kill(os.getpid(), signal.SIGSEGV),
    "kills_itself": lambda right: os.kill(os.getpid(), signal.SIGKILL),
    "stops_itself": lambda right: os.kill(os.getpid(), signal.SIGSTOP),
    "ignores_signals": lambda right: (ignore(), sleep()),
    "child_holds_the_connection": lambda right: (child(sleep), os._exit(5)),
    "floods_garbage": lambda right: flood(os.urandom(4096)),
    "endless_line": lambda right: flood(b"x" * 4096),
    "nul_bytes_in_front": lambda right: write(b"\0\0\0" + right),
    "garbage_in_front": lambda right: write(b"coffee is ready\r\n" + right),
    "deep_json": reply(b"[" * 100_000) if HTTP else b"[" * 100_000 + b"\n",
    "not_utf8": said(b'"\xff\xfe"'),
    "nul_value": said(b"\0"),
    "value_outside": said(b"-1"),
    "value_of_wrong_type": said(b'"much"'),
    "missing_value": said(b""),
    "huge_integer": said(b"9" * 1000),
    "monstrous_integer": said(b"9" * 500_000),
    "wrong_change": lambda right: write(encode("Return", paid - price + 1)),
    # Streams only.
    "floods_outputs": lambda right: flood(encode("Deliver", "TEA") * 100),
    "floods_logs": lambda right: flood(b'{"log": "still here"}\n' * 100),
    "floods_blank_lines": lambda right: flood(b"\n" * 4096),
    "ready_again": lambda right: write(encode("Ready", None)),
    "reports_an_error": b'{"error": "out of coffee"}\n',
    "echo": b'{"input": "Coin", "values": {"pCoinValue": 1}}\n',
    "no_message": b'{"hello": "world"}\n',
    "unknown_action": b'{"output": "Explode", "values": {}}\n',
    "speaks_http": reply(b"{}"),
    # HTTP only.
    "status_500": reply(b'{"back": [0]}', b"500 Out of coffee"),
    "status_999": reply(b'{"back": [0]}', b"999 Whatever"),
    "status_of_four_digits": reply(b'{"back": [0]}', b"2000 OK"),
    "status_of_letters": reply(b'{"back": [0]}', b"abc OK"),
    "redirects_to_itself": reply(b"", b"302 Found", b"Location: /coins\r\n"),
    "redirects_elsewhere": reply(b"", b"307 Temporary Redirect", b"Location: http://127.0.0.1:1/\r\n"),
    "old_http": b'{"back": [0]}',
    "http_2": b"\0\0\x12\x04\0\0\0\0\0" + b"\0" * 18,
    "switches_protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\n\r\n",
    "length_too_small": headed(b"Content-Length: 3", b'{"back": [0]}'),
    "length_too_large": headed(b"Content-Length: 99", b'{"back": [0]}'),
    "length_too_large_and_close": lambda right: (write(headed(b"Content-Length: 99", b'{"back": [0]}')), close(), sleep()),
    "length_negative": headed(b"Content-Length: -1", b'{"back": [0]}'),
    "length_of_letters": headed(b"Content-Length: many", b'{"back": [0]}'),
    "length_monstrous": headed(b"Content-Length: " + b"9" * 40, b'{"back": [0]}'),
    "two_lengths": headed(b"Content-Length: 13\r\nContent-Length: 3", b'{"back": [0]}'),
    "length_and_chunks": headed(b"Content-Length: 13\r\nTransfer-Encoding: chunked", b'd\r\n{"back": [0]}\r\n0\r\n\r\n'),
    "chunk_garbage": chunked(b"what?\r\n"),
    "chunk_negative": chunked(b"-5\r\nhello\r\n0\r\n\r\n"),
    "chunk_without_end": chunked(b'd\r\n{"back": [0]}xx\r\n0\r\n\r\n'),
    "chunk_and_hang": chunked(b'd\r\n{"back"'),
    "chunk_and_close": lambda right: (write(chunked(b'd\r\n{"back"')), close(), sleep()),
    "endless_chunks": lambda right: (write(chunked(b"")), flood(b"1000\r\n" + b" " * 4096 + b"\r\n")),
    "endless_body": lambda right: (write(headed(b"Connection: close")), flood(b" " * 4096)),
    "endless_headers": lambda right: (write(b"HTTP/1.1 200 OK\r\n"), flood(b"X-Flood: x\r\n" * 100)),
    "many_headers": reply(b'{"back": [0]}', fields=b"X-Flood: x\r\n" * 10_000),
    "long_header": reply(b'{"back": [0]}', fields=b"X-Flood: " + b"x" * 200_000 + b"\r\n"),
    "endless_interim": lambda right: flood(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "nul_in_a_header": reply(b'{"back": [0]}', fields=b"X-Nul: \0\r\n"),
    "header_without_colon": reply(b'{"back": [0]}', fields=b"nonsense\r\n"),
    "folded_header": reply(b'{"back": [0]}', fields=b"X-Fold: a\r\n b\r\n"),
    "says_gzip": reply(b'{"back": [0]}', fields=b"Content-Encoding: gzip\r\n"),
    "two_keys": reply(b'{"back": [0], "back": [1]}'),
    "byte_order_mark": reply(b'\xef\xbb\xbf{"back": [0]}'),
    "body_without_end": headed(b"Connection: close", b'{"back": [0]}'),
}

# The right answers, in a way that is allowed though strange, or with something else besides.
ANSWERS = {
    "byte_by_byte": lambda right: slowly(right, 0.001),
    "answers_twice": lambda right: write(right + right),
    "logs_in_front": lambda right: write(b'{"log": 1}\n' * 100 + right),
    "blank_lines_in_front": lambda right: write(b"\n" * 1000 + right),
    "interim_in_front": lambda right: write(b"HTTP/1.1 103 Early Hints\r\nLink: </cup>\r\n\r\n" + right),
    "goes_on_behind_the_answer": lambda right: (write(right), child(lambda: flood(b"x" * 4096))),
    "keeps_connections": lambda right: (write(right), kept.append(wire)),
    "resets_behind_the_answer": lambda right: (write(right), time.sleep(0.05), reset()),
}
kept = []

# What is done when it is ready, before it says so; it goes on.
BESIDES = {
    "children": lambda: [child(sleep) for _ in range(5)],
    "daemon": lambda: daemon(sleep),
    "hopping_daemon": lambda: daemon(hop),
    "sheds_its_environment": lambda: child(shed),
    "child_holds_the_port": lambda: child(lambda: (os.setsid(), sleep())),
    "stubborn_child": lambda: child(lambda: (ignore(), os.setsid(), sleep())),
    "stderr_flood": lambda: child(lambda: [os.write(2, b"e" * 4096) for _ in iter(int, 1)]),
    "writes_a_file": lambda: file("own"),
    "litters": lambda: child(litter),
    "ignores_signals_and_passes": ignore,
    "refuses_more": lambda: listener.close(),
}


def answer(name, value):
    right = encode(name, value)
    if name == "Ready":
        write(right)
    elif name == "Return" and HABIT in AT_COIN:
        what = AT_COIN[HABIT]
        write(what) if isinstance(what, bytes) else what(right)
        sleep()
    else:
        ANSWERS.get(HABIT, write)(right)
    if (name, HABIT) in [("Ready", "exits_when_ready"), ("Return", "exits_after_one_answer"), ("Deliver", "exits_with_the_last_answer")]:
        os._exit(1)
    if (name, HABIT) == ("Ready", "closes_when_ready"):
        close()
        listener.close()
        sleep()


def begin(constant):
    global price, has_begun
    price, has_begun = int(constant), True
    if HABIT == "never_ready":
        sleep()
    if HABIT == "says_that_it_cannot":
        write(reply(b"no water", b"503 No water") if HTTP else b'{"error": "no water"}\n')
        sleep()
    BESIDES.get(HABIT, int)()
    answer("Ready", None)
    if HABIT == "speaks_first":
        write(encode("Deliver", "TEA"))


def coin(value):
    global paid
    paid = int(value)
    answer("Return", paid - price)


def line(text):
    """What was said on a stream."""
    if WAY == "json":
        message = json.loads(text)
        if "start" in message:
            begin(message["start"]["constants"]["cPrice"])
        elif message["input"] == "Coin":
            coin(message["values"]["pCoinValue"])
        else:
            answer("Deliver", message["values"]["pBeverage"])
    else:
        word, value = text.decode().split()
        if word == "PRICE":
            begin(value)
        elif word == "COIN":
            coin(value)
        else:
            answer("Deliver", value)


def request(head, body):
    path = head.split(b" ", 2)[1].decode()
    value = path.rsplit("/", 1)[1]
    if path.startswith("/price/"):
        begin(value)
    elif path == "/coins":
        coin(json.loads(body)["n"])
    else:
        answer("Deliver", value)


def read(pending):
    chunk = wire.recv(4096)
    if not chunk:
        raise ConnectionError
    return pending + chunk


def serve():
    """One connection."""
    pending = b""
    if HABIT == "accepts_and_closes":
        return close()
    if HABIT == "accepts_and_resets":
        return reset()
    if HABIT == "garbage_first":
        write(b"Welcome to the coffee machine!\n")
    if HABIT == "answers_before_the_request" and has_begun:
        write(said(b"999999"))
    if WAY == "lines":
        write(b"220 coffee\n")
    while not HTTP:
        while b"\n" not in pending:
            pending = read(pending)
        text, pending = pending.split(b"\n", 1)
        line(text)
    while b"\r\n\r\n" not in pending:
        pending = read(pending)
    head, body = pending.split(b"\r\n\r\n", 1)
    fields = dict(field.lower().split(b": ", 1) for field in head.split(b"\r\n")[1:])
    while len(body) < int(fields.get(b"content-length", 0)):
        body = read(body)
    request(head, body)


if HABIT == "exits_at_once":
    os._exit(3)
if HABIT == "never_listens":
    sleep()
listener = socket.create_server(("127.0.0.1", 0 if HABIT == "listens_elsewhere" else int(PORT)))
if HABIT == "never_accepts":
    sleep()
while True:
    wire, _ = listener.accept()
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        serve()
    except OSError:
        pass
    if HABIT == "refuses_more" and listener.fileno() < 0:
        close()
        sleep()
    if wire not in kept:
        close()
