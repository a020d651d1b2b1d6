class It(Implementation):
    """Requests by `curl`; the answer to a request is what comes next, or the items of the list in it are."""

    def __init__(self):
        super().__init__()
        self.answers, self.events, self.status, self.headers, self.action = [], [], None, [], None

    def ready(self, address, within):
        self.connection(address, within).close()

    def request(self, base, method, path, headers, body, within=PATIENCE):
        words = ["curl", "-q", "--silent", "--show-error", "--http1.1", "--noproxy", "*", "--globoff", "--path-as-is",
                 "--max-time", str(within), "--write-out", "%{http_code}", "--request", method]
        head = tempfile.NamedTemporaryFile(prefix="coreach-script-")
        words += ["--dump-header", head.name]
        if method == "HEAD":
            words.append("--head")
        if TLS is not None:
            base, headers, more = secured(base, headers)
            words += more
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
            return int(status), body, headers_of(head.read())
        if done.returncode == 28:
            return Came("silence")
        if done.returncode in (7, 18, 52, 55, 56):
            return Came("end", body)
        if done.returncode in (1, 8):
            return Came("garbage", body)
        if done.returncode in (35, 51, 58, 60, 77):
            raise NotTried("no TLS with %s: curl ended with status %s" % (base, done.returncode))
        raise NotTried("curl ended with status %s" % done.returncode)

    def prepare(self, base, method, path, headers, body, status, expected, within):
        """A request of the reset, asked again until its answer is the expected one."""
        until = time.monotonic() + within
        while True:
            answer = self.request(base, method, path, headers, body)
            text = answer[1].decode("utf-8", "replace").rstrip() if isinstance(answer, tuple) else ""
            if isinstance(answer, tuple) and answer[0] == status and (expected is None or re.fullmatch(expected, text)):
                self.capture(answer, [])
                return
            if time.monotonic() >= until:
                raise NotTried("the reset was answered by %s" % (answer if isinstance(answer, Came) else (answer[:2],)))
            time.sleep(0.02)

    def send(self, action, base, method, path, headers, body, within=PATIENCE):
        self.answers.append((action, self.request(base, method, path, headers, body, within)))

    def next(self, within):
        while self.answers and not self.events:
            self.action, answer = self.answers.pop(0)
            self.status, _, self.headers = (None, b"", []) if isinstance(answer, Came) else answer
            self.events = [answer] if isinstance(answer, Came) else translated(*answer, self.action)
            if not isinstance(answer, Came):
                self.capture(answer, [came.name for came in self.events if came.kind == "event"])
        return self.events.pop(0) if self.events else Came("silence")

    def read(self, body):
        """What such a body is in an answer of the last status and headers."""
        return translated(self.status, body, self.headers, self.action)

    def capture(self, answer, outputs):
        """Takes out of an answer, which is these outputs, what is sent again."""
        for name, kind, what, pattern, outputs_with_it in SOURCES:
            if outputs_with_it and not set(outputs_with_it) & set(outputs):
                continue
            text = part(said(kind, what, answer[1], answer[2]), pattern)
            if text is not None:
                self.captures[name] = text


def secured(base, headers):
    """With TLS: who is named in the description is trusted, and nobody else."""
    authorities, certificate, key, name = TLS
    more = ["--cacert", authorities, "--capath", os.devnull]
    if certificate is not None:
        more += ["--cert", certificate, "--key", key]
    if name is not None:
        # The certificate is of this name; who is asked stays who it was.
        scheme, _, rest = base.partition("://")
        place, slash, path = rest.partition("/")
        host, _, port = place.rpartition(":") if re.search(r":[0-9]+$", place) else (place, "", "443")
        more += ["--connect-to", "%s:%s:%s:%s" % (name, port, host, port)]
        if not any(one.lower() == "host" for one, _ in headers):
            headers = [("Host", place)] + headers
        base = "%s://%s:%s%s%s" % (scheme, name, port, slash, path)
    return base, headers, more


