"""Counts, after a moment that its second argument says in milliseconds, or a random one; says who it is; dies. `sync` and `reset` are
answered, but `sync` not where the first argument is `deaf`; where it is `half`, a count is half a line: `python3 counter.py WAY MOMENT FOLDER`.
"""
import json, os, random, sys, time
way, moment = sys.argv[1], sys.argv[2]
assert os.environ["COREACH_TMP"] == sys.argv[3]
total = 0
def wait():
    time.sleep(random.random() * 0.02 if moment == "random" else int(moment) / 1000)
def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    if way == "json":
        message = json.loads(line)
        if "start" in message:
            total = 0
            say('{"ready": true}')
            continue
        word, n = message["input"], message["values"].get("n")
    else:
        word, _, n = line.strip().partition(" ")
    if word == "Incr":
        wait()
        total += int(n)
        if way == "half":
            sys.stdout.write("value 1")
            sys.stdout.flush()
            continue
        say('{"output": "Value", "values": {"v": %d}}' % total if way == "json" else "value %d" % total)
    elif word == "Who":
        say('{"output": "Me", "values": {"p": %d}}' % os.getpid() if way == "json" else "me %d" % os.getpid())
    elif word == "Die":
        sys.exit(3)
    elif word == "sync" and way != "deaf":
        say("synced")
    elif word == "reset":
        total = 0
        say("ok")
