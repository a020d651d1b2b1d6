#!/usr/bin/env python3
"""A light with one button: JSON lines over standard input and output, with a real timer.

--keeps-timer   the timer is not set back when the light becomes bright: it goes off when it would have gone off dim
"""

import json
import os
import select
import sys
import time

DIM_FOR = 0.6
AGAIN = 0.325
# A timer may end a moment before its time.
GRACE = 0.002


def write(message):
    os.write(1, (json.dumps(message) + "\n").encode())
    return time.monotonic()


def light(level):
    return write({"output": "Light", "values": {"pLevel": level}})


def main():
    keeps_timer = "--keeps-timer" in sys.argv
    state, since, due, long, rest = "off", 0, None, 1, b""
    while True:
        wait = None if due is None else max(0, due - time.monotonic())
        if select.select([0], [], [], wait)[0]:
            read = os.read(0, 65536)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            for message in map(json.loads, lines):
                if "start" in message:
                    long = message["start"]["constants"]["cLong"]
                    write({"ready": True})
                elif state == "off":
                    state, since = "dim", light("DIM")
                    due = since + DIM_FOR + GRACE
                elif state == "dim" and time.monotonic() < since + AGAIN:
                    state, since = "bright", light("BRIGHT")
                    if not keeps_timer:
                        due = since + long + GRACE
                else:
                    state, due = "off", None
                    write({"output": "Dark"})
        elif due is not None and time.monotonic() >= due:
            state, due = "off", None
            write({"output": "Dark"})


main()
