"""Every regular expression of the extraction, compiled once; each repetition is bounded, so none can run away."""

import re

# -- cleaning --------------------------------------------------------------------------------------------------------
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
SURROGATES = re.compile(r"[\ud800-\udfff]")
# Soft hyphen, zero-width, bidi marks and overrides, variation selectors, interlinear marks, tags, noncharacters.
INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)
MARK = r"\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
ACCENT = re.compile(f"[{MARK}]{{1,100}}")
# Any of them, in one class: most texts have none, and one look says so.
DIRT = re.compile(f"[{CONTROLS.pattern[1:-1]}{SURROGATES.pattern[1:-1]}{INVISIBLE.pattern[1:-1]}{MARK}]")
MARK_HEAP = re.compile(f"([{MARK}]{{3}})[{MARK}]{{1,10000}}")

# -- the page --------------------------------------------------------------------------------------------------------
HIDDEN_STYLE = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.I)
# -- email -----------------------------------------------------------------------------------------------------------
# Callers look for an @ first; a match begins only at the front of a word, so a long run is read once.
EMAIL = re.compile(
    r"(?<![\w.+%-])\w[\w.+&'-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}[^\W\d_](?:[\w-]{0,61}[^\W_])"
)
# An @ with something on both sides that EMAIL does not take: reversed or shifted letters.
AT_WORD = re.compile(r"(?<![\w.+%-])[\w.+-]{1,80}@[\w.+-]{1,80}(?![\w@])")
SPACED_AT = re.compile(r"(?<![\w.+%-])([\w.+-]{1,64})\s{1,2}@\s{1,2}((?:[\w-]{1,63}\.){1,4}[a-z]{2,10})(?![\w@])", re.I)
# Japanese pages: the wide @, or a sign that the reader is asked to replace.
SIGN_FOR_AT = re.compile(
    r"(?<![\w.+%-])([a-z0-9][a-z0-9_.+-]{0,63})[＠★☆●■◆◎]((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,20})(?![a-z0-9@])", re.I
)
CLOUDFLARE = re.compile(r"/cdn-cgi/l/email-protection#([0-9a-f]{6,400})", re.I)
HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2}){3,200}")
BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{4,200}")
# linkTo_UnCryptMailto('…') and its relatives: every character shifted by a fixed number.
SHIFTED = re.compile(r"UnCrypt\w{0,12}\((?:%27|&#39;|['\"])([^'\"%)]{5,200})", re.I)


_OPEN, _CLOSE = r"[\[({<|]\s{0,2}", r"\s{0,2}[\])}>|]"


def written_out(at_words: str, dot_words: str) -> re.Pattern[str]:
    """An address with its @ in brackets or between dashes: (group local) (group domain)."""
    at = rf"(?:\s{{0,3}}{_OPEN}(?:{at_words}|@){_CLOSE}\s{{0,3}}|[-_]at[-_])"
    dot = rf"(?:\s{{0,2}}\.\s?|\s{{0,3}}{_OPEN}(?:{dot_words}|\.){_CLOSE}\s{{0,3}}|\s{{1,2}}(?:{dot_words})\s{{1,2}})"
    local = rf"(?P<local>[\w+-]{{1,64}}(?:(?:\.|{dot})[\w+-]{{1,64}}){{0,3}})"
    domain = rf"(?P<domain>[\w-]{{1,63}}(?:{dot}[\w-]{{1,63}}){{1,4}})"
    return re.compile(rf"(?<![\w.+%-]){local}{at}{domain}(?![\w@])", re.I)


def at_in_words(at_words: str) -> re.Pattern[str]:
    """The written @ alone: a quick look before the long pattern of the address around it."""
    return re.compile(rf"[\[({{<|_-](?:(?<=[-_])at[-_]|(?<=[\[({{<|])\s{{0,2}}(?:{at_words}|@){_CLOSE})", re.I)


