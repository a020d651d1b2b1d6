#!/usr/bin/env python3
"""A WebDAV server that is late: it says that a lock is released, and releases it after the next request.

It brings up the real server on a port of its own, and hands requests and replies through.

    proxy.py PORT
"""

import http.client
import http.server
import os
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as once:
        return once.getsockname()[1]


def accepts(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tokens = set()  # those that were granted and not given back
    late = []  # the requests that the server has not got yet

    def ask(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.there)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = response.status, response.getheaders(), response.read()
        connection.close()
        return answer

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = self.command, self.path, body, dict(self.headers)
        token = self.headers.get("Lock-Token")
        if self.command == "UNLOCK" and token in self.tokens:
            self.tokens.remove(token)
            self.late.append(request)
            status, headers, answer = 204, [], b""
        else:
            status, headers, answer = self.ask(*request)
            for one in self.late:
                self.ask(*one)
            self.late.clear()
        if self.command == "LOCK" and status == 200:
            self.tokens.add(dict(headers)["Lock-Token"])
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(answer)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_LOCK = do_UNLOCK = do_DELETE = handle_any

    def log_message(self, *_):
        pass


def end_with(server):
    """Without the server we are of no use."""
    os._exit(server.wait())


def main():
    port = free_port()
    server = subprocess.Popen([os.path.join(HERE, "serve"), str(port)])
    threading.Thread(target=end_with, args=[server], daemon=True).start()
    while not accepts(port):
        time.sleep(0.01)
    # Only now do we listen: who can connect finds a server that answers.
    here = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    here.there = port
    here.serve_forever()


if __name__ == "__main__":
    main()
