# ---------------------------------------------------------------------------------------------------------------------
# What follows is the same in every file of this kind: values, expressions, the judge, the choice of values, the tester.


class Undefined(Exception):
    """An operation that was reached has no value: then a transition cannot be taken."""


class TooLong(Exception):
    """A number of more digits, or a string of more characters, than are computed."""


class RunError(Exception):
    """Something between the tester and the implementation broke. That is no verdict."""


class Misread(Exception):
    """What came from outside is no value of its type."""


class Array:
    """A total map that is the same everywhere but at finitely many cells."""

    def __init__(self, type_, default, cells):
        self.type, self.default = type_, default
        self.cells = {index: value for index, value in cells.items() if value != default}

    def get(self, index):
        return self.cells.get(index, self.default)

    def put(self, index, value):
        return Array(self.type, self.default, {**self.cells, index: value})

    def __eq__(self, other):
        if not isinstance(other, Array):
            return NotImplemented
        known = {**self.cells, **other.cells}
        if any(self.get(index) != other.get(index) for index in known):
            return False
        return self.default == other.default or len(known) == size(self.type[1])

    def __hash__(self):
        # Equal maps may be spelled differently, over finitely many indices.
        return 1


def size(type_):
    """How many values a type has; None where they are infinitely many, or too many to be counted here."""
    kind = type_[0]
    if kind == "bool":
        return 2
    if kind == "enum":
        return len(type_[2])
    if kind == "int" and type_[1] is not None and type_[2] is not None:
        return type_[2] - type_[1] + 1
    if kind == "record":
        sizes = [size(field) for _, field in type_[2]]
        if None in sizes:
            return None
        if type_[3] is None or type_[3][0] == "keys":
            return math.prod(sizes)
        tags = range(len(sizes)) if type_[3] == "list" else range(sizes[0])
        return sum(math.prod(of for at, of in enumerate(sizes) if at and counts(type_, tag, at)) for tag in tags)
    if kind == "array":
        index, element = size(type_[1]), size(type_[2])
        if index is None or element is None or index > 4096:
            return None
        return element**index
    return None


def counts(type_, number, at):
    """Does a field of a record count, where the first one has this number?"""
    form = type_[3]
    if form is None or form[0] == "keys" or at == 0:
        return True
    if form in ("list", "option"):
        return at <= number
    if form[0] == "entries":
        return at <= number * form[2]
    _, first, count = form[number]
    return first <= at < first + count


def ordinal(first, type_):
    """The number of a record's first field: a length, or that of an alternative."""
    return type_[2][0][1][2].index(first) if isinstance(first, str) and type_[3] else first


def canonical(value, type_):
    """A record of which the fields that do not count are the simplest, and entries are in the order of their keys."""
    number = ordinal(value[0], type_)
    if type_[3] is not None and type_[3][0] == "entries":
        return of_entries(type_, dict(found_entries(value, type_)))
    fields = enumerate(zip(value, type_[2]))
    return tuple(part if counts(type_, number, at) else plain_value(field) for at, (part, (_, field)) in fields)


def made_of(type_, first, parts):
    """The record with this first field, of which these parts count."""
    rest, number = list(parts), ordinal(first, type_)
    fields = enumerate(type_[2][1:], 1)
    return (first, *(rest.pop(0) if counts(type_, number, at) else plain_value(field) for at, (_, field) in fields))


def place_of_id(text):
    """The place of an id among those that are keys."""
    digits = text[2:] if text.startswith("id") else ""
    if digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0"):
        return int(digits)
    return int.from_bytes(b"\1" + text.encode(), "big") << 64


def found_entries(value, type_):
    """The keys of a set or a map with a bound, each with its part of a map."""
    width = type_[3][2]
    return [(value[at], value[at + width - 1]) for at in range(1, 1 + value[0] * width, width)]


def of_entries(type_, found):
    """The set or the map with a bound that has these; None where they are too many."""
    _, key_type, width = type_[3]
    keys = sorted(found, key=place_of_id if key_type[0] == "id" else None)
    if len(keys) * width >= len(type_[2]):
        return None
    return made_of(type_, len(keys), [part for key in keys for part in (key, found[key])[:width]])


def counting(value, type_):
    """The parts that count, behind the first, with their names and types."""
    number = ordinal(value[0], type_)
    fields = enumerate(zip(value, type_[2]))
    return [(part, name, field) for at, (part, (name, field)) in fields if at and counts(type_, number, at)]


def is_in(value, type_):
    """Does a value of the right kind lie in the type?"""
    kind = type_[0]
    if kind == "int":
        return (type_[1] is None or type_[1] <= value) and (type_[2] is None or value <= type_[2])
    if kind == "record":
        inside = all(is_in(part, field) for part, (_, field) in zip(value, type_[2]))
        return inside and (type_[3] is None or value == canonical(value, type_))
    if kind == "array":
        cells = all(is_in(index, type_[1]) and is_in(element, type_[2]) for index, element in value.cells.items())
        return cells and is_in(value.default, type_[2])
    return True


def literal(written, type_):
    """A value as the data above writes it."""
    kind = type_[0]
    if kind == "real":
        return Fraction(written[0], written[1])
    if kind == "record":
        return tuple(literal(part, field) for part, (_, field) in zip(written, type_[2]))
    if kind == "array":
        cells = {literal(index, type_[1]): literal(element, type_[2]) for index, element in written[1]}
        return Array(type_, literal(written[0], type_[2]), cells)
    return written


# Values from outside and to it: bool, int, Fraction, str; a literal of an enumeration as its name, a record as a dictionary,
# an array as {"default": value, "cells": [[index, value], ...]}, a list as a list, `none` as None and `some(x)` as x, a value
# of a variant as the name of its alternative, or {name: fields} where that has fields, a set as a list of its keys, read in any
# order, and a map as a dictionary, its keys as text.


def inward(given, type_, is_key=False):
    """The value that something from outside stands for."""
    kind = type_[0]
    if kind == "bool" and isinstance(given, bool):
        return given
    if kind == "enum" and isinstance(given, str) and given in type_[2]:
        return given
    if kind == "id" and isinstance(given, int) and not isinstance(given, bool):
        return digits(given)
    if kind in ("string", "id") and isinstance(given, str) and not any("\ud800" <= sign <= "\udfff" for sign in given):
        return given
    if kind in ("int", "real") and not isinstance(given, bool):
        number = number_of(given, kind, is_key)
        if number is not None:
            value = number if kind == "real" else int(number)
            if is_in(value, type_):
                return value
    if kind == "record" and type_[3] is not None:
        return inward_form(given, type_)
    if kind == "record" and isinstance(given, dict) and set(given) == {name for name, _ in type_[2]}:
        return tuple(inward(given[name], field) for name, field in type_[2])
    if kind == "array" and isinstance(given, dict) and set(given) == {"default", "cells"}:
        cells = {}
        for cell in given["cells"] if isinstance(given["cells"], (list, tuple)) else [None]:
            if not isinstance(cell, (list, tuple)) or len(cell) != 2:
                raise Misread(f"expected cells of two values, not {cut(repr(cell))}")
            index = inward(cell[0], type_[1])
            if index in cells:
                raise Misread("an array index appears twice")
            cells[index] = inward(cell[1], type_[2])
        return Array(type_, inward(given["default"], type_[2]), cells)
    raise Misread(f"expected a value of type {spelled(type_)}, not {cut(repr(given))}")


