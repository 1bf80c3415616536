"""How a file of leads calls a business and writes the address of its site, as expressions of SQL."""

from scrapersky.core.vocabularies import EXPIRED_NAME

# Words for a home page, which titles begin or end with, and which alone name nobody.
_HOME_WORDS = """
home|home page|homepage|main page|start|start page|startpage|index|welcome|front page|frontpage|mysite|my site|website
startseite|start-seite|willkommen|herzlich willkommen|hauptseite
accueil|page d'accueil|bienvenue|inicio|página principal|página inicial|bienvenidos|bienvenido|início|bem-vindo
home pagina|pagina iniziale|benvenuti|welkom|startpagina|hem|startsida|startsidan|välkommen|välkomna
hjem|forside|forsiden|velkommen|hjemmeside|etusivu|tervetuloa|koti|kotisivu|avaleht|sākums|pradžia
strona główna|start strony|witamy|úvod|úvodní stránka|domů|domov|vitajte|vítejte|főoldal|kezdőlap|üdvözöljük
acasă|pagina principală|naslovna|početna|domača stran|начало|главная|главная страница|головна|αρχική|anasayfa|ana sayfa
ホーム|トップページ|首页|首頁|主页|홈|trang chủ|beranda|الرئيسية|דף הבית
"""
_HOME = "|".join(
    sorted({word.strip().replace("'", "''") for word in _HOME_WORDS.replace("\n", "|").split("|") if word.strip()})
)
_BETWEEN = r"\s*[-–—|·•»›>~/:]+\s*"

# Parameters that tell a site where its visitor comes from, and no page.
_TRACKING = (
    "utm_[a-z_]+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid|_ga|y_source|"
    "gad_source|srsltid|hsa_[a-z]+|matomo_[a-z]+|pk_campaign|pk_source|pk_medium"
)


def _named(written: str) -> str:
    """The text without a home word at either end; NULL where nothing else is in it."""
    begin = f"regexp_replace({written}, '^({_HOME}){_BETWEEN}', '', 'i')"
    ended = f"regexp_replace({begin}, '{_BETWEEN}({_HOME})$', '', 'i')"
    return f"nullif(regexp_replace(btrim({ended}), '^({_HOME})$', '', 'i'), '')"


def without_tracking(url: str) -> str:
    """The address without such parameters."""
    fewer = rf"regexp_replace({url}, '([?&])((({_TRACKING})=[^&#]*)(&|(?=#)|$))+', '\1', 'gi')"
    return f"regexp_replace({fewer}, '[?&](?=#|$)', '')"


# What the site of a domain `d` calls itself: its organisation, itself, its title; its name where it says nothing.
SITE_NAME = "coalesce({}, d.name)".format(
    ", ".join(
        _named(written) for written in ("d.facts #>> '{organisation,name}'", "d.facts ->> 'site_name'", "d.title")
    )
)


def called(name: str) -> str:
    """A business by the name its provider gave; by its site's where the provider's terms made us forget that one."""
    forgotten = EXPIRED_NAME.replace("'", "''")
    return f"coalesce(nullif({name}, '{forgotten}'), {SITE_NAME}, {name})"
