"""Events that speak of previews, in the shape of GitHub's own, and a preview that answers them over real https."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

import trustme

from tests.github import HEAD, REPOSITORY
from tests.servers import Script, Server

HOST = "shop-git-topic-acme.vercel.app"
URL = f"https://{HOST}"
Event = tuple[str, dict[str, Any]]
"""Its name, and its payload."""

EN_DASH = "\u2013"

_HERE = {"full_name": REPOSITORY, "default_branch": "main", "id": 1}


def deployment(state: str = "success", environment: str = "Preview", **said: Any) -> Event:
    """A status of a deployment, as Vercel reports it: of a commit, not of a branch."""
    url = {"environment_url": URL} if state == "success" else {}
    status = {"id": 2, "state": state, "target_url": URL, "creator": {"login": "vercel[bot]"}, **url, **said}
    deployed = {"id": 3, "sha": HEAD, "ref": HEAD, "environment": environment, "payload": "{}"}
    event = {"action": "created", "deployment_status": status, "deployment": deployed, "repository": _HERE}
    return "deployment_status", event


def dispatch(kind: str = "ready", environment: str = "preview", **said: Any) -> Event:
    """Vercel's own event for a deployment, which runs the workflow of the default branch."""
    payload = {
        "environment": environment,
        "git": {"ref": "topic", "sha": HEAD, "shortSha": HEAD[:7]},
        "id": "dpl_1",
        "project": {"id": "prj_1", "name": "shop"},
        "state": {"type": kind},
        "url": URL,
        **said,
    }
    event = {"action": f"vercel.deployment.{kind}", "client_payload": payload, "repository": _HERE}
    return "repository_dispatch", {**event, "sender": {"login": "vercel[bot]"}}


def comment(body: str, login: str = "ada", kind: str = "User", **issue: Any) -> Event:
    """A new comment on pull request 7."""
    said = {"id": 9, "body": body, "user": {"login": login, "type": kind}}
    return "issue_comment", {
        "action": "created",
        "issue": {"number": 7, "pull_request": {"url": ""}, **issue},
        "comment": said,
        "repository": _HERE,
    }


@contextmanager
def preview(script: Script, folder: Path) -> Iterator[tuple[Server, dict[str, str]]]:
    """Serves a preview at `HOST`; gives it, and the environment in which that name leads to it."""
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(tls)
    certificate = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(certificate))
    with Server(script, tls=tls) as server, _tunnel(server.port) as proxy:
        yield server, {"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(certificate)}


class _Connect(StreamRequestHandler):
    """Answers one CONNECT, whatever it names, with a way to the server's port."""

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        assert isinstance(self.server, _Proxy)
        with socket.create_connection(("127.0.0.1", self.server.leads_to)) as there:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            back = Thread(target=_pump, args=(there, self.connection))
            back.start()
            _pump(self.connection, there)
            back.join()


class _Proxy(ThreadingTCPServer):
    daemon_threads = True
    leads_to = 0


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side has gone


@contextmanager
def _tunnel(port: int) -> Iterator[str]:
    with _Proxy(("127.0.0.1", 0), _Connect) as proxy:
        proxy.leads_to = port
        thread = Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
        proxy.shutdown()
        thread.join()
