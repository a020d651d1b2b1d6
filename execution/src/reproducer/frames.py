class It(Wire):
    """Frames of bytes: of the observations in their order, the first counts whose fields are the whole frame."""

    def exchange(self, data, expected, within):
        if data is not None:
            self.send(data)
        if expected is None:
            return
        until = time.monotonic() + within
        while True:
            frame = self.frame(max(until - time.monotonic(), 0))
            frame = self.nothing() if frame is None else frame
            fitting = None if isinstance(frame, Came) else re.fullmatch(expected, frame.hex())
            if isinstance(frame, Came) or fitting or not self.is_ignored(frame):
                break
        if fitting:
            self.without_captures({name: one for name, one in fitting.groupdict().items() if one is not None})
        else:
            raise NotTried("the reset was answered by %s" % (frame if isinstance(frame, Came) else frame.hex()))

    def next(self, within):
        until = time.monotonic() + within
        while True:
            frame = self.frame(max(until - time.monotonic(), 0))
            if frame is None:
                return self.nothing()
            if isinstance(frame, Came):
                return frame
            for came in self.read(frame):
                return came

    def read(self, frame):
        """What a frame says, as a list that may be empty."""
        for name, fields in OBSERVATIONS:
            values = found(fields, frame)
            if values is not None:
                return [Came("event", frame, name, self.without_captures(values))]
        if self.is_ignored(frame):
            return []
        return [] if UNMATCHED == "ignore" else [Came("alien" if UNMATCHED == "fail" else "garbage", frame)]

    def is_ignored(self, frame):
        """Is it left alone? Then what is due is sent back."""
        for fields, answer in IGNORED:
            values = found(fields, frame)
            if values is not None:
                if answer is not None:
                    self.send(answer(self, values))
                return True
        return False

    def frame(self, within):
        """The next frame, or what came that can be none; `None` where none comes in time or at all."""
        if CUT[0] == "datagrams":
            return self.datagram(within)
        until = time.monotonic() + within
        while True:
            frame = self.cut()
            if frame is not None or not self.more(until):
                return frame

    def cut(self):
        """Takes the next frame, if it is there as a whole."""
        kind, what = CUT
        if kind == "fixed":
            end = behind = what
        elif kind == "delimiter":
            end = self.buffer.find(what)
            if end < 0:
                return None if len(self.buffer) <= LONGEST else Came("flood", self.buffer)
            behind = end + len(what)
        else:
            integer, at, is_of_all = what
            begin = at + integer[0]
            if len(self.buffer) < begin:
                return None
            end = behind = number_of(integer, self.buffer[at:begin]) + (0 if is_of_all else begin)
            if end < begin or end > LONGEST:
                return Came("garbage" if end < begin else "flood", self.buffer)
        if len(self.buffer) < behind:
            return None
        frame, self.buffer = self.buffer[:end], self.buffer[behind:]
        # A frame is without its length.
        return frame[:at] + frame[begin:] if kind == "length" else frame


# No frame is longer.
LONGEST = 1 << 20


def found(fields, frame):
    """What the fields say, where they are the whole frame."""
    values = {}
    for kind, what, name in fields:
        if kind == "fixed":
            mine, frame = frame[:len(what)], frame[len(what):]
            if mine != what:
                return None
        elif kind == "number":
            mine, frame = frame[:what[0]], frame[what[0]:]
            if len(mine) < what[0]:
                return None
            values[name] = str(number_of(what, mine))
        elif kind == "bits":
            width = sum(part[0] for part in what)
            mine, frame = frame[:width // 8], frame[width // 8:]
            if len(mine) < width // 8:
                return None
            whole = int.from_bytes(mine, "big")
            for bits, fixed, part in what:
                width -= bits
                one = whole >> width & (1 << bits) - 1
                if fixed is not None and fixed != one:
                    return None
                values[part] = str(one)
        else:
            halves = split(what, frame)
            if halves is None:
                return None
            mine, frame = halves
            try:
                values[name] = mine.decode("utf-8") if kind == "text" else mine.hex()
            except ValueError:
                return None
    values.pop(None, None)
    return None if frame else values


def split(extent, frame):
    """The bytes of a field, and the rest."""
    kind, what = extent
    if kind == "rest":
        return frame, b""
    if kind == "until":
        before, end, rest = frame.partition(what)
        return (before, rest) if end else None
    size = what
    if kind == "length":
        if len(frame) < what[0]:
            return None
        size, frame = number_of(what, frame[:what[0]]), frame[what[0]:]
    return (frame[:size], frame[size:]) if 0 <= size <= len(frame) else None


def number_of(integer, data):
    """The number in these bytes: how many they are, their order, and whether it may be below 0."""
    return int.from_bytes(data, integer[1], signed=integer[2])


def written(fields, values):
    """The frame of a stimulus, of which some values were captured."""
    frame = b""
    for kind, what, name in fields:
        if kind == "fixed":
            frame += what
        elif kind == "number":
            frame += number_in(what, decimal(values[name]))
        elif kind == "bits":
            whole = width = 0
            for bits, fixed, part in what:
                one = decimal(values[part]) if fixed is None else fixed
                if one < 0 or one >> bits:
                    raise NotTried("%s is no number of %s bits" % (one, bits))
                whole, width = whole << bits | one, width + bits
            frame += whole.to_bytes(width // 8, "big")
        else:
            mine = values[name].encode() if kind == "text" else bytes.fromhex(values[name])
            kind, what = what
            if kind == "size" and len(mine) != what or kind == "until" and (mine + what).find(what) != len(mine):
                raise NotTried("%s does not fit its field: %r" % (name, mine))
            frame += number_in(what, len(mine)) + mine if kind == "length" else mine + what if kind == "until" else mine
    return frame


def framed(frame):
    """A frame with what tells it from others."""
    kind, what = CUT
    if kind == "delimiter":
        if (frame + what).find(what) != len(frame):
            raise NotTried("the delimiter of frames is in one: %r" % frame)
        return frame + what
    if kind != "length":
        return frame
    integer, at, is_of_all = what
    if len(frame) < at:
        raise NotTried("a frame ends before its length: %r" % frame)
    said = number_in(integer, len(frame) + integer[0] if is_of_all else len(frame) - at)
    return frame[:at] + said + frame[at:]


def decimal(text):
    if not re.fullmatch("[+-]?[0-9]{1,40}", text):
        raise NotTried("%r is no number" % text)
    return int(text)


def number_in(integer, number):
    """The bytes of a number: of `number_of` the other way."""
    try:
        return number.to_bytes(integer[0], integer[1], signed=integer[2])
    except OverflowError:
        raise NotTried("%s does not fit %s bytes" % (number, integer[0]))
