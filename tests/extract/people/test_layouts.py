"""People by the layout of a page: cards, tables, lists, slots of titles, in scripts with and without capitals."""

import pytest

from scrapersky.extract.contacts import read_contacts


def found(html: str) -> list[tuple[str, str]]:
    return [(person.name, person.title) for person in read_contacts(html).people]


def contacts(html: str, region: str) -> dict[str, tuple[str, str]]:
    return {person.name: (person.email, person.phone) for person in read_contacts(html, region=region).people}


def cards(*rows: tuple[str, str], title: str = "Our team") -> str:
    body = "".join(f"<div class=c><h3>{name}</h3><p class=r>{role}</p></div>" for name, role in rows)
    return f"<title>{title}</title><h1>{title}</h1>{body}"


@pytest.mark.parametrize(
    ("title", "rows"),
    [
        ("スタッフ紹介", [("中川 美咲", "看護師"), ("森 大輔", "理学療法士")]),
        ("团队成员", [("王建国", "总经理"), ("李小红", "财务主管")]),
        ("임직원", [("최은영", "원장"), ("정우진", "물리치료사")]),
        ("الإدارة", [("خالد الشمري", "المدير العام"), ("هدى سليم", "مديرة التسويق")]),
        ("تیم ما", [("رضا مرادی", "مدیر فروش"), ("مریم کاظمی", "حسابدار")]),
        ("צוות המרפאה", [("ענת ברגר", "רופאת שיניים"), ("אורי שטרן", "מזכיר רפואי")]),
        ("คณะกรรมการ", [("ประเสริฐ มั่นคง", "ประธาน"), ("อรทัย สุขใจ", "เลขานุการ")]),
        ("हमारी टीम", [("राजेश शर्मा", "निदेशक"), ("कविता जोशी", "लेखाकार")]),
        ("আমাদের দল", [("তানভীর হোসেন", "ব্যবস্থাপনা পরিচালক"), ("শারমিন আক্তার", "হিসাবরক্ষক")]),
        ("გუნდი", [("ნინო ბერიძე", "დირექტორი"), ("ლევან კაპანაძე", "იურისტი")]),
    ],
)
def test_cards_are_read_in_scripts_without_capitals(title: str, rows: list[tuple[str, str]]) -> None:
    assert found(cards(*rows, title=title)) == rows


@pytest.mark.parametrize(
    "texts",
    [
        ["会社概要", "お問い合わせ", "採用情報"],
        ["产品中心", "新闻动态", "联系我们"],
        ["회사소개", "오시는길", "공지사항"],
        ["من نحن", "خدماتنا", "اتصل بنا"],
        ["אודות", "שירותים", "צור קשר"],
        ["เกี่ยวกับเรา", "บริการของเรา", "ติดต่อเรา"],
        ["हमारे बारे में", "सेवाएं", "संपर्क करें"],
    ],
)
def test_headings_in_scripts_without_capitals_are_no_people(texts: list[str]) -> None:
    assert found("".join(f"<div><h3>{text}</h3><p>{text}</p></div>" for text in texts)) == []


def test_a_role_and_a_name_stand_in_two_cells() -> None:
    html = "<table><tr><th>職位</th><th>姓名</th></tr><tr><td>理事長</td><td>陳志明</td></tr></table>"
    assert found(html) == [("陳志明", "理事長")]


def test_a_column_of_names_makes_unknown_names_people() -> None:
    html = (
        "<h2>Vorstand</h2><table><tr><th>Name</th><th>Aufgabe</th></tr>"
        "<tr><td>Wubbo Onken</td><td>Gerätehalle</td></tr><tr><td>Hauke Eilers</td><td>Kassenwart</td></tr></table>"
    )
    assert [name for name, _ in found(html)] == ["Wubbo Onken", "Hauke Eilers"]


