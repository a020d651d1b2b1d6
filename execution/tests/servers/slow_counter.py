"""The counter of `data/counter.yaml` behind lines or HTTP, a thread for each connection: `python3 slow_counter.py KIND PORT MS`.

Each seventh addition takes so many milliseconds. What it counts outlives a connection.
"""
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

kind, port, pause = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) / 1000
lock = threading.Lock()
count = added = 0


def reset():
    global count
    with lock:
        count = 0


def add(by):
    global count, added
    with lock:
        added += 1
        slow = added % 7 == 0
    if slow:
        time.sleep(pause)
    with lock:
        count += by


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            word, *rest = line.decode().split()
            if word == "RESET":
                reset()
                answer = "ok"
            elif word == "ADD":
                add(int(rest[0]))
                answer = "done"
            else:
                answer = "value %d" % count
            self.wfile.write((answer + "\n").encode())


class Http(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.path == "/reset":
            reset()
            self.answer(204, b"")
        else:
            add(int(self.path.rsplit("/", 1)[1]))
            self.answer(201, b"")

    def do_GET(self):
        self.answer(200, b'{"value": %d}' % count)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if kind == "lines":
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("127.0.0.1", port), Lines).serve_forever()
else:
    ThreadingHTTPServer(("127.0.0.1", port), Http).serve_forever()