def number_of(given, kind, is_key):
    if isinstance(given, (int, Fraction, Decimal)) or (isinstance(given, float) and math.isfinite(given)):
        number = Fraction(given)
        return number if kind == "real" or number.denominator == 1 else None
    if not isinstance(given, str) or len(given) > 9000:
        return None
    if not is_key and re.fullmatch("-?(0|[1-9][0-9]{0,15})", given) and abs(int(given)) <= 1 << 53:
        # What a number of JSON holds exactly is none as a text.
        return None
    whole, _, under = given.partition("/")
    if kind == "int" or under:
        # Digits alone, or two numbers of digits.
        texts = [whole, under] if under else [given]
        if not all(re.fullmatch("-?(0|[1-9][0-9]*)", text) and len(text) <= 4097 for text in texts):
            return None
        if kind == "int":
            return None if under else Fraction(int(given))
        return Fraction(int(whole), int(under)) if int(under) > 0 else None
    return decimal(given)


def decimal(text):
    """A number as JSON writes it, exactly."""
    found = re.fullmatch(r"(-?(?:0|[1-9][0-9]*))(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", text)
    if not found or len(text) > 4200:
        return None
    mantissa, fraction, exponent = int(found[1] + (found[2] or "")), found[2] or "", found[3] or "0"
    if mantissa == 0:
        return Fraction(0)
    if len(exponent) > 8 or len(found[1].lstrip("-") + fraction) + abs(int(exponent)) > 4096:
        return None
    return Fraction(mantissa) * Fraction(10) ** (int(exponent) - len(fraction))


def inward_form(given, type_):
    """The same of a record that is more than its fields."""
    form, fields = type_[3], type_[2]
    if form[0] == "entries":
        found = None
        if form[2] == 1 and isinstance(given, (list, tuple)):
            keys = [inward(key, form[1]) for key in given]
            found = {key: key for key in keys} if len(set(keys)) == len(keys) else None
        if form[2] == 2 and isinstance(given, dict):
            found = {inward(key, form[1], True): inward(part, fields[2][1]) for key, part in given.items()}
            found = found if {text_of_key(key, form[1]) for key in found} == set(given) else None
        value = None if found is None else of_entries(type_, found)
        if value is None:
            raise Misread(f"expected a value of type {spelled(type_)}, not {cut(repr(given))}")
        return value
    if form[0] == "keys":
        kind = fields[0][1][0]
        if kind == "bool" and isinstance(given, (list, tuple)):
            found = [form[2].index(inward(key, form[1])) for key in given]
            if len(found) == len(set(found)):
                return tuple(at in found for at in range(len(form[2])))
        known = [shown(key, form[1]) for key in form[2]]
        if kind == "record" and isinstance(given, dict) and all(key in known for key in given):
            absent = plain_value(fields[0][1])
            some = {key: (True, inward(part, fields[0][1][2][1][1])) for key, part in given.items()}
            return tuple(some.get(key, absent) for key in known)
        raise Misread(f"expected a value of type {spelled(type_)}, not {cut(repr(given))}")
    if form == "list" and isinstance(given, (list, tuple)) and len(given) < len(fields):
        return made_of(type_, len(given), [inward(part, fields[1][1]) for part in given])
    if form == "option":
        return made_of(type_, given is not None, [] if given is None else [inward(given, fields[1][1])])
    if form not in ("list", "option"):
        name, parts = (given, {}) if isinstance(given, str) else (None, None)
        if isinstance(given, dict) and len(given) == 1:
            ((name, parts),) = given.items()
        for number, (alternative, first, count) in enumerate(form):
            of = [(field[len(alternative) + 1 :], type__) for field, type__ in fields[first : first + count]]
            is_it = alternative == name and isinstance(parts, dict) and isinstance(given, dict) == (count > 0)
            if is_it and set(parts) == {field for field, _ in of}:
                tag = fields[0][1][2][number]
                return made_of(type_, tag, [inward(parts[field], type__) for field, type__ in of])
    raise Misread(f"expected a value of type {spelled(type_)}, not {cut(repr(given))}")


def text_of_key(key, type_):
    return key if type_[0] in ("string", "id") else shown(key, type_)


def entries(value, type_):
    """The keys that a set has, or those that a map has, as text, with their values and the type of these."""
    if type_[3][0] == "entries":
        found = found_entries(value, type_)
        if type_[3][2] == 1:
            return [outward(key, type_[3][1]) for key, _ in found]
        return {text_of_key(key, type_[3][1]): (part, type_[2][2][1]) for key, part in found}
    part_type, (_, key_type, keys) = type_[2][0][1], type_[3]
    if part_type[0] == "bool":
        return [key for key, is_there in zip(keys, value) if is_there]
    found = [(key, part) for key, (is_there, part) in zip(keys, value) if is_there]
    return {shown(key, key_type): (part, part_type[2][1][1]) for key, part in found}


def outward(value, type_):
    """The same value for those outside."""
    kind = type_[0]
    if kind == "record" and type_[3] is not None and type_[3][0] in ("keys", "entries"):
        found = entries(value, type_)
        return found if isinstance(found, list) else {key: outward(*part) for key, part in found.items()}
    if kind == "record" and type_[3] is not None:
        parts = [(name, outward(part, field)) for part, name, field in counting(value, type_)]
        if type_[3] == "list":
            return [part for _, part in parts]
        if type_[3] == "option":
            return parts[0][1] if parts else None
        alternative = type_[3][ordinal(value[0], type_)][0]
        return {alternative: {name[len(alternative) + 1 :]: part for name, part in parts}} if parts else alternative
    if kind == "record":
        return {name: outward(part, field) for part, (name, field) in zip(value, type_[2])}
    if kind == "array":
        cells = [[outward(index, type_[1]), outward(element, type_[2])] for index, element in value.cells.items()]
        return {"default": outward(value.default, type_[2]), "cells": cells}
    return value


def spelled(type_):
    kind = type_[0]
    if kind == "int":
        low, high = type_[1:]
        return "int" if low is None else "nat" if high is None else f"int[{digits(low)}..{digits(high)}]"
    if kind == "array":
        return f"array[{spelled(type_[1])}] of {spelled(type_[2])}"
    return type_[1] if kind in ("enum", "record", "id") else kind


def digits(number):
    # Python refuses to write very long ones.
    return str(number) if abs(number) < 10**4000 else hex(number)


