"""The seniority of titles, in the languages served."""

from pathlib import Path

import pytest

from scrapersky.core.vocabularies import JobFunction
from scrapersky.extract.people.seniority import Seniority, functions_in, title_meaning
from scrapersky.extract.word_lists import load_table

# One line per language: owner; head of the business; head of sales; junior.
LANGUAGES = {
    "en": ("Owner", "Managing Director", "Head of Sales", "Receptionist"),
    "de": ("Praxisinhaberin", "Geschäftsführer", "Vertriebsleiterin", "Auszubildende"),
    "fi": ("Yrittäjä", "Toimitusjohtaja", "Myyntipäällikkö", "Hammashoitaja"),
    "sv": ("Delägare", "Verkställande direktör", "Försäljningschef", "Receptionist"),
    "da": ("Indehaver", "Administrerende direktør", "Salgschef", "Klinikassistent"),
    "no": ("Eier", "Daglig leder", "Salgssjef", "Resepsjonist"),
    "is": ("Eigandi", "Framkvæmdastjóri", "Sölustjóri", "Móttökuritari"),
    "fr": ("Propriétaire", "Gérante", "Directeur commercial", "Stagiaire"),
    "es": ("Dueña", "Gerente", "Director comercial", "Recepcionista"),
    "pt": ("Sócia-fundadora", "Diretora geral", "Diretor comercial", "Estagiário"),
    "it": ("Titolare", "Amministratore unico", "Responsabile vendite", "Segretaria"),
    "nl": ("Eigenaar", "Directeur", "Hoofd verkoop", "Stagiair"),
    "pl": ("Właścicielka", "Prezes zarządu", "Kierownik działu sprzedaży", "Recepcjonistka"),
    "cs": ("Majitel", "Jednatel", "Obchodní ředitel", "Asistentka"),
    "sk": ("Majiteľka", "Konateľ", "Obchodný riaditeľ", "Recepčná"),
    "hu": ("Tulajdonos", "Ügyvezető", "Értékesítési vezető", "Recepciós"),
    "ro": ("Proprietar", "Director general", "Director de vânzări", "Recepționer"),
    "hr": ("Vlasnica", "Direktor", "Voditelj prodaje", "Pripravnik"),
    "et": ("Omanik", "Tegevjuht", "Müügijuht", "Praktikant"),
    "lv": ("Īpašnieks", "Valdes priekšsēdētājs", "Pārdošanas vadītāja", "Sekretāre"),
    "lt": ("Savininkas", "Generalinis direktorius", "Pardavimų vadovas", "Padėjėja"),
    "ru": ("Владелец", "Генеральный директор", "Руководитель отдела продаж", "Секретарь"),
    "uk": ("Власниця", "Генеральний директор", "Керівник відділу продажів", "Помічник"),
    "bg": ("Собственик", "Управител", "Ръководител продажби", "Стажант"),
    "el": ("Ιδιοκτήτης", "Διευθύνων Σύμβουλος", "Διευθυντής Πωλήσεων", "Γραμματέας"),
    "tr": ("Kurucu", "Genel Müdür", "Satış Müdürü", "Stajyer"),
    "id": ("Pemilik", "Direktur Utama", "Manajer Penjualan", "Resepsionis"),
    "vi": ("Người sáng lập", "Tổng giám đốc", "Trưởng phòng kinh doanh", "Lễ tân"),
    "ja": ("オーナー", "代表取締役", "営業部長", "受付"),
    "zh": ("创始人", "总经理", "销售经理", "前台"),
    "ko": ("창업자", "대표이사", "영업팀장", "인턴"),
    "ar": ("مؤسس", "المدير العام", "مدير المبيعات", "سكرتيرة"),
    "fa": ("بنیانگذار", "مدیرعامل", "مدیر فروش", "منشی"),
    "he": ("בעלים", 'מנכ"ל', "מנהלת מכירות", "מזכירה"),
    "th": ("เจ้าของ", "กรรมการผู้จัดการ", "ผู้จัดการฝ่ายขาย", "พนักงานต้อนรับ"),
    "hi": ("संस्थापक", "प्रबंध निदेशक", "बिक्री प्रबंधक", "सहायक"),
    "bn": ("প্রতিষ্ঠাতা", "ব্যবস্থাপনা পরিচালক", "বিক্রয় ব্যবস্থাপক", "সহকারী"),
    "ka": ("დამფუძნებელი", "გენერალური დირექტორი", "გაყიდვების მენეჯერი", "ასისტენტი"),
}
LEVELS = (Seniority.OWNER, Seniority.CHIEF, Seniority.HEAD, Seniority.JUNIOR)


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_of_every_language_have_their_level(language):
    titles = LANGUAGES[language]
    assert tuple(title_meaning(title).seniority for title in titles) == LEVELS
    assert "sales" in title_meaning(titles[2]).functions


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("Product Owner", Seniority.STAFF),
        ("Key Account Manager", Seniority.STAFF),
        ("Funeral Director", Seniority.STAFF),
        ("Chef de projet", Seniority.STAFF),
        ("Zahnärztin", Seniority.STAFF),
        ("O.D.", Seniority.STAFF),
        ("Director", Seniority.CHIEF),
        ("Director of Marketing", Seniority.HEAD),
        ("Marketing Director", Seniority.HEAD),
        ("Managing Director Sales", Seniority.CHIEF),
        ("Assistant to the Managing Director", Seniority.JUNIOR),
        ("Assistentin der Geschäftsleitung", Seniority.JUNIOR),
        ("Assistante de direction", Seniority.JUNIOR),
        ("Stellvertretende Vorsitzende", Seniority.EXECUTIVE),
        ("Vice President", Seniority.EXECUTIVE),
        ("Müdür Yardımcısı", Seniority.EXECUTIVE),
        ("副院長", Seniority.EXECUTIVE),
        ('סמנכ"ל שיווק', Seniority.EXECUTIVE),
        ("Deputy Head of Marketing", Seniority.STAFF),
        ("Dentist, owner", Seniority.OWNER),
        ("Owner / Receptionist", Seniority.OWNER),
        ("Inhaberin und Zahnärztin", Seniority.OWNER),
        ("CEO & Co-Founder", Seniority.OWNER),
        ("Senior Pastor", Seniority.CHIEF),
        ("Schulleiterin", Seniority.CHIEF),
        ("Former chairman", Seniority.OUTSIDE),
        ("Ehem. Geschäftsführer", Seniority.OUTSIDE),
        ("Datenschutzbeauftragter", Seniority.OUTSIDE),
        ("Tietosuojavastaava", Seniority.OUTSIDE),
    ],
)
def test_the_longest_words_and_their_order_decide(title, level):
    assert title_meaning(title).seniority is level


