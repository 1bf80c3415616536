"""The fields of a contact, each declared once: API models, statements, imports, files, deliveries and erasures derive
from this table (docs/adding-a-contact-field.md adds one)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "email", "phone", "profiles"]


@dataclass(frozen=True)
class ImportColumn:
    """A field that a file can hold: its meaning, and its headers beside our own, separated by commas.

    A fallback counts in rows where no header before it has a value; two columns of `names` in one file are an error.
    """

    meaning: str
    names: str = ""
    fallbacks: str = ""
    is_joined: bool = False  # the values of all its columns are taken, “; ” between them

    @property
    def headers(self) -> str:
        """All headers beside our own, the fallbacks last."""
        return ", ".join(filter(None, (self.names, self.fallbacks)))


@dataclass(frozen=True)
class ContactField:
    """A column of the table `contact`, and where it appears."""

    name: str  # of the column, the API field and the key in a delivery
    kind: Kind = "text"
    example: str = ""  # a value, for the description of the API
    follows_email: bool = False  # computed from the email address: a merge takes it only with the same address
    follows_name: bool = False  # a part of the name: taken together with it
    of_person: bool = False  # an attribute of `extract.results.Person`; an erasure clears it
    is_listed: bool = True  # in the summary that the API returns
    is_editable: bool = False  # people write it by the API
    edit_note: str | None = None  # its description in such a request
    imported: ImportColumn | None = None
    contact_columns: Mapping[str, str] = field(default_factory=dict)  # header and meaning in files by contact
    lead_columns: Mapping[str, str] = field(default_factory=dict)  # in files by business, of the best email address
    is_delivered: bool = False
    hubspot: str | None = None  # the standard property that it fills
    brevo: str | None = None  # the attribute that it fills

    @property
    def meaning(self) -> str:
        """What it holds, as files by contact or imports describe it."""
        return self.contact_columns.get(self.name) or (self.imported.meaning if self.imported else "")


CONTACT_FIELDS = (
    ContactField(
        "name",
        example="Anna Virtanen",
        of_person=True,
        is_editable=True,
        imported=ImportColumn(
            "name of the person", "full name, person, contact, contact name", "person name, display name"
        ),
        contact_columns={"name": "name of the person"},
        lead_columns={"person": "the person who has that email address; empty if the page names none"},
        is_delivered=True,
    ),
    ContactField(
        "first_name",
        example="Anna",
        follows_name=True,
        of_person=True,
        is_editable=True,
        edit_note="given names; found from the name where its order is known, if this and `last_name` are not given",
        imported=ImportColumn("given name", "given name", "person - first name, vorname"),
        contact_columns={"first_name": "given names; empty where the order of the name is not known"},
        lead_columns={"first_name": "given names of that person; empty where the order of the name is not known"},
        is_delivered=True,
        hubspot="firstname",
        brevo="FIRSTNAME",
    ),
    ContactField(
        "last_name",
        example="Virtanen",
        follows_name=True,
        of_person=True,
        is_editable=True,
        edit_note="family name, with its particles: van der Berg",
        imported=ImportColumn("family name", "family name, surname", "person - last name, nachname"),
        contact_columns={"last_name": "family name; empty where the order of the name is not known"},
        lead_columns={"last_name": "family name of that person; empty where the order of the name is not known"},
        is_delivered=True,
        hubspot="lastname",
        brevo="LASTNAME",
    ),
    ContactField(
        "honorific",
        example="Ms",
        of_person=True,
        is_editable=True,
        edit_note="form of address: Herr, Ms, 先生",
        imported=ImportColumn("form of address", "salutation, anrede", "name prefix, honorific prefix"),
        contact_columns={"honorific": "form of address: Herr, Ms, 先生"},
        lead_columns={"honorific": "form of address of that person: Herr, Ms, 先生"},
        is_delivered=True,
        hubspot="salutation",
    ),
    ContactField(
        "degree",
        example="Dr. med.",
        of_person=True,
        is_editable=True,
        edit_note="Dr. med., MBA",
        imported=ImportColumn("academic degrees", "academic degree, academic title", "honorific suffix"),
        contact_columns={"degree": "academic degrees and titles: Dr. med., MBA"},
        lead_columns={"degree": "academic degrees and titles of that person: Dr. med., MBA"},
        is_delivered=True,
        hubspot="degree",
    ),
    ContactField(
        "name_latin",
        example="Anna Virtanen",
        of_person=True,
        is_editable=True,
        edit_note="the name in Latin letters, beside a name in another script",
        imported=ImportColumn("name in Latin letters", "latin name, romanized name"),
        contact_columns={"name_latin": "the name in Latin letters, where the page gives it beside another script"},
        lead_columns={"name_latin": "name of that person in Latin letters, where the page gives it"},
        is_delivered=True,
    ),
    ContactField(
        "title",
        example="Head dentist",
        of_person=True,
        is_editable=True,
        imported=ImportColumn(
            "job title of the person",
            "job title, position, role",
            "person job title, organization title, organization 1 title, contact title",
        ),
        contact_columns={"title": "job title of the person", "title_source_url": "page on which the title was found"},
        lead_columns={"title": "job title of that person"},
        is_delivered=True,
        hubspot="jobtitle",
        brevo="JOB_TITLE",
    ),
    ContactField(
        "email",
        "email",
        example="info@kallio-dental.example",
        is_editable=True,
        imported=ImportColumn(
            "email address; this, a name, a phone, a fax or an address is needed",
            "e-mail, mail, email address",
            "work email, primary email, email 1, e-mail 1 - value, person - email - work, email - work, "
            "person - email - home, email - home, person - email - other, email - other, secondary email, email 2, "
            "e-mail 2 - value, personal email",
        ),
        contact_columns={"email": "email address", "email_source_url": "page on which the email address was found"},
        lead_columns={"email": "email address of the best contact"},
    ),
    ContactField(
        "email_kind",
        example="role",
        follows_email=True,
        contact_columns={"email_kind": "role, personal, free-mail or other-domain"},
        lead_columns={"email_kind": "role, personal, free-mail or other-domain"},
        is_delivered=True,
    ),
    ContactField(
        "verdict",
        example="deliverable",
        follows_email=True,
        is_listed=False,  # ContactSummary lists it beside the status of the verification
        contact_columns={
            "verdict": "whether mail would arrive: deliverable, risky, undeliverable or unknown",
            "verdict_reasons": "reasons for the verdict",
        },
        lead_columns={
            "verdict": "whether mail would arrive: deliverable, risky, undeliverable or unknown",
            "verdict_reasons": "reasons for the verdict",
        },
        is_delivered=True,
    ),
    ContactField(
        "phone",
        "phone",
        example="+358401234567",
        is_editable=True,
        edit_note="E.164: +358401234567",
        imported=ImportColumn(
            "telephone number",
            "telephone, tel, phone number, telefon, puhelin",
            "work direct phone, direct phone, work phone, business phone, mobile phone, mobile, mobile phone number, "
            "person - phone - work, phone - work, person - phone - mobile, phone - mobile, phone 1, phone 1 - value, "
            "first phone, corporate phone, company phone, home phone, person - phone - home, phone - home, "
            "person - phone - other, phone - other, other phone, phone 2, phone 2 - value",
        ),
        contact_columns={"phone": "phone number", "phone_source_url": "page on which the phone number was found"},
        is_delivered=True,
        hubspot="phone",
        brevo="PHONE",  # not SMS: Brevo takes only mobile numbers there, and each for one contact only
    ),
    ContactField(
        "fax",
        "phone",
        example="+358912345678",
        is_editable=True,
        edit_note="E.164",
        imported=ImportColumn("fax number", "fax number, telefax", "business fax, work fax"),
        contact_columns={"fax": "fax number"},
    ),
    ContactField(
        "company",
        example="Kallio Dental",
        is_editable=True,
        edit_note="name of the business, where no domain or business of the contact has one",
        imported=ImportColumn(
            "name of the business",
            "company name, organization, organisation, account name, employer, firm, firma, yritys",
            "company / account, associated company, primary associated company, organization name, "
            "organization 1 - name, person - organization, organization - name, company name for emails, business, "
            "business name",
        ),
    ),
    ContactField("profiles", "profiles", contact_columns={"profile": "URL of a profile"}, is_delivered=True),
    ContactField(
        "address",
        example="Fleminginkatu 7, 00530 Helsinki",
        is_editable=True,
        imported=ImportColumn(
            "postal address; made from street, postcode and city if empty",
            "postal address, full address",
            "company address, mailing address, business address, organization address, organization - address, "
            "person - postal address, address 1 - formatted",
        ),
        contact_columns={"address": "postal address as the page writes it"},
        is_delivered=True,
    ),
)

# Columns that say where a contact was found; they change together.
EVIDENCE = ("source_url", "snippet", "found_by", "confidence")

BY_HAND = "written by hand"  # `found_by` of a contact or a value that a person wrote

# What identifies a contact within its domain: the first of these that has a value, with the prefix of its identity.
IDENTITY_PREFIXES = {"email": "email", "name": "person", "phone": "phone", "fax": "fax", "address": "address"}

FACTS = tuple(each.name for each in CONTACT_FIELDS if not each.follows_email)
NAME_PARTS = tuple(each.name for each in CONTACT_FIELDS if each.follows_name)
PERSON_FIELDS = tuple(each.name for each in CONTACT_FIELDS if each.of_person)
PHONE_FIELDS = tuple(each.name for each in CONTACT_FIELDS if each.kind == "phone")
DELIVERED_FIELDS = tuple(each.name for each in CONTACT_FIELDS if each.is_delivered)
