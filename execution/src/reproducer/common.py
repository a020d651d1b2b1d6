class Seen(Exception):
    """The failure is seen again: exit code 1."""


class NotSeen(Exception):
    """It is not: exit code 0."""


class NotTried(Exception):
    """It could not be tried: exit code 2."""


def same(given, expected):
    """Is it the same value? A number may be written as a number or as a text."""
    if isinstance(given, dict) and isinstance(expected, dict):
        return given.keys() == expected.keys() and all(same(given[key], expected[key]) for key in given)
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(map(same, given, expected))
    numbers = number(given), number(expected)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return type(given) is type(expected) and given == expected


def number(value):
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,4000}([./][0-9]{1,4000})?", value):
        try:
            return Fraction(value)
        except ZeroDivisionError:
            return None
    return None


def fits(values, expected):
    """Are these the values? `Either` lists the texts that a value may have."""
    if values.keys() != expected.keys():
        return False
    for name, wanted in expected.items():
        if not (wanted.has(values[name]) if isinstance(wanted, Either) else same(values[name], wanted)):
            return False
    return True


class Either:
    def __init__(self, *texts):
        self.texts = texts

    def has(self, value):
        """A text must be one of them to the sign: `0012` may mean something else than `12`."""
        if isinstance(value, str):
            return value in self.texts
        return any(same(value, text) for text in self.texts)


class Came:
    """What came: an `event` with its name and values; `alien`, which is none; `garbage`, `silence` or the `end`."""

    def __init__(self, kind, raw=b"", name=None, values=None):
        self.kind, self.raw, self.name, self.values = kind, raw, name, values

    def __str__(self):
        if self.kind == "silence":
            return "nothing came in time"
        if self.kind == "end":
            return "it has ended" + (", after %r" % self.raw if self.raw else "")
        return "%r" % self.raw


class Implementation:
    """What all ways to an implementation have in common."""

    def __init__(self):
        self.port, self.folder = free_port(), None
        self.process, self.grace = None, 0
        self.captures = {name: default for name, default in CAPTURES.items() if default is not None}

    @property
    def tmp(self):
        """A folder for the files of what is launched."""
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="coreach-script-")
        return self.folder

    def captured(self, name):
        """What an answer has said that is sent again."""
        if name not in self.captures:
            raise NotTried("nothing that came has been captured as %s" % name)
        return self.captures[name]

    def without_captures(self, values):
        """The values of an event: what else was found in it is captured."""
        self.captures.update((name, one) for name, one in values.items() if name in CAPTURES)
        return {name: one for name, one in values.items() if name not in CAPTURES}

    def launch(self, words, directory, environment, grace=0, talks=False):
        """Starts the implementation, in a process group of its own. So long it may take to end by itself."""
        self.grace = grace
        pipe = subprocess.PIPE if talks else None
        try:
            self.process = subprocess.Popen(
                words, cwd=directory, env={**os.environ, **environment, "COREACH_TMP": self.tmp}, start_new_session=True, bufsize=0,
                stdin=pipe or subprocess.DEVNULL, stdout=pipe or sys.stderr)
        except OSError as error:
            raise NotTried("%s cannot be started: %s" % (words[0], error))

    def command(self, words, directory, environment, within):
        """A command that belongs to the reset; it must end with status 0."""
        try:
            ended = subprocess.run(words, cwd=directory, env={**os.environ, **environment, "COREACH_TMP": self.tmp},
                                   timeout=within, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotTried("the reset failed: %s" % error)
        if ended.returncode != 0:
            raise NotTried("the reset failed: %s ended with status %s" % (words[0], ended.returncode))

    def pause(self, seconds):
        time.sleep(seconds)

    def connection(self, address, within):
        """A connection to the server, as soon as it takes one."""
        host, _, port = address.rpartition(":")
        until = time.monotonic() + within
        while True:
            try:
                return socket.create_connection((host.strip("[]"), int(port)), timeout=max(until - time.monotonic(), 0.1))
            except OSError as error:
                is_gone = self.process is not None and self.process.poll() is not None
                if is_gone or time.monotonic() >= until:
                    raise NotTried("no connection to %s: %s" % (address, "the server has ended" if is_gone else error))
                time.sleep(0.01)

    def observe(self, name, values, within=PATIENCE):
        """This came before: it must come again, or the system goes another way."""
        came = self.next(within)
        self.tell("<-", came)
        if came.kind == "event" and came.name == name and fits(came.values, values):
            return
        if came.kind == "end":
            raise NotTried("the implementation went before the failure: %s" % came)
        raise NotSeen("the implementation goes another way this time: %s" % came)

    def offence(self, kind, within=PATIENCE, name=None, values=None, raw=None):
        """This is what failed: does it come again?"""
        came = self.next(within)
        self.tell("<-", came)
        is_same = came.kind == kind
        if kind == "event":
            is_same = is_same and came.name == name and fits(came.values, values)
        elif raw is not None:
            # One who knows the specification says of this text that it is no event.
            is_same = is_same or came.raw == raw or self.says(came, self.read(raw))
        if is_same:
            raise Seen("the failure is seen again: %s" % came)
        raise NotSeen("the failure is not seen: %s" % came)

    def says(self, came, was):
        """Is it what was read of that text? The rest of an answer, a time perhaps, may differ."""
        if came.kind != "event" or len(was) != 1 or was[0].kind != "event":
            return False
        return came.name == was[0].name and fits(came.values, was[0].values)

    def disconnect(self):
        """Nothing more will be said: one who waits for more may end."""

    def tell(self, sign, what):
        print("%8.3f %s %s" % (time.monotonic() - BEGIN, sign, what), flush=True)

    def leave(self):
        """Ends what was started, with all of its group."""
        if self.process is not None and self.grace > 0:
            self.disconnect()
            try:
                self.process.wait(self.grace)
            except subprocess.TimeoutExpired:
                pass
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def parsed(data):
    """A JSON text: its numbers are exact, and a key that is there twice is no key."""
    return json.loads(data.decode("utf-8"), parse_float=exact, parse_constant=exact, object_pairs_hook=distinct)


def exact(digits):
    exponent = digits.lower().partition("e")[2]
    if len(exponent) > 5:
        raise ValueError("a number of too many digits")
    return Fraction(digits)


def distinct(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(type=kind) as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])