def shown(value, type_):
    kind = type_[0]
    if kind == "bool":
        return "true" if value else "false"
    if kind == "int":
        return digits(value)
    if kind == "real":
        return digits(value.numerator) + (f"/{digits(value.denominator)}" if value.denominator != 1 else "")
    if kind in ("string", "id"):
        return json.dumps(value)
    if kind == "record" and type_[3] is not None and type_[3][0] in ("keys", "entries"):
        found = entries(value, type_)
        if isinstance(found, list):
            return "{" + ", ".join(shown(key, type_[3][1]) for key in found) + "}"
        if type_[3][0] == "entries":
            found = {shown(key, type_[3][1]): (part, type_[2][2][1]) for key, part in found_entries(value, type_)}
        return "[" + ", ".join(f"{key}: {shown(*part)}" for key, part in found.items()) + "]"
    if kind == "record" and type_[3] is not None:
        parts = ", ".join(shown(part, field) for part, _, field in counting(value, type_))
        if type_[3] == "list":
            return f"[{parts}]"
        name = ("none", "some")[value[0]] if type_[3] == "option" else type_[3][ordinal(value[0], type_)][0]
        return f"{name}({parts})" if parts else name
    if kind == "record":
        return "{" + ", ".join(f"{n}: {shown(part, field)}" for part, (n, field) in zip(value, type_[2])) + "}"
    if kind == "array":
        cells = [f"{shown(index, type_[1])}: {shown(part, type_[2])}, " for index, part in value.cells.items()]
        return "[" + "".join(cells) + f"..: {shown(value.default, type_[2])}]"
    return value


def cut(text):
    return text if len(text) <= 200 else text[:200] + "..."


def evaluate(term, data, known=None):
    """The value of an expression: from the left, and no further than is needed. What is shared is computed once."""
    known = {} if known is None else known
    if term in known:
        return known[term]
    operation, *parts = TERMS[term]
    if operation == "value":
        value = literal(parts[0], parts[1])
    elif operation == "data":
        value = data[parts[0]]
        if isinstance(value, Later):
            value = value.value()
    elif operation in ("and", "or"):
        value = operation == "and"
        for part in parts:
            value = evaluate(part, data, known)
            if value == (operation == "or"):
                break
    elif operation == "if":
        value = evaluate(parts[1] if evaluate(parts[0], data, known) else parts[2], data, known)
    elif operation == "field":
        value = evaluate(parts[0], data, known)[parts[1]]
    elif operation == "record":
        value = tuple(evaluate(part, data, known) for part in parts[1:])
        if not is_in(value, parts[0]):
            raise Undefined
    elif operation == "not":
        value = not evaluate(parts[0], data, known)
    elif operation == "negative":
        value = -evaluate(parts[0], data, known)
    elif operation == "to real":
        value = Fraction(evaluate(parts[0], data, known))
    elif operation in APPLIED:
        value = applied(operation, parts, data, known)
        if operation in ("sum", "joined_by") and (len(value) if isinstance(value, str) else length(value)) > LONGEST:
            raise TooLong
    elif operation in ON_STRINGS:
        value = ON_STRINGS[operation](*[evaluate(part, data, known) for part in parts])
        if isinstance(value, str) and len(value) > LONGEST:
            raise TooLong
    else:
        a = evaluate(parts[0], data, known)
        b = evaluate(parts[1], data, known)
        if operation == "store":
            value = stored(a, b, evaluate(parts[2], data, known))
        else:
            value = COMPUTED[operation](a, b)
        if operation in ("+", "-", "*", "/", "div", "mod") and length(value) > LONGEST:
            raise TooLong
    known[term] = value
    return value


class Later:
    """An argument of a body. It is evaluated when it is first needed."""

    def __init__(self, term, data):
        self.term, self.data, self.known = term, data, None

    def value(self):
        if self.known is None:
            self.known = (evaluate(self.term, self.data),)
        return self.known[0]


def elements(value, type_):
    """The elements of a list, or the keys of a set or a map."""
    if type_[3] == "list":
        return list(value[1 : 1 + value[0]])
    return [key for key, _ in keyed(value, type_).items()]


def keyed(value, type_):
    """The keys of a set or a map, each with what a map has there."""
    if type_[3][0] == "entries":
        return dict(found_entries(value, type_))
    if type_[2][0][1][0] == "bool":
        return {key: True for key, is_there in zip(type_[3][2], value) if is_there}
    return {key: part for key, (is_there, part) in zip(type_[3][2], value) if is_there}


def checked(value, type_):
    if value is None or not is_in(value, type_):
        raise Undefined
    return value


def of_keyed(type_, found):
    """The set or the map of these."""
    if type_[3][0] == "entries":
        return checked(of_entries(type_, found), type_)
    if not all(key in type_[3][2] for key in found):
        raise Undefined
    fields = [field for _, field in type_[2]]
    some = {key: True if fields[0][0] == "bool" else (True, part) for key, part in found.items()}
    return checked(tuple(some.get(key, plain_value(field)) for key, field in zip(type_[3][2], fields)), type_)


def of_elements(type_, found):
    if len(found) >= len(type_[2]):
        raise Undefined
    return checked(made_of(type_, len(found), list(found)), type_)


def position(index, end):
    if not 0 <= index < end:
        raise Undefined
    return index


def applied(operation, parts, data, known):
    """The value of a call, a quantifier, a `match`, or an operation of collections."""

    def go(term):
        return evaluate(term, data, known)

    def later(names, terms):
        return {name: Later(term, data) for name, term in zip(names, terms)}

    if operation == "call":
        names, body, arguments = parts
        return evaluate(body, later(names, arguments))
    if operation == "defined":
        try:
            go(parts[0])
            return True
        except Undefined:
            return False
    if operation == "match":
        type_, cases, names, arguments = parts
        own = later(names, arguments[1:])
        if len(cases) == 1:
            ((_, bound, body),) = cases
            fields = {name: Field(arguments[0], at, data) for name, at in bound}
            return evaluate(body, {**own, **fields})
        subject = go(arguments[0])
        number = ordinal(subject[0], type_)
        fitting = [case for case in cases if case[0] is None or case[0] == number]
        _, bound, body = (fitting or cases[-1:])[0]
        return evaluate(body, {**own, **{name: subject[at] for name, at in bound}})
    if operation in QUANTIFIERS:
        return quantified(operation, parts, data, go)
    if operation in ON_SETS:
        one, other = keyed(go(parts[2]), parts[0]), keyed(go(parts[3]), parts[1])
        value = ON_SETS[operation](one, other)
        return of_keyed(parts[0], value) if isinstance(value, dict) else value
    type_, *terms = parts
    if operation == "made":
        values = [go(term) for term in terms]
        is_map = type_[3][2] == 2 if type_[3][0] == "entries" else type_[2][0][1][0] != "bool"
        found = {}
        for at in range(0, len(values), 1 + is_map):
            found[values[at]] = values[at + is_map]
            of_keyed(type_, found)
        return of_keyed(type_, found)
    if operation == "has_key" and type_[3][0] == "entries" and not keyed(go(terms[1]), type_):
        return False
    whole = go(terms[0])
    if operation in ("list_contains", "list_index_of"):
        found = elements(whole, type_)
        wanted = go(terms[1]) if found else None
        at = next((at for at, one in enumerate(found) if one == wanted), -1)
        return at if operation == "list_index_of" else at >= 0
    if operation == "keys":
        return APPLIED[operation](type_, whole, terms[1])
    return APPLIED[operation](type_, whole, *[go(term) for term in terms[1:]])


class Field(Later):
    """A field of an argument."""

    def __init__(self, term, at, data):
        super().__init__(term, data)
        self.at = at

    def value(self):
        return super().value()[self.at]


