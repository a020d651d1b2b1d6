#!/usr/bin/env python3
"""A table of two accounts with transactions, by chapter 13 of PostgreSQL's documentation: `bank.py PORT [FAULT]`. FAULT is one of the mistakes below, by its
number. A line is a statement, and the answers are those of psql. Who fails of a deadlock goes back to its savepoint, as in the server."""

import re
import socketserver
import sys
import threading

FAULT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
FAULTS = {
    1: "REPEATABLE READ updates what somebody else has changed since",
    2: "READ COMMITTED sees what was there when the transaction began",
    3: "REPEATABLE READ sees what was there when the statement began",
    4: "a query sees what is not committed yet",
    5: "an update does not wait",
    6: "who waits is not told of ROLLBACK",
    7: "who has waited goes on with what was there before",
    8: "who has waited does not look again at the condition",
    9: "ROLLBACK TO leaves changes",
    10: "ROLLBACK TO leaves what was locked since then",
    11: "ROLLBACK TO frees what was locked before",
    12: "who has waited fails although the row was only locked",
    13: "REPEATABLE READ sees what was there at BEGIN",
    14: "COMMIT commits what has failed",
    15: "after a failure statements are done",
    16: "both of two that wait for each other fail",
    17: "nobody sees that two wait for each other",
    18: "REPEATABLE READ does not see its own changes",
    19: "SERIALIZABLE is REPEATABLE READ",
    20: "FOR UPDATE does not lock",
    21: "an update waits although its condition does not hold",
    22: "what has failed stays locked until ROLLBACK",
}
CHANGE = threading.Condition()
BALANCES = [100, 100]
OWNERS = [None, None]          # of the rows, who has locked them
TIMES = [0, 0]                 # when each was last changed
SERIALIZABLE = []              # times at which such transactions were committed, with what they have written
NOW = 0


class Failure(Exception):
    pass


