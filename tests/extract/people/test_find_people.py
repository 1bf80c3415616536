"""People by role, title, card and structured data; customers, makers, firms and headings are rejected."""

import pytest

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.results import Person


def people(html: str) -> list[Person]:
    return list(read_contacts(html).people)


def found(html: str) -> list[tuple[str, str]]:
    return [(person.name, person.title) for person in people(html)]


@pytest.mark.parametrize(
    ("html", "name", "title"),
    [
        ("<h3>Hannah Whitcombe</h3><p>Practice Manager</p>", "Hannah Whitcombe", "Practice Manager"),
        ("<h3>Michel ROCHETEAU</h3><h4>Moniteur diplômé d'État</h4>", "Michel ROCHETEAU", "Moniteur diplômé d'État"),
        ("<p>Inhaberin: Maria Brandauer</p>", "Maria Brandauer", "Inhaberin"),
        ("<p>Jonas Petersohn (Geschäftsführer)</p>", "Jonas Petersohn", "Geschäftsführer"),
        ("<p>Elina Koskela – Toimitusjohtaja</p>", "Elina Koskela", "Toimitusjohtaja"),
        ("<dl><dt>Předseda</dt><dd>Ondřej Blažek</dd></dl>", "Ondřej Blažek", "Předseda"),
        ("<table><tr><td>Erik Sandqvist</td><td>Verkstadschef</td></tr></table>", "Erik Sandqvist", "Verkstadschef"),
        ("<li><strong>Sander de Groot</strong> eigenaar en trainer</li>", "Sander de Groot", "eigenaar en trainer"),
        ("<div><span class='n'>Jonas Weber</span><span>Trainer</span></div>", "Jonas Weber", "Trainer"),
        ("<h1>Meet Dr. Olu Fombe</h1>", "Olu Fombe", ""),
        ("<h4>Ольга Белова</h4><p>Главный бухгалтер</p>", "Ольга Белова", "Главный бухгалтер"),
        ("<h4>Zeynep Doğan</h4><p>Diş hekimi</p>", "Zeynep Doğan", "Diş hekimi"),
        ("<h4>Tomasz Grzelak</h4><p>Fizjoterapeuta</p>", "Tomasz Grzelak", "Fizjoterapeuta"),
        ("<h4>Nuria Sepúlveda</h4><p>Abogada</p>", "Nuria Sepúlveda", "Abogada"),
        ("<h4>Renato Vasques</h4><p>Cirurgião-dentista</p>", "Renato Vasques", "Cirurgião-dentista"),
        ("<h4>Ruggero Antonelli</h4><p>Responsabile tecnico</p>", "Ruggero Antonelli", "Responsabile tecnico"),
        ("<h4>Kiss Dorottya</h4><p>Fogorvos</p>", "Kiss Dorottya", "Fogorvos"),
        ("<h5>Весела Тонкова</h5><p>Управител</p>", "Весела Тонкова", "Управител"),
        ("<p>院長 桐島 健一郎（きりしま けんいちろう）</p>", "桐島 健一郎", "院長"),
        ("<p>負責人：林文彥</p>", "林文彥", "負責人"),
        ("<p>대표 : 강민재</p>", "강민재", "대표"),
        ('<p>ד"ר יעל אלמוג, רופאת שיניים</p>', "יעל אלמוג", "רופאת שיניים"),
        ("<p>Inhaber: Tischlermeister Gernot Ennstaler</p>", "Gernot Ennstaler", "Tischlermeister"),
        ("<p>Mobile 098225 55184 (Mr. Kishor Wagh, Partner)</p>", "Kishor Wagh", "Partner"),
        ("<h4>Vlad Stănescu</h4><p>Medic stomatolog</p>", "Vlad Stănescu", "Medic stomatolog"),
    ],
)
def test_a_name_with_a_role_is_a_person_in_many_languages(html: str, name: str, title: str) -> None:
    assert found(html) == [(name, title)]


