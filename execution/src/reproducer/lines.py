class It(Wire):
    """A protocol of lines: of the observations in their order, the first counts whose patterns fit."""

    def __init__(self):
        super().__init__()
        self.pending = []
        try:
            self.patterns = [(name, [re.compile(one) for one in lines]) for name, lines in OBSERVATIONS]
        except re.error as error:
            raise NotTried("a pattern is none for Python: %s" % error)

    def exchange(self, data, expected, within):
        if data is not None:
            self.send(data)
        if expected is None:
            return
        line = self.line(within)
        if line is None or not re.fullmatch(expected, line.decode("utf-8", "replace")):
            raise NotTried("the reset was answered by %s" % (self.nothing() if line is None else "%r" % line))

    def next(self, within):
        until = time.monotonic() + within
        while True:
            came = self.decoded()
            if came is not None:
                return came
            line = self.line(max(until - time.monotonic(), 0))
            if line is None:
                return self.nothing()
            self.pending.append(line)

    def decoded(self):
        while self.pending:
            texts = [line.decode("utf-8", "replace") for line in self.pending]
            for name, patterns in self.patterns:
                found = [one.fullmatch(text) for one, text in zip(patterns, texts)]
                if None in found:
                    continue
                if len(texts) < len(patterns):
                    return None
                raw = b"\n".join(self.pending[:len(patterns)])
                del self.pending[:len(patterns)]
                values = {}
                for one in found:
                    values.update((key, text) for key, text in one.groupdict().items() if text is not None)
                return Came("event", raw, name, values)
            line = self.pending.pop(0)
            if UNMATCHED != "ignore":
                return Came("alien" if UNMATCHED == "fail" else "garbage", line)
        return None
