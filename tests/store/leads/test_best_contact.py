"""The best contact of sites in many languages, and the sentence that says why."""

from typing import Any

import pytest

from scrapersky.extract.emails.classify import classify_email
from scrapersky.store.leads.business_row import business_row

# A contact: name, title, address, and what differs from a deliverable address: its verdict, or a phone number.
# Of each site: its domain, its contacts, the best address, and why.
SITES: dict[str, tuple[str, list[tuple[Any, ...]], str, str]] = {
    "en: the owner before the receptionist and the general mailbox": (
        "clinic.fi",
        [
            ("", "", "info@clinic.fi"),
            ("Ann Roe", "Receptionist", "ann@clinic.fi"),
            ("Dr Xu", "Owner", "dr.x@clinic.fi"),
        ],
        "dr.x@clinic.fi",
        "Owner or founder (Owner), own domain, deliverable.",
    ),
    "en: the head of sales when the managing director has no address": (
        "agency.com",
        [
            ("Max Low", "Managing Director", None),
            ("Sue Fox", "Head of Sales", "sue@agency.com"),
            ("", "", "info@agency.com"),
        ],
        "sue@agency.com",
        "Head of a department or team (Head of Sales), own domain, deliverable. "
        "Max Low (Managing Director) has no address.",
    ),
    "en: the general mailbox before interns": (
        "firm.com",
        [("Al Kay", "Intern", "al@firm.com"), ("Bo Lee", "Trainee", "bo@firm.com"), ("", "", "info@firm.com")],
        "info@firm.com",
        "General mailbox, own domain, deliverable.",
    ),
    "en: the own domain before the owner's free mail": (
        "salon.com",
        [("Joan Pine", "Owner", "joanpine@gmail.com"), ("", "", "info@salon.com")],
        "info@salon.com",
        "General mailbox, own domain, deliverable. Joan Pine (Owner) has free mail only.",
    ),
    "en: the owner's free mail before an employee": (
        "salon.com",
        [("Joan Pine", "Owner", "joanpine@gmail.com"), ("Kim Ray", "Stylist", "kim@salon.com")],
        "joanpine@gmail.com",
        "Owner or founder (Owner), free mail, deliverable.",
    ),
    "en: a deliverable mailbox before the owner's risky address": (
        "shop.com",
        [("Joe Ash", "Owner", "joe@shop.com", "risky"), ("", "", "info@shop.com")],
        "info@shop.com",
        "General mailbox, own domain, deliverable. Joe Ash (Owner) has a risky address.",
    ),
    "en: a deliverable mailbox before the owner's undeliverable address": (
        "shop.com",
        [("Joe Ash", "Owner", "joe@shop.com", "undeliverable"), ("", "", "info@shop.com")],
        "info@shop.com",
        "General mailbox, own domain, deliverable. Joe Ash (Owner) has an undeliverable address.",
    ),
    "en: an undeliverable address when there is no other": (
        "shop.com",
        [("Joe Ash", "Owner", "joe@shop.com", "undeliverable")],
        "joe@shop.com",
        "Owner or founder (Owner), own domain, undeliverable. The only address.",
    ),
    "en: the only person of the site": (
        "physio.co.uk",
        [("", "", "info@physio.co.uk"), ("Meg Hill", "Physiotherapist", "meg@physio.co.uk", None)],
        "meg@physio.co.uk",
        "The only person of the site (Physiotherapist), own domain, not verified.",
    ),
    "en: the general mailbox before one of many equals": (
        "lawyers.com",
        [
            ("Amy Orr", "Attorney", "amy@lawyers.com"),
            ("Ben Poe", "Attorney", "ben@lawyers.com"),
            ("", "", "office@lawyers.com"),
        ],
        "office@lawyers.com",
        "General mailbox, own domain, deliverable.",
    ),
    "en: the own general mailbox before a person at another domain": (
        "golf.fi",
        [("Jon Elo", "Head Coach", "jon@coach.fi"), ("Li Mo", "Caddie", None), ("", "", "info@golf.fi")],
        "info@golf.fi",
        "General mailbox, own domain, deliverable. Jon Elo (Head Coach) has an address at another domain only.",
    ),
    "en: a mailbox for customers before that for applications": (
        "hotel.com",
        [("", "", "jobs@hotel.com"), ("", "", "reservations@hotel.com"), ("", "", "press@hotel.com")],
        "reservations@hotel.com",
        "Mailbox for customers, own domain, deliverable.",
    ),
    "en: a church with free mail": (
        "agape.in",
        [
            ("", "", "agape@gmail.com"),
            ("Ben Raj", "Secretary", "aagben@gmail.com"),
            ("Sol Raj", "Senior Pastor", "sol@gmail.com"),
        ],
        "sol@gmail.com",
        "Head of the business (Senior Pastor), free mail, deliverable.",
    ),
    "de: the managing director before the data protection officer": (
        "firma.de",
        [
            ("Uwe Roth", "Datenschutzbeauftragter", "datenschutz@firma.de"),
            ("Eva Kuhn", "Geschäftsführerin", "kuhn@firma.de"),
            ("", "", "info@firma.de"),
        ],
        "kuhn@firma.de",
        "Head of the business (Geschäftsführerin), own domain, deliverable.",
    ),
    "de: the managing director at the general address": (
        "firma.de",
        [
            ("Eva Kuhn", "Geschäftsführerin", "info@firma.de"),
            ("", "", "info@firma.de"),
            ("Al Ott", "Azubi", "ott@firma.de"),
        ],
        "info@firma.de",
        "Head of the business (Geschäftsführerin), own domain, deliverable.",
    ),
    "fi: the managing director before the head of sales": (
        "yritys.fi",
        [
            ("Ari Salo", "Myyntipäällikkö", "ari@yritys.fi"),
            ("Pia Laine", "Toimitusjohtaja", "pia@yritys.fi"),
            ("", "", "toimisto@yritys.fi"),
        ],
        "pia@yritys.fi",
        "Head of the business (Toimitusjohtaja), own domain, deliverable.",
    ),
    "sv: the chair before the treasurer": (
        "forening.se",
        [("Bo Ek", "Kassör", "bo@forening.se"), ("Li Alm", "Ordförande", "li@forening.se")],
        "li@forening.se",
        "Head of the business (Ordförande), own domain, deliverable.",
    ),
    "fr: the manager before the secretary": (
        "atelier.fr",
        [
            ("Léa Roy", "Secrétaire", "lea@atelier.fr"),
            ("Luc Petit", "Gérant", "luc@atelier.fr"),
            ("", "", "contact@atelier.fr"),
        ],
        "luc@atelier.fr",
        "Head of the business (Gérant), own domain, deliverable.",
    ),
    "es: the general mailbox before assistants": (
        "clinica.es",
        [
            ("Ana Gil", "Auxiliar", "ana@clinica.es"),
            ("Eva Ros", "Recepcionista", "eva@clinica.es"),
            ("", "", "contacto@clinica.es"),
        ],
        "contacto@clinica.es",
        "General mailbox, own domain, deliverable.",
    ),
    "it: the owner": (
        "officina.it",
        [("Ugo Neri", "Titolare", "ugo@officina.it"), ("Ida Bo", "Segretaria", "ida@officina.it")],
        "ugo@officina.it",
        "Owner or founder (Titolare), own domain, deliverable.",
    ),
    "pt: the partner before the trainee": (
        "advogados.pt",
        [
            ("Rui Sá", "Estagiário", "rui@advogados.pt"),
            ("Inês Pó", "Sócia", "ines@advogados.pt"),
            ("", "", "geral@advogados.pt"),
        ],
        "ines@advogados.pt",
        "Member of the management (Sócia), own domain, deliverable.",
    ),
    "nl: the owner before the assistant": (
        "praktijk.nl",
        [("Jo Vos", "Assistente", "jo@praktijk.nl"), ("Bas Smit", "Eigenaar", "bas@praktijk.nl")],
        "bas@praktijk.nl",
        "Owner or founder (Eigenaar), own domain, deliverable.",
    ),
    "pl: the chairman before the manager": (
        "spolka.pl",
        [("Jan Nowy", "Kierownik sprzedaży", "jan@spolka.pl"), ("Ewa Duda", "Prezes zarządu", "ewa@spolka.pl")],
        "ewa@spolka.pl",
        "Head of the business (Prezes zarządu), own domain, deliverable.",
    ),
    "cs: the director of the school before her deputy": (
        "skola.cz",
        [
            ("Jan Malý", "Zástupce ředitele", "jan@skola.cz"),
            ("Eva Nová", "Ředitelka", "eva@skola.cz"),
            ("", "", "skola@skola.cz"),
        ],
        "eva@skola.cz",
        "Head of the business (Ředitelka), own domain, deliverable.",
    ),
    "ja: the representative director": (
        "kaisha.jp",
        [
            ("山田 花子", "営業部長", "yamada@kaisha.jp"),
            ("佐藤 健", "代表取締役", "sato@kaisha.jp"),
            ("", "", "info@kaisha.jp"),
        ],
        "sato@kaisha.jp",
        "Head of the business (代表取締役), own domain, deliverable.",
    ),
    "zh: the founder": (
        "gongsi.cn",
        [("李娜", "销售经理", "lina@gongsi.cn"), ("王伟", "创始人", "wang@gongsi.cn")],
        "wang@gongsi.cn",
        "Owner or founder (创始人), own domain, deliverable.",
    ),
    "ko: the general mailbox before an intern": (
        "hoesa.kr",
        [("김민수", "인턴", "kim@hoesa.kr"), ("이지은", "사원", "lee@hoesa.kr"), ("", "", "contact@hoesa.kr")],
        "contact@hoesa.kr",
        "General mailbox, own domain, deliverable.",
    ),
    "ar: the general manager": (
        "sharika.ae",
        [("سارة علي", "سكرتيرة", "sara@sharika.ae"), ("خالد حسن", "المدير العام", "khaled@sharika.ae")],
        "khaled@sharika.ae",
        "Head of the business (المدير العام), own domain, deliverable.",
    ),
    "he: the owner before the secretary": (
        "misrad.co.il",
        [
            ("דנה לוי", "מזכירה", "dana@misrad.co.il"),
            ("רון כהן", "בעלים", "ron@misrad.co.il"),
            ("", "", "office@misrad.co.il"),
        ],
        "ron@misrad.co.il",
        "Owner or founder (בעלים), own domain, deliverable.",
    ),
    "th: the managing director without an address": (
        "borisat.th",
        [("สมชาย ใจดี", "กรรมการผู้จัดการ", None), ("วิภา ดีงาม", "พนักงาน", "wipa@borisat.th"), ("", "", "info@borisat.th")],
        "info@borisat.th",
        "General mailbox, own domain, deliverable. สมชาย ใจดี (กรรมการผู้จัดการ) has no address.",
    ),
}


