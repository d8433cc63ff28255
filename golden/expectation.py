"""What a case may expect of tool calls (contract 3)."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from golden.part import Part, wrong, wrongs
from golden.patterns import compile_pattern
from golden.wildcards import WildcardError, json_of, value_of


def _params(written: dict[str, Any]) -> dict[str, Any]:
    try:
        value = value_of(written, compile_pattern)
    except WildcardError as error:
        raise wrongs((problem, "", path) for path, problem in error.faults) from None
    if not isinstance(value, dict):
        raise wrong("a wildcard stands for all arguments", "leave `params` out to ask for a call of the tool alone")
    return value


_Params = Annotated[
    dict[str, Any],
    AfterValidator(_params),
    PlainSerializer(json_of),
    WithJsonSchema({"type": "object"}),
]
_Tool = Annotated[str, Field(pattern=r"\S")]


class Alternative(Part):
    """What one call must be like.

    Attributes:
        tool: its name.
        params: what its arguments must have, as values (see `wildcards`); None asks only that they are whole JSON.
        strict: they have no other keys, at any depth; without `params`, none at all.
    """

    tool: _Tool = Field(description="The tool's name.")
    params: _Params | None = Field(default=None, description="What its arguments must have; more is allowed.")
    strict: bool = Field(default=False, description="Its arguments have no other keys, at any depth.")


class ToolExpectation(Part):
    """What is expected of the calls: one alternative, as `tool`, `params` and `strict`, or several, as `any_of`.

    `ToolExpectation(tool="exec_ui", params={"kind": "openFile", "id": EvalAny})`

    Attributes:
        min_count: how many calls are paired to it.
        max_count: the most calls that may match it, paired or not; None is no bound.
    """

    tool: _Tool | None = Field(default=None, description="The tool's name.")
    params: _Params | None = Field(default=None, description="What its arguments must have; more is allowed.")
    strict: bool = Field(default=False, description="Its arguments have no other keys, at any depth.")
    any_of: Annotated[list[Alternative], Field(min_length=1)] = Field(
        default=[], description="Instead of `tool`: a call is like one of these."
    )
    min_count: Annotated[int, Field(ge=0)] = Field(default=1, description="So many calls match.")
    max_count: Annotated[int, Field(ge=0)] | None = Field(default=None, description="No more calls match.")

    counts: ClassVar = ("min_count", "max_count")

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """What a call may be like."""
        if self.tool is None:
            return tuple(self.any_of)
        return (Alternative.model_construct(tool=self.tool, params=self.params, strict=self.strict),)

    @model_validator(mode="after")
    def _expects(self) -> Self:
        if self.tool is None and not self.any_of:
            raise wrong("it expects nothing", "give the `tool` that is to be called, or `any_of`")
        if self.any_of and (self.tool is not None or self.params is not None or self.strict):
            raise wrong("`any_of` stands beside `tool`, `params` or `strict`", "these belong into each of its items")
        if self.max_count is not None and self.min_count > self.max_count:
            raise wrong(f"`min_count` {self.min_count} is more than `max_count` {self.max_count}")
        return self


def _listed(value: object) -> object:
    return [value] if isinstance(value, dict | ToolExpectation) else value


def _uncounted(value: ToolExpectation) -> ToolExpectation:
    given = [name for name in ToolExpectation.counts if name in value.model_fields_set]
    if given:
        raise wrongs(
            (f"`{name}` has no place here: this is about one call", "`expect` takes it", (name,)) for name in given
        )
    return value


OneCall: TypeAlias = Annotated[ToolExpectation, AfterValidator(_uncounted)]
"""What is expected of one call."""

if TYPE_CHECKING:

    class Expectations:
        """To a type checker: written as one or a list of them, read as a list."""

        def __get__(self, part: object, owner: object) -> list[ToolExpectation]: ...

        def __set__(self, part: object, value: ToolExpectation | list[ToolExpectation]) -> None: ...

else:
    Expectations = Annotated[list[ToolExpectation], BeforeValidator(_listed)]
