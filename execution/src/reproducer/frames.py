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
            begin = at + width_of(integer, self.buffer[at:])
            if len(self.buffer) < begin:
                return None
            said = number_of(integer, self.buffer[at:begin])
            end = behind = -1 if said is None else said + (0 if is_of_all else begin)
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
    rest = read(fields, frame, values)
    values.pop(None, None)
    return None if rest is None or rest else values


def read(fields, frame, values):
    """Takes the fields from the front. What is left, or `None` where they do not stand there."""
    rest, starts, told = frame, [0], {}
    for at, (kind, what, name) in enumerate(fields):
        if kind == "fixed":
            if not rest.startswith(what):
                return None
            rest = rest[len(what):]
        elif kind == "number":
            said, rest = taken(what[0], rest)
            if said is None or not heard(what[1], said, told, values):
                return None
        elif kind == "bits":
            width = sum(part[0] for part in what)
            mine, rest = rest[:width // 8], rest[width // 8:]
            if len(mine) < width // 8:
                return None
            whole = int.from_bytes(mine, "big")
            for bits, number in what:
                width -= bits
                if not heard(number, whole >> width & (1 << bits) - 1, told, values):
                    return None
        elif kind == "checksum":
            rest = rest[what[1][0]:]
            if len(frame) - len(rest) != starts[-1] + what[1][0]:
                return None
        elif kind == "list":
            items, rest = elements(what, rest, told.get(at))
            if items is None:
                return None
            values[name] = items
        else:
            halves = split(what[0] if kind == "group" else what, rest, told.get(at))
            if halves is None:
                return None
            mine, rest = halves
            if kind == "group":
                if read(what[1], mine, values) != b"":
                    return None
            elif kind == "bytes":
                values[name] = mine.hex()
            else:
                try:
                    values[name] = mine.decode("latin-1" if kind == "latin1" else "utf-8")
                except ValueError:
                    return None
        starts.append(len(frame) - len(rest))
    for at, (kind, what, _) in enumerate(fields):
        if kind == "checksum":
            name, integer, first, end = what
            there = frame[starts[at]:starts[at + 1]]
            mine = b"\0" * len(there) if first <= at < end else there
            covered = frame[starts[first]:starts[end]]
            if first <= at < end:
                covered = frame[starts[first]:starts[at]] + mine + frame[starts[at + 1]:starts[end]]
            right, said = checksum(name, covered), number_of(integer, there)
            if said != right and not (name == "internet" and right == 0 and said == 0xffff):
                return None
    return rest


def heard(number, said, told, values):
    """What a number says: of itself, of another field, or of a name."""
    fixed, name, counting = number
    if counting is not None:
        told[counting[0]] = (said - counting[2], counting[1])
    values[name] = str(said)
    return fixed is None or fixed == said


def elements(what, frame, told):
    """The elements of a list, and the rest."""
    (kind, of), fields = what
    count, behind = None, None
    if kind == "count":
        count, frame = taken(of, frame)
        if count is None:
            return None, frame
    elif kind == "told" and told is not None and told[1]:
        count = told[0]
    else:
        halves = split((kind, of), frame, told)
        if halves is None:
            return None, frame
        frame, behind = halves
    if count is not None and not 0 <= count <= min(len(frame), 10000):
        return None, frame
    items = []
    while len(items) < count if count is not None else frame:
        parts = {}
        frame = read(fields, frame, parts) if len(items) < 10000 else None
        if frame is None:
            return None, b""
        parts.pop(None, None)
        items.append(parts["element"] if list(parts) == ["element"] else parts)
    return items, frame if behind is None else behind


def checksum(name, data):
    if name == "crc32":
        import zlib
        return zlib.crc32(data)
    total = int.from_bytes(data + b"\0" * (len(data) % 2), "big")
    # In digits of 16 bits, the carries added: the remainder by all ones, which is all ones but for zeros alone.
    return 0xffff - (total and (total - 1) % 0xffff + 1)


def split(extent, frame, told):
    """The bytes of a field, and the rest."""
    kind, what = extent
    if kind == "rest":
        return frame, b""
    if kind == "until":
        before, end, rest = frame.partition(what)
        return (before, rest) if end else None
    size = what
    if kind == "told":
        size = None if told is None else told[0]
    elif kind == "length":
        size, frame = taken(what, frame)
    return (frame[:size], frame[size:]) if size is not None and 0 <= size <= len(frame) else None


def width_of(integer, data):
    """How many bytes the number at the front has."""
    if integer[0]:
        return integer[0]
    return next((at + 1 for at, byte in enumerate(data[:8]) if byte < 128), 8)


def number_of(integer, data):
    """The number in these bytes; `None` where they are no spelling of it."""
    if integer[0]:
        return int.from_bytes(data, integer[1], signed=integer[2])
    if not data or data[-1] > 127 or len(data) > 1 and data[-1] == 0:
        return None
    return sum((byte & 127) << 7 * at for at, byte in enumerate(data))


def taken(integer, data):
    """The number at the front, which may be `None`, and the rest."""
    width = width_of(integer, data)
    return number_of(integer, data[:width]) if len(data) >= width else None, data[width:]


def written(fields, values):
    """The frame of a stimulus, of which some values were captured."""
    # What counts a field stands before it.
    pieces = [b""] * len(fields)
    for at in reversed(range(len(fields))):
        kind, what, name = fields[at]
        if kind == "fixed":
            piece = what
        elif kind == "number":
            piece = number_in(what[0], said_by(what[1], pieces, values))
        elif kind == "bits":
            whole = width = 0
            for bits, number in what:
                one = said_by(number, pieces, values)
                if one < 0 or one >> bits:
                    raise NotTried("%s is no number of %s bits" % (one, bits))
                whole, width = whole << bits | one, width + bits
            piece = whole.to_bytes(width // 8, "big")
        elif kind == "checksum":
            piece = b"\0" * what[1][0]
        elif kind == "list":
            raise NotTried("a list is not sent beside what was captured")
        else:
            if kind == "group":
                what, fields_within = what
                mine = written(fields_within, values)
            elif kind == "bytes":
                mine = bytes.fromhex(values[name])
            else:
                try:
                    mine = values[name].encode("latin-1" if kind == "latin1" else "utf-8")
                except ValueError:
                    raise NotTried("%s is no text of bytes" % name)
            kind, what = what
            if kind == "size" and len(mine) != what or kind == "until" and (mine + what).find(what) != len(mine):
                raise NotTried("%s does not fit its field: %r" % (name, mine))
            piece = number_in(what, len(mine)) + mine if kind == "length" else mine + what if kind == "until" else mine
        pieces[at] = piece
    for at, (kind, what, _) in enumerate(fields):
        if kind == "checksum":
            pieces[at] = number_in(what[1], checksum(what[0], b"".join(pieces[what[2]:what[3]])))
    return b"".join(pieces)


def said_by(number, pieces, values):
    fixed, name, counting = number
    if counting is not None:
        if counting[1]:
            raise NotTried("a list is not sent beside what was captured")
        return len(pieces[counting[0]]) + counting[2]
    return decimal(values[name]) if fixed is None else fixed


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
    for width in range(1, 9):
        said = number_in(integer, len(frame) + width if is_of_all else len(frame) - at)
        if not is_of_all or len(said) == width:
            return frame[:at] + said + frame[at:]
    raise NotTried("the length of a frame does not fit")


def decimal(text):
    if not re.fullmatch("[+-]?[0-9]{1,40}", text):
        raise NotTried("%r is no number" % text)
    return int(text)


def number_in(integer, number):
    """The bytes of a number: of `number_of` the other way."""
    if not integer[0] and 0 <= number < 1 << 56:
        count = max((number.bit_length() + 6) // 7, 1)
        return bytes(number >> 7 * at & 127 | (128 if at + 1 < count else 0) for at in range(count))
    try:
        return number.to_bytes(integer[0], integer[1], signed=integer[2])
    except OverflowError:
        raise NotTried("%s does not fit %s bytes" % (number, integer[0]))
