# SPDX-License-Identifier: MIT OR Apache-2.0
"""LTTng-UST events and USDT probes for Python, with nothing but its standard library.

    provider = Provider("shop")
    sale = provider.event("sale", article=str, took="u64 us")
    sale("book", 12)

Types are str, int (i64), float (f64), bool, or text as in lttng-runtime.h: "string group", "u64 us". The library is
found beside this file, on the loader's path, or where LTTNG_RUNTIME_LIBRARY says.

Declaring something wrong raises Error. An event that is declared raises TypeError for a wrong number of values, and nothing
else: whether a session records it changes nothing for the program.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import operator
import os
import re
import struct
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, TypeVar, Union, overload

__all__ = ["Error", "Event", "Provider", "follow_forks"]

Kind = Union[str, Type[str], Type[int], Type[float], Type[bool]]
_Function = TypeVar("_Function", bound=Callable[..., Any])

_INTEGER, _FLOAT, _TEXT = 0, 1, 2
_TYPES: Dict[Any, str] = {str: "string", int: "i64", float: "f64", bool: "bool"}
_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_STATE = 24
_LONGEST = 65535
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORDS = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*\Z")


class Error(ValueError):
    """A provider or an event that cannot be declared; the message is one line."""


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """The library, loaded when the first provider is opened."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblttng_runtime.so")
    path = os.environ.get("LTTNG_RUNTIME_LIBRARY") or (beside if os.path.exists(beside) else "liblttng_runtime.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise Error("cannot load lttng-runtime: %s; install it with pip, or set LTTNG_RUNTIME_LIBRARY" % error) from None
    texts = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    functions: List[Tuple[str, Any, List[Any]]] = [
        ("open", ctypes.c_void_p, [ctypes.c_char_p] + texts),
        ("add", ctypes.c_int, [ctypes.c_void_p] + texts),
        ("find", ctypes.c_void_p, [ctypes.c_void_p] + texts),
        ("close", None, [ctypes.c_void_p]),
        ("free", None, [ctypes.c_void_p]),
        ("record", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
        ("follow_forks", None, []),
    ]
    for name, result, arguments in functions:
        function = getattr(library, "lttng_runtime_" + name)
        function.restype, function.argtypes = result, arguments
    return library


def follow_forks() -> None:
    """Lets children of os.fork() record under their own process ID."""
    _library().lttng_runtime_follow_forks()


def _call(name: str, *arguments: Any) -> Any:
    """Calls what writes an error line, which becomes an Error."""
    line = ctypes.create_string_buffer(1024)
    result = getattr(_library(), "lttng_runtime_" + name)(*arguments, line, len(line))
    if line.value:
        raise Error(line.value.decode(errors="replace"))
    return result


def _name(text: Any, what: str) -> str:
    if not isinstance(text, str) or not _NAME.match(text):
        raise Error("%r: the name of %s has only ASCII letters, digits and _, and does not begin with a digit" % (text, what))
    return text


def _words(event: str, field: str, kind: Any) -> str:
    """The type of a field as the library reads it. Nothing else can be in it, so that names never become declarations."""
    words = _TYPES.get(kind, kind) if isinstance(kind, (str, type)) else kind
    if not isinstance(words, str) or not _WORDS.match(words):
        raise Error(
            '%s.%s: the type of a field is str, int, float, bool or text such as "u64 us", not %r' % (event, field, kind)
        )
    return words


class Provider:
    """A provider. It is closed by close(), at the end of a with block, or when nobody uses it or its events."""

    def __init__(self, name: str) -> None:
        self._pointer = None
        self.name = _name(name, "a provider")
        self._pointer = _call("open", name.encode(), None)

    def event(self, name: str, /, **fields: Kind) -> Event:
        """Declares an event and returns it."""
        return self.events({name: fields})[name]

    def events(self, declarations: Mapping[str, Mapping[str, Kind]]) -> Dict[str, Event]:
        """Declares many events at once, all or none: {name: {field: type}}; returns them by name."""
        shapes = {
            _name(name, "an event"): {
                _name(field, "a field"): _words(name, field, kind) for field, kind in fields.items()
            }
            for name, fields in declarations.items()
        }
        lines = ("%s(%s)" % (name, ", ".join("%s: %s" % field for field in shape.items())) for name, shape in shapes.items())
        _call("add", self._pointer, "\n".join(lines).encode())
        return {name: Event(self, name, shape) for name, shape in shapes.items()}

    @overload
    def traced(self, function: _Function) -> _Function: ...

    @overload
    def traced(self, function: str) -> Callable[[_Function], _Function]: ...

    def traced(self, function: Any) -> Any:
        """Decorates a function: each call is an event with its duration, also one that raises.

        @provider.traced declares an event with the function's name, @provider.traced("name") with this one.
        """
        if isinstance(function, str):
            return lambda decorated: self._traced(function, decorated)
        return self._traced(function.__name__, function)

    def _traced(self, name: str, function: Any) -> Any:
        event = self.event(name, took="u64 us duration")

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def measured(*arguments: Any, **named: Any) -> Any:
                with event.measured():
                    return await function(*arguments, **named)

        else:

            @functools.wraps(function)
            def measured(*arguments: Any, **named: Any) -> Any:
                with event.measured():
                    return function(*arguments, **named)

        return measured

    def close(self) -> None:
        """Unregisters the events: they are recorded no more, and may still be called."""
        _library().lttng_runtime_close(self._pointer)

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._pointer:
            _library().lttng_runtime_free(self._pointer)


class Event:
    """An event; calling it records it if a session or a tracer wants it. `failed` counts calls with values of a wrong type."""

    __slots__ = ("_provider", "_event", "_state", "_makers", "_pack", "_record", "_duration", "name", "failed")

    def __init__(self, provider: Provider, name: str, fields: Mapping[str, str]) -> None:
        kinds = [words.split() for words in fields.values()]
        self._provider = provider
        self.name = name
        self.failed = 0
        self._event = _call("find", provider._pointer, name.encode())
        self._state = ctypes.c_uint64.from_address(self._event + _STATE)
        self._makers = [_MAKERS.get(words[0][0], _integer) for words in kinds]
        self._pack = struct.Struct("=" + "".join("IId" if words[0][0] == "f" else "IIQ" for words in kinds)).pack
        self._record = _library().lttng_runtime_record
        self._duration = _duration(kinds)

    @property
    def enabled(self) -> bool:
        """Whether a session or a tracer wants the event."""
        return bool(self._state.value)

    def __call__(self, *values: Any) -> None:
        makers = self._makers
        if len(values) != len(makers):
            raise TypeError("%s takes %d values, got %d" % (self.name, len(makers), len(values)))
        if not self._state.value:
            return
        kept: List[bytes] = []
        words: List[Any] = []
        try:
            for make, value in zip(makers, values):
                words += make(value, kept)
            # `kept` keeps the bytes of texts, which the packed values point to.
            self._record(self._event, self._pack(*words), len(makers))
        except Exception:  # A value of a wrong type, which is noticed only while a session records.
            self.failed += 1

    def measured(self, *values: Any) -> _Measured:
        """A with block that is one event: its duration goes into the field with a unit of time, these values into the others."""
        if self._duration is None:
            raise Error("%s: no field has a duration; give one a unit of time, such as took=\"u64 us\"" % self.name)
        return _Measured(self, self._duration, values)


class _Measured:
    """What a with block measures; a block that begins while the event is off is not recorded."""

    __slots__ = ("_event", "_duration", "_values", "_began")

    def __init__(self, event: Event, duration: Tuple[int, int], values: Tuple[Any, ...]) -> None:
        if len(values) + 1 != len(event._makers):
            wanted = len(event._makers) - 1
            raise TypeError("%s takes %d values beside its duration, got %d" % (event.name, wanted, len(values)))
        self._event, self._duration, self._values = event, duration, values
        self._began: Optional[int] = None

    def __enter__(self) -> None:
        self._began = time.monotonic_ns() if self._event._state.value else None

    def __exit__(self, *_: Any) -> None:
        if self._began is not None:
            index, unit = self._duration
            took = (time.monotonic_ns() - self._began) // unit
            self._event(*self._values[:index], took, *self._values[index:])


def _duration(kinds: List[List[str]]) -> Optional[Tuple[int, int]]:
    """The index of the duration and its unit in nanoseconds: what is marked, or the only field with a unit of time."""
    timed = [(index, _UNITS[word], "duration" in words) for index, words in enumerate(kinds) for word in words if word in _UNITS]
    chosen = [field for field in timed if field[2]] or timed
    return chosen[0][:2] if len(chosen) == 1 else None


# Where CPython has the bytes of a bytes object; asking ctypes for it takes longer than recording.
_OFFSET = bytes.__basicsize__ - 1


def _address(value: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0


_HAS_OFFSET = _address(b"probe") == id(b"probe") + _OFFSET


def _text(value: Any, kept: List[bytes]) -> Tuple[int, int, int]:
    if isinstance(value, str):
        try:
            value = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            value = value.encode("utf-8", "surrogatepass")
    elif not isinstance(value, bytes):
        raise TypeError
    kept.append(value)
    address = id(value) + _OFFSET if _HAS_OFFSET and type(value) is bytes else _address(value)
    return _TEXT, min(len(value), _LONGEST), address


def _float(value: Any, _: List[bytes]) -> Tuple[int, int, float]:
    return _FLOAT, 0, value


def _integer(value: Any, _: List[bytes]) -> Tuple[int, int, int]:
    return _INTEGER, 0, operator.index(value) & 0xFFFFFFFFFFFFFFFF


_MAKERS: Dict[str, Callable[[Any, List[bytes]], Tuple[int, int, Any]]] = {"s": _text, "f": _float}
