class It(Wire):
    """A protocol of lines: of the observations in their order, the first counts whose lines fit."""

    def __init__(self):
        super().__init__()
        self.pending, self.events = [], []
        self.rule, self.seen = 0, Progress()
        try:
            self.shapes = [(name, Shape(**keys)) for name, keys in OBSERVATIONS]
        except re.error as error:
            raise NotTried("a pattern is none for Python: %s" % error)

    def exchange(self, data, expected, within):
        if data is not None:
            self.send(data)
        if expected is None:
            return
        until = time.monotonic() + within
        while True:
            line = self.line(max(until - time.monotonic(), 0))
            found = None if line is None else re.fullmatch(expected, line.decode("utf-8", "replace"))
            if line is None or found or not self.is_ignored(line):
                break
        if found:
            self.without_captures({name: one for name, one in found.groupdict().items() if one is not None})
        else:
            raise NotTried("the reset was answered by %s" % (self.nothing() if line is None else "%r" % line))

    def next(self, within):
        until = time.monotonic() + within
        while True:
            came = self.decoded()
            if came is not None:
                return came
            line = self.line(max(until - time.monotonic(), 0))
            if line is None:
                # Lines that wait for more are what they are without it.
                is_last = self.has_ended and ON_CLOSE is not None and not self.buffer
                return is_last and self.decoded(is_last) or self.nothing()
            try:
                self.pending.append(line.decode("utf-8"))
            except ValueError:
                return Came("garbage", line)

    def decoded(self, is_last=False):
        while self.pending and not self.events:
            if self.rule == len(self.shapes):
                line = self.taken(1)
                if self.is_ignored(line):
                    continue
                if UNMATCHED != "ignore":
                    return Came("alien" if UNMATCHED == "fail" else "garbage", line)
                continue
            name, shape = self.shapes[self.rule]
            whole = shape.fit(self.pending, self.seen)
            if whole is None and not is_last:
                return None
            also = [one for one in self.shapes if one[0] == shape.then][:1]
            if whole and also and also[0][1].fit(self.pending, Progress()) != whole:
                whole = 0
            if not whole:
                self.rule, self.seen = self.rule + 1, Progress()
                continue
            values = [(name, self.without_captures(one))
                      for name, shape in [(name, shape)] + also for one in shape.values(self.pending[:whole])]
            raw = self.taken(whole)
            self.events = [Came("event", raw, name, one) for name, one in values]
        return self.events.pop(0) if self.events else None

    def read(self, text):
        """What these lines are by themselves."""
        held = self.pending, self.events, self.rule, self.seen
        self.pending, self.events, self.rule, self.seen = text.decode("utf-8", "replace").split("\n"), [], 0, Progress()
        found = []
        while self.pending or self.events:
            found += [self.decoded(is_last=True)]
        self.pending, self.events, self.rule, self.seen = held
        return [came for came in found if came is not None]

    def is_ignored(self, line):
        """Is it left alone? Then what is due is sent back."""
        for pattern, answer in IGNORED:
            found = re.fullmatch(pattern, line.decode("utf-8", "replace"))
            if found:
                if answer is not None:
                    self.send(answer(self, found.groupdict("")))
                return True
        return False

    def taken(self, count):
        raw = "\n".join(self.pending[:count]).encode("utf-8")
        del self.pending[:count]
        self.rule, self.seen = 0, Progress()
        return raw


class Progress:
    """How many lines have been looked at, and how many there are, once it is known."""

    def __init__(self):
        self.lines, self.all = 0, None


class Shape:
    """The lines that an output is: one for each pattern, or as many as come up to an end."""

    def __init__(self, patterns=None, begin=None, lines=None, each=None, end=None, count=None, is_hidden=False, then=None):
        one = lambda pattern: None if pattern is None else re.compile(pattern)
        several = lambda patterns: None if patterns is None else [re.compile(pattern) for pattern in patterns]
        self.patterns, self.each = several(patterns), several(each)
        self.begin, self.lines, self.end = one(begin), one(lines), one(end)
        self.count, self.hidden, self.then = count, count if is_hidden else None, then

    def fit(self, texts, seen):
        """How many of the lines are it; `None` where more are needed, 0 where they are not."""
        head = 0 if self.begin is None else 1
        item = 1 if self.each is None else len(self.each)
        if self.patterns is not None:
            seen.all = len(self.patterns)
        while True:
            inner = seen.lines - head
            if seen.lines == seen.all:
                return self.whole(seen.lines, inner)
            if seen.lines == len(texts):
                return None
            text = texts[seen.lines]
            if self.patterns is not None:
                pattern = self.patterns[seen.lines]
            elif inner < 0:
                pattern = self.begin
            elif inner % item == 0 and self.end is not None and self.end.fullmatch(text):
                return self.whole(seen.lines + 1, inner)
            else:
                pattern = self.lines if self.each is None else self.each[inner % item]
            found = pattern is None or pattern.fullmatch(text)
            if not found:
                return 0
            if inner < 0 and self.count is not None:
                count = found.group(self.count) or ""
                if not re.fullmatch("[+]?[0-9]{1,4000}", count) or int(count) > 10000:
                    return 0
                seen.all = head + int(count) * item
            seen.lines += 1

    def whole(self, lines, inner):
        """A list of nothing is no output, unless the lines are one besides."""
        return 0 if self.each is not None and inner == 0 and self.then is None else lines

    def values(self, texts):
        """The values of each output that these lines are."""
        if self.patterns is not None:
            return [self.groups(zip(self.patterns, texts))]
        begin = [] if self.begin is None else [(self.begin, texts[0])]
        end = [] if self.end is None else [(self.end, texts[-1])]
        if self.each is None:
            return [self.groups(begin + end)]
        inner = texts[len(begin):len(texts) - len(end)]
        items = [inner[at:at + len(self.each)] for at in range(0, len(inner), len(self.each))]
        return [self.groups(begin + list(zip(self.each, item)) + end) for item in items]

    def groups(self, lines):
        values = {}
        for pattern, text in lines:
            found = pattern.fullmatch(text).groupdict()
            values.update((key, one) for key, one in found.items() if one is not None and key != self.hidden)
        return values
