"""First and last name of people of many languages and scripts, with the order known and unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.people.name_parts import split_name, split_written_name
from scrapersky.extract.people.name_titles import is_honorific
from scrapersky.extract.results import Person

# name | language of the page | country | first name | last name
NAMES = """
Eva Virtanen | fi | FI | Eva | Virtanen
Virtanen Eva | fi | FI | Eva | Virtanen
Jussi-Pekka Korhonen | fi | FI | Jussi-Pekka | Korhonen
Anna Maria Müller | de | DE | Anna Maria | Müller
Petra Müller-Lüdenscheidt | de | DE | Petra | Müller-Lüdenscheidt
Ludwig von Beethoven | de | DE | Ludwig | von Beethoven
Karl-Theodor zu Guttenberg | de | DE | Karl-Theodor | zu Guttenberg
Ursula von der Leyen | de | DE | Ursula | von der Leyen
Hans-Peter Huber | de | AT | Hans-Peter | Huber
Reto Zgraggen | de | CH | Reto | Zgraggen
Jane Roe | en | US | Jane | Roe
Anna M. Roe | en | US | Anna | Roe
J. Peter Smith | en | GB | J. Peter | Smith
J. R. R. Tolkien | en | GB | J. R. R. | Tolkien
John Smith Jr. | en | US | John | Smith
Hillary Rodham Clinton | en | US | Hillary | Clinton
Conor O'Brien | en | IE | Conor | O'Brien
Siobhán Ní Dhomhnaill | en | IE | Siobhán | Dhomhnaill
Ewan McGregor | en | GB | Ewan | McGregor
John Mac Donald | en | GB | John | Mac Donald
Jill St. John | en | US | Jill | St. John
Roe, Anna | en | US | Anna | Roe
de la Cruz, Maria Elena | en | US | Maria Elena | de la Cruz
Robert "Bob" Miller | en | US | Robert | Miller
Osama bin Rashid | en | AE | Osama | bin Rashid
Ahmed al-Masri | en | EG | Ahmed | al-Masri
Ahmed Abdel Rahman | en | EG | Ahmed | Abdel Rahman
Abdel Rahman Hassan | en | EG | Abdel Rahman | Hassan
David Ben Gurion | en | IL | David | Ben Gurion
Minsu Kim | en | US | Minsu | Kim
Kim Min-su | en | US | Min-su | Kim
Zhang Wei | en | US |  |
An Nguyen | en | US | An | Nguyen
Nguyen Van An | en | US | An | Nguyen
Qwertz Xylo |  |  |  |
Jane Roe |  | US | Jane | Roe
Isabel Garcia |  |  | Isabel | Garcia
Garcia Isabel |  |  | Isabel | Garcia
DUPONT Jean | fr | FR | Jean | DUPONT
Jean DUPONT | fr | FR | Jean | DUPONT
Jean DE LA TOUR | fr | FR | Jean | DE LA TOUR
Marie-Claire LE GOFF | fr | FR | Marie-Claire | LE GOFF
Jean de LA TOUR | fr | FR | Jean | de LA TOUR
Jean-Pierre de la Fontaine | fr | FR | Jean-Pierre | de la Fontaine
Charles d'Artagnan | fr | FR | Charles | d'Artagnan
Amélie Poulain | fr | FR | Amélie | Poulain
LI Wei | fr | FR | Wei | LI
JP Morgan | en | US | JP | Morgan
Mario Rossi | it | IT | Mario | Rossi
Rossi Mario | it | IT | Mario | Rossi
Leonardo Di Caprio | it | IT | Leonardo | Di Caprio
Maria Grazia Della Valle | it | IT | Maria Grazia | Della Valle
Ana García López | es | ES | Ana | García López
Ana María García | es | ES | Ana María | García
María Jesús Prado Ruiz | es | ES | María Jesús | Prado Ruiz
Mª Jesús Redondo | es | ES | Mª Jesús | Redondo
José Mª Pérez | es | ES | José Mª | Pérez
Juan Cruz | es | ES | Juan | Cruz
Juan Carlos García López | es | ES | Juan Carlos | García López
María José | es | ES | María José |
Pedro Sánchez | es | ES | Pedro | Sánchez
Carmen de la Fuente Pérez | es | ES | Carmen | de la Fuente Pérez
María de los Ángeles García Pérez | es | MX | María de los Ángeles | García Pérez
Ana García López |  | MX | Ana | García López
Joan Puig i Cadafalch | ca | ES | Joan | Puig i Cadafalch
José Ortega y Gasset | es | ES | José | Ortega y Gasset
João da Silva Santos | pt | BR | João | da Silva Santos
Ana Paula Souza Lima | pt | BR | Ana Paula | Souza Lima
Ana Paula | pt | BR | Ana Paula |
Maria Fernanda Costa | pt | PT | Maria Fernanda | Costa
Jan van der Berg | nl | NL | Jan | van der Berg
Anneke de Vries | nl | NL | Anneke | de Vries
Pieter van 't Hoff | nl | NL | Pieter | van 't Hoff
Koen Op de Beeck | nl | BE | Koen | Op de Beeck
Björn Andersson | sv | SE | Björn | Andersson
Carl af Ugglas | sv | SE | Carl | af Ugglas
Mette Kjær Sørensen | da | DK | Mette | Sørensen
Kari Nordmann | no | NO | Kari | Nordmann
Jón Sigurðsson | is | IS | Jón | Sigurðsson
Katrín Jakobsdóttir | is | IS | Katrín | Jakobsdóttir
Jan Kowalski | pl | PL | Jan | Kowalski
Kowalska Katarzyna | pl | PL | Katarzyna | Kowalska
Jana Nováková | cs | CZ | Jana | Nováková
Zuzana Čaputová | sk | SK | Zuzana | Čaputová
Ivana Horvat | hr | HR | Ivana | Horvat
Ana Kovač | sl | SI | Ana | Kovač
Andrei Ionescu | ro | RO | Andrei | Ionescu
Kaja Kallas | et | EE | Kaja | Kallas
Jānis Bērziņš | lv | LV | Jānis | Bērziņš
Rūta Kazlauskienė | lt | LT | Rūta | Kazlauskienė
Mehmet Kaya | tr | TR | Mehmet | Kaya
Mehmet Ali Yılmaz | tr | TR | Mehmet Ali | Yılmaz
Γιώργος Παπαδόπουλος | el | GR | Γιώργος | Παπαδόπουλος
ΠΑΠΑΔΟΠΟΥΛΟΣ Γιώργος | el | GR | Γιώργος | ΠΑΠΑΔΟΠΟΥΛΟΣ
Kovács Eszter | hu | HU | Eszter | Kovács
Zsurzsa Kincső | hu | HU | Kincső | Zsurzsa
Zsurzsa Virgonc | en | HU |  |
Nagy Zsolt | hu | HU | Zsolt | Nagy
Máté Gábor | hu | HU | Gábor | Máté
B. Nagy Péter | hu | HU | Péter | B. Nagy
Kovács Nagy Eszter | hu | HU | Eszter | Kovács Nagy
John Smith | hu | HU |  |
Eszter Kovács | en | HU | Eszter | Kovács
Nguyễn Văn An | vi | VN | An | Nguyễn
Trần Thị Mai Hương | vi | VN | Hương | Trần
Lê Minh | vi | VN | Minh | Lê
Phạm Quang | de | DE | Quang | Phạm
Trà Thị Bích Phượng | vi | VN | Phượng | Trà
Иванов А. Б. | ru | RU | А. Б. | Иванов
Le Minh | fr | FR |  |
Петров Иван Сергеевич | ru | RU | Иван Сергеевич | Петров
Мария Сергеевна Петрова | ru | RU | Мария Сергеевна | Петрова
Мария Сергеевна | ru | RU | Мария Сергеевна |
Иван Петров | ru | RU | Иван | Петров
Петров Иван | ru | RU | Иван | Петров
ИВАНОВА Ольга | ru | RU | Ольга | ИВАНОВА
Шевченко Тарас Григорович | uk | UA | Тарас Григорович | Шевченко
Олена Коваленко | uk | UA | Олена | Коваленко
Иван Петров | bg | BG | Иван | Петров
Ivan Petrovich Sidorov | en | RU | Ivan Petrovich | Sidorov
山田 太郎 | ja | JP | 太郎 | 山田
山田太郎 | ja | JP | 太郎 | 山田
佐々木花子 | ja | JP | 花子 | 佐々木
林太郎 | ja | JP | 太郎 | 林
桐島健一 | ja | JP | 健一 | 桐島
高橋みなみ | ja | JP | みなみ | 高橋
やまだ たろう | ja | JP | たろう | やまだ
ヤマダ タロウ | ja | JP |  |
ジョン・スミス | ja | JP | ジョン | スミス
Taro Yamada | ja | JP | Taro | Yamada
YAMADA Taro | ja | JP | Taro | YAMADA
王小明 | zh | CN | 小明 | 王
歐陽娜娜 | zh | TW | 娜娜 | 歐陽
李娜 | zh | CN | 娜 | 李
陳大文 | en | HK | 大文 | 陳
约翰·史密斯 | zh | CN | 约翰 | 史密斯
Wang Xiaoming | zh | CN | Xiaoming | Wang
Li Wei | zh | CN |  |
김민수 | ko | KR | 민수 | 김
김 민수 | ko | KR | 민수 | 김
남궁민수 | ko | KR | 민수 | 남궁
محمد العلي | ar | SA | محمد | العلي
محمد عبد الرحمن | ar | EG | محمد | عبد الرحمن
خالد بن الوليد | ar | SA | خالد | بن الوليد
علیرضا رضایی | fa | IR | علیرضا | رضایی
יעל אלמוג | he | IL | יעל | אלמוג
יצחק בן דוד | he | IL | יצחק | בן דוד
כהן דוד | he | IL |  |
สมชาย ใจดี | th | TH | สมชาย | ใจดี
राजेश शर्मा | hi | IN | राजेश | शर्मा
राजेश कुमार शर्मा | hi | IN | राजेश कुमार | शर्मा
আরিফ রহমান | bn | BD | আরিফ | রহমান
எஸ். ராமன் | ta | IN |  |
გიორგი ბერიძე | ka | GE | გიორგი | ბერიძე
ბერიძე გიორგი | ka | GE | გიორგი | ბერიძე
Siti binti Ali | ms | MY | Siti | binti Ali
Joko Widodo | id | ID | Joko | Widodo
Maria | de | DE | Maria |
Müller | de | DE |  |
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in NAMES.strip().splitlines()]
WORDS = st.sampled_from(
    """
    Anna Roe GARCÍA de la van y J. Jr. O'Neill Nguyễn Kovács Иван Петров Сергеевич 山田 太郎 김 민수 עמית בן محمد عبد
    สมชาย Ana-Lena bin "Bob" ,
    """.split()  # noqa: SIM905 - shorter to read
)


