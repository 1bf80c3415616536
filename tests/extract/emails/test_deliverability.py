"""The inspection of an address, and the verdict by the mail records of its domain."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapersky.core.vocabularies import Verdict
from scrapersky.extract.emails.deliverability import (
    OFTEN_MISTYPED,
    VERDICTS,
    InspectedAddress,
    MailAcceptance,
    MailDomain,
    free_domains,
    inspect_address,
    is_one_typo,
    verify_email,
)

NOW = datetime(2026, 11, 16, tzinfo=UTC)
TAKES_MAIL = MailDomain(MailAcceptance.MX_HOSTS, ("mail.firma.fi",))


def verdict(email: str, mail: MailDomain | None = TAKES_MAIL) -> Verdict | None:
    return verify_email(inspect_address(email), mail, NOW).verdict


@pytest.mark.parametrize(
    ("written", "email", "domain"),
    [
        ("info@firma.fi", "info@firma.fi", "firma.fi"),
        (" Jane.Doe@FIRMA.fi ", "jane.doe@firma.fi", "firma.fi"),
        ("info@müller.de", "info@müller.de", "xn--mller-kva.de"),
        ("o'brien+shop@firma.co.uk", "o'brien+shop@firma.co.uk", "firma.co.uk"),
    ],
)
def test_an_address_is_read_in_its_normal_form(written, email, domain):
    seen = inspect_address(written)
    assert (seen.email, seen.domain, seen.wrong) == (email, domain, None)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "@",
        "firma.fi",
        "a@b",
        "a@@firma.fi",
        "a b@firma.fi",
        "a@firma..fi",
        ".a@firma.fi",
        "a@-firma.fi",
        "a@localhost",
        "a@firma.fi.",
        "<a@firma.fi>",
        "a@firma.test",
        "a@[192.0.2.1]",
        '"a b"@firma.fi',
        "a@xn--0.de",
        "a" * 65 + "@firma.fi",
        "a@" + "b" * 64 + ".fi",
        "a@" + "bc." * 100 + "fi",
        "\ud800@firma.fi",
    ],
)
def test_a_malformed_address_is_undeliverable(written):
    found = verify_email(inspect_address(written), TAKES_MAIL, NOW)
    assert found.verdict is Verdict.UNDELIVERABLE
    assert found.reasons[0].startswith("not an address: ")


@pytest.mark.parametrize(
    ("takes", "expected"),
    [
        (MailAcceptance.MX_HOSTS, Verdict.DELIVERABLE),
        (MailAcceptance.ADDRESS_ONLY, Verdict.RISKY),
        (MailAcceptance.NULL_MX, Verdict.UNDELIVERABLE),
        (MailAcceptance.SPF_DENIES_ALL, Verdict.UNDELIVERABLE),
        (MailAcceptance.NO_HOST, Verdict.UNDELIVERABLE),
        (MailAcceptance.NO_DOMAIN, Verdict.UNDELIVERABLE),
    ],
)
def test_the_domain_decides_about_a_plain_address(takes, expected):
    assert verdict("eva@firma.fi", MailDomain(takes)) is expected
    assert set(VERDICTS) == set(MailAcceptance)


def test_without_a_dns_response_the_verdict_is_unknown():
    assert verdict("eva@firma.fi", None) is Verdict.UNKNOWN


def test_a_role_is_a_label_and_no_fault():
    found = verify_email(inspect_address("info@firma.fi"), TAKES_MAIL, NOW)
    assert (found.verdict, found.role, found.reasons) == (Verdict.DELIVERABLE, True, ("its domain takes mail",))
    assert inspect_address("eva@firma.fi").role is False


def test_a_free_mailbox_is_a_label_and_no_fault():
    found = verify_email(inspect_address("praxis.eva@gmail.com"), TAKES_MAIL, NOW)
    assert (found.verdict, found.free_mail) == (Verdict.DELIVERABLE, True)
    assert inspect_address("eva@outlook.jp").free_mail is True


@pytest.mark.parametrize("domain", ["mailinator.com", "eu.mailinator.com", "yopmail.com"])
def test_a_disposable_mailbox_is_risky_also_on_a_subdomain(domain):
    found = verify_email(inspect_address(f"eva@{domain}"), TAKES_MAIL, NOW)
    assert (found.verdict, found.disposable, found.free_mail) == (Verdict.RISKY, True, False)


def test_a_domain_that_contains_a_disposable_one_is_not_disposable():
    assert inspect_address("eva@mailinator.com.firma.fi").disposable is False


@pytest.mark.parametrize("local", ["noreply", "no-reply", "do-not-reply", "mailer-daemon"])
def test_an_unread_mailbox_is_risky(local):
    assert verdict(f"{local}@firma.fi") is Verdict.RISKY


def test_letters_outside_ascii_before_the_sign_are_risky():
    assert verdict("jörg@firma.de") is Verdict.RISKY


@pytest.mark.parametrize(
    ("domain", "known"),
    [
        ("gmial.com", "gmail.com"),
        ("gmail.con", "gmail.com"),
        ("gmaill.com", "gmail.com"),
        ("hotmai.com", "hotmail.com"),
        ("outlok.com", "outlook.com"),
        ("t-onlin.de", "t-online.de"),
    ],
)
def test_a_typo_in_the_domain_is_reported(domain, known):
    found = verify_email(inspect_address(f"eva@{domain}"), TAKES_MAIL, NOW)
    assert (found.verdict, found.did_you_mean) == (Verdict.RISKY, f"eva@{known}")


@pytest.mark.parametrize("domain", ["gmail.com", "mail.com", "ymail.com", "hotmail.fr", "googlemail.com", "firma.fi"])
def test_a_known_or_unrelated_domain_is_not_corrected(domain):
    assert inspect_address(f"eva@{domain}").did_you_mean is None


def test_the_site_s_own_domain_is_never_a_typo():
    assert inspect_address("info@gmall.com", is_own_domain=True).did_you_mean is None


@pytest.mark.parametrize(
    ("written", "known", "slip"),
    [
        ("abc", "abc", False),
        ("abd", "abc", True),
        ("ab", "abc", True),
        ("abcd", "abc", True),
        ("acb", "abc", True),
        ("bca", "abc", False),
        ("axx", "abc", False),
        ("a", "abc", False),
        ("", "a", True),
        ("ba", "ab", True),
    ],
)
def test_one_typo_is_one_letter_or_one_exchange(written, known, slip):
    assert is_one_typo(written, known) is slip


def test_often_mistyped_providers_are_free_mail_providers():
    assert set(OFTEN_MISTYPED) <= free_domains()


def test_the_verdict_can_be_stored_as_json():
    found = verify_email(inspect_address("info@firma.fi"), TAKES_MAIL, NOW, phone_valid=True)
    kept = json.loads(json.dumps(found.as_json()))
    assert kept["verdict"] == "deliverable"
    assert kept["mx"] == ["mail.firma.fi"]
    assert kept["phone_valid"] is True
    assert datetime.fromisoformat(kept["checked_at"]) == NOW


@given(st.one_of(st.text(max_size=400), st.from_regex(r"[^@]{0,70}@[^@]{0,80}", fullmatch=True)))
@example("a@\u0130.com")
@example("\x00@\x00")
@example("a@" + "\u0300" * 60 + ".fi")
@example("a@" + ("xn--" + "a" * 55 + ".") * 3 + "de")
def test_any_text_gets_a_verdict_that_can_be_stored(written):
    found = verify_email(inspect_address(written), TAKES_MAIL, NOW)
    assert found.verdict in list(Verdict)
    assert found.reasons
    kept = json.dumps(found.as_json(), ensure_ascii=False)
    assert "\\u0000" not in kept
    kept.encode()


@given(st.text(alphabet="abc.", max_size=8), st.text(alphabet="abc.", max_size=8))
def test_a_typo_is_symmetric(one, other):
    assert is_one_typo(one, other) is is_one_typo(other, one)


def test_a_malformed_address_needs_no_dns_records():
    assert inspect_address("a@b") == InspectedAddress("a@b", wrong=inspect_address("a@b").wrong)
    assert inspect_address("a@b").domain == ""
