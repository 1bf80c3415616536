"""The keys of the console, and what its words for states mean: the page Help."""

from collections.abc import Mapping, Sequence

Meanings = Sequence[tuple[str, str]]

KEYS: Meanings = (
    ("?", "these keys"),
    ("/", "find"),
    ("Ctrl K", "palette: go, do, find"),
    ("j k ↓ ↑", "next and previous row, also beside the open one"),
    ("x X", "select the row, the rows up to it"),
    ("Enter", "open the row"),
    ("Esc", "close"),
    ("s m n a", "Selected, Maybe, Not a Fit, Archived"),
    ("e", "edit"),
    ("u", "undo"),
    ("f", "filter"),
    ("d", "download"),
    ("r", "ask now"),
    ("p", "pause live numbers"),
)

# By the kind of state, which is the class of its colour: the words with their meaning.
GLOSSARY: Mapping[str, tuple[str, Meanings]] = {
    "status": (
        "Where a row is in a step",
        (
            ("New", "not queued: nobody selected it, or its work was withdrawn"),
            ("Queued", "waits for its turn, for the pace of its web site, or for a new attempt"),
            ("Processing", "a worker processes it now"),
            ("Completed", "the step is done"),
            ("Skipped", "the step does not apply; the reason stands beside it"),
            ("Error", "every attempt failed; it is among the dead letters and can be retried"),
        ),
    ),
    "curation": (
        "What a person has decided",
        (
            ("New", "nobody has decided yet"),
            ("Selected", "goes on: its next step is queued"),
            ("Maybe", "kept for later; queued work is withdrawn"),
            ("Not a Fit", "rejected: goes no further, and is in no file of leads"),
            ("Archived", "kept without further work: goes no further, and is in no file of leads"),
        ),
    ),
    "verdict": (
        "Whether mail would arrive",
        (
            ("deliverable", "its domain has a mail host, and nothing about the address is doubtful"),
            (
                "risky",
                "mail may not be read: a disposable mailbox, one that nobody reads, a likely typing error, or a domain "
                "without a mail host",
            ),
            ("undeliverable", "the domain has no mail host, or the address cannot exist"),
            ("unknown", "the name servers of its domain did not respond"),
        ),
    ),
}
