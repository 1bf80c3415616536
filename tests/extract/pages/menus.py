"""Invented menus of home pages in many languages, in the address styles of many builders, with the right answers."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from scrapersky.extract.pages.select import PageLink

# language: one menu per line; contact, team and imprint page (“-” where a site has none), then the other links
MENUS = """
en: Contact us, Meet the team, - ; Home, About us, Services, Blog, Prices, Gallery, Privacy policy, Shop, FAQ
en: Find us, Trustees, Legal notice ; Home, What we do, News, Events, Donate, Volunteer, Safeguarding, Cookies
en: Visit, Our pastors, - ; Home, Sermons, Give, Calendar, I'm new, Ministries, Youth, Prayer
de: Kontakt, Unser Team, Impressum ; Startseite, Leistungen, Aktuelles, Referenzen, Galerie, Datenschutz, AGB
de: So finden Sie uns, Vorstand, Impressum ; Home, Verein, Termine, Mannschaften, Sponsoren, Downloads, Datenschutz
de: Anfahrt & Kontakt, Ärzte, Impressum ; Start, Praxis, Sprechzeiten, Leistungen, Stellenangebote, Datenschutz
fr: Nous contacter, Notre équipe, Mentions légales ; Accueil, Prestations, Tarifs, Actualités, Galerie, CGV
fr: Nous situer, Le conseil, Mentions légales ; Accueil, La paroisse, Agenda, Dons, Horaires, Photos
es: Contacto, Equipo, Aviso legal ; Inicio, Servicios, Noticias, Tienda, Galería, Política de cookies
es: Dónde estamos, Docentes, Aviso legal ; Inicio, Oferta educativa, Admisiones, Calendario, Biblioteca, Noticias
ca: Contacte, L'equip, Avís legal ; Inici, Serveis, Notícies, Galeria, Política de privacitat, Botiga
it: Contatti, Il nostro staff, Note legali ; Home, Servizi, Prezzi, Notizie, Gallery, Privacy
it: Dove siamo, Chi siamo, - ; Home, Camere, Ristorante, Offerte, Foto, Dintorni, Prenota
pt: Contato, Nossa equipe, - ; Início, Serviços, Produtos, Blog, Galeria, Política de privacidade
pt: Onde estamos, Professores, Aviso legal ; Início, Cursos, Matrículas, Eventos, Galeria, Notícias
nl: Contact, Ons team, Colofon ; Home, Diensten, Nieuws, Tarieven, Werkwijze, Privacyverklaring, Vacatures
nl: Route en openingstijden, Medewerkers, - ; Home, Aanbod, Agenda, Foto's, Sponsors, Nieuws
fi: Yhteystiedot, Henkilökunta, - ; Etusivu, Palvelut, Hinnasto, Ajankohtaista, Galleria, Tietosuojaseloste
fi: Ota yhteyttä, Hallitus, - ; Etusivu, Toiminta, Tapahtumat, Jäseneksi, Uutiset, Kuvat
sv: Kontakta oss, Medarbetare, - ; Hem, Tjänster, Nyheter, Priser, Galleri, Integritetspolicy
sv: Hitta hit, Styrelsen, - ; Hem, Verksamhet, Kalender, Bli medlem, Bilder, Länkar
da: Kontakt, Medarbejdere, - ; Forside, Ydelser, Priser, Nyheder, Galleri, Cookies
da: Find vej, Bestyrelsen, - ; Forside, Aktiviteter, Kalender, Bliv medlem, Billeder
no: Kontakt oss, Ansatte, - ; Hjem, Tjenester, Priser, Nyheter, Galleri, Personvern
no: Finn oss, Styret, - ; Hjem, Aktiviteter, Terminliste, Bli medlem, Bilder
is: Hafa samband, Starfsfólk, - ; Forsíða, Þjónusta, Fréttir, Verðskrá, Myndir, Vörur
is: Staðsetning, Stjórn, - ; Forsíða, Starfsemi, Viðburðir, Myndasafn, Tenglar
pl: Kontakt, Nasz zespół, Nota prawna ; Strona główna, Oferta, Cennik, Aktualności, Galeria, Polityka prywatności
pl: Dojazd, Lekarze, - ; Start, Poradnie, Cennik, Rejestracja, Aktualności, Galeria
cs: Kontakty, Náš tým, - ; Úvod, Služby, Ceník, Aktuality, Fotogalerie, Ochrana osobních údajů
cs: Kde nás najdete, Učitelé, - ; Úvod, O škole, Jídelna, Družina, Dokumenty, Fotky
sk: Kontakt, Náš tím, - ; Domov, Služby, Cenník, Novinky, Galéria, Ochrana súkromia
sl: Kontakt, Zaposleni, Pravno obvestilo ; Domov, Storitve, Cenik, Novice, Galerija, Zasebnost
hu: Kapcsolat, Munkatársak, Impresszum ; Főoldal, Szolgáltatások, Árak, Hírek, Galéria, Adatvédelem
hu: Elérhetőség, Orvosaink, Impresszum ; Kezdőlap, Szakrendelések, Árlista, Blog, Galéria
ro: Contact, Echipa noastră, - ; Acasă, Servicii, Prețuri, Noutăți, Galerie, Politica de confidențialitate
hr: Kontakt, Naš tim, Impressum ; Naslovnica, Usluge, Cjenik, Novosti, Galerija, Pravila privatnosti
sr: Контакт, Наш тим, Импресум ; Почетна, Услуге, Ценовник, Новости, Галерија
bg: Контакти, Нашият екип, - ; Начало, Услуги, Цени, Новини, Галерия, Политика за поверителност
el: Επικοινωνία, Η ομάδα μας, - ; Αρχική, Υπηρεσίες, Τιμές, Νέα, Φωτογραφίες, Όροι χρήσης
et: Kontakt, Meeskond, - ; Avaleht, Teenused, Hinnakiri, Uudised, Galerii, Privaatsus
lv: Kontakti, Mūsu komanda, - ; Sākums, Pakalpojumi, Cenas, Jaunumi, Galerija, Privātums
lt: Kontaktai, Mūsų komanda, - ; Pradžia, Paslaugos, Kainos, Naujienos, Galerija, Privatumas
tr: İletişim, Ekibimiz, - ; Ana sayfa, Hizmetler, Fiyatlar, Haberler, Galeri, Gizlilik
tr: Bize ulaşın, Doktorlarımız, Künye ; Anasayfa, Tedaviler, Randevu, Blog, Galeri
ru: Контакты, Наша команда, Реквизиты ; Главная, Услуги, Цены, Новости, Галерея, Вакансии
ru: Как нас найти, Врачи, - ; Главная, Отделения, Прайс-лист, Акции, Отзывы
uk: Контакти, Наша команда, - ; Головна, Послуги, Ціни, Новини, Галерея, Вакансії
ja: お問い合わせ, スタッフ紹介, 特定商取引法に基づく表記 ; ホーム, サービス, 料金, お知らせ, ギャラリー
ja: アクセス, 院長紹介, - ; トップページ, 診療案内, 診療時間, よくある質問, ブログ
zh: 联系我们, 团队介绍, - ; 首页, 产品中心, 新闻动态, 解决方案, 下载
zh: 聯絡我們, 醫師團隊, - ; 首頁, 門診時間, 最新消息, 衛教資訊, 相簿
ko: 오시는 길, 의료진 소개, - ; 홈, 진료안내, 공지사항, 갤러리, 예약
ko: 문의하기, 임직원, 사업자정보 ; 홈, 제품, 뉴스, 자료실, 채용
ar: اتصل بنا, فريق العمل, - ; الرئيسية, خدماتنا, الأخبار, المعرض, الأسعار
ar: تواصل معنا, أطباؤنا, - ; الصفحة الرئيسية, العيادات, المدونة, الحجز, الصور
he: צור קשר, הצוות שלנו, - ; דף הבית, שירותים, מחירון, בלוג, גלריה
he: יצירת קשר, אנשי הצוות, - ; ראשי, טיפולים, המלצות, מאמרים, תמונות
fa: تماس با ما, تیم ما, - ; صفحه اصلی, خدمات ما, اخبار, گالری, قیمت
fa: ارتباط با ما, پزشکان, - ; صفحه اصلی, بخش ها, نوبت دهی, وبلاگ, تصاویر
th: ติดต่อเรา, ทีมงาน, - ; หน้าแรก, บริการ, ข่าวสาร, ราคา, แกลเลอรี่
th: แผนที่, คณะผู้บริหาร, - ; หน้าหลัก, หลักสูตร, กิจกรรม, ดาวน์โหลด, บทความ
vi: Liên hệ, Đội ngũ bác sĩ, - ; Trang chủ, Dịch vụ, Bảng giá, Tin tức, Thư viện ảnh
vi: Thông tin liên hệ, Giảng viên, - ; Trang chủ, Đào tạo, Tuyển sinh, Sự kiện, Tin tức
id: Hubungi kami, Tim kami, - ; Beranda, Layanan, Harga, Berita, Galeri, Kebijakan privasi
id: Kontak, Dewan direksi, - ; Beranda, Produk, Karir, Berita, Unduhan
hi: संपर्क करें, हमारी टीम, - ; मुखपृष्ठ, सेवाएं, समाचार, गैलरी, मूल्य
bn: যোগাযোগ, আমাদের টিম, - ; প্রচ্ছদ, সেবাসমূহ, সংবাদ, গ্যালারি, মূল্য
"""


class InventedMenu(NamedTuple):
    """The links of a home page, and those of its contact, team and imprint pages."""

    name: str
    links: tuple[PageLink, ...]
    wanted: frozenset[str]


def menus() -> Iterator[InventedMenu]:
    """Yield the menus; each language cycles through the styles of addresses."""
    for number, line in enumerate(MENUS.strip().splitlines()):
        language, _, texts = line.partition(": ")
        answers, others = ([text.strip() for text in part.split(",")] for part in texts.split(" ; "))
        style = STYLES[number % len(STYLES)]
        host = f"firm{number}.example.org"
        wanted = [text for text in answers if text != "-"]
        order = [others[0], *others[1:3], *wanted[:1], *others[3:], *wanted[1:]]
        links = {text: style(host, language, text, place) for place, text in enumerate(order)}
        pages = tuple(PageLink(url, text) for text, url in links.items())
        yield InventedMenu(f"{number} {language} {style.__name__}", pages, frozenset(links[text] for text in wanted))


def _slug(text: str) -> str:
    return quote(text.lower().replace(" & ", "-").replace(" ", "-").replace("'", ""))


def translated_slug(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/{_slug(text)}/" if place else f"https://{host}/"


def language_folder(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/{language}/{_slug(text)}" if place else f"https://{host}/{language}/"


def html_file(host: str, language: str, text: str, place: int) -> str:
    return f"http://{host}/{_slug(text)}.html" if place else f"http://{host}/index.html"


def numbered(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/p/{120 + place}" if place else f"https://{host}/"


def query_id(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/index.php?id={40 + place}" if place else f"https://{host}/"


def hashed(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/{place * 7919 + 4096:x}" if place else f"https://{host}/"


def nested(host: str, language: str, text: str, place: int) -> str:
    return f"https://{host}/site/page{place}/{_slug(text)}" if place else f"https://{host}/"


def subdomain(host: str, language: str, text: str, place: int) -> str:
    return f"https://www{place}.{host}/start{place}" if place else f"https://{host}/"


STYLES = (translated_slug, numbered, html_file, query_id, language_folder, hashed, nested)
