"""What `--help` prints for the value of an option: a word for people instead of a Python type."""

from typing import Any

from typer.core import TyperArgument, TyperOption


def use_plain_values() -> None:
    """Let every option and argument name its value by a word; Typer offers no setting for it."""
    TyperOption.display_type_rich = _value_of_option  # type: ignore[method-assign, assignment]
    TyperArgument.display_type_rich = _value_of_argument  # type: ignore[method-assign, assignment]


def _value_of_option(option: TyperOption, ctx: Any) -> str:
    """Return the word of an option: nothing for a flag, which takes no value."""
    if option.metavar is not None:
        return option.metavar
    kind = option.type_descriptor
    if option.is_flag:
        return ""
    if kind.is_choice:
        return _choices(option)
    if kind.is_path:
        return "FILE"
    if option.bare_type() in ("int", "float") or kind.is_ranged:
        return "NUMBER"
    return "TEXT"


def _value_of_argument(argument: TyperArgument, ctx: Any) -> str:
    """Return the choices, if there are any: the name of an argument is shown beside it."""
    return _choices(argument) if argument.type_descriptor.is_choice else ""


def _choices(parameter: TyperOption | TyperArgument) -> str:
    """Return the words to choose from, with blanks, where a line may end."""
    return " | ".join(str(getattr(each, "value", each)) for each in parameter.type_descriptor.choices or ())