class Session(socketserver.StreamRequestHandler):
    def begin(self, level):
        self.phase, self.level, self.since, self.snapshot, self.own, self.mark, self.read = "in", level, NOW, None, {}, None, set()
        self.waits = None
        self.locks = {}                                # row: was it locked before the savepoint?
        if FAULT == 13 or FAULT == 2 and level == "READ COMMITTED":
            self.snapshot = list(BALANCES)

    def end(self, tells=True):
        for row in (0, 1):
            self.free(row, tells)
        self.begin("READ COMMITTED")
        self.phase, self.snapshot = "out", None

    def free(self, row, tells=True):
        if OWNERS[row] is self:
            OWNERS[row] = None
        self.locks.pop(row, None)
        if tells:
            CHANGE.notify_all()

    def is_isolated(self):
        return self.phase == "in" and self.level != "READ COMMITTED"

    def look(self):
        if self.is_isolated() and self.snapshot is None:
            self.snapshot, self.since = list(BALANCES), NOW
        if FAULT == 3:
            self.snapshot = None

    def sees(self, row):
        self.read.add(row)
        if row in self.own and not (FAULT == 18 and self.is_isolated()):
            return self.own[row]
        if FAULT == 4 and OWNERS[row] and row in OWNERS[row].own:
            return OWNERS[row].own[row]
        return self.snapshot[row] if self.snapshot else BALANCES[row]

    def lock(self, row):
        """Waits until nobody else has the row."""
        while OWNERS[row] not in (None, self) and FAULT != 5:
            owner = OWNERS[row]
            if owner.waits is not None and OWNERS[owner.waits] is self and FAULT != 17:
                owner.doomed = FAULT == 16
                CHANGE.notify_all()
                raise Failure("40P01")
            self.waits = row
            CHANGE.wait()
            self.waits = None
            if self.doomed:
                self.doomed = False
                raise Failure("40P01")
            if self.is_isolated() and FAULT == 12:
                raise Failure("40001")
        if self.is_isolated() and TIMES[row] > self.since and row not in self.own and FAULT != 1:
            raise Failure("40001")
        OWNERS[row] = self
        self.locks.setdefault(row, self.mark is None)

    def for_update(self, row):
        self.look()
        self.sees(row)
        if FAULT != 20:
            self.lock(row)
        return f"locked|{self.own.get(row, BALANCES[row])}"

    def update(self, row, amount, least):
        self.look()
        before = self.sees(row)
        found = least is None or before >= least
        if not found and FAULT != 21:
            return "UPDATE 0"
        self.lock(row)
        now = before if FAULT == 7 else self.own.get(row, BALANCES[row])
        if not found or least is not None and now < least and FAULT != 8:
            return "UPDATE 0"
        self.own[row] = now + amount
        return "UPDATE 1"

    def both(self):
        self.look()
        return f"balances|{self.sees(0)}\nbalances|{self.sees(1)}"

    def commit(self):
        global NOW
        if self.phase == "in" and self.level == "SERIALIZABLE" and self.snapshot and FAULT != 19:
            if any(time > self.since and wrote & self.read for time, wrote in SERIALIZABLE):
                self.end()
                raise Failure("40001")
        said = "ROLLBACK" if self.phase == "failed" else "COMMIT"
        if self.phase == "in" or FAULT == 14:
            NOW += 1
            for row, balance in self.own.items():
                BALANCES[row], TIMES[row] = balance, NOW
            if self.level == "SERIALIZABLE":
                SERIALIZABLE.append((NOW, set(self.own)))
        self.end()
        return said

    def back(self):
        """To the savepoint, if there is one."""
        keeps = self.mark is not None and FAULT != 11
        if FAULT != 9:
            self.own = dict(self.mark or {})
        for row, before in list(self.locks.items()):
            if not (keeps and before) and FAULT != 10:
                self.free(row)

    def fail(self):
        if self.phase == "in":
            self.phase = "failed"
            if FAULT == 14:
                return
            if FAULT != 22:
                self.back()

    def do(self, text):
        if found := re.fullmatch(r"BEGIN ISOLATION LEVEL (.*);", text):
            self.begin(found[1])
            return "BEGIN"
        if text == "COMMIT;":
            return self.commit()
        if text == "ROLLBACK;":
            self.end(FAULT != 6)
            return "ROLLBACK"
        if text == "ROLLBACK TO s;":
            self.back()
            self.phase = "in"
            return "ROLLBACK"
        if self.phase == "failed" and FAULT != 15:
            raise Failure("25P02")
        if text == "SAVEPOINT s;":
            self.mark, self.locks = dict(self.own), dict.fromkeys(self.locks, True)
            return "SAVEPOINT"
        row = int((re.search(r"id = (\d)", text) or [0, 0])[1])
        if text.startswith("SELECT 'balances'"):
            return self.both()
        if text.startswith("SELECT 'balance'"):
            self.look()
            return f"balance|{self.sees(row)}"
        if text.endswith(" FOR UPDATE;"):
            return self.for_update(row)
        sign, amount = re.search(r"balance ([+-]) (-?\d+) WHERE", text).groups()
        least = re.search(r"balance >= (\d+)", text)
        amount = int(amount) if sign == "+" else -int(amount)
        alone = self.phase == "out"
        said = self.update(row, amount, int(least[1]) if least else None)
        if alone:
            self.phase = "in"
            self.commit()
        return said

    def handle(self):
        self.locks, self.doomed = {}, False
        with CHANGE:
            self.end()
        try:
            while line := self.rfile.readline():
                with CHANGE:
                    try:
                        said = self.do(line.decode().strip())
                    except Failure as failure:
                        self.fail()
                        said = f"ERROR:  {failure}"
                self.wfile.write(said.encode() + b"\n")
        except (ConnectionError, BrokenPipeError):
            pass
        with CHANGE:
            self.end()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Session).serve_forever()