def test_the_table_has_names_of_every_kind() -> None:
    assert len(ROWS) >= 120
    assert len({row[1] for row in ROWS}) >= 35
    assert sum(not row[3] and not row[4] for row in ROWS) >= 8


@pytest.mark.parametrize(("name", "language", "region", "first", "last"), ROWS, ids=lambda value: value or "none")
def test_a_name_is_split_where_its_order_is_known(name: str, language: str, region: str, first: str, last: str) -> None:
    assert tuple(split_name(name, language, region)) == (first, last)


@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from(["", "de", "es", "hu", "vi", "ja", "ru"]))
def test_first_and_last_name_are_words_of_the_name(words: list[str], language: str) -> None:
    name = " ".join(words)
    parts = split_name(name, language, "", has_title=True)
    given_words = name.replace(",", " , ").split()
    if " " in name:
        assert all(given_words.count(word) >= " ".join(parts).split().count(word) for word in " ".join(parts).split())
    else:
        assert name in (parts.first_name + parts.last_name, parts.last_name + parts.first_name) or not any(parts)


@given(st.text(max_size=60), st.sampled_from(["", "en", "hu", "zh"]))
def test_any_text_can_be_split(text: str, language: str) -> None:
    parts = split_name(text, language)
    assert all(part in " ".join(text.split()) for word in parts for part in word.split())


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [("Dr. Jane Roe, MBA", "Jane", "Roe"), ("Frau Müller", "", "Müller"), ("王小明先生", "小明", "王")],
)
def test_titles_are_no_part_of_a_written_name(written: str, first: str, last: str) -> None:
    assert tuple(split_written_name(written, "US" if written.isascii() else "")) == (first, last)


