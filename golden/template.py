"""What is posted, as a configuration writes it: JSON with `$names` for what each question has of its own."""

import re
from collections.abc import Mapping

from golden.fields import messages
from golden.wire import Request

_PLACE = re.compile(r"\$(question|session_id|history|messages|model|system_prompt|id)\b")


def given(request: Request, id: str | None) -> dict[str, object]:
    """Returns what may stand in a template, by name: None for what a question does not have.

    Args:
        request: the question.
        id: of the assistant, app or agent that is asked, None for `agent`.
    """
    told = messages(request)
    return {
        "question": request.question,
        "session_id": request.session_id,
        "history": [each for each in told if each["role"] != "system"][:-1],
        "messages": told,
        "model": request.model,
        "system_prompt": request.system_prompt,
        "id": id or "agent",
    }


def filled(template: object, given: Mapping[str, object]) -> object:
    """Returns a template with its `$names` filled in; what is not given (no model, say) is left out of objects."""
    if isinstance(template, dict):
        each = {key: filled(item, given) for key, item in template.items()}
        return {key: item for key, item in each.items() if item is not None or template[key] is None}
    if isinstance(template, list):
        return [filled(item, given) for item in template]
    if not isinstance(template, str):
        return template
    if alone := _PLACE.fullmatch(template):
        return given[alone[1]]
    return _PLACE.sub(lambda hit: str(given[hit[1]] or ""), template)
