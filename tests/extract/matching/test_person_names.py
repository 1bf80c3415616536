"""Which names of one site fit, and which names are one person's."""

import itertools

import pytest

from scrapersky.extract.matching.person_names import Fit, PersonName, fit, group, read_name
from scrapersky.extract.people.name_parts import split_name


def name(text: str, language: str = "en") -> PersonName:
    return read_name(text, split_name(text, language).first_name)


@pytest.mark.parametrize(
    ("one", "other", "language", "expected"),
    [
        ("J. Smith", "A. Smith", "en", Fit.NONE),
        ("J. Smith", "John Smith", "en", Fit.INITIALS),
        ("J. R. Smith", "J. Smith", "en", Fit.INITIALS),
        ("John A. Smith", "John Smith", "en", Fit.WORDS),
        ("John A. Smith", "John B. Smith", "en", Fit.NONE),
        ("John Smith", "John Smith Jr.", "en", Fit.NONE),
        ("Иванов А. Б.", "Иванов П. С.", "ru", Fit.NONE),
        ("Иванов А. Б.", "А. Б. Иванов", "ru", Fit.SAME),
        ("Иванов А. Б.", "Алексей Борисович Иванов", "ru", Fit.INITIALS),
        ("Иванов Б.", "Алексей Борисович Иванов", "ru", Fit.NONE),
        ("Полетаева Инна Геннадьевна", "Инна Геннадьевна Полетаева", "ru", Fit.SAME),
        ("María Jesús Prado", "María Jesús Prado Ruiz", "es", Fit.WORDS),
        ("Mª Jesús Redondo", "María Jesús Redondo", "es", Fit.SHORT_FORM),
        ("García López", "Ana García López", "es", Fit.NONE),
        ("Jean Paul", "Jean Paul Dupont", "fr", Fit.NONE),
        ("J.-P. Roux", "Jean-Pierre Roux", "fr", Fit.INITIALS),
        ("Anna Maria Rossi", "Anna Lucia Rossi", "it", Fit.NONE),
        ("Peter Müller", "Hans Peter Müller", "de", Fit.NONE),
        ("Jürgen Müller", "Juergen Mueller", "de", Fit.WORDS),
        ("Th. Weber", "Thomas Weber", "de", Fit.INITIALS),
        ("Олександр Шевченко", "Oleksandr Shevchenko", "uk", Fit.WORDS),
        ("طارق القاضي", "طارق عبد الحميد القاضي", "ar", Fit.WORDS),
        ("محمد علي", "أحمد محمد علي", "ar", Fit.NONE),
        ("山田 太郎", "山田太郎", "ja", Fit.SAME),
        ("Wang Xue", "Wang Xu", "zh", Fit.NONE),
        ("Bob Hale", "Robert Hale", "en", Fit.SHORT_FORM),
        ("R. Hale", "Bob Hale", "en", Fit.INITIALS),
        ("Alexander Hale", "Alexandra Hale", "en", Fit.NONE),
        ("Gwyneth Tarrant", "Gwendolen Tarrant", "en", Fit.NONE),
        ("Νίκος Παπάς", "Νικόλαος Παπάς", "el", Fit.SHORT_FORM),
        ("Herr", "Herr Müller", "de", Fit.NONE),
    ],
)
def test_names_fit_where_words_are_only_missing_or_shortened(
    one: str, other: str, language: str, expected: Fit
) -> None:
    first, second = name(one, language), name(other, language)
    assert (fit(first, second), fit(second, first)) == (expected, expected)


def test_a_name_fits_its_latin_spelling_that_the_page_gives() -> None:
    assert fit(read_name("山田太郎", latin="Taro Yamada"), name("Taro Yamada")) is Fit.SAME


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_a_name_that_fits_two_people_is_alone_in_every_order(order: tuple[int, ...]) -> None:
    written = ["J. Smith", "John Smith", "Jane Smith", "John A. Smith"]
    names = [name(written[index]) for index in order]
    found = group(names, lambda one, other, how: True)
    assert {frozenset(written[order[index]] for index in one) for one in found} == {
        frozenset(["J. Smith"]),
        frozenset(["Jane Smith"]),
        frozenset(["John Smith", "John A. Smith"]),
    }
