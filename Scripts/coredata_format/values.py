"""Stored values as the canonical JSON of a dump."""

import base64
import ctypes
import math
import re
import uuid
from decimal import Decimal, InvalidOperation
from pathlib import Path

from . import StoreError
from .model import (BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER_TYPES, STRING, TRANSFORMABLE, URI, UUID,
                    Attribute)

STORAGE_CLASSES = {BOOLEAN: int, DECIMAL: (int, float, str), DOUBLE: (int, float), FLOAT: (int, float),
                   DATE: (int, float), STRING: str, URI: str, UUID: bytes, TRANSFORMABLE: bytes, BINARY: bytes
                   } | {type: int for type in INTEGER_TYPES}
EXTERNAL_REFERENCE = re.compile(rb"\x02([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})\x00")


class ValueEncoder:
    """Turns the values of one store's columns into JSON; the store's path leads to external data."""

    def __init__(self, store: Path):
        self.external_folder = store.with_name(f".{store.stem}_SUPPORT") / "_EXTERNAL_DATA"

    def encode(self, attribute: Attribute, value):
        """The JSON of a value that is not NULL."""
        type = attribute.type
        if type not in STORAGE_CLASSES or not isinstance(value, STORAGE_CLASSES[type]):
            raise StoreError(f"a {value.__class__.__name__} is stored in an attribute of type {type}")
        if attribute.external and isinstance(value, bytes):
            value = self._external_data(value)
        if type in INTEGER_TYPES or type == STRING:
            return value
        if type == BOOLEAN:
            return _boolean(value)
        if type in (DOUBLE, FLOAT):
            return _double(ctypes.c_float(value).value if type == FLOAT else float(value))
        return _tagged(type, value)

    def _external_data(self, value: bytes) -> bytes:
        """Takes the prefix off a value with external storage; the data itself may be in a file."""
        if value[:1] == b"\x01":
            return value[1:]
        reference = EXTERNAL_REFERENCE.fullmatch(value)
        if reference is None:
            raise StoreError(f"a value with external storage starts with {value[:2].hex()}, neither inline nor a file")
        file = self.external_folder / reference[1].decode()
        try:
            return file.read_bytes()
        except OSError as error:
            raise StoreError(f"external data file {file}: {error.strerror}") from error


def _tagged(type: int, value) -> dict:
    """The values that JSON has no form for, each under the tag of its type."""
    if type == DATE:
        return {"$date": _double(float(value))}
    if type == DECIMAL:
        return {"$decimal": _decimal(value)}
    if type == UUID:
        return {"$uuid": _uuid(value)}
    if type == URI:
        return {"$uri": value}
    return {"$data" if type == BINARY else "$transformable": base64.b64encode(value).decode()}


def _boolean(value: int) -> bool:
    if value not in (0, 1):
        raise StoreError(f"{value} is stored in a Boolean attribute")
    return bool(value)


def _double(value: float) -> float | dict:
    """A finite number stays one: its `repr` is the shortest text, with a fraction or an exponent."""
    return {"$double": "inf" if value > 0 else "-inf"} if math.isinf(value) else value


def _decimal(value: int | float | str) -> str:
    """Plain digits without an exponent and without trailing zeros; a text value may end in `d`."""
    text = value.removesuffix("d") if isinstance(value, str) else repr(value)
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise StoreError(f"{text!r} is not a decimal number") from error
    if not number.is_finite():
        raise StoreError(f"{text!r} is not a finite decimal number")
    digits = format(number, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return "0" if number.is_zero() else digits


def _uuid(value: bytes) -> str:
    if len(value) != 16:
        raise StoreError(f"{len(value)} bytes are stored in a UUID attribute")
    return str(uuid.UUID(bytes=value)).upper()
