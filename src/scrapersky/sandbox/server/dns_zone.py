"""Who takes mail in the sandbox: most hosts have a mail host, some refuse, some have none, some cannot be asked."""

from enum import StrEnum

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

from scrapersky.core.vocabularies import Verdict
from scrapersky.sandbox.world.business import FREE_MAIL
from scrapersky.sandbox.world.stratified_draw import deck, draw
from scrapersky.sandbox.world.world import World

TTL = 300
SLOW_SECONDS = 0.3
ADDRESS = "127.0.0.1"
PUBLIC_ADDRESS = "9.9.9.9"  # nobody connects to it


class Post(StrEnum):
    """How a domain stands to mail."""

    HOSTS = "hosts"
    SLOW = "slow"  # the answer takes its time
    ADDRESS = "address"  # no MX, but an address
    NULL_MX = "null_mx"
    SPF_NONE = "spf_none"  # no MX, and nobody may send
    NOWHERE = "nowhere"  # the name is there, with nothing on it
    ABSENT = "absent"  # NXDOMAIN
    BROKEN = "broken"  # SERVFAIL


DECK = deck(
    {
        Post.HOSTS: 83,
        Post.SLOW: 3,
        Post.ADDRESS: 4,
        Post.NULL_MX: 3,
        Post.SPF_NONE: 2,
        Post.NOWHERE: 2,
        Post.ABSENT: 2,
        Post.BROKEN: 1,
    }
)
# What is true of an address whose domain stands so.
VERDICTS = {
    Post.HOSTS: Verdict.DELIVERABLE,
    Post.SLOW: Verdict.DELIVERABLE,
    Post.ADDRESS: Verdict.RISKY,
    Post.NULL_MX: Verdict.UNDELIVERABLE,
    Post.SPF_NONE: Verdict.UNDELIVERABLE,
    Post.NOWHERE: Verdict.UNDELIVERABLE,
    Post.ABSENT: Verdict.UNDELIVERABLE,
    Post.BROKEN: Verdict.UNKNOWN,
}
RECORDS: dict[Post, dict[str, tuple[str, ...]]] = {
    Post.HOSTS: {"MX": ("10 mail.{0}.", "20 mail2.{0}."), "A": (ADDRESS,), "TXT": ('"v=spf1 mx -all"',)},
    Post.SLOW: {"MX": ("10 mail.{0}.",), "A": (ADDRESS,)},
    Post.ADDRESS: {"A": (PUBLIC_ADDRESS,), "TXT": ('"a text about something else"',)},
    Post.NULL_MX: {"MX": ("0 .",), "A": (ADDRESS,)},
    Post.SPF_NONE: {"A": (ADDRESS,), "TXT": ('"v=spf1 -all"',)},
    Post.NOWHERE: {},
}


def post_of(world: World, domain: str) -> Post:
    """How a domain stands to mail; one that is in no world does not exist."""
    if domain in FREE_MAIL:
        return Post.HOSTS
    owner = world.at(domain)
    return draw(world.seed, "post", DECK, owner.number) if owner is not None else Post.ABSENT


def verdict_of(world: World, email: str) -> Verdict:
    """What is true of an address."""
    return VERDICTS[post_of(world, email.rpartition("@")[2])]


def answer(world: World, query: dns.message.Message) -> tuple[dns.message.Message, float]:
    """The answer to a question, and how long it takes."""
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.RA
    question = query.question[0]
    domain = question.name.to_text(omit_final_dot=True).lower()
    post = post_of(world, domain)
    if post is Post.BROKEN:
        reply.set_rcode(dns.rcode.SERVFAIL)
    elif post is Post.ABSENT:
        reply.set_rcode(dns.rcode.NXDOMAIN)
    else:
        kind = dns.rdatatype.to_text(question.rdtype)
        records = [record.format(domain) for record in RECORDS[post].get(kind, ())]
        if records:
            reply.answer.append(dns.rrset.from_text_list(question.name, TTL, "IN", kind, records))
    return reply, SLOW_SECONDS if post is Post.SLOW else 0.0
