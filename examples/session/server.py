#!/usr/bin/env python3
"""The session server: JSON lines over standard input and output, with real timers.

--late-beat    every third beat comes 150 ms too late: the timer is set when the beat before has been written, and someone
               added a pause
--early-retry  a call is tried again after 50 ms instead of 150
"""

import json
import os
import select
import sys
import time

BEAT = 0.2
RETRY = 0.15
# A timer may end a moment before its time.
GRACE = 0.002


def write(message):
    os.write(1, (json.dumps(message) + "\n").encode())


class Session:
    def __init__(self, late_beat, early_retry):
        self.late_beat = late_beat
        self.retry = 0.05 if early_retry else RETRY
        self.next_beat = None
        self.next_try = None
        self.call = None
        self.tries = 0
        self.beats = 0

    def say(self, output, **values):
        write({"output": output, "values": values} if values else {"output": output})
        return time.monotonic()

    def take(self, message):
        name, values = message["input"], message.get("values", {})
        if name == "Open" and self.next_beat is None:
            self.next_beat = self.say("Opened") + BEAT + GRACE
        elif name == "Call" and self.call is None:
            self.call, self.tries = values["pCall"], 0
            self.forward()
        elif name == "Result" and values["pCall"] == self.call:
            self.call, self.next_try = None, None
            self.say("Done", pCall=values["pCall"])
        elif name == "Close":
            self.next_beat, self.next_try = None, None
            self.say("Closed")

    def forward(self):
        now = self.say("Forward", pCall=self.call, pTry=self.tries)
        self.tries += 1
        self.next_try = now + self.retry + GRACE

    def timers(self):
        now = time.monotonic()
        if self.next_beat is not None and now >= self.next_beat:
            self.beats += 1
            late = 0.15 if self.late_beat and self.beats % 3 == 2 else 0
            self.next_beat = self.say("Beat") + BEAT + GRACE + late
        if self.next_try is not None and now >= self.next_try:
            if self.tries < 3:
                self.forward()
            else:
                call, self.call, self.next_try = self.call, None, None
                self.say("Failed", pCall=call)

    def wait(self):
        """How long until something is due."""
        due = [at for at in (self.next_beat, self.next_try) if at is not None]
        return max(0, min(due) - time.monotonic()) if due else None


def main():
    session = Session("--late-beat" in sys.argv, "--early-retry" in sys.argv)
    rest = b""
    while True:
        ready, _, _ = select.select([0], [], [], session.wait())
        if ready:
            read = os.read(0, 65536)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "start" in message:
                    write({"ready": True})
                else:
                    session.take(message)
        session.timers()


main()