def contact(site, number, name, title, email, verdict="deliverable", phone=None):
    return {
        "id": f"{number:032}",
        "identity": email or name or phone,
        "person": name or None,
        "title": title or None,
        "email": email,
        "email_kind": classify_email(email, site) if email else None,
        "verdict": verdict if email else None,
        "verdict_reasons": None,
        "phone": phone,
        "confidence": 0.9 - number / 100,
        "found_by": "text",
        "source_url": f"https://{site}/",
        "found_at": "2026-11-16",
        "is_of_another_branch": False,
    }


def lead(site, contacts, preferred=(), main=None):
    rows = [contact(site, number, *given) for number, given in enumerate(contacts)]
    return business_row({"contacts": rows, "phone": main, "categories": []}, preferred)


@pytest.mark.parametrize("name", SITES)
def test_the_best_contact_of_a_site_and_why(name):
    site, contacts, email, why = SITES[name]
    for given in (contacts, contacts[::-1]):  # the surest find does not decide
        row = lead(site, given)
        assert (row["email"], row["why"]) == (email, why)


AGENCY = [
    ("Max Low", "CEO", "max@agency.com"),
    ("Sue Fox", "Marketing Manager", "sue@agency.com"),
    ("Tim Orr", "Marketing Intern", "tim@agency.com"),
    ("Ida Bay", "Head of IT", "ida@agency.com"),
    ("", "", "hr@agency.com"),
]


