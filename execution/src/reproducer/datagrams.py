class Wire(Wire):
    """Datagrams over one socket: each is a line, with or without its end, or a frame."""

    def __init__(self):
        super().__init__()
        self.port = free_port(socket.SOCK_DGRAM)

    def connect_datagrams(self, address, within, any_port=False):
        host, _, port = address.rpartition(":")
        until = time.monotonic() + within
        # One who sends before the other listens is not heard.
        while self.process is not None and not is_bound(int(port)):
            if self.process.poll() is not None or time.monotonic() >= until:
                raise NotTried("nobody takes datagrams at %s" % address)
            time.sleep(0.01)
        try:
            family, kind, protocol, _, to = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
            self.socket = socket.socket(family, kind, protocol)
            self.socket.connect(to)
            # The one who was heard last, where every port of the host may answer.
            self.to = None
            if any_port:
                self.to = self.socket.getpeername()
                self.socket.close()
                self.socket = socket.socket(family, kind, protocol)
        except OSError as error:
            raise NotTried("no way to %s: %s" % (address, error))
        self.input = self.output = self.socket.fileno()

    def send(self, data):
        self.tell("->", "%r" % data)
        try:
            if self.to is None:
                self.socket.send(data)
            else:
                self.socket.sendto(data, self.to)
        except OSError:
            # What it has sent before may be the failure.
            self.has_ended = True

    def line(self, within):
        data = self.datagram(within)
        return None if data is None else ended(data)

    def datagram(self, within):
        until = time.monotonic() + within
        while self.waited(0 if self.has_ended else until):
            try:
                data, sender = self.socket.recvfrom(65536)
                if self.to is None:
                    return data
                if sender[0] == self.to[0]:
                    self.to = sender
                    return data
            except OSError:
                if self.has_ended:
                    return None
                self.has_ended = True
        return None


def is_bound(port):
    """Does somebody on this machine take datagrams there? The kernel's own list says so, where there is one."""
    lists = []
    for path in ("/proc/self/net/udp", "/proc/self/net/udp6"):
        try:
            with open(path) as one:
                lists.append(one.read())
        except OSError:
            pass
    addresses = [line.split()[1] for text in lists for line in text.splitlines()[1:]]
    return not lists or any(address.endswith(":%04X" % port) for address in addresses)
