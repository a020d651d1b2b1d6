"""A coffee machine with bad habits: one for each name. It does what is right up to the point where its habit begins.

Called as `python3 iut.py HABIT TAG`; the tag makes its processes recognisable, whatever happens to their environment.
"""
import json
import os
import signal
import sys
import time

HABIT, TAG = sys.argv[1:3]
FOREVER = 30


def write(data):
    while data:
        data = data[os.write(1, data):]


def say(message):
    write(json.dumps(message).encode() + b"\n")


def output(name, **values):
    say({"output": name, "values": values})


def flood(data):
    while True:
        write(data)


def sleep(seconds=FOREVER):
    time.sleep(seconds)
    os._exit(0)


def child(action):
    if os.fork() == 0:
        try:
            action()
        finally:
            os._exit(0)


def daemon(action):
    """A daemon as the book says: own session, parent gone, files closed."""
    def second():
        os.setsid()
        child(lambda: (os.closerange(0, 100), action()))
    child(second)


def hop():
    """Never the same process for long."""
    until = time.monotonic() + 3
    while time.monotonic() < until:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        time.sleep(0.001)


def shed():
    """Another session and an empty environment."""
    os.setsid()
    os.closerange(0, 100)
    os.execve("/bin/sh", ["sh", "-c", "sleep %d; exit" % FOREVER, TAG], {})


# What happens in place of an answer to the coin. `None`: the right answer follows.
AT_COIN = {
    "hangs": lambda: sleep(),
    "floods_outputs": lambda: flood(b'{"output": "Deliver", "values": {"pBeverage": "TEA"}}\n' * 100),
    "floods_logs": lambda: flood(b'{"log": "still here"}\n' * 100),
    "floods_blank_lines": lambda: flood(b"\n" * 4096),
    "floods_garbage": lambda: flood(os.urandom(4096)),
    "endless_line": lambda: flood(b"x" * 4096),
    "not_utf8": lambda: write(b'{"output": "Ret\xff\xfeurn"}\n'),
    "wrong_json": lambda: write(b'{"output": "Return", "values": {"pRemainingValue": }}\n'),
    "no_message": lambda: say({"hello": "world"}),
    "echo": lambda: say({"input": "Coin", "values": {"pCoinValue": 1}}),
    "ready_again": lambda: say({"ready": True}),
    "reports_an_error": lambda: say({"error": "out of coffee"}),
    "deep_json": lambda: write(b"[" * 100_000 + b"\n"),
    "unknown_action": lambda: output("Explode"),
    "input_as_output": lambda: output("Coin", pCoinValue=1),
    "wrong_parameter": lambda: output("Return", pWrong=0),
    "missing_value": lambda: output("Return"),
    "value_outside": lambda: output("Return", pRemainingValue=-1),
    "value_of_wrong_type": lambda: output("Return", pRemainingValue="much"),
    "huge_integer": lambda: write(b'{"output": "Return", "values": {"pRemainingValue": %s}}\n' % (b"9" * 1000)),
    "monstrous_integer": lambda: write(b'{"output": "Return", "values": {"pRemainingValue": %s}}\n' % (b"9" * 500_000)),
    "closes_stdout": lambda: (os.close(1), sleep()),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kills_itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stops_itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "exits": lambda: os._exit(0),
    "exits_with_a_word": lambda: (os.write(2, b"Traceback: no beans\n"), os._exit(7)),
    "half_a_line": lambda: (write(b'{"output": "Retu'), sleep()),
    "half_a_line_and_exit": lambda: (write(b'{"output": "Return", "values": {"pRemainingValue": 0}}'), os._exit(0)),
    "too_late": lambda: (time.sleep(2), output("Return", pRemainingValue=0)),
    "children_hold_pipes": lambda: (child(sleep), os._exit(5)),
    "ignores_signals": lambda: ([signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 13, 15)], sleep()),
}

if HABIT == "exits_at_once":
    os._exit(3)
if HABIT == "output_before_start":
    output("Return", pRemainingValue=0)
if HABIT == "garbage_before_start":
    write(b"Welcome to the coffee machine!\n")

price = paid = 0
# Unbuffered: a habit may be to close the input.
pending = b""
while True:
    while b"\n" not in pending:
        chunk = os.read(0, 4096)
        if not chunk:
            os._exit(0)
        pending += chunk
    line, pending = pending.split(b"\n", 1)
    message = json.loads(line)
    if "start" in message:
        # Large numbers come as text.
        price = int(message["start"]["constants"]["cPrice"])
        if HABIT == "never_ready":
            sleep()
        if HABIT == "logs_instead_of_ready":
            flood(b'{"log": "soon"}\n' * 100)
        if HABIT == "says_that_it_cannot":
            say({"error": "no water"})
            sleep()
        if HABIT == "closes_stdin":
            os.close(0)
        if HABIT == "daemon":
            daemon(sleep)
        if HABIT == "hopping_daemon":
            daemon(hop)
        if HABIT == "children":
            for _ in range(5):
                child(sleep)
        if HABIT == "sheds_its_environment":
            child(shed)
        if HABIT == "stderr_flood":
            child(lambda: [os.write(2, b"e" * 4096) for _ in iter(int, 1)])
        say({"ready": True})
        if HABIT == "closes_stdin":
            sleep()
        if HABIT == "exits_after_ready":
            os._exit(0)
        if HABIT == "speaks_first":
            output("Deliver", pBeverage="TEA")
    elif message["input"] == "Coin":
        if HABIT in AT_COIN:
            AT_COIN[HABIT]()
            sleep()
        paid = int(message["values"]["pCoinValue"])
        if HABIT == "drips":
            for byte in json.dumps({"output": "Return", "values": {"pRemainingValue": paid - price}}):
                write(byte.encode())
                time.sleep(0.02)
            sleep()
        if HABIT == "wrong_change":
            paid += 1
        output("Return", pRemainingValue=paid - price)
        if HABIT == "answers_twice":
            output("Return", pRemainingValue=paid - price)
        if HABIT == "exits_after_one_answer":
            os._exit(0)
    elif message["input"] == "ChooseBeverage":
        output("Deliver", pBeverage=message["values"]["pBeverage"])
        if HABIT == "exits_with_the_last_answer":
            os._exit(1)