@pytest.mark.parametrize(
    ("preferred", "email", "why"),
    [
        ((), "max@agency.com", "Head of the business (CEO), own domain, deliverable."),
        (("marketing",), "sue@agency.com", "Marketing as preferred (Marketing Manager), own domain, deliverable."),
        (("it", "marketing"), "ida@agency.com", "IT as preferred (Head of IT), own domain, deliverable."),
        (
            ("legal", "marketing"),
            "sue@agency.com",
            "Marketing as preferred (Marketing Manager), own domain, deliverable.",
        ),
        (("hr",), "hr@agency.com", "HR mailbox as preferred, own domain, deliverable."),
        (("legal",), "max@agency.com", "Head of the business (CEO), own domain, deliverable."),
    ],
)
def test_a_preferred_function_comes_first(preferred, email, why):
    row = lead("agency.com", AGENCY, preferred)
    assert (row["email"], row["why"]) == (email, why)


def test_without_an_address_the_number_of_a_senior_person_is_the_best():
    contacts = [("Ann Roe", "Assistant", None, None, "+3581"), ("Bo Lee", "Owner", None, None, "+3582")]
    row = lead("shop.fi", contacts, main="+3580")
    assert (row["person"], row["phone"], row["other_phones"]) == ("Bo Lee", "+3582", "+3581")
    assert row["why"] == "No address is known. Number of owner or founder (Owner)."


def test_without_an_address_and_a_senior_person_the_main_number_is_the_best():
    row = lead("shop.fi", [("Ann Roe", "Assistant", None, None, "+3581"), ("Bo Lee", "Owner", None)], main="+3580")
    assert (row["person"], row["phone"], row["other_phones"]) == (None, "+3580", "+3581")
    assert row["why"] == "No address is known. Main number. Bo Lee (Owner) has no address."


def test_a_business_without_contacts_has_no_reason():
    assert lead("shop.fi", [])["why"] is None


def test_other_people_are_those_with_an_address_and_then_the_most_senior():
    people = [
        ("Ann Roe", "Clerk", None),
        ("Bo Lee", "CFO", None),
        ("Cy Day", "Cook", "cy@a.fi"),
        ("Di Fry", "CEO", "di@a.fi"),
    ]
    assert lead("a.fi", people)["other_people"] == "Cy Day (Cook) <cy@a.fi>; Bo Lee (CFO); Ann Roe (Clerk)"