@pytest.mark.parametrize(
    "word",
    ["Herr", "Frau", "Ms", "Mr.", "Mme", "M.", "Sra.", "Sig.ra", "Pan", "D.", "D.ª", "Dª", "นาย", "السيد", "श्री"],
)
def test_a_form_of_address_is_no_degree(word: str) -> None:
    assert is_honorific(word)


@pytest.mark.parametrize("word", ["Dr.", "Prof.", "Dipl.-Ing.", "MUDr.", "Mag.", "Avv.", "ดร.", 'ד"ר'])
def test_a_degree_is_no_form_of_address(word: str) -> None:
    assert not is_honorific(word)


def people(language: str, region: str, *cards: str) -> dict[str, Person]:
    inside = "".join(f"<div class=card>{card}</div>" for card in cards)
    page = f"<html lang={language}><body><h2>Team</h2>{inside}</body></html>"
    return {one.name: one for one in read_contacts(page, url="https://example.org/team", region=region).people}


def test_form_of_address_and_degrees_stand_apart_from_the_name() -> None:
    found = people(
        "de",
        "DE",
        "<h3>Herr Dr. med. Hans von Berg, MBA</h3><p>Geschäftsführer</p>",
        "<h3>Frau Anna Maria Müller</h3><p>Assistentin</p>",
    )
    hans, anna = found["Hans von Berg"], found["Anna Maria Müller"]
    assert (hans.first_name, hans.last_name, hans.honorific, hans.degree) == (
        "Hans",
        "von Berg",
        "Herr",
        "Dr. med., MBA",
    )
    assert (anna.first_name, anna.last_name, anna.honorific, anna.degree) == ("Anna Maria", "Müller", "Frau", "")