def plain_words(at_words: str, dot_words: str) -> re.Pattern[str]:
    """name at firm dot com: only with the word for the dot, and only where the ending exists."""
    domain = rf"(?P<domain>[\w-]{{1,63}}(?:\s(?:{dot_words})\s[\w-]{{1,63}}){{1,3}})"
    return re.compile(rf"(?<![\w.+%-])(?P<local>[\w.+-]{{1,64}})\s(?:{at_words})\s{domain}(?![\w@])", re.I)


def dot_between(dot_words: str) -> re.Pattern[str]:
    """However the dot was written."""
    bracketed = rf"\s{{0,3}}{_OPEN}(?:{dot_words}|\.){_CLOSE}\s{{0,3}}"
    return re.compile(rf"{bracketed}|\s{{1,2}}(?:{dot_words})\s{{1,2}}|\s{{0,2}}\.\s{{0,2}}", re.I)


# user@firma [dot] de
DOT_AFTER_AT = re.compile(
    r"(?<![\w.+%-])([\w.+-]{1,64}@[\w.-]{1,63}\s{0,2}[\[({]\s{0,2}\w{1,6}\s{0,2}[\])}]\s{0,2}[a-z]{2,10})(?![\w@])",
    re.I,
)

# -- scripts ---------------------------------------------------------------------------------------------------------
_STRING = r"(?:\"[^\"\\\n]{0,120}\"|'[^'\\\n]{0,120}')"
JS_ASSIGNMENT = re.compile(
    rf"\b([A-Za-z_$][\w$]{{0,40}})\s{{0,4}}=\s{{0,4}}({_STRING}(?:\s{{0,4}}\+\s{{0,4}}{_STRING}){{0,12}})"
)
JS_SUM = re.compile(
    rf"(?:{_STRING}|\b[A-Za-z_$][\w$]{{0,40}})(?:\s{{0,4}}\+\s{{0,4}}(?:{_STRING}|[A-Za-z_$][\w$]{{0,40}})){{1,16}}"
)
JS_TERM = re.compile(rf"{_STRING}|[A-Za-z_$][\w$]{{0,40}}")
JS_JOIN = re.compile(
    rf"\[\s{{0,4}}({_STRING}(?:\s{{0,4}},\s{{0,4}}{_STRING}){{1,16}})\s{{0,4}}\]\s{{0,4}}(\.reverse\(\))?\s{{0,4}}\.join\(\s{{0,4}}({_STRING})?\s{{0,4}}\)"
)
JS_CODES = re.compile(r"fromCharCode\(\s{0,4}(\d{1,5}(?:\s{0,4},\s{0,4}\d{1,5}){4,120})\s{0,4}\)")
JS_REVERSED = re.compile(rf"({_STRING})\s{{0,4}}\.split\(\s{{0,2}}(?:''|\"\")\s{{0,2}}\)\s{{0,4}}\.reverse\(\)")
JS_ATOB = re.compile(rf"\batob\(\s{{0,4}}({_STRING})")
NUMBER = re.compile(r"\d{1,5}")
JS_SIGN = re.compile(r"@|\\x40|\\u0040|&#64;|fromCharCode|atob\(|\.reverse\(")
JS_ESCAPED_AT = re.compile(r"(?<![\w.+\\-])(?:[\w.+-]|\\[xu]){1,400}\\(?:x40|u0040)(?:[\w.-]|\\[xu]){3,400}", re.I)
JS_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})")

# -- words -----------------------------------------------------------------------------------------------------------
WORD = re.compile(r"[^\W\d_](?:[\w.'’/-]{0,40}[^\W_])?")
# Signs of an address in words: something in brackets; -at-, AT, or at … dot. Apart: each begins with a rare sign.
BRACKETED_SIGN = re.compile(
    r"[\[({<|](?:\s{0,2}[^\W\d_]{2,12}(?:-a)?\s{0,2}[\])}>|]|(?<=[\[({])\s{0,2}[@.]\s{0,2}[\])}])"
)
SPELLED_SIGN = re.compile(r"[-_]at[-_]|\s(?:AT|at)\s[\w-]{1,63}\s")
LABEL_WORD = re.compile(r"[^\W\d_][\w.-]{0,40}[.:]?|[$€£§©№#]")