def quantified(operation, parts, data, go):
    name, bound_type, type_, given, names, body, arguments, made, element = parts
    if given is None:
        values = elements(go(arguments[0]), type_)
        arguments = arguments[1:]
    else:
        values = [literal(one, bound_type) for one in given]
    own = {name: Later(term, data) for name, term in zip(names, arguments)}
    count, found = 0, []
    for at, value in enumerate(values):
        here, seen = {**own, name: value}, {}
        if not evaluate(body, here, seen):
            if operation == "all":
                return False
            continue
        count += 1
        if operation == "some":
            return True
        if operation == "find":
            return (True, value)
        if operation == "index":
            return at
        if operation == "for":
            found.append(evaluate(element, here, seen))
    if operation == "for":
        return of_elements(made, found)
    absent = (False, plain_value(bound_type))
    return {"all": True, "some": False, "count": count, "find": absent, "index": -1}[operation]


def part(type_, whole, low, high=None):
    high = whole[0] if high is None else high
    if not 0 <= low <= high <= whole[0]:
        raise Undefined
    return of_elements(type_, whole[1 + low : 1 + high])


def changed(type_, whole, at, new):
    found = elements(whole, type_)
    found[position(at, whole[0])] = new
    return of_elements(type_, found)


def inserted(type_, whole, at, new):
    found = elements(whole, type_)
    found.insert(position(at, whole[0] + 1), new)
    return of_elements(type_, found)


def removed(type_, whole, at):
    found = elements(whole, type_)
    del found[position(at, whole[0])]
    return of_elements(type_, found)


def best(choose):
    def of(type_, whole):
        if whole[0] == 0:
            raise Undefined
        return choose(elements(whole, type_))

    return of


def value_at(type_, whole, key):
    found = keyed(whole, type_)
    if key not in found:
        raise Undefined
    return found[key]


QUANTIFIERS = ("all", "some", "count", "find", "index", "for")

ON_SETS = {
    "union": lambda one, other: {**one, **other},
    "intersection": lambda one, other: {key: part for key, part in one.items() if key in other},
    "difference": lambda one, other: {key: part for key, part in one.items() if key not in other},
    "subset": lambda one, other: set(one) <= set(other),
    "proper_subset": lambda one, other: set(one) < set(other),
}

APPLIED = {
    **dict.fromkeys((*QUANTIFIERS, *ON_SETS, "call", "defined", "match", "made", "list_contains", "list_index_of")),
    "min": lambda _, a, b: min(a, b),
    "max": lambda _, a, b: max(a, b),
    "abs": lambda _, a: abs(a),
    "element": lambda _, whole, at: whole[1 + position(at, whole[0])],
    "element_changed": changed,
    "element_inserted": inserted,
    "element_removed": removed,
    "part": part,
    "joined": lambda type_, a, b: of_elements(type_, a[1 : 1 + a[0]] + b[1 : 1 + b[0]]),
    "sum": lambda type_, whole: sum(elements(whole, type_), plain_value(type_[2][1][1]) * 0),
    "least_element": best(min),
    "greatest_element": best(max),
    "joined_by": lambda type_, whole, sign: sign.join(elements(whole, type_)),
    "sorted": lambda type_, whole: of_elements(type_, sorted(elements(whole, type_))),
    "value_at": value_at,
    "value_changed": lambda type_, whole, key, new: of_keyed(type_, {**keyed(whole, type_), key: new}),
    "size": lambda type_, whole: len(keyed(whole, type_)),
    "has_key": lambda type_, key, whole: key in keyed(whole, type_),
    "keys": lambda type_, whole, set_type: of_keyed(set_type, dict.fromkeys(elements(whole, type_), True)),
}


def divided(a, b):
    if b == 0:
        raise Undefined
    return a / b


def remainder(a, b):
    if b == 0:
        raise Undefined
    return a % abs(b)


def read(array, index):
    if not is_in(index, array.type[1]):
        raise Undefined
    return array.get(index)


def stored(array, index, element):
    if not is_in(index, array.type[1]) or not is_in(element, array.type[2]):
        raise Undefined
    return array.put(index, element)


def length(number):
    bits = max(number.numerator.bit_length(), number.denominator.bit_length() if number.denominator != 1 else 0)
    return bits // 10 * 3


def within(text, low, high):
    if not 0 <= low <= high <= len(text):
        raise Undefined
    return text[low:high]


def number_in(text):
    if not re.fullmatch("[0-9]+", text):
        return -1
    # Python refuses to read very long ones.
    if len(text) > 4000:
        raise TooLong
    return int(text)


def text_of(number):
    if abs(number) >= 10**4000:
        raise TooLong
    return str(number)


LONGEST = 10_000

# Python counts characters as we do, and orders them by their code points.
ON_STRINGS = {
    "len": len,
    "concatenate": lambda s, t: s + t,
    "at": lambda s, i: within(s, i, i + 1),
    "slice": within,
    "starts_with": lambda s, t: s.startswith(t),
    "ends_with": lambda s, t: s.endswith(t),
    "contains": lambda s, t: t in s,
    "index_of": lambda s, t: s.find(t),
    "to_int": number_in,
    "to_string": text_of,
    # A regular expression of a test case means the same to all engines.
    "matches": lambda s, t: re.fullmatch(t, s) is not None,
}

# `div` and `mod` are Euclidean: the remainder is never negative.
COMPUTED = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "ids ==": lambda a, b: a == b,
    "ids !=": lambda a, b: a != b,
    "ids <": lambda a, b: place_of_id(a) < place_of_id(b),
    "ids <=": lambda a, b: place_of_id(a) <= place_of_id(b),
    "ids >": lambda a, b: place_of_id(a) > place_of_id(b),
    "ids >=": lambda a, b: place_of_id(a) >= place_of_id(b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
    "div": lambda a, b: (a - remainder(a, b)) // b,
    "mod": remainder,
    "select": read,
}


Transition = namedtuple("Transition", "source action target guard text assigned")


