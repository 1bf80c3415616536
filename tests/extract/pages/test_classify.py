"""The kind of a page by its URL, the link text and the title, in many languages."""

import tomllib
from collections import defaultdict
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.pages.vocabulary import SPELLED_OUT, STEM_LENGTH, PageKind, compact_name, load_vocabulary
from tests.factories.work import count_calls

TABLE = Path(__file__).parent / "data" / "page_kinds.txt"


def read_cases() -> list[tuple[str, str, str, str]]:
    cases = []
    for line in TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            address, _, text = line.partition(" | ")
            language, kind, path = address.split(" ", 2)
            cases.append((language, kind, path, text))
    return cases


CASES = read_cases()


@pytest.mark.parametrize(("language", "kind", "path", "text"), CASES, ids=lambda value: value[:60])
def test_a_page_has_the_kind_of_its_name(language: str, kind: str, path: str, text: str) -> None:
    url = path if ":" in path else f"https://www.example.org{path}"

    guess = classify_page(url, text)

    assert guess.kind == kind, guess


def test_the_table_covers_every_kind_and_many_languages() -> None:
    languages = defaultdict(set)
    for language, kind, _, _ in CASES:
        languages[language].add(kind)
    assert len(CASES) >= 400
    assert {kind for kinds in languages.values() for kind in kinds} == set(PageKind)
    assert sum(len(kinds) >= 8 for kinds in languages.values()) >= 16
    assert set(languages) == set(load_vocabulary().languages)


def written_words() -> list[tuple[str, str, str]]:
    table = tomllib.loads(resources.files("scrapersky.extract").joinpath("data/page_kinds.toml").read_text("utf-8"))
    return [
        (language, kind, word)
        for language, kinds in table.items()
        if isinstance(kinds, dict) and language != "listing_folders"
        for kind, words in kinds.items()
        for word in words
    ]


def test_one_word_has_one_kind() -> None:
    kinds = defaultdict(set)
    for _, kind, word in written_words():
        for spelling in (word.strip("~=*"), word.strip("~=*").casefold().translate(SPELLED_OUT)):
            kinds[compact_name(spelling)].add(kind)
    assert {word: said for word, said in kinds.items() if len(said) > 1} == {}


def test_every_word_of_the_vocabulary_is_found_as_a_path_and_as_a_link() -> None:
    wrong = []
    for language, kind, word in written_words():
        name = word.strip("~=*")
        slug = "-".join(compact_name(part) for part in name.split())
        for guess in (classify_page(f"https://example.org/{slug}/"), classify_page("https://example.org/x9", name)):
            if guess.kind != kind:
                wrong.append((language, kind, word, guess))
    assert wrong == []


def test_stems_are_long_enough_to_be_looked_up() -> None:
    assert [word for _, _, word in written_words() if "*" in word and len(compact_name(word)) < STEM_LENGTH] == []


@pytest.mark.parametrize(
    ("url", "text", "title", "reason"),
    [
        ("https://example.org/kontakt", "", "", "“kontakt” in the path"),
        ("https://example.org/team/jane", "", "", "“team” in the folder"),
        ("https://example.org/17", "Ota yhteyttä", "", "“ota yhteyttä” in the link text"),
        ("https://example.org/17", "", "Contact us | Acme", "“contact us” in the title"),
        ("https://example.org/?page=impressum", "", "", "“impressum” in the query"),
        ("https://jobs.example.org/", "", "", "“jobs” in the host"),
        ("https://xn--90ad1al.example.xn--p1ai/", "", "", "the address is the entrance of the site"),
        ("https://example.org/", "", "", "the address is the entrance of the site"),
        ("https://example.org/team.pdf", "", "", "the address ends in .pdf: a file, not a page"),
        ("tel:+358401234567", "", "", "the address is not one of the web"),
        ("https://example.org/zzz", "", "", "no known word in the address"),
    ],
)
def test_the_reason_names_the_word_and_the_place(url: str, text: str, title: str, reason: str) -> None:
    assert classify_page(url, text, title).reason == reason


def test_a_host_in_punycode_is_read() -> None:
    label = "новости".encode("idna").decode()
    assert classify_page(f"https://{label}.example.org/").kind == "blog"


def test_scores_fall_from_the_plain_name_to_the_vague_one() -> None:
    plain = classify_page("https://example.org/contact")
    deep = classify_page("https://example.org/a/b/c/contact")
    inside = classify_page("https://example.org/contact/helsinki")
    vague = classify_page("https://example.org/contact-lens-advice")
    agreed = classify_page("https://example.org/contact", "Contact")
    scores = [agreed.score, plain.score, deep.score, inside.score, vague.score]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_the_title_decides_where_the_url_has_no_known_word() -> None:
    assert classify_page("https://example.org/17", title="Unser Team – Praxis Dr. Beispiel").kind == "team"
    assert classify_page("https://example.org/kontakt", title="Praxis Dr. Beispiel | Über uns").kind == "contact"
    assert classify_page("https://example.org/", title="Contact us").kind == "home"


@given(url=st.text(max_size=300), text=st.text(max_size=80), title=st.text(max_size=80))
def test_any_input_is_classified(url: str, text: str, title: str) -> None:
    for address in (url, f"https://example.org/{url}", f"https://{url}", f"https://example.org/?page={url}"):
        guess = classify_page(address, text, title)
        assert 0.0 <= guess.score <= 1.0
        assert guess.reason
        assert guess == classify_page(address, text, title)


@pytest.mark.parametrize(
    "bomb", ["/" * 100_000, "a-" * 100_000, "%" * 100_000, "e\u0301" * 50_000, "A" * 100_000, "?" + "p=a&" * 50_000]
)
def test_long_addresses_cost_no_more_than_short_ones(bomb: str) -> None:
    assert count_calls(classify_page, f"https://example.org/{bomb}", bomb, bomb)[0] < 8_000