def headers_of(head):
    """The headers of an answer, names in small letters: not those of a `100 Continue`, and not those behind the body."""
    for block in head.replace(b"\r\n", b"\n").split(b"\n\n"):
        first, _, lines = block.partition(b"\n")
        if re.match(rb"HTTP/[0-9.]+ 1[0-9][0-9]", first):
            continue
        headers = []
        for line in lines.split(b"\n"):
            name, colon, value = line.partition(b":")
            try:
                headers += [(name.decode().lower(), value.strip(b" \t").decode())] if colon else []
            except ValueError:
                pass
        return headers
    return []


def said(kind, what, body, headers):
    """What an answer says in a header, in a cookie, or in its body."""
    lines = [value for name, value in headers if name == (what.lower() if kind == "header" else "set-cookie")]
    if kind == "header":
        return ", ".join(lines) if lines else None
    if kind == "cookie":
        pairs = [line.split(";")[0].partition("=") for line in lines]
        values = [value.strip() for name, sign, value in pairs if sign and name.strip() == what]
        return values[-1] if values else None
    if is_coded(headers):
        return None
    if kind == "latin1":
        return body.decode("latin-1")
    try:
        text = body.decode("utf-8")
        if kind == "body":
            return text
        # A number as it is written.
        return written(pointed(as_written(text), what))
    except (ValueError, RecursionError):
        return None


def is_coded(headers):
    """Is the body in a content coding that nobody asked for?"""
    codings = [value.lower() for name, value in headers if name == "content-encoding" and value]
    return bool(codings) and codings != ["identity"]


def as_written(text):
    """A JSON text, with its numbers as they are written."""
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=exact, object_pairs_hook=distinct)


def written(found):
    """A text, a number or a truth value of JSON, as it is written."""
    return str(found).lower() if isinstance(found, bool) else found if isinstance(found, str) else None


def part(text, pattern):
    """The part of a text that is asked for, where the text looks as it is to."""
    if text is None or pattern is None:
        return text
    found = re.fullmatch(pattern, text)
    return found.group(1) if found else None


def quoted(text):
    """Percent-encoded, but for what needs it nowhere (RFC 3986, 2.3)."""
    return urllib.parse.quote(text, safe="-._~")


def translated(status, body, headers, action=None):
    """The events that the answer to this stimulus is."""
    trees = NOTHING, NOTHING
    try:
        if not is_coded(headers):
            trees = parsed(body), as_written(body.decode("utf-8"))
    except (ValueError, RecursionError):
        pass
    may_be = [one for one in OBSERVATIONS if one[1] == status and (not one[5] or action in one[5]) and looks(headers, one[6])]
    for name, _, places, each, then, _, _ in may_be:
        events, more = found(trees, body, headers, places, each), []
        if then is not None:
            also = [found(trees, body, headers, one[2], one[3]) for one in may_be if one[0] == then]
            more = next((values for values in also if values is not None), None)
        # A list of nothing is no output, unless the answer is one besides.
        if events is not None and more is not None and events + more:
            return [Came("event", body, name, values) for values in events] + [Came("event", body, then, values) for values in more]
    return [] if UNMATCHED == "ignore" else [Came("alien" if UNMATCHED == "fail" else "garbage", body)]


def looks(headers, patterns):
    """Do the headers look so?"""
    texts = [(said("header", name, b"", headers), pattern) for name, pattern in patterns]
    return all(text is not None and re.fullmatch(pattern, text) for text, pattern in texts)


def found(trees, body, headers, places, each):
    """The values of each event, where all of them stand in the answer."""
    items = [trees]
    if each is not None:
        lists = [pointed(tree, each) for tree in trees]
        if not isinstance(lists[0], list):
            return None
        items = zip(*lists)
    events = [{key: value(item, body, headers, *place) for key, place in places.items()} for item in items]
    return None if any(one is NOTHING for values in events for one in values.values()) else events


def value(trees, body, headers, kind, what, pattern):
    """What stands for a value: any JSON, or a text."""
    if kind == "pointer" and pattern is None:
        return pointed(trees[0], what)
    text = part(written(pointed(trees[1], what)) if kind == "pointer" else said(kind, what, body, headers), pattern)
    return NOTHING if text is None else text


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
