"""Names and roles in scripts without capitals: Han, kana, Hangul, Hebrew, Arabic, Thai, Georgian, those of India."""
