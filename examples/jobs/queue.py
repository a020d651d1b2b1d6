#!/usr/bin/env python3
"""One tube of a job queue, by beanstalkd's protocol.txt: `queue.py PORT [FAULT]`. FAULT is one of the mistakes below, by its number."""

import socketserver
import sys

FAULT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
FAULTS = {
    1: "of equally urgent jobs the one that was put last is reserved first",
    2: "the greatest priority is the most urgent one",
    3: "release leaves the priority as it was",
    4: "bury leaves the priority as it was",
    5: "the job that was buried last is kicked first",
    6: "kick moves one job more than it may, and does not count it",
    7: "a buried job that was deleted can be kicked",
    8: "kick answers with the bound",
    9: "the number of a deleted job is given again",
    10: "the count of a body is that of its characters",
    11: "a body ends where its first line does",
    12: "peek-buried finds the job that was buried last",
    13: "priorities are compared in 31 bits",
    14: "a released job is the last of its priority",
    15: "peek-ready reserves the job",
    16: "the count of a body has the line's end in it",
    17: "numbers of jobs are kept in 64 bits",
}


class Job:
    def __init__(self, number, priority, body, turn):
        self.number, self.priority, self.body, self.turn, self.state = number, priority, body, turn, "ready"


class Queue:
    def __init__(self):
        self.jobs, self.buried, self.last, self.turns = {}, [], 0, 0

    def next(self):
        """The ready job with the smallest priority; within it the one that was received first."""
        sign = -1 if FAULT == 2 else 1
        mask = 2**31 - 1 if FAULT == 13 else 2**32 - 1
        order = lambda job: (sign * (job.priority & mask), -job.turn if FAULT == 1 else job.turn)
        return min((job for job in self.jobs.values() if job.state == "ready"), key=order, default=None)

    def turn(self):
        self.turns += 1
        return self.turns

    def put(self, priority, body):
        self.last = self.last + 1 if FAULT != 9 else max(self.jobs, default=0) + 1
        self.jobs[self.last] = Job(self.last, priority, body, self.turn())
        return b"INSERTED %d" % self.last

    def shown(self, word, job):
        """A job with its body; what counts that is the number of its bytes."""
        body = job.body
        if FAULT == 11:
            body = body.partition(b"\r\n")[0]
        count = len(body.decode("utf-8")) if FAULT == 10 else len(body) + 2 * (FAULT == 16)
        return b"%s %d %d\r\n%s" % (word, job.number, count, body)

    def reserve(self):
        job = self.next()
        if job is None:
            return b"TIMED_OUT"
        job.state = "reserved"
        return self.shown(b"RESERVED", job)

    def peek_ready(self):
        job = self.next()
        if job is not None and FAULT == 15:
            job.state = "reserved"
        return self.shown(b"FOUND", job) if job else b"NOT_FOUND"

    def peek_buried(self):
        return self.shown(b"FOUND", self.buried[-1 if FAULT == 12 else 0]) if self.buried else b"NOT_FOUND"

    def reserved(self, number):
        job = self.jobs.get(number)
        return job if job is not None and job.state == "reserved" else None

    def release(self, number, priority):
        job = self.reserved(number)
        if job is None:
            return b"NOT_FOUND"
        job.state = "ready"
        if FAULT != 3:
            job.priority = priority
        if FAULT == 14:
            job.turn = self.turn()
        return b"RELEASED"

    def bury(self, number, priority):
        job = self.reserved(number)
        if job is None:
            return b"NOT_FOUND"
        job.state = "buried"
        if FAULT != 4:
            job.priority = priority
        self.buried.append(job)
        return b"BURIED"

    def kick(self, bound):
        count = min(bound, len(self.buried))
        for _ in range(min(count + (FAULT == 6), len(self.buried))):
            job = self.buried.pop(-1 if FAULT == 5 else 0)
            job.state = "ready"
        return b"KICKED %d" % (bound if FAULT == 8 else count)

    def delete(self, number):
        job = self.jobs.pop(number, None)
        if job is None:
            return b"NOT_FOUND"
        if job in self.buried and FAULT != 7:
            self.buried.remove(job)
        return b"DELETED"


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        queue = Queue()
        for line in self.rfile:
            word, *numbers = line.decode("ascii").split()
            numbers = list(map(int, numbers))
            if FAULT == 17 and word in ("release", "bury", "delete") and numbers[0] >= 2**64:
                answer = b"BAD_FORMAT"
            elif word == "put":
                body = self.rfile.read(numbers[3] + 2)
                answer = queue.put(numbers[0], body[:-2]) if body.endswith(b"\r\n") else b"EXPECTED_CRLF"
            elif word == "reserve-with-timeout":
                answer = queue.reserve()
            elif word == "release":
                answer = queue.release(*numbers[:2])
            elif word in ("bury", "kick", "delete", "peek-ready", "peek-buried"):
                answer = getattr(queue, word.replace("-", "_"))(*numbers)
            else:
                answer = b"UNKNOWN_COMMAND"
            self.wfile.write(answer + b"\r\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
