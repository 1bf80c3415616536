"""`scrapersky settings`: what every setting is, would be, and where it comes from."""

from typing import Annotated

import typer


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
    env_example: Annotated[
        bool, typer.Option("--env-example", help="Print .env.example: every setting with its default.")
    ] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/settings.md: every setting in tables.")
    ] = False,
) -> None:
    """Print every setting with its value, default and source; secrets are masked.

    Example: DEEP_SCAN_SCHEDULER_BATCH_SIZE=50 scrapersky settings

    Exit codes: 0 all is well, 2 wrong usage, or a setting that cannot work.
    """
    from scrapersky.cli.printing import settings_pages
    from scrapersky.cli.printing.settings_catalog import every_setting, grouped, shown
    from scrapersky.cli.shared.output import print_json, print_table
    from scrapersky.core.settings import Environment
    from scrapersky.pipeline import build_pipeline

    # The pages are about the defaults: whatever is set here does not matter to them.
    environment = Environment({}, None) if env_example or as_markdown else Environment()
    found = every_setting(environment, build_pipeline({}))
    if env_example:
        typer.echo(settings_pages.env_example(found), nl=False)
    elif as_markdown:
        typer.echo(settings_pages.markdown(found), nl=False)
    elif as_json:
        print_json([vars(setting) for setting in found])
    else:
        for group, members in grouped(found).items():
            print_table(
                ["setting", "value", "default", "source"],
                [(each.name, shown(each.value), shown(each.default), each.source) for each in members],
                title=group,
            )
