// Values of the model's types. Integers are exact (BigInt), rationals are pairs of them, enumerations are their literals, records are lists,
// arrays are a default with exceptions. The JSON of values is that of runs (docs/reference/json.md).
"use strict";

{
  const type = Coreach.type;
  const abs = (a) => (a < 0n ? -a : a);
  const gcd = (a, b) => { while (b !== 0n) [a, b] = [b, a % b]; return a; };

  const real = (n, d = 1n) => {
    if (d < 0n) [n, d] = [-n, -d];
    const common = gcd(abs(n), d);
    return common > 1n ? { n: n / common, d: d / common } : { n, d };
  };

  // What a record is besides its fields: a list, an option, or a variant by its alternatives. The first field says which of the others
  // count; the others are the simplest (docs/reference/model-format.md). Or a set or a map, by its keys.
  const number = (of, first) =>
    typeof first === "string" ? type(of.fields[0].type).literals.indexOf(first) : Number(first);
  // How many fields an entry of a set or a map with a bound has.
  const width = (of) => (of.form === "entries" && of.fields[2]?.name === "value0" ? 2 : 1);
  const counts = (of, value, at) => {
    if (of.form === undefined || of.form.known !== undefined || at === 0) return true;
    const first = number(of, value[0]);
    if (!Array.isArray(of.form)) return at <= first * width(of);
    return at >= of.form[first].first && at < of.form[first].first + of.form[first].count;
  };
  const counting = (of, value) =>
    of.fields.map((field, at) => [value[at], field, at]).filter(([, , at]) => at > 0 && counts(of, value, at));
  const made = (of, first, parts) => {
    const rest = [...parts];
    return of.fields.map((field, at) => at === 0 ? first : counts(of, [first], at) ? rest.shift() : any(field.type));
  };
  // The entries of a set or a map: the number of the key, its JSON, and what a map has there.
  const entries = (value, of) =>
    of.form.known.map((key, at) => [at, key, value[at]]).filter(([, , part]) => (Array.isArray(part) ? part[0] : part));
  const mapped = (of) => type(of.fields[0].type).fields?.[1].type;
  const keyedFromJson = (json, of, wrong) => {
    const value = mapped(of);
    const at = (key) => of.form.known.findIndex((known) => (value === undefined ? known === key : String(known) === key));
    if (typeof json !== "object" || json === null || Array.isArray(json) !== (value === undefined)) throw wrong();
    const found = Array.isArray(json) ? json.map(at) : Object.keys(json).map(at);
    if (found.includes(-1) || value === undefined && found.some((key, place) => key <= (found[place - 1] ?? -1))) throw wrong();
    return of.fields.map((field, number) => {
      if (!found.includes(number)) return any(field.type);
      return value === undefined ? true : [true, fromJson(json[String(of.form.known[number])], value)];
    });
  };
  // Ids as keys are in the order of these numbers (model/src/ids.rs).
  const placeOfId = (text) => {
    const digits = /^id(0|[1-9][0-9]*)$/.exec(text);
    if (digits !== null) return BigInt(digits[1]);
    return [...new TextEncoder().encode(text)].reduce((all, byte) => all * 256n + BigInt(byte), 1n) << 64n;
  };
  const compareKeys = (a, b, number) => type(number).kind === "id" ? compare(placeOfId(a), placeOfId(b)) : compare(a, b);
  // The entries of a set or a map with a bound: each key, in a map with its value.
  const listed = (of, value) => {
    const size = width(of);
    return Array.from({ length: Number(value[0]) }, (_, at) => value.slice(1 + at * size, 1 + (at + 1) * size));
  };
  // The set or the map of these entries, of equal keys the last one; undefined where they are too many.
  const ofEntries = (of, found) => {
    const all = new Map(found.map((entry) => [key(entry[0]), entry]));
    const sorted = [...all.values()].sort((a, b) => compareKeys(a[0], b[0], of.fields[1].type));
    if (sorted.length * width(of) >= of.fields.length) return undefined;
    return made(of, BigInt(sorted.length), sorted.flat());
  };
  const entriesFromJson = (json, of, wrong) => {
    const to = width(of) === 2 ? of.fields[2].type : undefined;
    if (typeof json !== "object" || json === null || Array.isArray(json) !== (to === undefined)) throw wrong();
    const read = (text) => fromJson(text, of.fields[1].type);
    const found = Array.isArray(json) ? json.map((one) => [read(one)])
      : Object.entries(json).map(([text, part]) => [read(text), fromJson(part, to)]);
    const value = ofEntries(of, found);
    if (value === undefined || Number(value[0]) !== found.length) throw wrong();
    return value;
  };
  const formFromJson = (json, of, wrong) => {
    if (of.form === "entries") return entriesFromJson(json, of, wrong);
    if (of.form.known !== undefined) return keyedFromJson(json, of, wrong);
    if (of.form === "list") {
      if (!Array.isArray(json) || json.length >= of.fields.length) throw wrong();
      return made(of, BigInt(json.length), json.map((part) => fromJson(part, of.fields[1].type)));
    }
    if (of.form === "option") return made(of, json !== null, json === null ? [] : [fromJson(json, of.fields[1].type)]);
    const [name, parts] = typeof json === "string" ? [json, {}] : Object.entries(json ?? {})[0] ?? [];
    const at = of.form.findIndex((one) => one.name === name);
    if (at < 0) throw wrong();
    const { first, count: size } = of.form[at];
    const read = (field) => {
      const known = field.name.slice(name.length + 1);
      if (!(known in parts)) throw wrong();
      return fromJson(parts[known], field.type);
    };
    return made(of, type(of.fields[0].type).literals[at], of.fields.slice(first, first + size).map(read));
  };
  const formToJson = (value, of) => {
    if (of.form === "entries") {
      const found = listed(of, value).map(([one, ...rest]) => [toJson(one, of.fields[1].type), ...rest]);
      if (width(of) === 1) return found.map(([one]) => one);
      return Object.fromEntries(found.map(([one, part]) => [String(one), toJson(part, of.fields[2].type)]));
    }
    if (of.form.known !== undefined) {
      const has = entries(value, of);
      const to = mapped(of);
      if (to === undefined) return has.map(([, key]) => key);
      return Object.fromEntries(has.map(([, key, part]) => [String(key), toJson(part[1], to)]));
    }
    const parts = counting(of, value).map(([part, field]) => [field.name, toJson(part, field.type)]);
    if (of.form === "list") return parts.map(([, part]) => part);
    if (of.form === "option") return parts[0]?.[1] ?? null;
    const { name } = of.form[number(of, value[0])];
    if (parts.length === 0) return name;
    return { [name]: Object.fromEntries(parts.map(([field, part]) => [field.slice(name.length + 1), part])) };
  };
  const formShown = (value, of) => {
    if (of.form === "entries") {
      const part = (one, at) => show(one, of.fields[1 + at].type);
      const shown = listed(of, value).map((entry) => entry.map(part).join(": ")).join(", ");
      return width(of) === 1 ? `{${shown}}` : `[${shown}]`;
    }
    if (of.form.known !== undefined) {
      const to = mapped(of);
      const shown = entries(value, of).map(([, key, part]) => to === undefined ? key : `${key}: ${show(part[1], to)}`);
      return to === undefined ? `{${shown.join(", ")}}` : `[${shown.join(", ")}]`;
    }
    const parts = counting(of, value).map(([part, field]) => show(part, field.type)).join(", ");
    if (of.form === "list") return `[${parts}]`;
    const name = of.form === "option" ? (value[0] ? "some" : "none") : of.form[number(of, value[0])].name;
    return parts === "" ? name : `${name}(${parts})`;
  };

  // How many values a type has, where that is finite and small; otherwise undefined.
  const count = (number) => {
    const of = type(number);
    switch (of.kind) {
      case "bool": return 2n;
      case "range": return BigInt(of.high) - BigInt(of.low) + 1n;
      case "enum": return BigInt(of.literals.length);
      default: return undefined;
    }
  };

  const key = (value) => {
    if (typeof value === "bigint") return `i${value}`;
    if (typeof value === "object" && value !== null) {
      if ("d" in value) return `r${value.n}/${value.d}`;
      if (Array.isArray(value)) return `[${value.map(key).join(",")}]`;
      return `{${key(value.otherwise)}:${[...value.cells.keys()].sort().join(",")}}`;
    }
    return `s${value}`;
  };

  const parseReal = (text) => {
    const found = /^\s*(-?\d+)(?:\.(\d+))?(?:\s*\/\s*(\d+))?\s*$/.exec(text);
    if (found === null) throw new Error(`${text} is no number`);
    const [, whole, digits = "", below = "1"] = found;
    if (BigInt(below) === 0n) throw new Error("a denominator is 0");
    return real(BigInt(whole + digits), 10n ** BigInt(digits.length) * BigInt(below));
  };

  const fromJson = (json, number) => {
    const of = type(number);
    const wrong = () => new Error(`${JSON.stringify(json)} is no value of ${of.text}`);
    switch (of.kind) {
      case "bool": if (typeof json !== "boolean") throw wrong(); return json;
      case "int": case "nat": case "range":
        try { return BigInt(json); } catch { throw wrong(); }
      case "real": return parseReal(String(json));
      case "enum": if (!of.literals.includes(json)) throw wrong(); return json;
      case "string": case "id": if (typeof json !== "string") throw wrong(); return json;
      case "record":
        if (of.form !== undefined) return formFromJson(json, of, wrong);
        if (typeof json !== "object" || json === null) throw wrong();
        return of.fields.map((field) => {
          if (!(field.name in json)) throw wrong();
          return fromJson(json[field.name], field.type);
        });
      case "array": {
        if (typeof json !== "object" || json === null || !Array.isArray(json.cells)) throw wrong();
        const array = { type: number, otherwise: fromJson(json.default, of.element), cells: new Map() };
        for (const [index, element] of json.cells) {
          const at = fromJson(index, of.index);
          array.cells.set(key(at), [at, fromJson(element, of.element)]);
        }
        return array;
      }
      default: throw wrong();
    }
  };

  // What a person types: a word, a number, or the JSON of a record or an array.
  const parse = (text, number) => {
    const of = type(number);
    const given = text.trim();
    switch (of.kind) {
      case "bool":
        if (given !== "true" && given !== "false") throw new Error("true or false is expected");
        return given === "true";
      case "int": case "nat": case "range":
        if (!/^-?\d+$/.test(given)) throw new Error(`${text || "nothing"} is no whole number`);
        return BigInt(given);
      case "real": return parseReal(given);
      case "enum": return fromJson(given, number);
      // As it is: blanks around it are a part of it.
      case "string": case "id": return text;
      default: return fromJson(JSON.parse(given), number);
    }
  };

  const isIn = (value, number) => {
    const of = type(number);
    switch (of.kind) {
      case "nat": return value >= 0n;
      case "range": return value >= BigInt(of.low) && value <= BigInt(of.high);
      case "record":
        if (of.form === "entries" && !listed(of, value).every((entry, at, all) =>
          at === 0 || compareKeys(all[at - 1][0], entry[0], of.fields[1].type) < 0)) return false;
        return of.fields.every((field, at) =>
          isIn(value[at], field.type) && (counts(of, value, at) || equal(value[at], any(field.type))));
      case "array":
        return isIn(value.otherwise, of.element) &&
          [...value.cells.values()].every(([index, element]) => isIn(index, of.index) && isIn(element, of.element));
      default: return true;
    }
  };

  const any = (number) => {
    const of = type(number);
    switch (of.kind) {
      case "bool": return false;
      case "range": {
        const [low, high] = [BigInt(of.low), BigInt(of.high)];
        return low > 0n ? low : high < 0n ? high : 0n;
      }
      case "real": return real(0n);
      case "enum": return of.literals[0];
      case "string": return "";
      case "id": return "id0";
      case "record": return of.fields.map((field) => any(field.type));
      case "array": return { type: number, otherwise: any(of.element), cells: new Map() };
      default: return 0n;
    }
  };

  const get = (array, index) => array.cells.get(key(index))?.[1] ?? array.otherwise;
  const set = (array, index, element) => {
    const cells = new Map(array.cells);
    if (equal(element, array.otherwise)) cells.delete(key(index));
    else cells.set(key(index), [index, element]);
    return { ...array, cells };
  };

  const equal = (a, b) => {
    if (typeof a !== "object" || a === null) return a === b;
    if ("d" in a) return a.n === b.n && a.d === b.d;
    if (Array.isArray(a)) return a.every((field, at) => equal(field, b[at]));
    const named = new Map([...a.cells, ...b.cells]);
    if (![...named.values()].every(([index]) => equal(get(a, index), get(b, index)))) return false;
    // Over finitely many indices the defaults may stand for none.
    const all = count(type(a.type).index);
    return (all !== undefined && BigInt(named.size) >= all) || equal(a.otherwise, b.otherwise);
  };

  // Of two numbers, or of two strings by their characters: negative, zero or positive.
  const compare = (a, b) => {
    if (typeof a === "string") {
      const [left, right] = [a, b].map((text) => [...text].map((sign) => sign.codePointAt(0)));
      const at = left.findIndex((code, place) => code !== right[place]);
      if (at < 0) return left.length - right.length;
      return at < right.length ? left[at] - right[at] : 1;
    }
    const difference = typeof a === "bigint" ? a - b : a.n * b.d - b.n * a.d;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  };

  const show = (value, number) => {
    const of = number === undefined ? undefined : type(number);
    if (value === undefined) return "?";
    if (of?.kind === "string" || of?.kind === "id") return JSON.stringify(value);
    if (typeof value === "bigint" || typeof value === "string" || typeof value === "boolean") return String(value);
    if ("d" in value) return value.d === 1n ? String(value.n) : `${value.n}/${value.d}`;
    if (Array.isArray(value) && of?.form !== undefined) return formShown(value, of);
    if (Array.isArray(value)) {
      return `{${value.map((field, at) => `${of?.fields[at].name ?? at}: ${show(field, of?.fields[at].type)}`).join(", ")}}`;
    }
    const cells = [...value.cells.values()].map(([index, element]) => `${show(index)}: ${show(element)}`);
    return `[${[...cells, `else ${show(value.otherwise)}`].join(", ")}]`;
  };

  // What a person would type for it.
  const typed = (value, number) => {
    const of = type(number);
    if (of.kind === "string" || of.kind === "id") return value;
    return of.kind === "record" || of.kind === "array" ? JSON.stringify(toJson(value, number)) : show(value, number);
  };
  const toJson = (value, number) => {
    const of = type(number);
    switch (of.kind) {
      case "bool": case "enum": case "string": case "id": return value;
      case "record":
        if (of.form !== undefined) return formToJson(value, of);
        return Object.fromEntries(of.fields.map((field, at) => [field.name, toJson(value[at], field.type)]));
      case "array":
        return {
          default: toJson(value.otherwise, of.element),
          cells: [...value.cells.values()].map(([index, element]) => [toJson(index, of.index), toJson(element, of.element)]),
        };
      default: {
        const text = show(value, number);
        return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
      }
    }
  };

  Coreach.values = { placeOfId, listed, ofEntries, made, real, parse, fromJson, toJson, isIn, any, get, set, equal, compare, show, typed, key };
}
