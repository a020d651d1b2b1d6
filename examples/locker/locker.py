#!/usr/bin/env python3
"""A locker, as a program that coreach tests: JSON over standard input and output, a message a line.

Put your own system in its place: this file shows all that the tester asks for.

--fault count   a planted fault: it says that one try more is left than it forgives
--fault late    another one: it blocks one wrong code too late
"""

import json
import sys

FAULT = sys.argv[2] if sys.argv[1:2] == ["--fault"] else None


def say(message):
    # Each message at once: the tester waits for it.
    print(json.dumps(message), flush=True)


def output(name, **values):
    say({"output": name, "values": values})


def main():
    is_open, is_blocked, code, tries, left = True, False, None, 0, 0
    for line in sys.stdin:
        message = json.loads(line)
        if "start" in message:
            # A run begins: go to the initial state, with these constants, and say so.
            tries = int(message["start"]["constants"]["cTries"])
            is_open, is_blocked = True, False
            say({"ready": True})
        elif is_blocked:
            pass  # What is not expected is ignored.
        elif message["input"] == "Close" and is_open:
            is_open, code, left = False, int(message["values"]["pCode"]), tries
            output("Closed")
        elif message["input"] == "Enter" and not is_open:
            if int(message["values"]["pCode"]) == code:
                is_open = True
                output("Opened")
                continue
            left -= 1
            if left > 0 or (FAULT == "late" and left == 0):
                output("Wrong", pLeft=left + 1 if FAULT == "count" else left)
            else:
                is_blocked = True
                output("Blocked")


main()
