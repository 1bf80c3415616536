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
    (
        "g l",
        "go to Line; s p b d m g c n o: Searches, Places, Businesses, Domains, Sitemaps, Pages, Contacts, new one, Map",
    ),
)

# By the kind of state, which is the class of its colour: the words with their meaning.
GLOSSARY: Mapping[str, tuple[str, Meanings]] = {
    "status": (
        "Where a row is in a step",
        (
            ("New", "not queued: nobody selected it, or its work was withdrawn"),
            ("Queued", "waits for its turn, for the pace of its web site, or for a new attempt"),
            ("Processing", "a worker has it in hand"),
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
            ("Not a Fit", "turned down: goes no further, and is in no file of leads"),
            ("Archived", "put away: goes no further, and is in no file of leads"),
        ),
    ),
    "verdict": (
        "Whether mail would arrive",
        (
            ("deliverable", "the mail host answers and accepts mail"),
            ("risky", "a shared, disposable or free mailbox, or a host that accepts everything"),
            ("undeliverable", "the domain has no mail host, or the address cannot exist"),
            ("unknown", "the mail host could not be asked"),
        ),
    ),
}
