"""Where answers come from: one file a kind of target, its one constant `TARGET`, which makes one from a `Spec`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from golden.redaction import Secrets
from golden.wire import Target


@dataclass(frozen=True, slots=True)
class Spec:
    """What a run says of its target.

    Attributes:
        where: MODULE:NAME, a base URL, or a path.
        dialect: a dialect's name, or `auto`.
        path: where questions are posted, None for the dialect's.
        headers: sent with each question; their values may be secrets.
        token: whether a JWT is minted for the questions.
        allow_hosts: where not empty, globs of which the host must match one.
        environ: the environment secrets are read from.
        secrets: takes each secret that must not be written.
        alone: whether there is no suite, and recordings are judged by themselves.
    """

    where: str
    dialect: str = "auto"
    path: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    token: bool = True
    allow_hosts: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    secrets: Secrets = field(default_factory=Secrets)
    alone: bool = False


Factory = Callable[[Spec], Target]
