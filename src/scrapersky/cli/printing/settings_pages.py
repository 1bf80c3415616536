"""The two pages made from the settings: .env.example and docs/settings.md."""

from collections.abc import Iterable

from scrapersky.cli.printing.settings_catalog import Setting, grouped, shown

ENV_HEAD = """\
# Every setting of scrapersky with its default. Copy this file to .env and uncomment what you change;
# variables of the process win over .env. Written by `scrapersky settings --env-example`.
"""

MARKDOWN_HEAD = """\
# Settings

Every setting is an environment variable; a file `.env` in the working directory is read too, and the environment wins
over it. An empty value counts as not set. A wrong value, or a name that starts like one of ours and is none, stops the
start with a sentence that names it. `scrapersky settings` prints the value, default and source of each, secrets masked.

This page is written by `scrapersky settings --markdown > docs/settings.md`; a test keeps it current.
"""


def env_example(settings: Iterable[Setting]) -> str:
    """Every setting, commented out, with its default and its description above."""
    parts = [ENV_HEAD]
    for group, members in grouped(settings).items():
        lines = [f"# -- {group} ".ljust(100, "-")]
        for setting in members:
            lines += [f"# {setting.description}", f"#{setting.name}={shown(setting.default)}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def markdown(settings: Iterable[Setting]) -> str:
    """A table for each group."""
    parts = [MARKDOWN_HEAD]
    for group, members in grouped(settings).items():
        lines = [f"## {group}", "", "| setting | default | what it is |", "|---|---|---|"]
        for setting in members:
            default = f"`{shown(setting.default)}`" if shown(setting.default) else ""
            lines.append(f"| `{setting.name}` | {default} | {setting.description.replace('|', chr(92) + '|')} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
