"""Reading the fields of a payload one after the other, in the types of drivers/tdp/spec.md section 1."""

import struct
from typing import Final

U8: Final = struct.Struct("<B")
U16: Final = struct.Struct("<H")
U32: Final = struct.Struct("<I")
U64: Final = struct.Struct("<Q")


class BadMessage(ValueError):
    """The bytes are not this message: too short, or a field outside its values; the text says which."""


class FieldReader:
    """Takes fields off the front of a payload; raises BadMessage where it ends too soon."""

    __slots__ = ("_at", "_payload")

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    @property
    def rest(self) -> int:
        """Bytes not read yet: a newer minor version's fields, once the known ones are read."""
        return len(self._payload) - self._at

    def take(self, size: int) -> bytes:
        """The next `size` bytes. Raises BadMessage, as all below, where the payload ends before."""
        start, end = self._at, self._at + size
        if end > len(self._payload):
            raise BadMessage(f"payload of {len(self._payload)} bytes ends within a field")
        self._at = end
        return self._payload[start:end]

    def u8(self) -> int:
        """An unsigned number of 8 bits."""
        return self.take(1)[0]

    def u16(self) -> int:
        """An unsigned number of 16 bits, little-endian."""
        return int.from_bytes(self.take(2), "little")

    def u32(self) -> int:
        """An unsigned number of 32 bits, little-endian."""
        return int.from_bytes(self.take(4), "little")

    def u64(self) -> int:
        """An unsigned number of 64 bits, little-endian."""
        return int.from_bytes(self.take(8), "little")

    def text(self, longest: int) -> str:
        """A length byte and so much UTF-8, at most `longest` bytes. Raises BadMessage for anything else."""
        size = self.u8()
        if size > longest:
            raise BadMessage(f"text of {size} bytes where at most {longest} are allowed")
        try:
            return self.take(size).decode()
        except UnicodeDecodeError as error:
            raise BadMessage("text is not UTF-8") from error


def text_bytes(text: str, longest: int) -> bytes:
    """A text field. Raises ValueError for one of more than `longest` bytes."""
    encoded = text.encode()
    if len(encoded) > longest:
        raise ValueError(f"{text!r} is longer than {longest} bytes")
    return U8.pack(len(encoded)) + encoded