class Judge:
    """Follows a run: a location and the values of the data. Each `..._happened` is None, or a verdict with its reason."""

    def __init__(self, constants):
        self.location, self.data = INITIAL[0], constants
        self.leaving = {location: [] for location in LOCATIONS}
        for transition in (Transition(*one) for one in TRANSITIONS):
            self.leaving[transition.source].append(transition)

    def verdict(self):
        return LOCATIONS[self.location][1]

    def of_kind(self, kind):
        return [one for one in self.leaving[self.location] if ACTIONS[one.action][0] == kind]

    def fire(self, transition, values):
        """The data behind the transition, where it can be taken with these values."""
        parameters = ACTIONS[transition.action][1]
        if len(values) != len(parameters) or not all(is_in(v, type_) for v, (_, type_) in zip(values, parameters)):
            return None
        data = {**self.data, **{name: value for (name, _), value in zip(parameters, values)}}
        behind = dict(self.data)
        try:
            if not evaluate(transition.guard, data):
                return None
            for name, term in transition.assigned:
                behind[name] = evaluate(term, data)
                if not is_in(behind[name], VARIABLES[name]):
                    return None
        except Undefined:
            return None
        return behind

    def take(self, kind, action, values):
        """The transition that is taken, if there is one. The judge goes along it."""
        for transition in self.of_kind(kind):
            if transition.action == action:
                behind = self.fire(transition, values)
                if behind is not None:
                    self.location, self.data = transition.target, behind
                    return transition
        return None

    def stimulus_happened(self, action, values):
        if self.take("stimulus", action, values) is None:
            return "Inconclusive", f"the test does not specify {event(action, values)} in {self.place()}"
        return None

    def observation_happened(self, action, values):
        """`values` by their names, as they came from outside."""
        if not isinstance(action, str) or ACTIONS.get(action, ("",))[0] != "observation":
            return "Fail", f"{cut(repr(action))} is not an output of the specification"
        parameters = ACTIONS[action][1]
        if not isinstance(values, dict) or set(values) != {name for name, _ in parameters}:
            return "Fail", f"{action} with the values {cut(repr(values))}, which do not fit its parameters"
        try:
            inside = tuple(inward(values[name], type_) for name, type_ in parameters)
        except Misread as why:
            return "Fail", f"{action} with a wrong value: {why}"
        if OTHERS_FAIL is not None and not any(one.action == action for one in self.leaving[self.location]):
            self.location = OTHERS_FAIL
        elif self.take("observation", action, inside) is None:
            return "Fail", f"{event(action, inside)} is not an event of the specification in {self.place()}"
        return None

    def quiet(self):
        """Where silence is an event: the transition and the data behind it."""
        for transition in self.of_kind("quiescence"):
            behind = self.fire(transition, ())
            if behind is not None:
                return transition, behind
        return None

    def silence_decides(self):
        """Is silence a Fail or a Pass here, or does it lead to another state?"""
        quiet = self.quiet()
        if quiet is None:
            return False
        verdict = LOCATIONS[quiet[0].target][1]
        is_elsewhere = (quiet[0].target, quiet[1]) != (self.location, self.data)
        return is_elsewhere if verdict is None else verdict != "Inconclusive"

    def silence_happened(self):
        quiet = self.quiet()
        verdict = "Inconclusive" if quiet is None else LOCATIONS[quiet[0].target][1]
        if verdict in ("Inconclusive", "Fail"):
            return verdict, f"silence in {self.place()}"
        self.location, self.data = quiet[0].target, quiet[1]
        return None

    def place(self):
        return LOCATIONS[self.location][0]

    def allowed(self):
        """The observations that would not have failed, with their guards and the data in them."""
        found = []
        for transition in self.of_kind("observation"):
            if LOCATIONS[transition.target][1] != "Fail":
                names = [name for name, _ in ACTIONS[transition.action][1]]
                text = f"{transition.action}({', '.join(names)})"
                found.append(text if transition.text == "true" else f"{text} when {transition.text}")
        return found

    def known(self):
        types = {**CONSTANTS, **VARIABLES}
        return ", ".join(f"{name} = {shown(value, types[name])}" for name, value in self.data.items())


def event(action, values):
    parameters = ACTIONS[action][1]
    return f"{action}({', '.join(shown(value, type_) for value, (_, type_) in zip(values, parameters))})"


# Values. A draft is drawn, and where it does not satisfy the condition, a part that is not as it should be is looked for, and one
# value in it is changed so that this part is. `x == e` is solved by that at once, and `x < e` is tried at its edge.
# What is given back was evaluated: nothing is sent that the guard does not allow.

DRAWS = 200
REPAIRS = 30


def satisfy(condition, unknown, data, random, seen=()):
    """Values for the unknown data, by name, with which the condition holds; None where none were found in DRAWS drafts."""
    edges = edges_of(condition, unknown, data)
    for _ in range(DRAWS):
        draft = dict(data)
        for name, type_ in unknown.items():
            draft[name] = draw(type_, edges, seen, random)
        for _ in range(REPAIRS):
            try:
                if evaluate(condition, draft):
                    return {name: draft[name] for name in unknown}
                if not repair(condition, True, unknown, draft, random):
                    break
            except Undefined:
                break
    return None


def mentions(term, unknown, known):
    if term not in known:
        operation, *parts = TERMS[term]
        if operation in ("value", "data"):
            known[term] = operation == "data" and parts[0] in unknown
        else:
            known[term] = any([mentions(part, unknown, known) for part in children(term)])
    return known[term]


def children(term):
    operation, *parts = TERMS[term]
    if operation in ("value", "data"):
        return []
    return parts[:1] if operation == "field" else parts[1:] if operation == "record" else parts


def edges_of(condition, unknown, data):
    """The numbers that the condition compares with, and their neighbours; then the strings that it names."""
    found, words, work, asked, known = set(), set(), [condition], set(), {}
    while work:
        term = work.pop()
        if term in asked:
            continue
        asked.add(term)
        if mentions(term, unknown, known):
            work.extend(children(term))
        else:
            try:
                value = evaluate(term, data)
            except (Undefined, KeyError):
                continue
            if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
                found.update((value - 1, value, value + 1))
            elif isinstance(value, str):
                words.add(value)
    return [*sorted(found), *sorted(words)]


def draw(type_, edges, seen, random, depth=0):
    kind = type_[0]
    if kind == "bool":
        return random.random() < 0.5
    if kind == "enum":
        return pick(type_[2], random)
    if kind == "record":
        return canonical(tuple(draw(field, edges, seen, random, depth + 1) for _, field in type_[2]), type_)
    if kind == "array":
        cells = 0 if depth > 2 else below(5, random)
        default = draw(type_[2], edges, seen, random, depth + 1)
        drawn = [(draw(type_[1], edges, seen, random, depth + 1), draw(type_[2], edges, seen, random, depth + 1))]
        for _ in range(cells):
            drawn.append((draw(type_[1], edges, seen, random, depth + 1), draw(type_[2], edges, seen, random, depth + 1)))
        return Array(type_, default, dict(drawn[:cells]))
    if kind == "id":
        known = [one for one in [*edges, *seen] if isinstance(one, str)]
        return pick(known, random) if known and below(2, random) else f"id{1 + below(10**6, random)}"
    if kind == "string":
        return drawn_string([one for one in [*edges, *seen] if isinstance(one, str)], edges, random)
    edges, seen = ([one for one in list_ if not isinstance(one, str)] for list_ in (edges, seen))
    low, high = (None, None) if kind == "real" else type_[1:]
    source = below(4, random)
    ends = [end for end in (low, high) if end is not None]
    if source == 0 and (edges or ends):
        value = pick([*edges, *ends], random)
    elif source == 1 and seen:
        value = pick(seen, random)
    elif source == 2 and low is not None and high is not None:
        value = low + below(high - low + 1, random)
    elif below(8, random) == 0:
        value = (1 << pick((7, 8, 15, 16, 31, 32, 63, 64), random)) - 1 + below(3, random)
    else:
        value = below(21, random) - 10
    if kind == "real":
        return Fraction(value) if below(2, random) else Fraction(value) + Fraction(below(8, random), 8)
    value = math.floor(value)
    value = value if low is None or value >= low else (low if below(2, random) else 2 * low - value)
    return min(value, high) if high is not None else value


def drawn_string(words, edges, random):
    """A word of the condition, with something before or behind it or nothing, or a string of a length that it names."""
    word = pick(words, random) if words else ""
    tail = "".join(pick("abc019 \u00e9\U0001f600", random) for _ in range(below(4, random)))
    lengths = [edge for edge in edges if isinstance(edge, int) and 0 <= edge <= 300]
    if lengths and below(3, random) == 0:
        length_ = pick(lengths, random)
        return (word + "a" * length_)[:length_]
    return pick(("", word, word, word + tail, tail + word), random)


