"""What a run would send, shown without sending it: neither the agent nor a secret is needed."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from golden import loading, targets
from golden.dialects import headed, posting
from golden.headers import without_secrets
from golden.lexicon import Lexicon
from golden.payload import dump
from golden.plan import Job, Plan
from golden.redaction import Secrets
from golden.settings import Settings, chosen_target
from golden.targets import spoken
from golden.tries import request
from golden.visible import visible
from golden.wire import Post, address

_SESSION = "(a fresh session)"


def preview(jobs: Sequence[Job], options: Settings) -> Iterator[str]:
    """Yields what a run would send, in lines, secrets left out."""
    is_asked = any(job.skip is None for job in jobs)
    kind, where = chosen_target(options) if is_asked else ("", "")
    lexicon = Lexicon(options.dialects)
    dialect, said = lexicon.dialect(options.dialect), spoken(lexicon.options(options.dialect), options.path)
    post = posting(dialect, said)
    secrets = Secrets()

    def shown(sent: Post, of: str = "") -> Iterator[str]:
        secrets.add_query(sent.path)
        path = secrets.cover(sent.path).replace(quote(_SESSION, safe=""), _SESSION)
        yield f"  {sent.method} {address(where, path) if kind == 'base_url' else f'{path} of {where}'}{of}"
        for name, value in sent.headers.items():
            header = f"{name}: {value}"
            yield f"  {without_secrets(header) if name in {*map(str.lower, said.headers)} else header}"
        yield from (f"  {without_secrets(header)}" for header in options.header)
        yield f"  {dump(sent.body)}{' (as a form)' if sent.form else ''}"

    if kind == "base_url":
        loading.load(targets, "http", "HttpTarget")(where)  # refuses what a run would refuse
    for job in jobs:
        if job.skip is not None:
            yield f"{visible(job.case.id)}: skipped: {visible(job.skip)}"
            continue
        trials, tries = job.tries(Plan(retries=options.retries, trials=options.trials))
        often = f" ({trials} trials)" if trials > 1 else f" (up to {tries} tries)" if tries > 1 else ""
        yield f"{visible(job.case.id)}{often}: {visible(' / '.join(job.case.questions))}"
        if kind in ("agent", "replay"):
            yield f"  {'call' if kind == 'agent' else 'replay'} {where}"
            continue
        history = tuple((question, "(its answer)") for question in job.case.questions)
        turns = [
            request(job, Plan(model=options.model), question, _SESSION, history[:number])
            for number, (question, _) in enumerate(history)
        ]
        if opening := dialect.opens and dialect.opens(turns[0], said):
            yield from shown(headed(opening.post, said))
        for number, turn in enumerate(turns, start=1):
            yield from shown(post(turn), f" (turn {number} of {len(turns)})" if job.case.turns else "")
        if dialect.closes:
            yield from shown(headed(dialect.closes(turns[-1], said), said))
