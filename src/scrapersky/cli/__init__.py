"""The command line: one module per command, imported when the command is used.

A command module imports what is slow to import inside its functions, so that `--help` is quick.
"""

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import scrapersky as package
from scrapersky.cli.shared.help_values import use_plain_values
from scrapersky.core.errors import OutputClosed, ScraperSkyError
from scrapersky.core.stop_signals import leave_closed_terminal, stop_signals

# A command has the name of its module and of the function in it, with hyphens. The text is the first line of its
# docstring.
COMMANDS = {
    "find": "Find contacts: process one search from the provider to the verified addresses, and write the file.",
    "demo": "Try it out: run a search in a sandbox of invented businesses and compare the result with the truth.",
    "serve": "Serve the console and the API and process the queues until stopped.",
    "worker": "Process the queues until stopped.",
    "status": "Show the queue, rate, failures and state of every workflow, and the workers.",
    "run": "Run one cycle of a workflow in this process and print the outcomes of its rows.",
    "queue": "Queue rows of a workflow; workers process them at once.",
    "dead-letters": "List, show, retry and drop dead letters: rows that failed for good.",
    "retry": "Retry dead rows, with their attempts reset.",
    "pause": "Pause a workflow on every host; running work is finished, the queue is kept.",
    "resume": "Resume a paused workflow and close its breaker.",
    "search": "List searches, show the progress and the results of one, compare its runs, cancel or rename it.",
    "campaign": "List, show, stop, continue and rename campaigns: many searches with one budget and one file.",
    "schedule": "List, show, add, pause, resume and remove schedules: searches that are made again and again.",
    "business": "Show the records of a business at its providers, join two businesses, or split a record off.",
    "website": "Set the web site of a business by hand, or reject the one it has; both decisions last.",
    "user": "Create, list, change and disable users, and create API keys.",
    "tenant": "Create, list, change and disable tenants, and set their quotas.",
    "audit": "Show the audit log, the latest entries first.",
    "retention": "Show or set how long contacts, audit entries, jobs and runs are kept, for all hosts.",
    "migrate": "Migrate the database schema and print the applied migrations.",
    "backup": "Write a backup of the whole database to a file, while workers run.",
    "restore": "Restore a backup into an empty database, in one transaction.",
    "psql": "Open the database with psql, as the owner of its tables.",
    "settings": "Print every setting with its value, default and source; secrets are masked.",
    "scan": "Queue the sitemap analysis of a web site; workers process it at once.",
    "import": "Import places, domains, sitemaps, pages, contacts or suppressions from a file; idempotent.",
    "export": "Export places, businesses, domains, sitemaps, pages, contacts, or the leads of a search, to a file.",
    "destination": "Add, list, test and remove the webhooks and CRMs that contacts are delivered to.",
    "deliver": "Queue contacts for a destination; workers deliver them at once and retry failures.",
    "erase": "Erase a person permanently: contacts, deliveries and mentions; only hashes are kept.",
    "fetch": "Fetch one page as the crawler does.",
    "extract": "Print the emails, phones, social profiles, people and addresses of a page.",
    "bench": "Run the benchmarks of a source checkout against comparable projects.",
    "sitemap": "Print the URLs of a sitemap file, of a sitemap on the web, or of all sitemaps of a site.",
}


EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE  # as if the signal had ended the process


class LazyGroup(TyperGroup):
    """Lists all commands without importing them, and imports the one that is invoked."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.commands = {name: TyperCommand(name, help=line) for name, line in COMMANDS.items()}

    def invoke(self, context: Any) -> Any:
        """Run the command; end quietly if the reader of standard output has ended, as `head` does."""
        try:
            return super().invoke(context)
        except (BrokenPipeError, OutputClosed):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())  # Python flushes standard output once more when it ends
            raise SystemExit(EXIT_BROKEN_PIPE) from None

    def resolve_command(self, context: Any, arguments: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the module of the invoked command."""
        name, _, rest = super().resolve_command(context, arguments)
        return name, load_command(name) if name else None, rest


def load_command(name: str) -> Any:
    """Import a command."""
    function = name.replace("-", "_")
    module = import_module(f"scrapersky.cli.{function}")
    if hasattr(module, "group"):  # a command with subcommands
        return typer.main.get_command(module.group)
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    app.command(name)(getattr(module, function))
    return typer.main.get_command(app)


use_plain_values()
app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def scrapersky(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Turn a search into people you can write to."""
    if version:
        typer.echo(package.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


def main() -> None:
    """Run the `scrapersky` command with the arguments of the process."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores SIGINT for background jobs of a script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # They are handled like Ctrl-C, so that a command cleans up; serve, worker and find install their own handlers.
    for number in set(stop_signals()) - {signal.SIGINT}:
        signal.signal(number, _interrupt)
    run_cli(sys.argv[1:])


def _interrupt(number: int, _frame: object) -> None:
    if number == signal.SIGHUP:  # a terminal that is closed sends several: the command has cleaned up when it ends
        signal.signal(number, signal.SIG_IGN)
        leave_closed_terminal()
    signal.raise_signal(signal.SIGINT)


def run_cli(arguments: Sequence[str]) -> None:
    """Run a command. A known error is printed as one sentence, without a traceback, and exits with 2."""
    try:
        app(list(arguments), prog_name="scrapersky")
    except ScraperSkyError as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        raise SystemExit(2) from None