def test_a_word_of_no_list_is_a_title_where_others_have_theirs() -> None:
    rows = [("Piet Jansen", "Directeur"), ("Els de Boer", "Boekhouder"), ("Kees Mulder", "Binnendienst")]
    assert found(cards(*rows, title="Medewerkers")) == rows


def test_unknown_names_with_their_own_address_are_people() -> None:
    html = "<h1>Zaposlenici</h1>" + "".join(
        f"<div><h4>{name}</h4><p>{role}</p><p>{mail}@zavod-x.hr</p></div>"
        for name, role, mail in [
            ("Tihana Grgurek", "voditeljica", "grgurek"),
            ("Zvonko Špoljar", "terenski rad", "spoljar"),
        ]
    )
    assert [name for name, _ in found(html)] == ["Tihana Grgurek", "Zvonko Špoljar"]


def test_names_under_a_label_take_it_as_their_title() -> None:
    html = "<h2>Bestuur</h2><p>Voorzitter: Jan de Vries</p><p>Leden:</p><p>Anna Bakker</p><p>Piet Smit</p>"
    assert found(html) == [("Jan de Vries", "Voorzitter"), ("Anna Bakker", "Leden"), ("Piet Smit", "Leden")]


def test_headings_are_the_titles_of_the_names_below_them() -> None:
    html = "<h2>Presidente</h2><p>Marta Gómez</p><h2>Tesorero</h2><p>Luis Herrera</p><h2>Vocales</h2><p>Ana Ruiz</p>"
    assert found(html) == [("Marta Gómez", "Presidente"), ("Luis Herrera", "Tesorero"), ("Ana Ruiz", "Vocales")]


def test_the_heading_of_a_team_is_no_title() -> None:
    assert found("<h2>Our dentists</h2><h3>Dr. Amy Lark</h3><p>She likes the sea, and her patients like her.</p>") == [
        ("Amy Lark", "")
    ]


def test_a_role_stands_behind_a_line_of_degrees() -> None:
    html = "<h2>Doctors</h2><h4>Dr. Anil Kulkarni</h4><p>MBBS, MD, FRCP</p><p>Consultant Cardiologist</p>"
    assert found(html) == [("Anil Kulkarni", "Consultant Cardiologist")]


def test_a_sentence_gives_its_role_and_is_no_title() -> None:
    html = (
        "<h1>Meet the team</h1><h2>Jane Mills</h2><p>Jane is a physiotherapist who joined us nine years ago.</p>"
        "<h2>Tom Reed</h2><p>Tom paints, runs the choir, and has worked in four countries since he left school.</p>"
    )
    assert found(html) == [("Jane Mills", "physiotherapist"), ("Tom Reed", "")]


def test_a_label_of_a_name_or_a_title_is_not_part_of_it() -> None:
    assert found("<h2>Kontakt</h2><p>Name: Karl Brandt</p><p>Position: Werkstattleiter</p>") == [
        ("Karl Brandt", "Werkstattleiter")
    ]


def test_given_and_family_name_in_two_headings_are_one_name() -> None:
    html = "".join(
        f"<div><h2>{given}</h2><h3>{family}</h3><p>Zahnärztin</p></div>"
        for given, family in [("Anna", "Lindenberg"), ("Petra", "Hofstätter")]
    )
    assert found(html) == [("Anna Lindenberg", "Zahnärztin"), ("Petra Hofstätter", "Zahnärztin")]


def test_a_function_of_no_list_stands_before_a_name_with_a_number() -> None:
    html = "<p>Lager - Anna Nowak</p><p>+48 601 882 417</p><p>Versand - Jan Kowalski</p><p>+48 601 882 418</p>"
    assert found(html) == [("Anna Nowak", "Lager"), ("Jan Kowalski", "Versand")]


def test_a_patronymic_makes_a_name() -> None:
    html = "<title>Сотрудники</title>" + "".join(
        f"<div><div>{name}</div></div>" for name in ("Зуева Инна Львовна", "Ким Олег Петрович")
    )
    assert [name for name, _ in found(html)] == ["Зуева Инна Львовна", "Ким Олег Петрович"]


