"""The words of a business's name, and the domains that a business of this name may have."""

import re

from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.emails.deliverability import inspect_address
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import word_set

MAX_NAME = 200
MIN_LABEL, MAX_LABEL = 3, 63
MIN_PART = 4  # letters of a single word of the name
LEGAL_FORMS = word_set(
    "oy oyj ab ky tmi ry gmbh mbh ag kg ohg gbr ug ev ltd limited plc llp llc inc corp sarl sas sasu eurl sa srl spa "
    "snc sl slu lda bv nv vof aps as ans sro kft bt zrt sp zoo doo eood ood"
)
WORD = re.compile(r"[a-z0-9]{1,60}")
APOSTROPHES = str.maketrans("", "", "'’‘´`")
# Where companies register under a second level, or only under .com.
ENDINGS = {"gb": "co.uk", "us": "com", "au": "com.au", "nz": "co.nz", "br": "com.br", "za": "co.za", "tr": "com.tr"}
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
WITH_UMLAUTS = ("DE", "AT", "CH", "LI")


def name_words(name: str, city: str | None = None) -> list[str]:
    """Return the words of a name, folded, without legal form and town; with them if nothing else is left."""
    words, town = _words(name), set(_words(city or ""))
    return [word for word in words if word not in LEGAL_FORMS and word not in town] or words


def candidate_domains(name: str, city: str | None, country: str | None, limit: int) -> list[str]:
    """Return up to `limit` domains, the likeliest first.

    Of 798 places with a web site in an extract of a capital, 54 % have one of these.
    """
    code = (country or "").lower()
    own = ENDINGS.get(code, code) or "com"
    spellings = [name]
    if country in WITH_UMLAUTS and (written_out := name.lower().translate(UMLAUTS)) != name.lower():
        spellings.insert(0, written_out)
    pairs = [pair for spelling in spellings for pair in enumerate(_labels(spelling, city, own))]
    ordered = [domain for _, domain in sorted(pairs, key=lambda pair: pair[0])]  # the spellings in turn
    fitting = (domain for domain in ordered if MIN_LABEL <= len(domain.partition(".")[0]) <= MAX_LABEL)
    return list(dict.fromkeys(fitting))[:limit]


def _labels(name: str, city: str | None, ending: str) -> list[str]:
    words = [word for word in _words(name) if word not in LEGAL_FORMS]
    short, town = name_words(name, city), "".join(_words(city or ""))
    whole, brief = "".join(words), "".join(short)
    parts = [word for word in (short[0], short[-1]) if len(word) >= MIN_PART] if short else []
    domains = [f"{label}.{end}" for label in (whole, brief) for end in (ending, "com")]
    return domains + [f"{label}.{ending}" for label in (*parts, "-".join(short), brief + town)]


def _words(text: str) -> list[str]:
    return WORD.findall(fold(text[:MAX_NAME].translate(APOSTROPHES)))


def domain_of_email(address: str) -> str | None:
    """Return the domain of an address that one business can own: none of a mail service, a platform or a file host."""
    inspected = inspect_address(address)
    if inspected.wrong or inspected.free_mail or inspected.disposable:
        return None
    try:
        found = parse_website(inspected.domain)
    except InvalidWebsite:
        return None
    return found.name if isinstance(found, CompanyDomain) else None