# -- phone -----------------------------------------------------------------------------------------------------------
# What stands before its first sign is asked afterwards: the search then skips everything that is no sign of a number.
PHONE = re.compile(
    r"[+(\d](?<![\w@#=&/.,:;-].)(?:(?<=\d)|(?<=\+)\s?\d|(?<=\()\s?\+?\s?\d)"
    r"(?:[\s().\-–‑/·•|\u00a0]{0,4}\d){5,17}(?![\w@]|[.,:]\d|\s?[€%])"
)
# Where an address, a web site or a number begins behind somebody's role.
BEHIND_ROLE = re.compile(r"\S{0,80}@|\bwww\.|[+(]?\d(?:\D{0,4}\d){5}")
# What is left of it before a number that was cut off: …, tel. kom.
LABEL_LEFT = re.compile(
    r"(?:[\s,;|(–-]{1,3}(?:tel|telefon|phone|mob|mobil|mobile|gsm|kom|cell|cel|puh|tlf|tfn|fax|e-?mail|mail|web)\b[.:]{0,2}){1,3}\s?$",
    re.I,
)
MANY_DIGITS = re.compile(r"\d(?:\D{0,4}\d){5}")  # a quick look before PHONE
WIDE_DIGIT = re.compile(r"[０-９]")
NOT_DIGIT = re.compile(r"\D")
DIGITS = re.compile(r"\d{3}")
# Dates, times, years, opening hours, coordinates, versions, postal codes with a house number.
NO_PHONE = re.compile(
    r"\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:19|20)?\d{2}(?:\s?[-–]\s?\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:19|20)?\d{2})?"
    r"|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2}(?:\s\d{0,6})?"
    r"|(?:19|20)\d{2}\s?[-–/]\s?(?:19|20)\d{2}(?:\s?[-–/]\s?(?:19|20)\d{2})?"
    r"|\d{1,2}[.:]\d{2}\s?[-–]\s?\d{1,2}[.:]\d{2}(?:[\s/|]{1,3}\d{1,2}[.:]\d{2}\s?[-–]\s?\d{1,2}[.:]\d{2})?"
    r"|\d{1,2}\.\s?\d{1,2}\.\s?[-–]\s?\d{1,2}\.\s?\d{1,2}\.?\s?(?:\d{4})?"
    r"|\d{1,3}\.\d{4,12}"
    r"|\d{1,3}(?:[.\s]000){1,4}"
    r"|\d{1,3}(?:\.\d{1,3}){3}"
)
SEPARATED = re.compile(r"\d[\s./()–-]{1,3}\d")
GROUPED = re.compile(r"\d{2,4}(?:[\s.\-–]\d{2,4}){1,4}")
SEVERAL = re.compile(r"\s?[/|•·]\s?|\s[-–]\s|\s{2,4}")
STROKE = re.compile(r"\s?[/|•·]\s?")
GOES_ON = re.compile(r"[-.\s]\d")
NEXT_NUMBER = re.compile(r"\s(?=\+|0\d)")
AREA = re.compile(r"\(\s?\d{1,5}\s?\)\s?")
ONE_OF_SEVERAL = re.compile(r"(?:\+\s?|\()?\d(?:[\s().\-–]{0,2}\d){5,17}")
MONEY = re.compile(r"[$€£¥₽₺]|\b(?:usd|eur|chf|kr|zł|kč|ft|lei|руб|pln|czk|huf|inr|rs|mio|m²|km|kg|mm|cm)\b", re.I)
PHONE_AND_FAX = re.compile(
    r"\b(?:tel|telefon|phone|fon|puh|tlf)[a-z]{0,6}\.?(?:\s?[/+&,]\s?|\s(?:und|and|et|y|e|i|a|ja|og|och)\s)(?:tele)?fa(?:x|ks)"
)
DIALS = re.compile(
    r"(?:tel|callto|sms|phone|whatsapp):(?://)?(?:send/?\?phone=)?|https?://(?:www\.)?(?:wa\.me/|(?:api|web|chat)\.whatsapp\.com/send/?\?(?:[^#]{0,200}&)?phone=|whatsapp\.com/send/?\?(?:[^#]{0,200}&)?phone=)",
    re.I,
)
WHATSAPP = re.compile(r"whatsapp:|https?://(?:www\.)?(?:wa\.me|[a-z.]{0,5}whatsapp\.com)", re.I)
DIALLED = re.compile(r"\+?\s?\(?\d(?:[\s().\-–/]{0,3}\d){4,19}")
NORTH_AMERICAN = re.compile(r"[(\d]\d{2,3}(?:\)\s?|[-.])\d{3}[-.\s]\d{4}(?!\d)")
INTERNATIONAL = re.compile(r"\+\d(?:[\s().\-–/]{0,2}\d){6,15}")

