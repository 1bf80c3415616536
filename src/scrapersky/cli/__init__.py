"""The command line: one file per word, read when the word is used."""

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from scrapersky import __version__
from scrapersky.core.errors import ScraperSkyError

# A word is the module and the function in it; the line is the first one of its docstring.
WORDS = {
    "find": "Find people one can write to: run the whole line for one search and write the file.",
    "demo": "See it work: a search goes in, a file of people comes out, on a little internet with known truth.",
    "serve": "Serve the API and work on the queues until told to stop.",
    "worker": "Work on the queues until told to stop.",
    "status": "Show how every workflow stands: its queue, its pace, its failures, and who is working.",
    "run": "Run one cycle of a workflow in this process: drain its queue and say what became of the rows.",
    "queue": "Queue rows of a workflow; workers start on them at once.",
    "retry": "Try dead rows again: their attempts start from nothing.",
    "pause": "Pause a workflow on every host; rows in hand are finished, the queue is kept.",
    "resume": "Let a paused workflow go on; an open breaker is closed as well.",
    "user": "Make users, give them roles, passwords and keys, and let them go.",
    "tenant": "Make tenants, set what they may use, and let them go.",
    "audit": "Show who changed what, when and from where, the latest first.",
    "migrate": "Bring the database up to date and say which migrations were applied.",
    "settings": "Print every setting with its value, default and source; secrets are masked.",
    "scan": "Queue a web site for its sitemap analysis; workers start on it at once.",
    "import": "Import places, domains, sitemaps, pages, contacts or suppressions from a file; twice is like once.",
    "export": "Export places, businesses, domains, sitemaps, pages, contacts, or the leads of a search, into a file.",
    "destination": "Add, list, test and remove the web hooks and CRMs that contacts are delivered to.",
    "deliver": "Queue contacts for a destination; workers hand them over at once, with as many tries as that takes.",
    "erase": "Forget a person: contacts, deliveries and every mention, for good; only hashes are left.",
    "fetch": "Fetch one page the way the crawler does.",
    "extract": "Print the emails, phones, socials, people and addresses of a page.",
    "bench": "Run the benchmarks of a checkout, side by side with their peers.",
    "sitemap": "Print the URLs of a sitemap file, of a sitemap on the web, or of all sitemaps of a site.",
}


class Words(TyperGroup):
    """Lists every word without importing its module, which is what makes `--help` quick."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.commands = {word: TyperCommand(word, help=line) for word, line in WORDS.items()}

    def resolve_command(self, context: Any, arguments: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that was asked for, now with its module."""
        word, _, rest = super().resolve_command(context, arguments)
        return word, command_of(word) if word else None, rest


def command_of(word: str) -> Any:
    """The command behind a word."""
    module = import_module(f"scrapersky.cli.{word}")
    if hasattr(module, "group"):  # a word with words of its own
        return typer.main.get_command(module.group)
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    alone.command(word)(getattr(module, word))
    return typer.main.get_command(alone)


app = typer.Typer(cls=Words, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def scrapersky(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Turn a search into people you can write to."""
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


def main() -> None:
    """The `scrapersky` command."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a script: we still must stop
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Being told to stop is like Ctrl-C: what was begun is put away. Commands that serve have their own manners.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    obey(sys.argv[1:])


def obey(arguments: Sequence[str]) -> None:
    """Do what the words say: a known error is a sentence and exit code 2, never a traceback."""
    try:
        app(list(arguments))
    except ScraperSkyError as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        raise SystemExit(2) from None
