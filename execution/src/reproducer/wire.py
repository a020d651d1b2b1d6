class Wire(Implementation):
    """Lines over two pipes, or over one connection."""

    def __init__(self):
        super().__init__()
        self.buffer, self.has_ended = b"", False

    def start(self, words, directory, environment):
        self.launch(words, directory, environment, talks=True)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()

    def connect(self, address, within):
        self.socket = self.connection(address, within)
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.output = self.socket.fileno()

    def send(self, data):
        self.tell("->", "%r" % data)
        while data:
            if not select.select([], [self.input], [], PATIENCE)[1]:
                raise NotTried("the implementation does not read what is sent")
            try:
                data = data[os.write(self.input, data[:512]):]
            except OSError:
                # What it has sent before may be the failure.
                return

    def line(self, within):
        """The next line without its end; `None` where none comes in time or at all."""
        until = time.monotonic() + within
        while b"\n" not in self.buffer:
            rest = until - time.monotonic()
            if self.has_ended or not select.select([self.output], [], [], max(rest, 0))[0]:
                return None
            try:
                data = os.read(self.output, 65536)
            except OSError:
                data = b""
            self.has_ended = not data
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line[:-1] if line.endswith(b"\r") else line

    def nothing(self):
        """There is no line."""
        return Came("end", self.buffer) if self.has_ended else Came("silence")