@pytest.mark.parametrize(
    ("text", "function"),
    [("Leiter Finanzen", "finance"), ("IT-Leiter", "it"), ("CFO", "finance"), ("Personalchefin", "hr"),
     ("Ostopäällikkö", "purchasing"), ("Directrice de la communication", "communications"), ("法務部長", "legal"),
     ("marketing", "marketing"), ("myynti", "sales"), ("kundenservice", "support")],
)  # fmt: skip
def test_titles_and_mailboxes_have_their_function(text, function):
    assert function in functions_in(text)


def test_every_function_has_words():
    assert list(load_table("functions")["functions"]) == list(JobFunction)


@pytest.mark.parametrize(
    "title", ["Direction", "Direzione", "Dirección", "Direção", "Dyrekcja", "Vedení", "Ledelse", "Yönetim"]
)
def test_the_management_as_a_title_is_the_head_of_the_business(title: str) -> None:
    assert title_meaning(title).seniority is Seniority.CHIEF


def test_the_management_of_a_function_is_not_the_head_of_the_business() -> None:
    assert title_meaning("Direzione commerciale").seniority is Seniority.HEAD
    assert title_meaning("Direction artistique").seniority is Seniority.HEAD


def _labelled_titles() -> list[tuple[str, str, str]]:
    lines = Path(__file__).with_name("data").joinpath("titles.txt").read_text("utf-8").splitlines()
    rows = [[part.strip() for part in line.split("|")] for line in lines if not line.startswith("#")]
    return [(language, level, title.strip()) for language, level, titles in rows for title in titles.split(";")]


def test_the_labelled_titles_of_all_languages_have_their_level():
    """Every language is a reader's judgement; a title that is added here and has another level needs a word."""
    titles = _labelled_titles()
    assert len(titles) >= 300
    assert {language for language, _, _ in titles} >= set(LANGUAGES) - {"ms"}
    wrong = [one for one in titles if title_meaning(one[2]).seniority.name.lower() != one[1]]
    assert wrong == []
