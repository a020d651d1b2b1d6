#!/usr/bin/env python3
"""A cache, by memcached's protocol.txt: `store.py PORT [FAULT]`. FAULT is one of the mistakes below, by its number."""

import socketserver
import sys
import threading

FAULT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
FAULTS = {
    1: "cas stores whatever the number is",
    2: "a change by append leaves the number as it was",
    3: "each connection sees what it has stored itself",
    4: "add stores what is there already",
    5: "replace stores what is not there",
    6: "append puts the text before the old one",
    7: "what is expired from the beginning can be fetched",
    8: "the count of a text is that of its characters",
    9: "a text ends where its first line does",
    10: "a deleted text can be fetched by the other connection",
    11: "cas of what is not there answers EXISTS",
    12: "touch with a negative time does nothing",
    13: "get of two keys ends after the first that is there",
    14: "append to what is not there stores it",
    15: "delete of what is not there answers DELETED",
}
LOCK = threading.Lock()
ITEMS = {}
COUNT = 0


class Client(socketserver.StreamRequestHandler):
    def items(self):
        if FAULT == 3:
            return self.__dict__.setdefault("own", {})
        return ITEMS

    def keep(self, key, text, number=None):
        global COUNT
        COUNT += 1
        self.items()[key] = (text, number or COUNT)
        return b"STORED"

    def store(self, name, key, time, text, number):
        old = self.items().get(key)
        if name == b"cas":
            if old is None:
                return b"EXISTS" if FAULT == 11 else b"NOT_FOUND"
            if old[1] != number and FAULT != 1:
                return b"EXISTS"
        if name == b"add" and old and FAULT != 4 or name == b"replace" and not old and FAULT != 5:
            return b"NOT_STORED"
        if name == b"append":
            if not old and FAULT != 14:
                return b"NOT_STORED"
            before, kept = old or (b"", None)
            return self.keep(key, text + before if FAULT == 6 else before + text, kept if FAULT == 2 else None)
        said = self.keep(key, text)
        if time < 0 and FAULT != 7:
            del self.items()[key]
        return said

    def delete(self, key):
        if key not in self.items():
            return b"DELETED" if FAULT == 15 else b"NOT_FOUND"
        if FAULT == 10:
            self.__dict__.setdefault("gone", set()).add(key)
            return b"DELETED"
        del self.items()[key]
        return b"DELETED"

    def touch(self, key, time):
        if key not in self.items():
            return b"NOT_FOUND"
        if time < 0 and FAULT != 12:
            del self.items()[key]
        return b"TOUCHED"

    def get(self, keys, has_number):
        said = b""
        for key in keys:
            if key not in self.items() or key in self.__dict__.get("gone", ()):
                continue
            text, number = self.items()[key]
            if FAULT == 9:
                text = text.partition(b"\r\n")[0]
            count = len(text.decode("utf-8")) if FAULT == 8 else len(text)
            said += b"VALUE %s 0 %d%s\r\n%s\r\n" % (key, count, b" %d" % number if has_number else b"", text)
            if FAULT == 13:
                break
        return said + b"END"

    def answer(self, words):
        name = words[0]
        if name in (b"set", b"add", b"replace", b"append", b"cas"):
            text = self.rfile.read(int(words[4]) + 2)[:-2]
            with LOCK:
                return self.store(name, words[1], int(words[3]), text, int(words[5]) if name == b"cas" else 0)
        with LOCK:
            if name == b"delete":
                return self.delete(words[1])
            if name == b"touch":
                return self.touch(words[1], int(words[2]))
            if name in (b"get", b"gets"):
                return self.get(words[1:], name == b"gets")
        return b"ERROR"

    def handle(self):
        try:
            while line := self.rfile.readline():
                self.wfile.write(self.answer(line.split()) + b"\r\n")
        except (ConnectionError, BrokenPipeError):
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Client).serve_forever()
