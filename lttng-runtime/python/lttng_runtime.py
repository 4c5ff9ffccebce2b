# SPDX-License-Identifier: MIT OR Apache-2.0
"""LTTng-UST events and USDT probes for Python, with nothing but its standard library.

    provider = Provider("shop")
    sale = provider.event("sale", article=str, took="u64 us")
    sale("book", 12)

Types are str, int (i64), float (f64), bool, or text as in lttng-runtime.h: "string group", "u64 us". The library is
found beside this file, on the loader's path, or where LTTNG_RUNTIME_LIBRARY says.
"""

import ctypes
import operator
import os

_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblttng_runtime.so")
_PATH = os.environ.get("LTTNG_RUNTIME_LIBRARY") or (_HERE if os.path.exists(_HERE) else "liblttng_runtime.so")
_INTEGER, _FLOAT, _TEXT = 0, 1, 2
_TYPES = {str: "string", int: "i64", float: "f64", bool: "bool"}
_STATE = 24


class _Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("length", ctypes.c_uint32), ("bits", ctypes.c_uint64)]


_library = ctypes.CDLL(_PATH)
_TEXTS = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
for _name, _result, _arguments in [
    ("open", ctypes.c_void_p, [ctypes.c_char_p] + _TEXTS),
    ("add", ctypes.c_int, [ctypes.c_void_p] + _TEXTS),
    ("find", ctypes.c_void_p, [ctypes.c_void_p] + _TEXTS),
    ("close", None, [ctypes.c_void_p]),
    ("free", None, [ctypes.c_void_p]),
    ("record", ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Value), ctypes.c_size_t]),
    ("follow_forks", None, []),
]:
    _function = getattr(_library, "lttng_runtime_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


class Error(ValueError):
    """A provider or an event that cannot be declared; the message is one line."""


def follow_forks():
    """Lets children of os.fork() record under their own process ID."""
    _library.lttng_runtime_follow_forks()


def _call(function, *arguments):
    """Calls what writes an error line; returns its result and the line."""
    line = ctypes.create_string_buffer(1024)
    result = function(*arguments, line, len(line))
    if line.value:
        raise Error(line.value.decode())
    return result


def _declare(name, fields):
    words = ("%s: %s" % (field, _TYPES.get(kind, kind)) for field, kind in fields.items())
    return "%s(%s)" % (name, ", ".join(words))


class Provider:
    """A provider. It is closed by close(), at the end of a with block, or when nobody uses it or its events."""

    def __init__(self, name):
        self._pointer = None
        self.name = name
        self._pointer = _call(_library.lttng_runtime_open, _encode(name), None)

    def event(self, name, /, **fields):
        """Declares an event and returns it."""
        return self.events({name: fields})[name]

    def events(self, declarations):
        """Declares many events at once, all or none: {name: {field: type}}; returns them by name."""
        text = "\n".join(_declare(name, fields) for name, fields in declarations.items())
        _call(_library.lttng_runtime_add, self._pointer, _encode(text))
        return {name: Event(self, name, fields) for name, fields in declarations.items()}

    def close(self):
        """Unregisters the events: they are recorded no more, and may still be called."""
        _library.lttng_runtime_close(self._pointer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if self._pointer:
            _library.lttng_runtime_free(self._pointer)


class Event:
    """An event; calling it records it if a session or a tracer wants it."""

    __slots__ = ("_provider", "_event", "_state", "_makers", "_array", "name")

    def __init__(self, provider, name, fields):
        self._provider = provider
        self.name = name
        self._event = _call(_library.lttng_runtime_find, provider._pointer, _encode(name))
        self._state = ctypes.c_uint64.from_address(self._event + _STATE)
        self._makers = [_MAKERS.get(_TYPES.get(kind, kind).split()[0][0], _integer) for kind in fields.values()]
        self._array = _Value * len(fields)

    @property
    def enabled(self):
        """Whether a session or a tracer wants the event."""
        return self._state.value != 0

    def __call__(self, *values):
        if len(values) != len(self._makers):
            raise TypeError("%s takes %d values, got %d" % (self.name, len(self._makers), len(values)))
        if not self._state.value:
            return
        # The array refers to the bytes of texts, which `kept` keeps until they are recorded.
        kept = [value.encode(errors="surrogateescape") if isinstance(value, str) else value for value in values]
        array = self._array(*(make(value) for make, value in zip(self._makers, kept)))
        _library.lttng_runtime_record(self._event, array, len(kept))


def _text(value):
    if not isinstance(value, bytes):
        raise TypeError("expected str or bytes, got %r" % (value,))
    address = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value
    return _Value(_TEXT, min(len(value), 65535), address)


def _float(value):
    if isinstance(value, bytes):
        raise TypeError("expected a number, got %r" % value.decode(errors="replace"))
    return _Value(_FLOAT, 0, ctypes.c_uint64.from_buffer_copy(ctypes.c_double(value)).value)


def _integer(value):
    return _Value(_INTEGER, 0, operator.index(value) & 0xFFFFFFFFFFFFFFFF)


_MAKERS = {"s": _text, "f": _float}


def _encode(text):
    encoded = text.encode()
    if b"\0" in encoded:
        raise Error("%r: a name must not contain a NUL" % text)
    return encoded
