"""The event that started a workflow → the preview to ask, and the commit that it is of.

Whoever may push or deploy can have an event name any URL. So its host must be allowed, before anything is sent there:

- `GOLDEN_ALLOW_HOST`: the hosts that may be asked, as globs parted by white space.
- `GOLDEN_ENVIRONMENT`: the environments that are previews, as globs parted by commas; `preview*` where left out.
- `GOLDEN_URL`: asked in place of what the event says: whoever wrote the workflow chose it.

Outputs: `url`, and `sha` where the event chose.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from golden.errors import UsageError
from golden.event import Event, read_event
from golden.steps import Environ, NothingToDo, lead
from golden.visible import excerpt

# Of https, on its own port, of a host by name, with a path at most: no user, query, fragment or address of a machine.
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = rf"(?P<host>(?:{_LABEL}\.)+(?=[a-z]){_LABEL})"
_URL = re.compile(rf"https://{_HOST}(?::443)?(?P<path>(?:/[a-z0-9._~-]*)*)", re.IGNORECASE | re.ASCII)

# What a dispatch is of, by the last part of its type: `vercel.deployment.ready`. Vercel sends both.
_READY = ("ready", "success")

# Hosts under which anybody can have a name: what lets a stranger's name through lets anybody's server be asked.
_SHARED = (
    *("vercel.app", "now.sh", "netlify.app", "pages.dev", "workers.dev", "onrender.com", "up.railway.app", "fly.dev"),
    *("herokuapp.com", "azurewebsites.net", "run.app", "web.app", "amplifyapp.com", "ngrok.app", "ngrok-free.app"),
    *("deno.dev", "hf.space", "koyeb.app", "replit.app", "firebaseapp.com", "azurestaticapps.net", "trycloudflare.com"),
)
# The same, of each region: `NAME.a.run.app`.
_REGIONAL = (".run.app", ".azurewebsites.net")
_STRANGER = "some-stranger-s-own-7f3a"

# The host's own spelling: Vercel parts the project's name by an en dash.
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")


def preview(environ: Environ) -> dict[str, str]:
    """Chooses the preview; see the module.

    Raises:
        NothingToDo: the event speaks of no preview that is ready.
        UsageError: it speaks of one that may not be asked.
    """
    if url := environ.get("GOLDEN_URL", ""):
        if not url.isprintable():
            raise UsageError("GOLDEN_URL is no line of text")
        return {"url": url}
    patterns = [part.strip() for part in environ.get("GOLDEN_ENVIRONMENT", "").split(",") if part.strip()]
    event = read_event(environ)
    # Where there is one project, GitHub's list of environments has its previews as `Preview`: people write that.
    environment, bare = _environment(event), _plain(event.environment)
    if not _is_ready(event):
        raise NothingToDo(f"no preview is ready: the event is {event.kind or 'none'} {event.state}".rstrip())
    globs = [_plain(pattern) for pattern in patterns or ["preview*"]]
    if not any(fnmatchcase(name, glob) for name in (environment, bare) for glob in globs):
        raise NothingToDo(f"the environment {environment or 'without a name'} is no preview: see GOLDEN_ENVIRONMENT")
    if event.sha is None:
        raise UsageError("the deployment names no commit: nobody knows whose preview it is")
    return {"url": allowed_url(event.urls, environ.get("GOLDEN_ALLOW_HOST", "").split()), "sha": event.sha}


def allowed_url(urls: Sequence[str], hosts: Sequence[str]) -> str:
    """Returns the first URL, where its host may be asked.

    Args:
        urls: where a preview may be, the best first.
        hosts: globs.

    Raises:
        UsageError: there is none, or it may not be asked.
    """
    if not hosts:
        hint = "set the variable GOLDEN_ALLOW_HOST to the hosts of your previews: my-app-*-my-team.vercel.app"
        raise UsageError("no host may be asked", hint=hint)
    for glob in hosts:
        below = glob.lower().partition(".")[2]
        for suffix in (*_SHARED, *([below] if f".{below}".endswith(_REGIONAL) else [])):
            if fnmatchcase(f"{_STRANGER}.{suffix}", glob.lower()):
                hint = f"say more: my-app-*-my-team.{suffix}"
                raise UsageError(f"GOLDEN_ALLOW_HOST: {glob} lets anybody's server be asked", hint=hint)
    if not urls:
        raise UsageError("the deployment has no URL")
    hit = _URL.fullmatch(urls[0])
    if hit is None:
        hint = "https, a host by name, its own port, and a path at most"
        raise UsageError(f"the deployment's URL cannot be asked: {excerpt(urls[0], 200)}", hint=hint)
    host = hit["host"].lower()
    if not any(fnmatchcase(host, glob.lower()) for glob in hosts):
        raise UsageError(f"the host {host} is not allowed", hint=f"GOLDEN_ALLOW_HOST allows {', '.join(hosts)}")
    return f"https://{host}{hit['path'].rstrip('/')}"


def _is_ready(event: Event) -> bool:
    if event.kind == "repository_dispatch":
        return event.action.rpartition(".")[2] in _READY
    return event.kind == "deployment_status" and event.state == "success"


def _environment(event: Event) -> str:
    """The name as `Preview – project`: so Vercel names the deployments of several projects itself."""
    return _plain(f"{event.environment} - {event.project}" if event.project else event.environment)


def _plain(name: str) -> str:
    return _DASHES.sub("-", name).casefold()


if __name__ == "__main__":
    lead(preview)