@pytest.mark.parametrize(
    "html",
    [
        "<li><strong>Femke Jansen</strong> – Manager <a href='mailto:f@kontor.example'>f@kontor.example</a></li>",
        "<p>Femke Jansen – Manager, +31 20 555 0147</p>",
        "<p>Femke Jansen, Manager: f@kontor.example, www.kontor.example</p>",
        "<h3>Femke Jansen</h3><p>Manager f@kontor.example</p>",
    ],
)
def test_an_address_or_a_number_on_the_same_line_is_no_part_of_the_role(html: str) -> None:
    assert found(html) == [("Femke Jansen", "Manager")]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Vi heter Ingvild Nordgård og Sondre Bakkeli, og vi har fotografert brudepar siden 2014.</p>",
        "<p>Hello, our names are Ingvild Nordgård and Sondre Bakkeli and we take all the pictures.</p>",
    ],
)
def test_people_who_introduce_themselves_are_found(html: str) -> None:
    assert [person.name for person in people(html)] == ["Ingvild Nordgård", "Sondre Bakkeli"]


def test_the_role_between_two_names_is_that_of_the_first() -> None:
    html = "<h2>Team</h2><h4>Daniel Hennessy</h4><p>Owner</p><h4>Sharon Hennessy</h4><p>The real heart of it.</p>"
    assert found(html)[0] == ("Daniel Hennessy", "Owner")
    assert all(title != "Owner" for name, title in found(html) if name != "Daniel Hennessy")


def test_all_names_behind_one_role_have_it() -> None:
    assert found("<p>Trainer: Kai Uhland, Jasmin Öztürk</p>") == [
        ("Kai Uhland", "Trainer"),
        ("Jasmin Öztürk", "Trainer"),
    ]


def test_a_new_section_ends_the_reviews() -> None:
    quote = "<p>“They are thorough, humane and quite unflappable.”</p>"
    html = f"{quote}<h2>Our lawyers</h2><h3>Hannah Whitcombe</h3><p>Solicitor</p>"
    assert found(html) == [("Hannah Whitcombe", "Solicitor")]
    assert found(f"{quote}<h3>Hannah Whitcombe</h3><p>Solicitor</p>") == []


def test_the_classes_of_the_whole_page_are_no_zones() -> None:
    card = "<h3>Hannah Whitcombe</h3><p>Solicitor</p>"
    assert found(f"<body class='t-nav has-testimonials'><div class='has-nav'>{card}</div></body>") == [
        ("Hannah Whitcombe", "Solicitor")
    ]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "院長 ご挨拶",
            "店長 日記",
            "代表 電話",
            "院長 紹介 動画",
            "担当：営業部",
            "責任者：総務課",
            "料理長 特製 弁当",
        ),
        *("강사 소개", "대표 전화", "대표 : 전화상담", "담당자 : 고객센터"),
    ],
)
def test_a_heading_behind_a_role_is_no_person(line: str) -> None:
    assert found(f"<h2>{line}</h2>") == []


def test_an_address_below_a_name_is_no_role() -> None:
    html = "<h2>Team</h2><h3>Jari Salminen</h3><p>jari.salminen@hammaslaakarit.example</p>"
    assert found(html) == [("Jari Salminen", "")]


def test_in_a_list_of_terms_the_role_is_the_term_above_the_name() -> None:
    html = (
        "<dl><dt>Geschäftsführerin</dt><dd>Miriam Krüger</dd><dt>Bäckermeister</dt><dd>Jonas Wagner "
        "<a href='mailto:j@kontor.example'>j@kontor.example</a></dd><dt>Büroleiter</dt><dd>Birgit Lehmann</dd></dl>"
    )
    roles = {"Miriam Krüger": "Geschäftsführerin", "Jonas Wagner": "Bäckermeister", "Birgit Lehmann": "Büroleiter"}
    assert dict(found(html)) == roles


def test_a_role_that_could_be_a_surname_stays_with_its_card() -> None:
    card = "<div class='team-member'><h3 class='name'>{}</h3><p class='role'>{}</p></div>"
    staff = [("Olivia Holloway", "Owner"), ("Grace Whitcombe", "Baker"), ("Daniel Harrison", "Cook")]
    assert found("".join(card.format(*one) for one in staff)) == staff


