#!/usr/bin/env python3
"""A server of one document of 26 bytes, by RFC 9110: `document.py PORT [FAULT]`. FAULT is one of the mistakes below, by its number."""

import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

DOCUMENT = b"abcdefghijklmnopqrstuvwxyz"
TAG = '"26-letters"'
FAULT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
FAULTS = {
    1: "a range that ends behind the document is not satisfiable",
    2: "a suffix longer than the document is not satisfiable",
    3: "the suffix of no bytes is the last byte",
    4: "a range that begins right behind the document is its last byte",
    5: "Range with HEAD is not ignored",
    6: "the answer to a client that has the document is the document",
    7: "positions are kept in 64 bits",
    8: "`bytes=N-` leaves the last byte out",
    9: "every third part is one byte longer than it may be",
    10: "the size in Content-Range is that of the part",
    11: "If-Range with the right tag gets a part one byte longer than it asked for",
    12: "a suffix begins one byte early",
    13: "a part that ends with the document has the bytes before it",
}
served = 0


def part(text):
    """The first and the last position that are asked for; `None` where the header is ignored, and no positions where nothing can be."""
    size = len(DOCUMENT)
    found = re.fullmatch("bytes=([0-9]*)-([0-9]*)", text or "")
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if FAULT == 7 and max(int(first or 0), int(last or 0)) >= 2**63:
        return ()
    if first == "":
        count = int(last)
        if FAULT == 3 and count == 0 or FAULT == 12:
            count += 1
        return () if count == 0 or FAULT == 2 and count > size else (max(size - count, 0), size - 1)
    first, last = int(first), int(last) if last else size - 1 - (FAULT == 8)
    if found.group(2) and last < first:
        return None
    if FAULT == 4 and first == size:
        return size - 1, size - 1
    return () if first >= size or FAULT == 1 and last >= size else (first, min(last, size - 1))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in [("Content-Length", str(len(body))), ("ETag", TAG), *headers]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        global served
        if self.headers.get("If-None-Match") == TAG and FAULT != 6:
            return self.answer(304)
        asked = part(self.headers.get("Range")) if self.command == "GET" or FAULT == 5 else None
        conditional = self.headers.get("If-Range")
        if asked is None or conditional not in (None, TAG):
            return self.answer(200, DOCUMENT)
        if asked == ():
            return self.answer(416, headers=[("Content-Range", "bytes */%d" % len(DOCUMENT))])
        first, last = asked
        served += 1
        if (FAULT == 9 and served % 3 == 0 or FAULT == 11 and conditional) and last + 1 < len(DOCUMENT):
            last += 1
        size = last - first + 1 if FAULT == 10 else len(DOCUMENT)
        moved = 1 if FAULT == 13 and 0 < first <= last == len(DOCUMENT) - 1 else 0
        self.answer(206, DOCUMENT[first - moved : last + 1 - moved], [("Content-Range", "bytes %d-%d/%d" % (first, last, size))])

    do_HEAD = do_GET


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
