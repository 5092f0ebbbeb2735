"""A value in its two written forms: what a column holds and what the dump says.

In memory, integers and Booleans are themselves; doubles, floats and dates are `float` (dates in seconds since
2001-01-01); decimals `Decimal`, strings and URIs `str`, UUIDs `uuid.UUID`, binary and transformable values `bytes`
and composite values dictionaries without nil elements.
"""

from __future__ import annotations

import base64
import math
import struct
from decimal import Decimal

from .model import Attribute


def as_float(value: float) -> float:
    """The nearest value of 32 bits."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def decimal_digits(value: Decimal) -> str:
    """Plain digits without an exponent and without trailing zeros."""
    digits = format(value, "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def column_value(attribute: Attribute, value):
    """What a column holds for a value; data with external storage is not for this function."""
    if attribute.type == "Boolean":
        return int(value)
    if attribute.type == "UUID":
        return value.bytes
    if attribute.type == "Decimal":
        return _decimal_column(value)
    return bytes(value) if isinstance(value, bytes) else value


def _decimal_column(value: Decimal):
    """A number where its shortest text is the value; otherwise the digits as text, marked by a `d`."""
    number = float(value)
    return number if Decimal(repr(number)) == value else decimal_digits(value) + "d"


def dumped(attribute: Attribute, value):
    """The JSON of a value; None for a composite without any element."""
    if attribute.elements:
        elements = {item.name: dumped(item, value[item.name]) for item in attribute.elements if item.name in value}
        return {name: element for name, element in elements.items() if element is not None} or None
    if attribute.type in ("Double", "Float"):
        return _dumped_double(value)
    if attribute.type == "Date":
        return {"$date": _dumped_double(value)}
    if attribute.type == "Decimal":
        return {"$decimal": decimal_digits(value)}
    if attribute.type == "UUID":
        return {"$uuid": str(value).upper()}
    if attribute.type == "URI":
        return {"$url": value}
    if attribute.type in ("Binary", "Transformable"):
        tag = "$data" if attribute.type == "Binary" else "$transformable"
        return {tag: base64.b64encode(value).decode()}
    return value


def _dumped_double(value: float):
    return {"$double": "inf" if value > 0 else "-inf"} if math.isinf(value) else float(value)