def below(bound, random):
    # What `random.random()` gives is promised to stay the same in later versions of Python.
    if bound > 1 << 53:
        return below(1 << 53, random) + (below(bound >> 53, random) << 53)
    return int(random.random() * bound)


def pick(things, random):
    return things[below(len(things), random)]


def repair(term, wanted, unknown, draft, random):
    """Changes one value in the draft so that a part of the condition is as it should be."""
    operation, *parts = TERMS[term]
    if operation == "not":
        return repair(parts[0], not wanted, unknown, draft, random)
    if operation in ("and", "or"):
        if wanted == (operation == "and"):
            parts = [part for part in parts if evaluate(part, draft) != wanted]
        return bool(parts) and repair(pick(parts, random), wanted, unknown, draft, random)
    if operation == "if":
        holds = evaluate(parts[0], draft)
        if below(3, random) == 0:
            return repair(parts[0], not holds, unknown, draft, random)
        return repair(parts[1] if holds else parts[2], wanted, unknown, draft, random)
    if operation not in FLIPPED:
        return become(term, wanted, unknown, draft, random)
    operation = operation if wanted else FLIPPED[operation]
    known = {}
    sides = [at for at in (0, 1) if mentions(parts[at], unknown, known)]
    if not sides:
        return False
    side = pick(sides, random)
    other = evaluate(parts[1 - side], draft)
    if isinstance(other, (bool, str, tuple, Array)):
        if operation == "==":
            return become(parts[side], other, unknown, draft, random)
        return become(parts[side], another(parts[side], other, unknown, random), unknown, draft, random)
    if side == 1:
        operation = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operation, operation)
    away = (1, 1, 2, below(50, random) + 1)[below(4, random)]
    away = away if isinstance(other, int) or below(2, random) else Fraction(away, 8)
    step = {"==": 0, "!=": pick((-1, 1), random), "<": -1, "<=": -below(2, random), ">": 1, ">=": below(2, random)}
    return become(parts[side], other + step[operation] * away, unknown, draft, random)


FLIPPED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def another(term, value, unknown, random):
    """A value of the term's type that differs, where one is easily had."""
    if isinstance(value, bool):
        return not value
    operation, *parts = TERMS[term]
    type_ = unknown.get(parts[0]) if operation == "data" else None
    return draw(type_, (), (), random) if type_ else value


def become(term, value, unknown, draft, random):
    """Gives the unknown data in the term values with which it has this value, as far as that is easily seen."""
    operation, *parts = TERMS[term]
    if operation == "data":
        if parts[0] not in unknown or not is_in(value, unknown[parts[0]]):
            return False
        draft[parts[0]] = value
        return True
    known = {}
    sides = [at for at, part in enumerate(children(term)) if mentions(part, unknown, known)]
    if not sides:
        return False
    side = pick(sides, random)
    if operation == "record":
        return all([become(part, value[at], unknown, draft, random) for at, part in enumerate(parts[1:]) if at in sides])
    now = [evaluate(part, draft) for part in children(term)] if operation != "if" else []
    if operation == "not":
        wanted = not value
    elif operation == "negative":
        wanted = -value
    elif operation == "to real":
        wanted = math.floor(value)
    elif operation == "+":
        wanted = value - now[1 - side]
    elif operation == "-":
        wanted = value + now[1] if side == 0 else now[0] - value
    elif operation == "*":
        if now[1 - side] == 0:
            return False
        wanted = Fraction(value) / now[1 - side]
        wanted = wanted if isinstance(value, Fraction) else math.floor(wanted) + (wanted.denominator != 1) * below(2, random)
    elif operation in ("/", "div", "mod") and side == 0:
        if operation == "mod":
            wanted = now[0] - remainder(now[0], now[1]) + value
        else:
            wanted = value * now[1] + (below(abs(now[1]), random) if operation == "div" else 0)
    elif operation == "field":
        wanted = now[0][: parts[1]] + (value,) + now[0][parts[1] + 1 :]
    elif operation == "select" and side == 0:
        wanted = stored(now[0], now[1], value)
    elif operation in ON_STRINGS:
        wanted = argument(operation, now, side, value, random)
        if wanted is None:
            return False
    elif operation == "if":
        holds = evaluate(parts[0], draft)
        return become(parts[1] if holds else parts[2], value, unknown, draft, random)
    elif operation in FLIPPED or operation in ("and", "or"):
        return repair(term, value, unknown, draft, random)
    else:
        return False
    return become(parts[side], wanted, unknown, draft, random)


def argument(operation, now, side, value, random):
    """What an argument of an operation on strings may be, for this value; None where that is not easily seen."""
    if operation in ("starts_with", "ends_with", "contains") and side == 0:
        if not value:
            return "" if now[1] else None
        return now[1] + now[0] if operation == "starts_with" else now[0] + now[1]
    if operation == "concatenate":
        start, end = (None, now[1]) if side == 0 else (now[0], None)
        if end is not None:
            return value[: len(value) - len(end)] if value.endswith(end) else None
        return value[len(start) :] if value.startswith(start) else None
    if operation == "len":
        return (now[0] + "a" * value)[:value] if 0 <= value <= 300 else None
    if operation in ("at", "slice") and side == 0:
        high = now[1] + 1 if operation == "at" else now[2]
        fits = 0 <= now[1] <= high <= 300 and len(value) == high - now[1]
        return (now[0] + "a" * high)[: now[1]] + value + now[0][high:] if fits else None
    if operation == "to_string":
        return int(value) if re.fullmatch("0|-?[1-9][0-9]{0,18}", value) else None
    if operation == "to_int" and value >= 0:
        return str(value)
    return None


def first_state(given, random):
    """The constants and variables with which a run begins: those given, the others so that the initial condition holds."""
    data, condition = {}, INITIAL[1]
    for name, value in given.items():
        if name not in CONSTANTS:
            raise RunError(f"no constant is called {name!r}; there are {', '.join(CONSTANTS) or 'none'}")
        try:
            data[name] = inward(value, CONSTANTS[name])
        except Misread as why:
            raise RunError(f"the constant {name}: {why}") from None
    if len(data) < len(CONSTANTS):
        found = satisfy(condition, {**CONSTANTS, **VARIABLES}, {}, random) if not data else None
        if found is None:
            open_ = {n: t for n, t in {**CONSTANTS, **VARIABLES}.items() if n not in data}
            found = satisfy(condition, open_, data, random)
        if found is None:
            raise RunError(f"no constants that satisfy the initial condition were found in {DRAWS} draws")
        data.update({name: found[name] for name in CONSTANTS})
    determine(condition, data)
    open_ = {name: type_ for name, type_ in VARIABLES.items() if name not in data}
    # What the condition leaves open is written before it is read: any value will do.
    plain = {**data, **{name: plain_value(type_) for name, type_ in open_.items()}}
    if holds(condition, plain) and all(is_in(plain[name], type_) for name, type_ in VARIABLES.items()):
        return {name: plain[name] for name in [*CONSTANTS, *VARIABLES]}
    found = satisfy(condition, open_, data, random)
    if found is None or not all(is_in(data[name], VARIABLES[name]) for name in VARIABLES if name in data):
        raise RunError("no values of the variables were found that satisfy the initial condition with these constants")
    data.update(found)
    return {name: data[name] for name in [*CONSTANTS, *VARIABLES]}