def test_a_title_makes_a_person_in_running_text() -> None:
    html = "<p>In unserer Praxis behandelt Sie Dr. med. Anke Brandauer, Fachärztin für Innere Medizin, seit 2004.</p>"
    assert found(html) == [("Anke Brandauer", "Fachärztin für Innere Medizin")]


def test_a_role_introduces_a_person_in_running_text() -> None:
    html = "<p>The studio was started in a garage by our founder Peter Johnson and has grown ever since.</p>"
    assert found(html) == [("Peter Johnson", "founder")]


def test_each_name_in_a_row_is_a_person() -> None:
    html = "<p>Maria Weber (Vorsitzende) | Peter Schulz (Kassierer) | Anna Lang (Schriftführerin)</p>"
    assert [name for name, _ in found(html)] == ["Maria Weber", "Peter Schulz", "Anna Lang"]


def test_structured_data_names_people() -> None:
    html = """<script type="application/ld+json">{"@type": "Person", "name": "Maria Weber", "jobTitle": "Owner",
    "email": "maria@kontor.example"}</script>"""
    (person,) = people(html)
    assert (person.name, person.title, person.email) == ("Maria Weber", "Owner", "maria@kontor.example")


def test_the_author_of_a_review_is_not_a_person_of_the_business() -> None:
    html = """<script type="application/ld+json">{"@type": "Dentist", "review": [{"@type": "Review", "author":
    {"@type": "Person", "name": "Peter Johnson", "jobTitle": "Engineer"}}]}</script>"""
    assert found(html) == []


def test_address_and_number_are_those_of_the_same_card() -> None:
    card = "<div class='member'><h3>{}</h3><p>{}</p><p>{}</p><p>{}</p></div>"
    html = card.format("Maria Weber", "Owner", "m@kontor.example", "040 418 7306")
    html += card.format("Peter Schulz", "Trainer", "p@kontor.example", "040 418 7307")
    contacts = read_contacts(html, region="FI")
    assert [(person.email, person.phone) for person in contacts.people] == [
        ("m@kontor.example", "+358404187306"),
        ("p@kontor.example", "+358404187307"),
    ]


def test_the_same_person_is_named_once_by_the_fullest_name() -> None:
    html = "<h1>Dr. C. Weber</h1><p>Zahnärztin</p><h3>Dr. Christine Weber</h3><p>Zahnärztin</p>"
    assert [name for name, _ in found(html)] == ["Christine Weber"]


@pytest.mark.parametrize(
    "html",
    [
        "<div class='testimonial'><p>Great!</p><h4>Peter Johnson</h4><p>Director</p></div>",
        "<h2>What our clients say: reviews</h2><p>Great work all round, thank you.</p><h4>Peter Johnson</h4><p>CEO</p>",
        "<blockquote>Work hard. <cite>Peter Johnson</cite></blockquote>",
        "<p>“The best team we have ever met in all these years.”</p><h4>Peter Johnson</h4><p>Manager</p>",
        "<p>Photo: Peter Johnson</p>",
        "<footer><p>Website by Peter Johnson</p></footer>",
        "<h3>Our Services</h3><p>Managers and directors trust us</p>",
        "<h3>Office Manager</h3><p>Head Coach</p>",
        "<h3>Weber GmbH</h3><p>Geschäftsführer</p>",
        "<h3>Hotel Maria Theresia</h3><p>Manager on duty</p>",
        "<nav><a href='/t'>Maria Weber</a></nav>",
        "<p>Maria-Theresia-Straße 5</p><p>80331 München</p>",
        "<h4>Peter Johnson</h4><p>Director</p><p>Lorem ipsum dolor sit amet</p>",
        "<h3>Villa Maria</h3><p>Sea view for six guests</p>",
    ],
)
def test_other_names_are_not_people_of_the_business(html: str) -> None:
    assert found(html) == []


def test_the_reason_for_rejecting_a_name_is_returned() -> None:
    contacts = read_contacts("<div class='reviews'><h4>Peter Johnson</h4><p>Manager</p></div>")
    assert [(one.value, one.reason) for one in contacts.rejected] == [("Peter Johnson", "a customer's voice")]
