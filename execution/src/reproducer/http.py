class It(Implementation):
    """Requests by `curl`; the answer to a request is what comes next, or the items of the list in it are."""

    def __init__(self):
        super().__init__()
        self.answers, self.events, self.status = [], [], None

    def ready(self, address, within):
        self.connection(address, within).close()

    def request(self, base, method, path, headers, body, within=PATIENCE):
        words = ["curl", "-q", "--silent", "--show-error", "--http1.1", "--noproxy", "*", "--globoff", "--path-as-is",
                 "--max-time", str(within), "--write-out", "%{http_code}", "--request", method]
        if method == "HEAD":
            words.append("--head")
        names = {name.lower() for name, _ in headers}
        for name, value in [("User-Agent", "coreach"), ("Accept-Encoding", "identity"), ("Content-Type", None)]:
            if name.lower() not in names:
                headers = headers + [(name, value)]
        for name, value in headers:
            words += ["--header", name + ":" if value is None else name + ": " + value if value else name + ";"]
        if body or method in ("POST", "PUT", "PATCH"):
            words += ["--data-binary", "@-" if body else ""]
        words.append(base + path)
        shown = [re.sub("(?i)^(%s):.*" % "|".join(map(re.escape, SECRET)), r"\1: ...", word) if SECRET else word for word in words]
        self.tell("->", shlex.join(shown) + (" <<< " + shlex.quote(repr(body)[2:-1]) if body else ""))
        try:
            done = subprocess.run(words, input=body, stdout=subprocess.PIPE)
        except OSError as error:
            raise NotTried("curl cannot be started: %s" % error)
        body, status = done.stdout[:-3], done.stdout[-3:]
        if done.returncode == 0:
            return int(status), body
        if done.returncode == 28:
            return Came("silence")
        if done.returncode in (7, 18, 52, 55, 56):
            return Came("end", body)
        if done.returncode in (1, 8):
            return Came("garbage", body)
        raise NotTried("curl ended with status %s" % done.returncode)

    def prepare(self, base, method, path, headers, body, status, expected, within):
        """A request of the reset, asked again until its answer is the expected one."""
        until = time.monotonic() + within
        while True:
            answer = self.request(base, method, path, headers, body)
            text = answer[1].decode("utf-8", "replace").rstrip() if isinstance(answer, tuple) else ""
            if isinstance(answer, tuple) and answer[0] == status and (expected is None or re.fullmatch(expected, text)):
                return
            if time.monotonic() >= until:
                raise NotTried("the reset was answered by %s" % (answer if isinstance(answer, Came) else (answer,)))
            time.sleep(0.02)

    def send(self, base, method, path, headers, body):
        self.answers.append(self.request(base, method, path, headers, body))

    def next(self, within):
        while self.answers and not self.events:
            answer = self.answers.pop(0)
            self.status = None if isinstance(answer, Came) else answer[0]
            self.events = [answer] if isinstance(answer, Came) else translated(*answer)
        return self.events.pop(0) if self.events else Came("silence")

    def read(self, body):
        """What such a body is in an answer of the last status."""
        return translated(self.status, body)


def translated(status, body):
    """The events that an answer is."""
    try:
        tree = parsed(body)
    except (ValueError, RecursionError):
        tree = NOTHING
    for name, wanted, pointers, each, then in OBSERVATIONS:
        if wanted != status:
            continue
        events, more = found(tree, pointers, each), []
        if then is not None:
            also = [found(tree, one[2], one[3]) for one in OBSERVATIONS if one[0] == then and one[1] == status]
            more = next((values for values in also if values is not None), None)
        # A list of nothing is no output, unless the answer is one besides.
        if events is not None and more is not None and events + more:
            return [Came("event", body, name, values) for values in events] + [Came("event", body, then, values) for values in more]
    return [] if UNMATCHED == "ignore" else [Came("alien" if UNMATCHED == "fail" else "garbage", body)]


def found(tree, pointers, each):
    """The values of each event, where all pointers point to something."""
    items = [tree] if each is None else pointed(tree, each)
    if not isinstance(items, list):
        return None
    events = [{key: pointed(item, pointer) for key, pointer in pointers.items()} for item in items]
    return None if any(value is NOTHING for values in events for value in values.values()) else events


def secret(header):
    """The value of a header that is not written down: from the environment."""
    name = "SECRET_" + re.sub("[^A-Z0-9]", "_", header.upper())
    if name not in os.environ:
        raise NotTried("set %s to the value of the header %s" % (name, header))
    return os.environ[name]


NOTHING = object()


def pointed(tree, pointer):
    """What a JSON pointer (RFC 6901) points to."""
    for word in pointer.split("/")[1:]:
        word = word.replace("~1", "/").replace("~0", "~")
        if isinstance(tree, dict) and word in tree:
            tree = tree[word]
        elif isinstance(tree, list) and word.isdigit() and int(word) < len(tree):
            tree = tree[int(word)]
        else:
            return NOTHING
    return tree
