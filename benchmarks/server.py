"""A fast loopback server that answers every POST with one answer of 200 tokens, in one piece or token by token.

Usage: server.py [--over SECONDS]; prints its port.
"""

import argparse
import asyncio

TOKENS = 200

EVENTS = [
    b'event: tool_call\ndata: {"name":"get_quote","args":{"symbol":"AAPL"}}\n\n',
    *(b'event: token\ndata: {"text":"word%d "}\n\n' % number for number in range(TOKENS)),
    b'event: groundedness\ndata: {"score":0.97}\n\n',
    b"event: done\ndata: {}\n\n",
]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


PIECES = [*map(chunk, EVENTS), END]
WHOLE = HEAD + chunk(b"".join(EVENTS)) + END


class Connection(asyncio.Protocol):
    """Reads requests just well enough: a head, a content-length, a body."""

    def __init__(self, over_s: float) -> None:
        self.over_s = over_s
        self.held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.held += data
        head, end, rest = self.held.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(rest) < length:
            return
        self.held = rest[length:]
        if self.over_s:
            self.transport.write(HEAD)
            self.send(0, asyncio.get_running_loop().time())
        else:
            self.transport.write(WHOLE)

    def send(self, number: int, started: float) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(PIECES[number])
        following = number + 1
        if following < len(PIECES):
            # By the clock and not by the last piece: a late piece does not make the whole answer late.
            due = started + self.over_s * following / (len(PIECES) - 1)
            asyncio.get_running_loop().call_at(due, self.send, following, started)


async def serve(over_s: float) -> None:
    listener = await asyncio.get_running_loop().create_server(lambda: Connection(over_s), "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--over", type=float, default=0.0, metavar="SECONDS")
    asyncio.run(serve(parser.parse_args().over))