def test_a_form_of_address_behind_a_name_is_found() -> None:
    found = people("zh", "CN", "<h3>王小明先生</h3><p>总经理</p>")["王小明"]
    assert (found.first_name, found.last_name, found.honorific) == ("小明", "王", "先生")


@pytest.mark.parametrize(
    "card",
    ["<h3>山田 太郎 (Taro Yamada)</h3>", "<h3>山田 太郎</h3><p>Taro Yamada</p>"],
    ids=["brackets", "next line"],
)
def test_the_latin_name_beside_another_script_is_no_second_person(card: str) -> None:
    found = people("ja", "JP", f"{card}<p>代表取締役</p>", "<h3>鈴木 花子</h3><p>取締役</p>")
    assert list(found) == ["山田 太郎", "鈴木 花子"]
    assert [one.name_latin for one in found.values()] == ["Taro Yamada", ""]
    assert found["山田 太郎"].title == "代表取締役"


def test_an_english_role_below_a_name_is_no_latin_name() -> None:
    found = people("ja", "JP", "<h3>山田 太郎</h3><p>Managing Director</p>", "<h3>鈴木 花子</h3><p>取締役</p>")
    assert found["山田 太郎"].name_latin == ""


def test_structured_data_declares_the_parts() -> None:
    data = '{"@type":"Person","name":"Qwertz Xylo","givenName":"Xylo","familyName":"Qwertz","honorificPrefix":"Dr."}'
    page = f'<script type="application/ld+json">{data}</script>'
    (found,) = read_contacts(page, url="https://example.org/").people
    assert (found.first_name, found.last_name, found.degree) == ("Xylo", "Qwertz", "Dr.")
