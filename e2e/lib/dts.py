"""Reads the type declarations of the TypeScript SDK, and makes values that have every declared field.

A value has the names of the fields and a value of the declared kind; no text of the declarations is taken over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\.\.\.|=>|[A-Za-z_$][\w$]*|-?\d[\w.]*|[{}()\[\]<>|&?:;,.=*@#!+-]""")
DECLARED = re.compile(
    r"^(?:export )?(?:declare )?(?:type|interface) (\w+)(?:<[^{}()]*?>)?\s*(?:extends ([^{]*))?(?:=|(?=\{))", re.MULTILINE)
STRINGS_AND_COMMENTS = re.compile(r"""('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*""", re.DOTALL)
# A type that refers to itself ends here; the published ones need 12.
DEPTH_MAX = 16
MISSING = object()


@dataclass
class Object:
    """A type with fields; `rest` is the type of all other keys."""

    fields: dict[str, Any] = field(default_factory=dict)
    rest: Any = None


@dataclass
class Union:
    types: list[Any]


@dataclass
class Both:
    types: list[Any]


@dataclass
class List:
    item: Any


@dataclass
class Literal:
    value: Any


@dataclass
class Named:
    name: str
    arguments: list[Any]


class Declarations:
    """The types of a file by name, and samples of types that it gets from elsewhere."""

    def __init__(self, text: str, elsewhere: dict[str, Any] | None = None) -> None:
        self.elsewhere = elsewhere or {}
        self.text = STRINGS_AND_COMMENTS.sub(lambda found: found[1] or " ", text)
        self.types: dict[str, Any] = {}
        for found in re.finditer(DECLARED, self.text):
            declared = Parser(self.text, found.end()).type()
            if found[2]:
                declared = Both([declared, *(Named(name, []) for name in re.findall(r"^\w+", found[2]))])
            self.types.setdefault(found[1], declared)

    def samples(self, declared: Any, depth: int = 0) -> list[Any]:
        """Values of a type. Together they have every field, and every alternative of it."""
        if depth > DEPTH_MAX:
            return []
        match declared:
            case Literal(value):
                return [] if value is None else [value]
            case Union(types) if depth and all(isinstance(one, Literal) for one in types):
                # One word of a list stands for all.
                return self.samples(types[0], depth)
            case Union(types):
                all_of = [sample for one in types for sample in self.samples(one, depth)]
                return [sample for number, sample in enumerate(all_of) if sample not in all_of[:number]]
            case List(item):
                items = self.samples(item, depth + 1)
                return [items] if items else [[]]
            case Both(types):
                return self._objects(self._merged(types), depth)
            case Object():
                return self._objects(declared, depth)
            case Named(name, arguments):
                return self._named(name, arguments, depth)
        raise TypeError(declared)

    def _objects(self, declared: Object, depth: int) -> list[dict[str, Any]]:
        by_field = {name: found for name, one in declared.fields.items() if (found := self.samples(one, depth + 1))}
        if declared.rest is not None and not by_field:
            by_field = {"key": self.samples(declared.rest, depth + 1) or [{}]}
        count = max((len(found) for found in by_field.values()), default=1)
        return [{name: found[number % len(found)] for name, found in by_field.items()} for number in range(count)]

    def _merged(self, types: list[Any]) -> Object:
        merged = Object()
        for one in types:
            one = self.resolved(one)
            if isinstance(one, Both):
                one = self._merged(one.types)
            if isinstance(one, Object):
                merged.fields |= one.fields
                merged.rest = merged.rest or one.rest
        return merged

    def resolved(self, declared: Any) -> Any:
        while isinstance(declared, Named) and declared.name.split(".")[-1] in self.types:
            declared = self.types[declared.name.split(".")[-1]]
        return declared

    def _named(self, name: str, arguments: list[Any], depth: int) -> list[Any]:
        simple = {"string": "s", "number": 1, "boolean": True, "UUID": "s", "true": True, "object": {"key": "s"}}
        simple |= self.elsewhere
        if name in simple:
            return [simple[name]]
        if name in ("Omit", "Pick"):
            return self.samples(arguments[0], depth)
        if name in ("Record", "Partial", "Readonly", "Required"):
            inner = self.samples(arguments[-1], depth + 1)
            return [{"key": inner[0]} if inner else {}] if name == "Record" else inner
        if name in ("Array", "ReadonlyArray"):
            return self.samples(List(arguments[0]), depth)
        if name in ("null", "undefined", "never", "void"):
            return []
        found = self.resolved(Named(name, arguments))
        return [{"key": "s"}] if isinstance(found, Named) else self.samples(found, depth + 1)

    def fields_of(self, name: str) -> list[str]:
        """The names of the fields of a type."""
        found = self.types[name]
        return sorted(self._merged([found]).fields)

    def texts_of(self, declared: Any, key: str) -> set[str]:
        """The texts that a field has in the alternatives of a type."""
        declared = self.resolved(declared)
        if isinstance(declared, Union):
            return set().union(*(self.texts_of(one, key) for one in declared.types))
        fields = self._merged([declared]).fields
        if key not in fields:
            return set()
        words = self.resolved(fields[key])
        all_of = words.types if isinstance(words, Union) else [words]
        return {word.value for word in all_of if isinstance(word, Literal)}