def test_an_abbreviation_before_a_name_is_a_title_and_no_initial() -> None:
    html = cards(("Uzm. Ayşe Demir", "Psikolog"), ("Uzm. Ali Demir", "Fizyoterapist"), title="Ekibimiz")
    assert found(html) == [("Ayşe Demir", "Psikolog"), ("Ali Demir", "Fizyoterapist")]


def test_a_motto_below_name_and_role_is_no_review() -> None:
    html = "<h2>Unser Team</h2>" + "".join(
        f"<div><h3>{name}</h3><p>{role}</p><p>„Wer gern arbeitet, der arbeitet auch gut und lange.“</p></div>"
        for name, role in [("Eva Brandl", "Trainerin"), ("Paul Huber", "Masseur")]
    )
    assert found(html) == [("Eva Brandl", "Trainerin"), ("Paul Huber", "Masseur")]


def test_lecturers_of_courses_are_not_people_of_the_business() -> None:
    html = (
        "<h1>Unser Team</h1><h2>Dr. Eva Brandl</h2><p>Zahnärztin</p><p>Fortbildungen:</p>"
        "<ul><li>Implantologie (Prof. Dr. Karl Lehmann)</li><li>Ästhetik bei Dr. Peter Wolff</li></ul>"
    )
    assert found(html) == [("Eva Brandl", "Zahnärztin")]


def test_template_text_is_recognised_without_its_first_words() -> None:
    html = "<h3>Jane Cooper</h3><p>Manager</p><p>Vestibulum tempor magna aliqua, consectetur elit sed dolore.</p>"
    assert found(html) == []


def test_a_wrapper_named_nav_is_no_menu() -> None:
    html = "<div class='tab-nav'><div><h3>Hannah Whitcombe</h3><p>Practice Manager</p></div></div>"
    assert found(html) == [("Hannah Whitcombe", "Practice Manager")]


def test_icons_at_the_end_of_a_card_belong_to_its_person() -> None:
    html = "<h1>Team</h1>" + "".join(
        f"<li><b>{name}</b><p>{role}</p>"
        f"<a href='mailto:{mail}@x-tools.de'><i></i></a><a href='tel:{phone}'><i></i></a></li>"
        for name, role, mail, phone in [
            ("Jana Wolf", "Verkauf", "a1", "+4930901820"),
            ("Max Busch", "Leiter", "a2", "+4930901821"),
        ]
    )
    assert contacts(html, "DE") == {
        "Jana Wolf": ("a1@x-tools.de", "+4930901820"),
        "Max Busch": ("a2@x-tools.de", "+4930901821"),
    }


def test_the_address_of_the_next_section_is_not_that_of_the_last_person() -> None:
    html = "<h3>Verkauf</h3><p>Jana Wolf, Leiterin</p><h3>Lager</h3><p>lager@x-tools.de</p><p>Max Busch, Lagerist</p>"
    assert contacts(html, "DE") == {"Jana Wolf": ("", ""), "Max Busch": ("lager@x-tools.de", "")}


def test_the_only_person_of_a_page_has_the_personal_address_below() -> None:
    html = "<h1>Kontakt</h1><h2>Jana Wolf</h2><p>Inhaberin</p><p>Tel. 030 901820</p><p>jw@x-tools.de</p>"
    assert contacts(html, "DE") == {"Jana Wolf": ("jw@x-tools.de", "+4930901820")}


def test_the_only_person_of_a_page_does_not_take_the_mailbox_of_the_business() -> None:
    html = "<h1>Kontakt</h1><h2>Jana Wolf</h2><p>Inhaberin</p><p>info@x-tools.de</p>"
    assert contacts(html, "DE") == {"Jana Wolf": ("", "")}
