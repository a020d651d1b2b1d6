class It(Wire):
    """One JSON message per line."""

    def begin(self, start, within):
        self.send(start)
        came = self.next(within)
        if came.kind != "ready":
            raise NotTried("the implementation does not become ready: %s" % came)

    def next(self, within):
        until = time.monotonic() + within
        while True:
            line = self.line(max(until - time.monotonic(), 0))
            if line is None:
                return self.nothing()
            for came in self.read(line):
                return came

    def read(self, line):
        """What a line says, as a list that may be empty."""
        if not line.strip(b" \t\r"):
            return []
        try:
            message = parsed(line)
        except (ValueError, RecursionError):
            return [Came("garbage", line)]
        if not isinstance(message, dict) or set(message) == {"error"}:
            return [Came("end" if isinstance(message, dict) else "garbage", line)]
        if set(message) == {"log"}:
            return []
        if set(message) == {"ready"}:
            return [Came("ready", line)]
        values = message.get("values", {})
        is_output = set(message) <= {"output", "values"} and "output" in message and isinstance(values, dict)
        return [Came("event", line, message["output"], values) if is_output else Came("garbage", line)]
