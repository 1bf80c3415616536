"""What to do after a demo: commands that can be pasted, and work although the demo has ended."""

import typer

from scrapersky.cli.shared.output import program_name

# The purpose, and the command with the name of the program left open.
AFTER_PIPELINE = (
    ("Keep the file of the demo:", "{program} demo --out demo-leads.csv"),
    (
        "Look at the demo in the console, at http://127.0.0.1:8000/console, and through its API, until Ctrl-C:",
        "{program} demo --serve",
    ),
    ("Search the real web, with OpenStreetMap:", '{program} find "dentists in Helsinki" --out leads.csv'),
    (
        "Start with web sites that you already have, one per line:",
        "echo python.org > sites.txt && {program} find --domains sites.txt --out leads.xlsx",
    ),
    ("Serve the console and the API and run the engine, until Ctrl-C:", "{program} serve"),
    ("See what is queued and what was done:", "{program} status"),
)
AFTER_ENGINE = (
    (
        "Run the same engine on your own database (without DATABASE_URL: an embedded one), until Ctrl-C:",
        "{program} worker",
    ),
    ("See queues, failures, breakers and workers:", "{program} status"),
    ("See all settings and their values:", "{program} settings"),
)


def print_next_steps(steps: tuple[tuple[str, str], ...]) -> None:
    """Print each purpose and, below it, its command alone: some shells do not know comments behind a command."""
    typer.echo("\nNext steps. Each command can be pasted:")
    for purpose, command in steps:
        typer.echo(f"\n{purpose}\n  {command.format(program=program_name())}")