# -- social ----------------------------------------------------------------------------------------------------------
# The host of an address that has nothing else there: no port, no name before an @, no capitals.
PLAIN_HOST = re.compile(r"(?:https?:)?//([a-z0-9.-]{1,253})(?=[/?#]|$)")
ACCOUNT = re.compile(r"[^\s<>{}\"'\[\]|\\]{1,200}")
FEDIVERSE_HOST = re.compile(
    r"(?:^|\.)(?:mastodon|mstdn|mas\.to|fosstodon|hachyderm|chaos\.social|troet|pixelfed|pleroma|misskey|social)\b|\.social$"
)
FEDIVERSE_PATH = re.compile(r"/@[\w.-]{1,60}(?:@[\w.-]{1,80})?/?")
SOCIAL_TEXT = re.compile(
    r"(?<![\w@./-])(?:https?://)?(?:www\.)?(?:facebook|instagram|linkedin|youtube|tiktok|twitter|pinterest|x|t)\.(?:com|me)/[\w@./%-]{2,100}",
    re.I,
)

# -- people ----------------------------------------------------------------------------------------------------------
DIGIT = re.compile(r"\d")
ASCII_DIGIT = re.compile(r"[0-9]")
# Latin, Greek and Cyrillic capitals: the alphabets that have them.
_CAPITAL = "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper())


def name_gate(small_words: str) -> re.Pattern[str]:
    """A quick look whether a text begins with what can be a name: capitalised words and the small ones names have.

    It must reach the end of the text or a sign that can stand behind a name; a comma may bring credentials.
    """
    word = rf"(?:[{_CAPITAL}][\w'’.-]{{0,40}}|(?:{small_words})\.?|d['’][{_CAPITAL}][\w'’-]{{1,30}})"
    return re.compile(rf"{word}(?:\s{word}){{0,8}}(?=$|\s?[,:(–—―]|\s[-|])")


