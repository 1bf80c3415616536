"""Countries by code and by name, in English and in the language of the country."""

import pytest

from scrapersky.extract.countries import country_code

NAMES = {
    "FI": "FI, fi, FIN, Finland, Suomi, FINLAND, Finnland, Finlande, Finlandia",
    "SE": "Sweden, Sverige, Schweden",
    "DE": "Germany, Deutschland, Allemagne, Saksa, DEU",
    "AT": "Austria, Österreich, Oesterreich",
    "CH": "Switzerland, Schweiz, Suisse, Svizzera",
    "ES": "Spain, España, Espana",
    "CZ": "Czech Republic, Czechia, Česko, Česká republika",
    "GB": "UK, United Kingdom, Great Britain, England, Scotland, GBR",
    "US": "USA, U.S.A., United States, United States of America, U.S.",
    "GR": "Greece, Ελλάδα, EL",
    "JP": "Japan, 日本",
    "KR": "South Korea, Republic of Korea, 대한민국",
    "RU": "Russia, Россия, Russian Federation",
    "UA": "Ukraine, Україна",
    "TR": "Turkey, Türkiye",
    "NL": "Netherlands, The Netherlands, Nederland, Holland",
    "PL": "Poland, Polska",
    "EE": "Estonia, Eesti",
    "HK": "Hong Kong, Hong Kong SAR",
    "XK": "Kosovo",
}


@pytest.mark.parametrize(
    ("code", "name"), [(code, name) for code, names in NAMES.items() for name in names.split(", ")]
)
def test_a_country_is_known_by_its_names(code, name):
    assert country_code(name) == code


@pytest.mark.parametrize("text", ["", "ZZ", "abc", "Atlantis", "F", "12", "North America", "x" * 5_000])
def test_other_texts_are_no_country(text):
    assert country_code(text) is None
