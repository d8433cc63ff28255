"""``python -m golden.demo``: serve the demo agent with uvicorn."""

import socket
import sys
from contextlib import suppress

import click

from golden.demo import lacking, switches

try:
    import uvicorn

    from golden.demo import server
except ModuleNotFoundError as missing:
    sys.exit(lacking(missing))


@click.command(epilog="Example: python -m golden.demo --port 8400")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
def main(port: int, host: str) -> None:
    """Serve the demo agent: POST /agent/chat, a keyless portfolio assistant that streams."""
    try:
        broken = switches.chosen()
    except ValueError as unknown:
        raise click.UsageError(str(unknown)) from None
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except OSError as refused:
        raise click.UsageError(f"cannot listen on {host}:{port}: {refused}\nhint: --port 0 takes a free port") from None

    if server.secret() is None:
        click.echo(f"no {' or '.join(server.SECRETS)} is set: anyone may ask, tokens are not looked at", err=True)
    if broken:
        click.echo(f"broken on purpose: {', '.join(sorted(broken))}", err=True)
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"serving the demo agent on http://{shown}:{listener.getsockname()[1]}")
    with listener, suppress(KeyboardInterrupt):  # uvicorn raises it again once it has shut down
        config = uvicorn.Config(server.app, log_level="warning", lifespan="off", ws="none")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(prog_name="python -m golden.demo")
