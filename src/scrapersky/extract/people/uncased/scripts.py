"""The letters of the scripts without capitals; apart from the lists of names, which not every process needs."""

import re

HAN, KANA, HANGUL = r"\u3005\u3400-\u4dbf\u4e00-\u9fff", r"\u3041-\u3096\u30a1-\u30fa\u30fc", r"\uac00-\ud7a3"
HEBREW, ARABIC, THAI = r"\u05d0-\u05ea", r"\u0620-\u0655\u0670-\u06d3", r"\u0e01-\u0e4e"
INDIC, GEORGIAN = r"\u0900-\u0dff", r"\u10d0-\u10fa"
UNCASED_LETTER = re.compile(f"[{HAN}{KANA}{HANGUL}{HEBREW}{ARABIC}{THAI}{INDIC}{GEORGIAN}]")
COMPACT_LETTER = re.compile(f"[{HAN}{KANA}{HANGUL}{THAI}]")
COMPACT = re.compile(rf"[{HAN}\u3041-\u30fc{HANGUL}]")  # no space divides the parts of a name
