"""What a run would send, shown without sending it: neither the agent nor a secret is needed."""

from collections.abc import Iterator, Sequence

from golden import loading, targets
from golden.dialects import posting
from golden.headers import without_secrets
from golden.lexicon import Lexicon
from golden.payload import dump
from golden.plan import Job, Plan
from golden.redaction import Secrets
from golden.settings import Settings, chosen_target
from golden.targets import spoken
from golden.tries import request
from golden.visible import visible
from golden.wire import address


def preview(jobs: Sequence[Job], options: Settings) -> Iterator[str]:
    """Yields what a run would send, in lines, secrets left out."""
    is_asked = any(job.skip is None for job in jobs)
    kind, where = chosen_target(options) if is_asked else ("", "")
    lexicon = Lexicon(options.dialects)
    post = posting(lexicon.dialect(options.dialect), spoken(lexicon.options(options.dialect), options.path))
    if kind == "base_url":
        loading.load(targets, "http", "HttpTarget")(where)  # refuses what a run would refuse
    secrets = Secrets()
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
        for number, asked in enumerate(job.case.questions, start=1):
            # Later turns are sent with the answers before them, where the dialect has history resent.
            sent = post(request(job, Plan(model=options.model), asked, "(a fresh session)", ()))
            of = f" (turn {number} of {len(job.case.questions)})" if job.case.turns else ""
            secrets.add_query(sent.path)
            place = secrets.cover(sent.path)
            yield f"  POST {address(where, place) if kind == 'base_url' else f'{place} of {where}'}{of}"
            yield from (f"  {without_secrets(header)}" for header in options.header)
            yield f"  {dump(sent.body)}"
