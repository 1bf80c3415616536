"""Spelling of phone numbers in files: the groups are those of phonenumbers, found without its function for it."""

import random

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from scrapersky.extract.phones.spelling import spell_phones

COUNTRIES = sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def numbers_of(code: int) -> list[str]:
    """Return example numbers of a country code, and such with other digits at their end."""
    digits = random.Random(code)
    regions = phonenumbers.region_codes_for_country_code(code)
    examples = [phonenumbers.example_number_for_non_geo_entity(code)] + [
        phonenumbers.example_number_for_type(region, kind) for region in regions for kind in PhoneNumberType.values()
    ]
    found = [phonenumbers.format_number(one, PhoneNumberFormat.E164) for one in examples if one is not None]
    cuts = [(number, digits.randint(4, len(number) - 1)) for number in found for _ in range(12)]
    return found + [number[:cut] + "".join(digits.choice("0123456789") for _ in number[cut:]) for number, cut in cuts]


@pytest.mark.parametrize("code", COUNTRIES)
def test_the_groups_of_a_number_are_those_of_phonenumbers(code):
    for number in numbers_of(code):
        spelled = phonenumbers.format_number(phonenumbers.parse(number), PhoneNumberFormat.INTERNATIONAL)
        groups = [*filter(str.isdigit, spelled.translate(str.maketrans("+-/.()", "      ")).split())]
        # Groups like thousands are joined or divided: tests/destinations/files/test_lead_file.py.
        assert spell_phones(number, "international").replace(" ", "") == "+" + "".join(groups)
        if any(len(group) != 3 for group in groups[1:]):
            assert spell_phones(number, "international") == f"+{' '.join(groups)}"
