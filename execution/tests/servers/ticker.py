"""Ticks until it is told to go, answers that, and ticks again. It looks at what it was told after each tick: that tick crosses it."""
import json
import queue
import sys
import threading
import time

told = queue.Queue()


def listen():
    for line in sys.stdin:
        told.put(json.loads(line))
    told.put(None)


def say(**message):
    print(json.dumps(message), flush=True)


threading.Thread(target=listen, daemon=True).start()
told.get()
say(ready=True)
while True:
    time.sleep(0.03)
    say(output="Tick")
    if not told.empty():
        if told.get() is None:
            break
        time.sleep(0.03)
        say(output="Done")