class Parser:
    """Reads one type."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start

    def peek(self) -> str:
        found = TOKEN.search(self.text, self.at)
        return found[0] if found else ""

    def take(self, wanted: str | None = None) -> str:
        found = TOKEN.search(self.text, self.at)
        if not found or (wanted is not None and found[0] != wanted):
            around = self.text[max(0, self.at - 80) : self.at + 80]
            raise ValueError(f"expected {wanted!r}, found {found and found[0]!r} in {around!r}")
        self.at = found.end()
        return found[0]

    def skip(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self.take()
        return True

    def type(self) -> Any:
        self.skip("|")
        types = [self.both()]
        while self.skip("|"):
            types.append(self.both())
        if self.skip("extends"):
            for token in ("?", ":"):
                self.type()
                self.take(token)
            self.type()
            return Named("unknown", [])
        return types[0] if len(types) == 1 else Union(types)

    def both(self) -> Any:
        self.skip("&")
        types = [self.postfix()]
        while self.skip("&"):
            types.append(self.postfix())
        return types[0] if len(types) == 1 else Both(types)

    def postfix(self) -> Any:
        if self.peek() in ("readonly", "keyof", "typeof", "unique", "infer"):
            self.take()
            return self.postfix()
        found = self.primary()
        while self.peek() == "[":
            self.take()
            if self.skip("]"):
                found = List(found)
            else:
                # A type of a field: any value.
                self.type()
                self.take("]")
                found = Named("unknown", [])
        return found

    def primary(self) -> Any:
        token = self.peek()
        if token == "{":
            return self.object()
        if token == "[":
            return self.tuple()
        if token in ("(", "<"):
            return self.group()
        if token[0] in "'\"":
            return Literal(re.sub(r"\\(.)", r"\1", self.take()[1:-1]))
        if token[0] == "`":
            self.take()
            return Named("string", [])
        if token[0].isdigit() or token[0] == "-":
            return Literal(float(self.take()) if "." in token else int(self.take()))
        if token in ("true", "false"):
            return Literal(self.take() == "true")
        return self.named()

    def named(self) -> Any:
        name = self.take()
        while self.skip("."):
            name += "." + self.take()
        arguments = []
        if self.peek() == "<":
            self.take()
            while not self.skip(">"):
                arguments.append(self.type())
                self.skip(",")
        return Named(name, arguments)

    def tuple(self) -> Any:
        self.take("[")
        items = []
        while not self.skip("]"):
            self.skip("...")
            items.append(self.type())
            self.skip("?")
            self.skip(",")
        flat = [item.item if isinstance(item, List) else item for item in items]
        return List(flat[0] if len(flat) == 1 else Union(flat)) if flat else List(Named("unknown", []))

    def group(self) -> Any:
        """A type in parentheses, or a function, of which nothing is needed."""
        start = self.at
        self.balanced()
        if self.peek() == "(":
            self.balanced()
        if self.skip("=>"):
            self.type()
            return Named("never", [])
        end, self.at = self.at, start
        self.take("(")
        found = self.type()
        self.take(")")
        assert self.at == end
        return found

    def balanced(self) -> None:
        pairs = {"(": ")", "<": ">", "{": "}", "[": "]"}
        close = pairs[self.take()]
        while self.peek() != close:
            if self.peek() in pairs:
                self.balanced()
            else:
                self.take()
        self.take(close)

    def object(self) -> Object | Named:
        start = self.at
        self.take("{")
        found = Object()
        while not self.skip("}"):
            if self.peek() in (";", ","):
                self.take()
                continue
            if self.peek() == "[":
                self.take()
                self.take()
                if self.peek() == "in":
                    # It computes its fields from another type.
                    self.at = start
                    self.balanced()
                    return Named("unknown", [])
                if self.skip("."):
                    # The name of a method is a symbol.
                    self.take()
                    self.take("]")
                    self.skip("?")
                    self.group_of_method()
                    continue
                self.take(":")
                self.type()
                self.take("]")
                self.take(":")
                found.rest = self.type()
                continue
            if self.peek() in ("(", "<"):
                self.group_of_method()
                continue
            name = self.take()
            if name in ("readonly", "get", "set") and self.peek() not in (":", "?", "("):
                name = self.take()
            name = name.strip("'\"")
            self.skip("?")
            if self.peek() in ("(", "<"):
                self.group_of_method()
                found.fields[name] = Named("never", [])
                continue
            self.take(":")
            found.fields[name] = self.type()
        return found

    def group_of_method(self) -> None:
        while self.peek() in ("(", "<"):
            self.balanced()
        if self.skip(":"):
            self.type()
