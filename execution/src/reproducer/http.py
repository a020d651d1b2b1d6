class It(Implementation):
    """Requests by `curl`; the answer to a request is what comes next."""

    def __init__(self):
        super().__init__()
        self.answers = []

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
        while self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Came):
                return answer
            status, body = answer
            try:
                tree = json.loads(body.decode("utf-8"), parse_float=Fraction)
            except (ValueError, RecursionError):
                tree = NOTHING
            for name, wanted, pointers in OBSERVATIONS:
                values = {key: pointed(tree, pointer) for key, pointer in pointers.items()}
                if status == wanted and NOTHING not in values.values():
                    return Came("event", body, name, values)
            if UNMATCHED != "ignore":
                return Came("alien" if UNMATCHED == "fail" else "garbage", body)
        return Came("silence")


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
