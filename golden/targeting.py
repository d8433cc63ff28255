"""Settings → the target of a run."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from golden import loading, targets
from golden.errors import GoldenError
from golden.headers import AUTHORISING, filled, header_name, headers
from golden.lexicon import Lexicon
from golden.redaction import VARIABLES, Secrets
from golden.settings import Settings, chosen_target
from golden.targets import Factory, Spec, spoken
from golden.wire import Target

# The option that names a target → the file of its kind.
_KINDS = {"agent": "call", "asgi": "asgi", "base_url": "http", "replay": "replay"}


def known_secrets(secrets: Secrets | None = None) -> Secrets:
    """Adds the secrets that the environment holds for golden to these, or to none, and returns them."""
    secrets = Secrets() if secrets is None else secrets
    for name in VARIABLES:
        secrets.add(os.environ.get(name, "").strip())
    return secrets


@contextmanager
def covered(secrets: Secrets) -> Iterator[None]:
    """Covers secrets in the errors of its block: an agent that cannot start says what it likes."""
    try:
        yield
    except GoldenError as error:
        error.message = secrets.cover(error.message)
        error.hint = error.hint and secrets.cover(error.hint)
        raise


def target_of(options: Settings, lexicon: Lexicon, secrets: Secrets, *, alone: bool = False) -> Target:
    """Makes the target that the options name; an agent in this process is imported.

    Args:
        options: of the run.
        lexicon: the dialects that there are.
        secrets: takes what the target is given and must not be written.
        alone: whether there is no suite, and recordings are judged by themselves.

    Raises:
        UsageError: none is named, or it cannot be used.
    """
    kind, where = chosen_target(options)
    if options.folder is not None and options.folder not in sys.path:
        sys.path.append(options.folder)  # modules in a configuration are relative to it
    factory = cast("Factory", loading.load(targets, _KINDS[kind], "TARGET"))
    dialect = lexicon.dialect(options.dialect)
    said = spoken(lexicon.options(options.dialect), options.path)
    place = f"[tool.golden.dialects.{options.dialect}].headers"
    own = filled(said.headers.items(), os.environ, secrets, place)
    names = {*map(header_name, options.header), *dict(own)}
    return factory(
        Spec(
            where=where,
            dialect=dialect,
            options=replace(said, headers=dict(own)),
            headers=headers(options.header, os.environ, secrets),
            token=options.auth and dialect.mints and not names & AUTHORISING,
            allow_hosts=tuple(options.allow_host),
            environ=dict(os.environ),
            secrets=secrets,
            alone=alone,
        )
    )