# Two capitals in a row, or a title: lines without them name nobody.
TWO_CAPITALS = re.compile(rf"[{_CAPITAL}][\w'’.-]{{0,40}}[\s.]\s?(?:[a-z]{{1,3}}\s){{0,2}}['’(]?[{_CAPITAL}]")
CAPITALS_IN_A_ROW = re.compile(
    rf"[{_CAPITAL}][\w'’-]{{1,30}}(?:\s(?:(?:de|da|di|von|van|der|den|del|dos|la|le)\s){{0,2}}[{_CAPITAL}][\w'’-]{{1,30}}){{1,4}}"
)
LAST_WORD = re.compile(r"[^\W\d_][\w-]{1,30}\s$")
ROW_SIGN = re.compile(r"[|•·;]")
SEPARATOR_SIGN = re.compile(r"[:(–—―,-]")
SEGMENT_SIGN = re.compile(r"[|•·;/&+]")
# What people say before their own name, in lower case.
OWN_NAME = re.compile(
    r"(?<!\w)(?:name is|names are|hei(?:ß|ss)en?|namens|m['’]appelle|(?:me|nos) llam(?:o|amos)"
    r"|(?:mi|ci) chiam(?:o|iamo)|me chamo|meu nome é|heter|hedder|heiti|nazywam się|jmenuji se|volám sa"
    r"|(?:zovem|kazvam) se|казвам се|(?:меня|нас) зовут|мене звати|mă numesc|(?:nimeni|nimemme) on"
    r"|(?:mu|minu) nimi on|ad[ıi]m|με λένε|heet)\s$"
)
I_AM = re.compile(
    r"(?<!\w)(?:i am|i['’]m|ich bin|je suis|soy|io sono|eu sou|jestem|jag är|jeg er|ik ben|olen|jsem|vagyok)\s$"
)
AND_ALONE = re.compile(r"\s(?:und|and|et|y|e|i|a|ja|og|och|en|и|і|ve|și|és|&)\s(?=[^\W\d_])")
AND_WORD = re.compile(r"\s(?:und|and|et|y|e|i|a|ja|og|och|en)\s")
WORD_BREAK = re.compile(r"[-/'’.]")
NAME_WORD = re.compile(r"(?:[^\W\d_]\.){1,3}(?:[^\W\d_][\w'’-]{1,25})?|[^\W\d_](?:[\w'’-]{0,25}[^\W\d_])?\.?")
INITIAL = re.compile(r"(?:[^\W\d_]\.?-?){1,2}\.?")
GLUED_INITIAL = re.compile(r"(?:[^\W\d_]\.){1,3}[^\W\d_]{2}")
GLUED_TITLE = re.compile(
    r"\b(Dr|Dra|Prof|Rev|med|dent|vet|Mag|Ing|Dipl|Univ|jur|phil|rer|nat|Hr|Fr|Mr|Mrs|Ms|Sr|Sra|Avv|Dott|lek|mgr|inż)\.(?!(?:ssa|ra|ri|na|ta|a|ª)\b)(?=[^\s.,-])"
)
FAMILY_ENDING = re.compile(
    r"(?:sk[iya]|ck[iya]|icz|czyk|czak|ova|eva|ovic|evic|enko|chuk|yan|dze|shvili|poulos|idis|akis|opoulou|nen|sson|sen"
    r"|sdottir|escu|eanu|ez|oglu|elli|etti|ini|auskas|iene|ов|ова|ев|ева|ин|ина|ски|ска|ський|ська|ич|енко|чук|ук|юк|ян|берг|berg|mann|feld|hardt|stein|bauer|meier|maier|mayer|huber)$"
)
# A title in running text; what follows it is read as a name. By first letters, so that a word is tried against a few.
TITLE_IN_TEXT = re.compile(
    r"(?:D(?:ra?|ipl|ott)|P(?:rof|hDr|astora?|farrer(?:in)?)|M(?:gr|UDr|DDr|VDr|ag|aître|me|rs?|s)|A(?:vv|dv)|F(?:ather|rau)"
    r"|JUDr|Ing|Rev|Sensei|Herr|mgr|lek|inż|Д-р|д-р)\b\.?(?=[\s.]?[\s.]?[^\W\d_])"
)
AFTER_TITLE = re.compile(r"[^,;:()\[\]|•·\n\d\"“”„«»!?&/]{3,60}")
# Both begin with the one sign or space they can begin with: the search then skips everything else without trying.
SEGMENT = re.compile(
    r"[\s|•·;/](?:(?<=[|•·;/])\s?"
    r"|(?<=\s)(?:[|•·;/]\s?|\s?[&+]\s\s?|(?<!-\s)\s?(?:und|and|et|y|e|i|a|ja|og|och|en)\s(?=[^\W\d_a-zà-ÿ])))"
)
# What stands between a name and a role on one line.
SEPARATOR = re.compile(r"[\s:(–—―,](?:(?<=\s)(?:[:(–—―-]\s?|,\s)|(?<=[:(])\s?|(?<=[–—―,])\s)")
_HAN, _HANGUL = r"\u3005\u4e00-\u9fff", r"\uac00-\ud7a3"
HANGUL = re.compile(f"[{_HANGUL}]")
EASTERN = re.compile(f"[{_HAN}{_HANGUL}\u05d0-\u05ea\u0621-\u064a]")
# Hebrew and Arabic titles, and the two words behind them.
EASTERN_TITLE = re.compile(
    r"(?<!\w)(?P<title>ד[\"״]ר|עו[\"״]ד|רו[\"״]ח|פרופ['׳]|د\.|أ\.د\.)\s?"
    r"(?P<name>[א-תء-ي]{2,14}\s[א-תء-ي]{2,14}(?:-[א-תء-ي]{2,14})?)(?=$|\s?[,.|(–-])"
)


