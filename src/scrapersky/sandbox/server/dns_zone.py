"""The mail records of the sandbox: most domains have a mail host, some refuse mail or have none, some do not answer."""

from enum import StrEnum

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

from scrapersky.core.vocabularies import Verdict
from scrapersky.sandbox.world.business import FREE_MAIL
from scrapersky.sandbox.world.stratified_draw import build_pool, draw
from scrapersky.sandbox.world.unlisted import DIRECTORY_HOST
from scrapersky.sandbox.world.world import World

TTL = 300
SLOW_SECONDS = 0.3
ADDRESS = "127.0.0.1"
PUBLIC_ADDRESS = "9.9.9.9"  # nobody connects to it


class MailSetup(StrEnum):
    """The mail records of a domain, or how its name server fails."""

    HOSTS = "hosts"
    SLOW = "slow"  # the response is late
    ADDRESS = "address"  # no MX, but an address
    NULL_MX = "null_mx"
    SPF_NONE = "spf_none"  # no MX, and no host may send mail
    NOWHERE = "nowhere"  # the name exists without records
    ABSENT = "absent"  # NXDOMAIN
    BROKEN = "broken"  # SERVFAIL


DECK = build_pool(
    {
        MailSetup.HOSTS: 83,
        MailSetup.SLOW: 3,
        MailSetup.ADDRESS: 4,
        MailSetup.NULL_MX: 3,
        MailSetup.SPF_NONE: 2,
        MailSetup.NOWHERE: 2,
        MailSetup.ABSENT: 2,
        MailSetup.BROKEN: 1,
    }
)
# What is true of an address whose domain stands so.
VERDICTS = {
    MailSetup.HOSTS: Verdict.DELIVERABLE,
    MailSetup.SLOW: Verdict.DELIVERABLE,
    MailSetup.ADDRESS: Verdict.RISKY,
    MailSetup.NULL_MX: Verdict.UNDELIVERABLE,
    MailSetup.SPF_NONE: Verdict.UNDELIVERABLE,
    MailSetup.NOWHERE: Verdict.UNDELIVERABLE,
    MailSetup.ABSENT: Verdict.UNDELIVERABLE,
    MailSetup.BROKEN: Verdict.UNKNOWN,
}
RECORDS: dict[MailSetup, dict[str, tuple[str, ...]]] = {
    MailSetup.HOSTS: {"MX": ("10 mail.{0}.", "20 mail2.{0}."), "A": (ADDRESS,), "TXT": ('"v=spf1 mx -all"',)},
    MailSetup.SLOW: {"MX": ("10 mail.{0}.",), "A": (ADDRESS,)},
    MailSetup.ADDRESS: {"A": (PUBLIC_ADDRESS,), "TXT": ('"a text about something else"',)},
    MailSetup.NULL_MX: {"MX": ("0 .",), "A": (ADDRESS,)},
    MailSetup.SPF_NONE: {"A": (ADDRESS,), "TXT": ('"v=spf1 -all"',)},
    MailSetup.NOWHERE: {},
}


def mail_setup_of(world: World, domain: str) -> MailSetup:
    """Return how a domain receives mail; unknown domains do not exist."""
    if domain in FREE_MAIL:
        return MailSetup.HOSTS
    if domain == DIRECTORY_HOST or world.lure_at(domain) is not None:
        return MailSetup.HOSTS
    owner = world.at(domain)
    return draw(world.seed, "post", DECK, owner.number) if owner is not None else MailSetup.ABSENT


def verdict_of(world: World, email: str) -> Verdict:
    """Return the true verdict of an address."""
    return VERDICTS[mail_setup_of(world, email.rpartition("@")[2])]


def answer(world: World, query: dns.message.Message) -> tuple[dns.message.Message, float]:
    """Return the answer to a query and its delay."""
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.RA
    question = query.question[0]
    domain = question.name.to_text(omit_final_dot=True).lower()
    post = mail_setup_of(world, domain)
    if post is MailSetup.BROKEN:
        reply.set_rcode(dns.rcode.SERVFAIL)
    elif post is MailSetup.ABSENT:
        reply.set_rcode(dns.rcode.NXDOMAIN)
    else:
        kind = dns.rdatatype.to_text(question.rdtype)
        records = [record.format(domain) for record in RECORDS[post].get(kind, ())]
        if records:
            reply.answer.append(dns.rrset.from_text_list(question.name, TTL, "IN", kind, records))
    return reply, SLOW_SECONDS if post is MailSetup.SLOW else 0.0
