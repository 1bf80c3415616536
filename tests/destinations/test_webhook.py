"""Signed webhooks: the vectors of the standard, rotation, replays, and every behaviour of a receiver."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scrapersky.destinations import webhook_signature
from scrapersky.destinations.errors import DestinationClosed, Throttled, TryLater
from scrapersky.destinations.http_sender import UNREACHABLE
from scrapersky.destinations.webhook import Webhook, message_body
from scrapersky.destinations.webhook_signature import BadSigningSecret
from scrapersky.sandbox.crm.webhook import Forged, verified
from scrapersky.sandbox.server.response import Request
from tests.destinations.conftest import endpoint, message, sender_of

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VECTORS = [  # of the standard's own libraries
    (
        SECRET,
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
]


@pytest.mark.parametrize(("secret", "message_id", "moment", "body", "expected"), VECTORS)
def test_signatures_are_those_of_the_standard(secret, message_id, moment, body, expected):
    signed = webhook_signature.headers(message_id, moment, body, [secret])
    assert signed == {
        "webhook-id": message_id,
        "webhook-timestamp": str(moment),
        "webhook-signature": f"v1,{expected}",
    }


def test_two_secrets_make_two_signatures():
    other = webhook_signature.new_secret()
    signed = webhook_signature.headers("m", 1, b"{}", [SECRET, other])["webhook-signature"].split(" ")
    alone = [webhook_signature.headers("m", 1, b"{}", [each])["webhook-signature"] for each in (SECRET, other)]
    assert signed == alone
    key = base64.b64decode(other.removeprefix("whsec_"))
    assert signed[1] == "v1," + base64.b64encode(hmac.new(key, b"m.1.{}", hashlib.sha256).digest()).decode()


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_short", "whsec_" + "A" * 200, "whsec_ÄÖ", "no base64!"])
def test_a_secret_of_the_wrong_form_is_refused(secret):
    with pytest.raises(BadSigningSecret, match="24 to 64"):
        webhook_signature.key_of(secret)


async def test_a_contact_arrives_as_one_signed_message(sandbox, http):
    receiver = sandbox.hooks.add("/leads", SECRET)
    sent = message(name="Anna Molar", business="Molar Oy", profiles={"linkedin": "https://linkedin.com/in/anna"})
    await Webhook(http, endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET)).deliver(sent)
    [(message_id, said)] = receiver.effects.items()
    assert message_id == sent.message_id
    assert said["type"] == "contact.delivered"
    assert datetime.fromisoformat(said["timestamp"]).tzinfo == UTC
    assert said["data"] == {
        "contact_id": str(sent.payload.contact_id),
        "email": "anna@molar.fi",
        "name": "Anna Molar",
        "business": "Molar Oy",
        "profiles": {"linkedin": "https://linkedin.com/in/anna"},
    }
    assert "." not in message_id  # the dot separates the signed parts


async def test_a_receiver_can_change_from_the_former_secret_to_the_new_one(sandbox, http):
    new = webhook_signature.new_secret()
    both = Webhook(http, endpoint("webhook", f"{sandbox.hooks_url}/leads", new, SECRET))
    for secret in (SECRET, new):
        receiver = sandbox.hooks.add("/leads", secret)
        await both.deliver(message())
        assert len(receiver.effects) == 1
    sandbox.hooks.add("/leads", webhook_signature.new_secret())
    with pytest.raises(TryLater, match="401"):
        await both.deliver(message())


async def test_the_same_message_sent_twenty_times_at_once_has_one_effect(sandbox, http):
    receiver = sandbox.hooks.add("/leads", SECRET)
    hook, sent = Webhook(http, endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET)), message()
    await asyncio.gather(*(hook.deliver(sent) for _ in range(20)))
    assert (len(receiver.seen), len(receiver.effects)) == (20, 1)


def test_the_message_id_changes_only_when_the_contact_changed():
    first = message(name="Anna")
    again = replace(first)
    assert again.message_id == first.message_id
    assert replace(first, payload=replace(first.payload, values={"name": "Anna M"})).message_id != first.message_id
    # A changes to B and back to A: the third message is no repetition of the first.
    assert replace(first, last_accepted_at=datetime(2026, 1, 1, tzinfo=UTC)).message_id != first.message_id


@pytest.mark.parametrize(
    ("behaviour", "error", "after", "words"),
    [
        ("gone", DestinationClosed, None, "status 410"),
        ("broken", TryLater, None, "status 500"),
        ("busy", Throttled, timedelta(seconds=7), "status 429"),
        ("away", TryLater, timedelta(hours=6), "status 503"),
        ("moved", TryLater, None, "302"),
        ("refusing", TryLater, None, "status 400"),
        ("hang_up", TryLater, None, UNREACHABLE),
        ("hang", TryLater, None, UNREACHABLE),
    ],
)
async def test_each_response_of_a_receiver_has_its_consequence(sandbox, client, behaviour, error, after, words):
    receiver = sandbox.hooks.add("/leads", SECRET)
    receiver.behave(behaviour)
    seconds = 0.5 if behaviour == "hang" else 60
    hook = Webhook(sender_of(client, seconds), endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET))
    with pytest.raises(error, match=words) as caught:
        await hook.deliver(message())
    assert type(caught.value) is error
    assert getattr(caught.value, "after", None) == after
    assert receiver.effects == {}


async def test_an_endless_response_body_is_not_read(sandbox, client):
    receiver = sandbox.hooks.add("/leads", SECRET)
    receiver.behave("endless")
    await Webhook(sender_of(client, 10), endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET)).deliver(message())
    assert len(receiver.effects) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://10.0.0.1/hook",
        "http://nobody.invalid:25/",
        "ftp://hooks.example/",
        "http://user:password@hooks.example/leads",
    ],
)
async def test_every_network_error_has_the_same_message(http, url):
    with pytest.raises(TryLater) as caught:
        await Webhook(http, endpoint("webhook", url, SECRET)).deliver(message())
    assert str(caught.value) == UNREACHABLE
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None  # no exception that knows the URL or a key is attached


async def test_a_redirect_is_not_followed_and_the_body_is_not_shown(sandbox, http):
    receiver = sandbox.hooks.add("/leads", SECRET)
    receiver.behave("moved", "broken")
    hook = Webhook(http, endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET))
    for _ in range(2):
        with pytest.raises(TryLater) as caught:
            await hook.deliver(message())
        assert "secret of the receiver" not in str(caught.value)
        assert "127.0.0.1" not in str(caught.value)
    assert sandbox.traffic["127.0.0.1"].requests == 0


async def test_a_test_sends_a_test_event(sandbox, http):
    receiver = sandbox.hooks.add("/leads", SECRET)
    result = await Webhook(http, endpoint("webhook", f"{sandbox.hooks_url}/leads", SECRET)).test()
    assert result == "The destination responded with status 204."
    [event] = receiver.effects.values()
    assert (event["type"], event["data"]) == ("destination.test", {})


def test_a_message_is_shortened_and_keeps_its_email_address():
    body = message_body(
        "contact.delivered", {"email": "a@b.fi", "contact_id": "1", "address": "x" * 30_000, "name": "Anna"}
    )
    assert len(body) < 20_000
    assert json.loads(body)["data"] == {"email": "a@b.fi", "contact_id": "1", "name": "Anna"}


async def test_no_secret_is_shown_or_logged(sandbox, http, caplog):
    where = endpoint("webhook", f"{sandbox.hooks_url}/nowhere", SECRET)
    with caplog.at_level(logging.DEBUG), pytest.raises(TryLater) as caught:
        await Webhook(http, where).deliver(message())
    for shown in (repr(where), str(caught.value), repr(caught.value), caplog.text):
        assert SECRET not in shown
        assert SECRET.removeprefix("whsec_") not in shown


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-timestamp": str(int(time.time()) - 3600)},
        {"webhook-timestamp": "now"},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-id": "another"},
        {"webhook-signature": ""},
    ],
)
def test_the_receiver_of_the_sandbox_refuses_what_is_forged_or_replayed(change):
    headers = webhook_signature.headers("id", int(time.time()), b"{}", [SECRET])
    good = Request("POST", "hooks.example", "/", "", headers, b"{}")
    assert verified(good, SECRET) == "id"
    with pytest.raises(Forged):
        verified(replace(good, headers={**headers, **change}), SECRET)
    with pytest.raises(Forged):
        verified(replace(good, body=b"{} "), SECRET)