def eastern_roles(roles: str) -> re.Pattern[str]:
    """A role, a space or a colon, and a name of Han or Hangul, perhaps with how it is read in brackets."""
    family, given = f"[{_HAN}]{{1,3}}", f"[{_HAN}\\u3041-\\u3096\\u30a1-\\u30fa]{{1,4}}"
    name = rf"{family}\s?{given}|[{_HANGUL}]{{2,4}}"
    return re.compile(
        rf"(?P<role>(?:{roles}){{1,2}})(?:\s?(?P<colon>[:：])\s?|\s)(?P<name>{name})(?=$|\s?[（(/／|,、])"
    )


STARS = re.compile(r"[★⭐☆]|\bfa-star\b|\bstars?\b|\brating\b")
QUOTE_MARKS = re.compile(r"^\s?[\"“„«»”'‘]|^[-–—]\s")
PERSON_NAMES = re.compile(
    r"(?:^|[\s_-])(?:name|person|people|member|staff|team|doctor|attorney|lawyer|speaker|coach|trainer|employee|author|bio|profile|mitarbeiter|equipe|equipo|zespol|portrait|vcard|fn)s?(?:$|[\s_-])|(?:name|member|team|person)\b"
)
# Dipl.-Ing. (FH): the kind of school behind a degree.
SCHOOL_OF_DEGREE = re.compile(r"\((?:FH|TU|TH|BA|DH|ETH|HTL|HTWK|Uni|Univ)\.?\)\s?")
# Rajesh "Raj" Patel, Robert (Bob) Smith.
NICKNAME = re.compile(rf"[\"“”„'‘’(](?<=\w\s.)(?P<name>[{_CAPITAL}]\w{{1,14}})[\"“”'‘’)]\s(?=[{_CAPITAL}]\w)")
# A number right behind a name, perhaps with its label.
NUMBER_BEHIND = re.compile(
    r"[\s,;:]{1,3}(?:(?:tel|mob|gsm|tlf|tfn|puh|[^\W\d_]{1,10}[.:]{1,2})\s?)?[+(]?\d(?:\D{0,4}\d){5}"
)
SENTENCE_END = re.compile(r"[.!?]\s|[.!?]$")
CLAUSE = re.compile(r"[^.,;:!?()–|]{3,100}")

