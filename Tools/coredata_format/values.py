"""Stored values as the canonical JSON of a dump."""

import base64
import ctypes
import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from . import StoreError
from .model import (BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER_TYPES, STRING, TRANSFORMABLE, URI, UUID,
                    Attribute)
from .store import InvalidText

EXTERNAL_REFERENCE = re.compile(rb"\x02([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})\x00")
# A text of a few bytes must not become a number of billions of digits.
DECIMAL_TEXT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?d?", re.ASCII)
STORAGE_CLASSES = {int: "an integer", float: "a real", str: "a text", bytes: "a blob"}


class ValueEncoder:
    """Turns the values of one store's columns into JSON; the store's path leads to external data."""

    def __init__(self, store: Path):
        self.external_folder = store.with_name(f".{store.stem}_SUPPORT") / "_EXTERNAL_DATA"

    def encode(self, attribute: Attribute, value):
        """The JSON of a value that is not NULL; what its type cannot hold is a StoreError with the reason."""
        if isinstance(value, InvalidText):
            raise StoreError("text that is not valid UTF-8")
        if attribute.type not in ENCODERS:
            raise StoreError(f"{STORAGE_CLASSES[type(value)]} in an attribute of type {attribute.type}")
        if attribute.external and isinstance(value, bytes):
            value = self.external_data(value)
        return ENCODERS[attribute.type](value)

    def external_data(self, value: bytes) -> bytes:
        """Takes the prefix off a value with external storage; the data itself may be in a file."""
        if value[:1] == b"\x01":
            return value[1:]
        name = external_name(value)
        try:
            return (self.external_folder / name).read_bytes()
        except OSError as error:
            raise StoreError(f"external data file {name}: {error.strerror}") from error


def external_name(value: bytes) -> str:
    """The name of the file that a value with external storage refers to."""
    if value[:1] != b"\x02":
        raise StoreError(f"a value with external storage has the prefix {value[:1].hex() or 'of no byte'}")
    reference = EXTERNAL_REFERENCE.fullmatch(value)
    if reference is None:
        raise StoreError("the name of an external data file is not a UUID")
    return reference[1].decode()


def _integer(bits: int) -> Callable:
    def encode(value) -> int:
        number = _whole(value, "an integer")
        if not -1 << bits - 1 <= number < 1 << bits - 1:
            raise StoreError(f"{value!r} in an integer of {bits} bits")
        return number
    return encode


def _boolean(value) -> bool:
    number = _whole(value, "a Boolean")
    if number not in (0, 1):
        raise StoreError(f"{value!r} in a Boolean")
    return bool(number)


def _whole(value, what: str) -> int:
    """An integer, from whichever of the two numeric storage classes."""
    if isinstance(_number(value, what), float) and not value.is_integer():
        raise StoreError(f"{value!r} in {what}")
    return int(value)


def _number(value, what: str) -> int | float:
    return _of_class(value, (int, float), what)


def _of_class(value, classes: tuple[type, ...], what: str):
    if not isinstance(value, classes):
        raise StoreError(f"{STORAGE_CLASSES[type(value)]} in {what}")
    return value


def _double(value) -> float | dict:
    """A finite number stays one: its `repr` is the shortest text, with a fraction or an exponent."""
    number = float(_number(value, "a number"))
    return {"$double": "inf" if number > 0 else "-inf"} if math.isinf(number) else number


def _float(value) -> float | dict:
    number = float(_number(value, "a number"))
    single = ctypes.c_float(number).value
    if math.isinf(single) and not math.isinf(number):
        raise StoreError(f"{number!r} is beyond a Float")
    return _double(single)


def _date(value) -> dict:
    return {"$date": _double(value)}


def _decimal(value) -> dict:
    """Plain digits without an exponent and without trailing zeros; a text value may end in `d`."""
    text = value if isinstance(value, str) else repr(_number(value, "a decimal"))
    if not DECIMAL_TEXT.fullmatch(text):
        raise StoreError(f"{text!r} is no decimal number")
    number = Decimal(text.removesuffix("d"))
    digits = format(number, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return {"$decimal": "0" if number.is_zero() else digits}


def _string(value) -> str:
    """A text, or a blob that could be one."""
    try:
        return value.decode() if isinstance(value, bytes) else _of_class(value, (str,), "a string")
    except UnicodeDecodeError as error:
        raise StoreError("a blob in a string that is not valid UTF-8") from error


def _url(value) -> dict:
    return {"$url": _string(value)}


def _uuid(value) -> dict:
    if len(_of_class(value, (bytes,), "a UUID")) != 16:
        raise StoreError(f"{len(value)} bytes in a UUID")
    return {"$uuid": str(uuid.UUID(bytes=value)).upper()}


def _bytes(tag: str) -> Callable:
    def encode(value) -> dict:
        return {tag: base64.b64encode(_of_class(value, (bytes,), "a column of bytes")).decode()}
    return encode


ENCODERS = {
    BOOLEAN: _boolean, DECIMAL: _decimal, DOUBLE: _double, FLOAT: _float, DATE: _date, STRING: _string, URI: _url,
    UUID: _uuid, TRANSFORMABLE: _bytes("$transformable"), BINARY: _bytes("$data"),
} | {type: _integer(bits) for type, bits in INTEGER_TYPES.items()}
