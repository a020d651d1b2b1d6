"""The coffee machine behind HTTP: `python3 coffee_http.py PORT`."""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

price = 1


class Machine(BaseHTTPRequestHandler):
    def do_POST(self):
        global price
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/price/"):
            price = int(self.path.rsplit("/", 1)[1])
            self.answer(204, None)
        elif self.path == "/coins":
            self.answer(200, {"back": [int(json.loads(body)["n"]) - price]})
        elif self.path.startswith("/choice/"):
            self.answer(201, {"drink": self.path.rsplit("/", 1)[1]})
        else:
            self.answer(404, None)

    def answer(self, status, body):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Machine).serve_forever()