def holds(term, data):
    try:
        return evaluate(term, data)
    except Undefined:
        return False


def determine(condition, data):
    """Adds the variables that a part of the condition determines: `v == e`, `v`, `!v`."""
    parts = list(TERMS[condition][1:]) if TERMS[condition][0] == "and" else [condition]
    more = True
    while more:
        more = False
        for part in parts:
            operation, *inner = TERMS[part]
            pairs = [(inner[0], inner[1]), (inner[1], inner[0])] if operation == "==" else [(part, None)]
            if operation == "not":
                pairs = [(inner[0], None)]
            for side, other in pairs:
                kind, *name = TERMS[side]
                if kind != "data" or name[0] in data or name[0] not in VARIABLES:
                    continue
                try:
                    data[name[0]] = evaluate(other, data) if other is not None else operation != "not"
                    more = True
                except (Undefined, KeyError):
                    pass


def plain_value(type_):
    kind = type_[0]
    if kind == "bool":
        return False
    if kind == "enum":
        return type_[2][0]
    if kind == "string":
        return ""
    if kind == "id":
        return "id0"
    if kind == "int":
        low, high = type_[1:]
        return low if low is not None and low > 0 else high if high is not None and high < 0 else 0
    if kind == "record":
        return tuple(plain_value(field) for _, field in type_[2])
    if kind == "array":
        return Array(type_, plain_value(type_[2]), {})
    return Fraction(0)


class Adapter:
    """The way to an implementation. Write one of these, or use `Command`."""

    def start(self, constants, seed):
        """Brings the implementation into its initial state, with these constants."""

    def send(self, name, values):
        """Sends a stimulus; `values` by the names of the parameters."""
        raise NotImplementedError

    def receive(self, timeout):
        """What the implementation has sent, as (name, values by names); None when nothing came for `timeout` seconds."""
        raise NotImplementedError

    def stop(self):
        """The run is over."""


