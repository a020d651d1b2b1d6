class Wire(Implementation):
    """Lines or frames over two pipes, or over one connection."""

    def __init__(self):
        super().__init__()
        self.socket, self.buffer, self.has_ended, self.has_hung_up = None, b"", False, False

    def start(self, words, directory, environment, grace=0):
        self.launch(words, directory, environment, grace, talks=True)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()

    def connect(self, address, within):
        self.socket = self.connection(address, within)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS is not None:
            self.socket = secured(self.socket, address.rpartition(":")[0].strip("[]"))
        # What comes within TLS need not be anything for us.
        self.socket.settimeout(None if TLS is None else 0)
        self.input = self.output = self.socket.fileno()

    def disconnect(self):
        if self.socket is not None:
            self.socket.close()
        elif self.process.stdin is not None:
            self.process.stdin.close()

    def send(self, data):
        self.tell("->", "%r" % data)
        while data:
            if not select.select([], [self.input], [], PATIENCE)[1]:
                raise NotTried("the implementation does not read what is sent")
            try:
                data = data[os.write(self.input, data[:512]) if TLS is None else self.socket.send(data[:512]):]
            except BlockingIOError if TLS is None else (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                time.sleep(0.001)
            except OSError:
                # What it has sent before may be the failure.
                return

    def line(self, within):
        """The next line without its end; `None` where none comes in time or at all."""
        until = time.monotonic() + within
        while b"\n" not in self.buffer:
            if not self.more(until):
                return None
        line, self.buffer = self.buffer.split(b"\n", 1)
        return ended(line)

    def more(self, until):
        """Puts what comes until then into the buffer, if anything does."""
        if self.has_ended or not self.waited(until):
            return False
        try:
            data = os.read(self.output, 65536) if TLS is None else self.socket.recv(65536)
        except BlockingIOError if TLS is None else (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        except OSError:
            data = b""
        self.has_ended = not data
        self.buffer += data
        return True

    def waited(self, until):
        """Is there something to read, until then? One who is gone says nothing more."""
        if TLS is not None and self.socket.pending():
            return True
        while True:
            is_gone = self.process is not None and self.process.poll() is not None
            rest = until - time.monotonic()
            if select.select([self.output], [], [], 0 if is_gone else min(max(rest, 0), 0.05))[0]:
                return True
            if is_gone:
                self.has_ended = True
            if is_gone or rest <= 0:
                return False

    def nothing(self):
        """There is no line, or frame."""
        if not self.has_ended or self.has_hung_up:
            return Came("silence")
        if ON_CLOSE is None or self.buffer:
            # A disconnect that is an output is none in the middle of something.
            return Came("end" if ON_CLOSE is None else "garbage", self.buffer)
        self.has_hung_up = True
        return Came("event", b"", ON_CLOSE, {})


def secured(connection, host):
    """With TLS: who is named in the description is trusted, and nobody else."""
    authorities, certificate, key, name = TLS
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(authorities)
        if certificate is not None:
            context.load_cert_chain(certificate, key)
        return context.wrap_socket(connection, server_hostname=name or host)
    except OSError as error:
        raise NotTried("no TLS with %s: %s" % (host, error))


def ended(line):
    """A line without its end."""
    line = line[:-1] if line.endswith(b"\n") else line
    return line[:-1] if line.endswith(b"\r") else line