# -- postal address --------------------------------------------------------------------------------------------------
_CODE = r"(?P<code>(?:[A-Z]{1,2}-)?(?:\d{2}-\d{3}|\d{3}\s\d{2}|\d{4,5}(?:\s[A-Z]{2}\b)?(?:-\d{3,4})?))"
# Written to begin with a digit: the search then skips everything else without trying.
POSTAL_CODE = re.compile(r"\d\d(?:\d\d|-\d{3}|\d\s\d{2})")
_CITY = r"(?P<city>[^\W\d_][^\d,|•·()]{1,40})"
STREET = re.compile(
    r"[^\W\d_][^\d|•·@]{2,50}\s\d{1,4}(?:\s?[a-zA-Z](?:\s\d{1,3})?)?(?:\s?[-/]\s?\d{1,4}\s?[a-zA-Z]?)?,?"
    r"|\d{1,5}(?:\s?bis)?,?\s[^\W\d_][^\d|•·@]{3,50}"
)
# A street at the end of what stands before the postal code on the same line.
STREET_BEFORE = re.compile(
    r"(?:[^\W\d_][^\d|•·@:,]{2,50}\s\d{1,4}(?:\s?[a-zA-Z](?:\s\d{1,3})?)?(?:\s?[-/]\s?\d{1,4})?"
    # Via Garibaldi, 22. Avda. de la Paz, 45, bajo: the number behind a comma, and perhaps the floor behind another.
    r"|[^\W\d_][^\d|•·@:,]{2,50},\s(?:n[.º°]{0,2}\s?)?\d{1,4}\s?[a-zA-Z]?"
    r"(?:,\s(?:bajos?|local|piso|planta|puerta|esc|scala|int|piano|loja|andar|sala|apto?|\d{1,2}\s?[ºª°])\b[^|•·@:]{0,20})?"
    r"|(?<![\w.])(?!\d{1,5},\s[a-zà-ÿ]{1,20}$)\d{1,5},?\s[^\W\d_][^\d|•·@:]{3,50})$"
)
# Springfield, IL 62701. What stands before it is asked afterwards.
STATE_AND_CODE = re.compile(r"(?P<state>[A-Z]{2})\.?,?\s(?P<code>\d{5}(?:-\d{4})?)(?![\w-])")
CITY_BEFORE_STATE = re.compile(r"(?:^|[,|•·]\s?|\s{2})(?P<city>[A-Z][A-Za-z.' -]{1,30}),?\s$")
AMERICAN_STREET = re.compile(r"(?<![\w.#-])\d{1,6}[A-Z]?\s(?=[\dA-Z])[^|•·@:;]{3,60}$")
WITHIN_LINE = re.compile(r"\s[-–—]\s")
CODE_AND_CITY = re.compile(rf"(?<![\w-]){_CODE},?\s{_CITY}")

# -- metadata and technologies ---------------------------------------------------------------------------------------
FRAME = re.compile(r"<iframe\s", re.I)
FRAME_SOURCE = re.compile(r"\s(?:data-)?src\s{0,3}=\s{0,3}[\"']?([^\"'\s>]{1,1000})", re.I)  # asked within one tag only
LANGUAGE_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z])", re.I)
YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d{2}(?!\d)")
LOGO = re.compile(
    r"(?<![a-z])(?:site|page|header|brand|nav|navbar|custom|company|main)?[-_]?logo(?:type|img|image)?s?(?![a-z])", re.I
)
FOREIGN_LOGO = re.compile(
    r"partner|sponsor|client|customer|kunde|payment|award|badge|certif|member|footer|app-?store|google-?play", re.I
)
CONTACT_FORM = re.compile(
    r"wpcf7|wpforms|gform|nf-form|formidable|frm_form|hs-form|elementor-form|et_pb_contact|fluentform|forminator"
    r"|contact|kontakt|anfrage|enquiry|inquiry|yhteydenotto|contatti|formspree|getform|web3forms",
    re.I,
)
OTHER_FORM = re.compile(
    r"search|suche|newsletter|subscri|mailchimp|mc-embedded|mc4wp|login|signin|sign-in|register|comment|cart|checkout"
    r"|coupon|filter|password|respond",
    re.I,
)
MESSAGE_FIELD = re.compile(
    r"messag|nachricht|viesti|mensaje|mensagem|messaggio|bericht|meddel|anfrage|wiadomo|zprava|poruka|question|enquiry|inquiry",
    re.I,
)
MAIL_FIELD = re.compile(r"e-?mail|correo|sahkoposti|sähköposti|epost|courriel|posta", re.I)


def signature(text: str) -> re.Pattern[str]:
    """A sign of a technology with its {version}; {any} and {id} stand for a bounded run of characters on one line."""
    pattern = re.escape(text)
    pattern = pattern.replace(re.escape("{any}"), r"[^\n]{0,120}?").replace(re.escape("{id}"), r"[\w-]{1,60}")
    return re.compile(pattern.replace(re.escape("{version}"), r"(?P<version>\d{1,10}(?:\.\d{1,6}){0,4})"))
