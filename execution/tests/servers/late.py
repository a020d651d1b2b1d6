"""Ten systems that conform to their models and answer late, in bursts and unasked: `late.py NAME [PORT] [--fault]`.

With `--fault` each says something wrong now and then, some time after what it was right to say.
Without a port a system speaks over its standard input and output. With one it listens there, for TCP, or for UDP where its
name says so. Each message is a line: a name, and numbers where it has some. A system takes its time, at most 0.3 s, before
it takes, answers or says anything. Its models are in `cli/tests/late.rs`.
"""
import queue
import random
import socket
import sys
import threading
import time

LONGEST = 0.3
FAULT = "--fault" in sys.argv
ARGUMENTS = [one for one in sys.argv[1:] if one != "--fault"]


def wait(part=1.0):
    time.sleep(random.random() * LONGEST * part)


class System:
    """Reads what it is sent in a thread, and says what it says under one lock: what it says is in the order of what it did."""

    def __init__(self, lines, write):
        self.lines, self.write, self.told = lines, write, queue.Queue()
        self.lock, self.ended, self.last = threading.Lock(), False, time.monotonic()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.lines:
            self.last = time.monotonic()
            self.told.put(line.split())
        self.told.put(None)

    def say(self, *words):
        # Over UDP nobody says that a run is over.
        if time.monotonic() - self.last > 30:
            raise EOFError
        self.write(" ".join(str(word) for word in words))

    def take(self, seconds=None):
        """The next message; [] where none has come in that time."""
        try:
            words = self.told.get(timeout=seconds)
        except queue.Empty:
            return []
        if words is None:
            raise EOFError
        return words

    def err(self, *words):
        """Says it late, and wrongly, by lot."""
        if FAULT and random.random() < 0.5:
            wait()
            self.say(*words)

    def run(self, behave):
        try:
            # Over UDP nobody is there before the first message.
            if not ARGUMENTS[0].endswith("_udp"):
                self.say("ready")
            behave(self)
        except (EOFError, OSError):
            pass
        self.ended = True


def sleepy_ticker(system):
    """Sleeps before it ticks, and takes nothing meanwhile."""
    while True:
        word = system.take()[0]
        wait()
        system.say("tick" if word == "start" else "stopped")
        if word == "stop":
            system.err("tick")


def nimble_ticker(system):
    """Takes a stop at once: then it does not tick."""
    while True:
        word, until = system.take()[0], time.monotonic() + random.random() * LONGEST
        if word == "start":
            word = (system.take(until - time.monotonic()) or ["none"])[0]
            if word == "none":
                system.say("tick")
                word = system.take()[0]
        wait(0.3)
        system.say("stopped")
        system.err("tick")


def bursting_bell(system):
    """Rings some times whenever it likes, and looks at what it was told after each burst."""
    while True:
        for _ in range(random.randrange(3)):
            system.say("ring")
            wait(0.3)
        if system.take(random.random() * LONGEST):
            wait()
            system.say("set")
            system.err("set")


def ringing_bell(system):
    """Rings from another thread, but not while it is asked."""
    def ring():
        while not system.ended:
            wait()
            wait()
            with system.lock:
                system.say("ring")
    threading.Thread(target=ring, daemon=True).start()
    while True:
        system.take()
        with system.lock:
            wait(0.5)
            system.say("set")
            system.err("set")


def slow_queue(system):
    """Does one thing after the other."""
    while True:
        word = system.take()[0]
        wait()
        system.say(*(["done"] if word == "put" else ["count", 0]))
        if word == "put":
            system.err("done")


def working_queue(system):
    """Takes at once, and works in another thread."""
    work, count = queue.Queue(), 0

    def do():
        nonlocal count
        while not system.ended:
            work.get()
            wait()
            with system.lock:
                count -= 1
                system.say("done")
    threading.Thread(target=do, daemon=True).start()
    while True:
        word = system.take()[0]
        with system.lock:
            if word == "put" and count < 3:
                count += 1
                work.put(None)
            elif word == "query":
                system.say("count", count + (FAULT and count > 1))


def slow_setter(system):
    """Takes as long for each number as it may, and says it unasked now and then."""
    number = 0
    while True:
        words = system.take(random.random() * LONGEST)
        if words:
            wait()
            number = int(words[1]) if not FAULT or int(words[1]) < 7 else number
        for _ in range(random.randrange(3)):
            system.say("value", number)
            wait(0.3)


def bursting_job(system):
    """Reports in bursts, ends by itself, and is cancelled when it looks."""
    is_working = False
    while True:
        words = system.take(random.random() * LONGEST if is_working else None)
        if words == ["job"]:
            is_working = True
        elif words:
            wait(0.5)
            system.say("cancelled" if is_working else "idle")
            if is_working:
                system.err("progress")
            is_working = False
        elif random.random() < 0.4:
            system.say("finished")
            is_working = False
        else:
            for _ in range(random.randrange(3)):
                system.say("progress")


def main():
    behave = globals()[ARGUMENTS[0].removesuffix("_udp")]
    if len(ARGUMENTS) == 1:
        def write(line):
            print(line, flush=True)
        System(sys.stdin, write).run(behave)
    elif ARGUMENTS[0].endswith("_udp"):
        pipe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        pipe.bind(("127.0.0.1", int(ARGUMENTS[1])))
        of = {}

        def lines(told):
            while True:
                yield told.get()
        while True:
            message, peer = pipe.recvfrom(65536)
            if peer not in of:
                of[peer] = queue.Queue()
                system = System(lines(of[peer]), lambda line, peer=peer: pipe.sendto(line.encode(), peer))
                threading.Thread(target=system.run, args=[behave], daemon=True).start()
            of[peer].put(message.decode())
    else:
        listener = socket.create_server(("127.0.0.1", int(ARGUMENTS[1])))
        while True:
            pipe, _ = listener.accept()
            pipe.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def serve(pipe=pipe):
                with pipe:
                    system = System(pipe.makefile("r"), lambda line: pipe.sendall((line + "\n").encode()))
                    system.run(behave)
            threading.Thread(target=serve, daemon=True).start()


main()
