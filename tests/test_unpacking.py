import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.unpacking import unpacker


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def members(data: bytes) -> bytes:
    return gzip.compress(data[:9]) + gzip.compress(data[9:])


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("gzip", members), ("deflate", zlib.compress), ("deflate", raw), ("identity", bytes)],
)
@given(data=st.binary(), step=st.integers(1, 40))
def test_a_body_is_the_same_however_its_bytes_are_cut(
    encoding: str, pack: Callable[[bytes], bytes], data: bytes, step: int
) -> None:
    packed = pack(data)
    unpack = unpacker(encoding)
    parts = [part for start in range(0, len(packed), step) for part in unpack.feed(packed[start : start + step])]
    unpack.close()
    assert b"".join(parts) == data
