"""The table of contact fields agrees with the model and with what a page gives of a person."""

from dataclasses import fields

from scrapersky.core.contact_fields import CONTACT_FIELDS, EVIDENCE, IDENTITY_PREFIXES, PERSON_FIELDS
from scrapersky.extract.results import Person
from scrapersky.models import Contact


def test_every_field_is_a_column_of_the_contact() -> None:
    columns = set(Contact.__table__.columns.keys())
    assert {each.name for each in CONTACT_FIELDS} | set(EVIDENCE) | set(IDENTITY_PREFIXES) <= columns


def test_every_field_of_a_person_is_an_attribute_of_a_found_person() -> None:
    assert set(PERSON_FIELDS) <= {field.name for field in fields(Person)}


def test_no_two_fields_have_one_header() -> None:
    for headers in (
        [header for each in CONTACT_FIELDS for header in each.contact_columns],
        [header for each in CONTACT_FIELDS for header in each.lead_columns],
    ):
        assert len(headers) == len(set(headers))


def test_what_identifies_a_contact_can_be_imported_and_edited() -> None:
    for each in CONTACT_FIELDS:
        if each.name in IDENTITY_PREFIXES:
            assert each.imported is not None
            assert each.is_editable