class Command(Adapter):
    """A command that is talked to over its standard input and output, a message of JSON in each line."""

    def __init__(self, words, directory=None, ready=10.0):
        self.words, self.directory, self.ready, self.process = list(words), directory, ready, None

    def start(self, constants, seed):
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                self.words, cwd=self.directory, stdin=pipe, stdout=pipe, start_new_session=True
            )
        except OSError as why:
            raise RunError(f"the implementation does not start: {why}") from None
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, args=(self.process.stdout, self.lines), daemon=True).start()
        self.say({"start": {"constants": constants, "seed": seed}})
        until = time.monotonic() + self.ready
        while True:
            message = self.message(until - time.monotonic())
            if message is None:
                raise RunError(f"the implementation was not ready within {self.ready} s")
            if set(message) == {"ready"} and message["ready"] is True:
                return
            if set(message) != {"log"}:
                raise RunError(f"the implementation said {cut(repr(message))} before it was ready")

    @staticmethod
    def listen(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put(None)

    def say(self, message):
        try:
            self.process.stdin.write(json.dumps(for_wire(message)).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as why:
            raise RunError(f"the test cannot send to the implementation any more: {why}") from None

    def message(self, timeout):
        """The next message, but none of spaces; None where nothing comes in time."""
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            try:
                line = self.lines.get(timeout=left) if left > 0 else self.lines.get_nowait()
            except queue.Empty:
                return None
            if line is None:
                raise RunError("the implementation has closed its output")
            try:
                text = line.decode("utf-8", "strict")
                if not text.strip(" \t\r\n"):
                    continue
                read_ = json.loads(
                    text, parse_int=json_number, parse_float=json_number, parse_constant=no_number, object_pairs_hook=once
                )
                # A lone surrogate is no text.
                json.dumps(read_, ensure_ascii=False, default=str).encode()
            except (ValueError, RecursionError) as why:
                raise RunError(f"the implementation sent something that is not a message ({why}): {cut(repr(line))}") from None
            if not isinstance(read_, dict):
                raise RunError(f"the implementation sent something that is not a message: {cut(repr(line))}")
            if set(read_) == {"error"}:
                raise RunError(f"the implementation cannot continue: {cut(repr(read_['error']))}")
            return read_

    def send(self, name, values):
        self.say({"input": name, "values": values})

    def receive(self, timeout):
        until = time.monotonic() + timeout
        while True:
            message = self.message(until - time.monotonic())
            if message is None:
                return None
            if set(message) == {"log"}:
                continue
            values = message.get("values", {})
            if set(message) - {"values"} != {"output"} or not isinstance(message["output"], str) or not isinstance(values, dict):
                raise RunError(f"the implementation sent something that is not a message: {cut(repr(message))}")
            return message["output"], values

    def stop(self):
        process, self.process = self.process, None
        if process is None:
            return
        try:
            # With what it has started.
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        for stream in (process.stdin, process.stdout):
            try:
                stream.close()
            except OSError:
                pass


def json_number(text):
    value = decimal(text)
    if value is None:
        raise ValueError("a number is too long")
    return int(value) if value.denominator == 1 else value


def no_number(text):
    raise ValueError(f"{text} is not a number")


def once(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key appears twice")
    return dict(pairs)


def for_wire(value):
    """A value as JSON: beyond 2^53 not every program's numbers are exact, so they are text there."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, (int, Fraction)):
        return int(value) if abs(value) <= 1 << 53 else str(int(value))
    if isinstance(value, dict):
        return {key: for_wire(part) for key, part in value.items()}
    if isinstance(value, list):
        return [for_wire(part) for part in value]
    return value


class Run:
    """How a run ended: `verdict` (Pass, Inconclusive or Fail), `reason`, `trace`, `constants`, `seed`, `allowed`."""

    def __init__(self, seed, constants):
        self.seed, self.constants, self.trace, self.allowed = seed, constants, [], []
        self.verdict, self.reason = "Inconclusive", "it was interrupted"

    def __str__(self):
        given = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        lines = [f"{self.verdict}: {self.reason}", f"seed {self.seed}{'; ' + given if given else ''}"]
        lines += [f"  {number}. {step}" for number, step in enumerate(self.trace, 1)]
        if self.allowed:
            lines += ["allowed instead:", *[f"  {text}" for text in self.allowed]]
        return "\n".join(lines)


class Settings:
    """Seconds and counts of a run."""

    def __init__(self, quiescence=1.0, patience=0.02, steps=1000, time=60.0):
        self.quiescence, self.patience, self.steps, self.time = quiescence, patience, steps, time


WAIT = None


def run(adapter, seed=1, constants=None, settings=None):
    """Runs the test case once against the implementation behind the adapter."""
    settings, random = settings or Settings(), Random(seed)
    data = first_state(constants or {}, random)
    judge = Judge(data)
    outside = {name: outward(data[name], type_) for name, type_ in CONSTANTS.items()}
    result = Run(seed, {name: shown(data[name], type_) for name, type_ in CONSTANTS.items()})
    try:
        ended = (judge.verdict(), "the purpose is met before anything happens") if judge.verdict() else None
        if ended is None:
            adapter.start(outside, seed)
            ended = Driver(judge, adapter, random, settings, result).drive()
    except TooLong:
        ended = "Inconclusive", f"a number of more than {LONGEST} digits"
    finally:
        adapter.stop()
    result.verdict, result.reason = ended
    if result.verdict == "Fail" and not result.allowed:
        result.allowed = judge.allowed()
    return result


class Driver:
    """A run that is under way."""

    def __init__(self, judge, adapter, random, settings, result):
        self.judge, self.adapter, self.random, self.settings, self.result = judge, adapter, random, settings, result
        self.deadline = time.monotonic() + settings.time
        self.seen = [v for v in judge.data.values() if isinstance(v, (int, Fraction, str)) and not isinstance(v, bool)]
        self.silent, self.events, self.last = False, 0, "nothing"

    def drive(self):
        while True:
            if self.judge.verdict():
                return self.judge.verdict(), self.why()
            if self.events >= self.settings.steps:
                return "Inconclusive", f"the run ended at its limit of {self.settings.steps} events"
            if time.monotonic() >= self.deadline:
                return "Inconclusive", f"the run ended at its limit of {self.settings.time} s"
            # What has arrived comes first: a stimulus must not overtake it.
            moved, ended = self.observe(0)
            if not moved and ended is None:
                ended = self.step()
            if ended is not None:
                return ended

    def why(self):
        last = self.last
        violated = LOCATIONS[self.judge.location][2]
        if self.judge.verdict() == "Pass":
            return f"{last} meets the purpose"
        if violated:
            return f"{last} violates the property, and the specification {'allows' if violated == 'allowed' else 'forbids'} it"
        if self.judge.verdict() == "Fail":
            return f"the specification does not allow {last}"
        return f"{last} is allowed, and puts the purpose out of reach"

    def step(self):
        judge, settings = self.judge, self.settings
        moves = self.moves()
        quiet = judge.quiet()
        decides = judge.silence_decides()
        silence = quiet is not None and (decides or not self.silent)
        waited, without = 0.0, []
        for at, move in enumerate(moves):
            if move is WAIT:
                full = at + 1 == len(moves) or decides
                waited = settings.quiescence if full else min(settings.patience, settings.quiescence)
                moved, ended = self.observe(waited)
                if not moved and ended is None and full and silence:
                    return self.silence()
            else:
                moved, ended = self.send(move, without)
            if moved or ended is not None:
                return ended
        reason = f"; no values were found for {', '.join(without)} in {DRAWS} draws" if without else ""
        if WAIT in moves or judge.of_kind("observation") or OTHERS_FAIL is not None:
            if waited < settings.quiescence:
                moved, ended = self.observe(settings.quiescence - waited)
                if moved or ended is not None:
                    return ended
            if time.monotonic() >= self.deadline:
                return "Inconclusive", f"the run ended at its limit of {settings.time} s"
            if quiet is not None and not silence:
                return "Inconclusive", f"silence in {judge.place()}{reason}"
            ended = self.silence()
            return (ended[0], ended[1] + reason) if ended else None
        return "Inconclusive", f"in {judge.place()} there is nothing to do{reason}"

    def moves(self):
        """By lot: three times out of four what is sent comes before a wait."""
        moves = self.judge.of_kind("stimulus")
        for at in range(len(moves) - 1, 0, -1):
            other = below(at + 1, self.random)
            moves[at], moves[other] = moves[other], moves[at]
        verdict = [(LOCATIONS[one.target][1], LOCATIONS[one.target][2]) for one in self.judge.of_kind("observation")]
        waits = any(one not in ("Fail", "Inconclusive") or how == "allowed" for one, how in verdict)
        if waits or not moves or self.judge.silence_decides():
            moves.insert(0 if not moves or below(4, self.random) == 0 else len(moves), WAIT)
        return moves

    def send(self, transition, without):
        parameters = dict(ACTIONS[transition.action][1])
        found = satisfy(transition.guard, parameters, self.judge.data, self.random, self.seen)
        values = tuple(found.values()) if found is not None else None
        if values is None or self.judge.fire(transition, values) is None:
            without.append(transition.action)
            return False, None
        named = {name: outward(value, parameters[name]) for name, value in found.items()}
        self.adapter.send(transition.action, named)
        ended = self.judge.stimulus_happened(transition.action, values)
        self.took("sent", event(transition.action, values), values)
        return True, ended

    def observe(self, timeout):
        came = self.adapter.receive(max(0.0, min(timeout, self.deadline - time.monotonic())))
        if came is None:
            return False, None
        name, values = came
        allowed = self.judge.allowed()
        ended = self.judge.observation_happened(name, values)
        failed = (ended[0] if ended else self.judge.verdict()) == "Fail"
        self.result.allowed = [*allowed, f"where {self.judge.known()}"] if failed else []
        pairs = values.items() if isinstance(values, dict) else [("values", values)]
        text = cut(f"{name}({', '.join(f'{key} = {value}' for key, value in pairs)})")
        self.took("observed", text, tuple(values.values()) if isinstance(values, dict) else ())
        return True, ended

    def took(self, how, text, values):
        self.result.trace.append(f"{how} {text}")
        self.events, self.silent, self.last = self.events + 1, False, text
        for value in values:
            if isinstance(value, (int, Fraction, str)) and not isinstance(value, bool) and value not in self.seen:
                self.seen = [*self.seen[-63:], value]

    def silence(self):
        ended = self.judge.silence_happened()
        self.last = f"silence of {self.settings.quiescence} s"
        self.result.trace.append(self.last)
        self.silent = True
        return ended


def command():
    """The command in the environment: COREACH_IUT, in words as a shell splits them."""
    words = os.environ.get("COREACH_IUT")
    return Command(shlex.split(words)) if words else None


def main():
    import argparse

    parser = argparse.ArgumentParser(description=f"The test case {NAME}, against a command that speaks lines of JSON.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1, help="number of runs, with consecutive seeds")
    parser.add_argument("--constant", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--quiescence", type=float, default=1.0, help="seconds without a message that count as silence")
    parser.add_argument("command", nargs="*", help="the command, behind `--`")
    given = parser.parse_args()
    adapter = Command(given.command) if given.command else command()
    if adapter is None:
        parser.error("name a command after `--`, or in COREACH_IUT")
    constants, worst = {}, 0
    for pair in given.constant:
        name, _, text = pair.partition("=")
        try:
            constants[name] = json.loads(text, parse_int=json_number, parse_float=json_number)
        except ValueError:
            constants[name] = text
    for seed in range(given.seed, given.seed + given.runs):
        try:
            result = run(adapter, seed, constants, Settings(quiescence=given.quiescence))
        except RunError as why:
            print(f"RunError: {why}")
            return 4
        print(result)
        code = {"Pass": 0, "Fail": 1, "Inconclusive": 3}[result.verdict]
        worst = code if code == 1 or worst == 0 else worst
    return worst


def under_pytest(seed, request):
    """One run under pytest: the fixtures `coreach_adapter` and `coreach_constants`, where there are such, say against what."""

    def fixture(name, default):
        try:
            return request.getfixturevalue(name)
        except pytest.FixtureLookupError:
            return default()

    adapter = fixture("coreach_adapter", command)
    if adapter is None:
        pytest.skip("no implementation: write a fixture `coreach_adapter`, or name a command in COREACH_IUT")
    result = run(adapter, seed, fixture("coreach_constants", dict), fixture("coreach_settings", Settings))
    if result.verdict == "Inconclusive":
        pytest.skip(str(result))
    if result.verdict == "Fail":
        raise AssertionError(str(result))
