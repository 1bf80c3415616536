"""Pages of some 50 KB: those of the contacts corpus, dressed as content systems dress theirs."""

import random
import re
from pathlib import Path

from benchmarks.peers import ROOT

CORPUS = ROOT / "tests" / "corpus" / "contacts"
SIZE = 50_000
# Some 55 links and 15 % text per 50 KB, as the pages of small businesses have: the rest is style, script and markup.
STYLE = (
    ".wp-block-{n}{{display:flex;margin:0 auto;padding:{n}px;color:#{n:06x}}}"
    "@media(max-width:{n}px){{.c{n}{{float:left}}}}\n"
)
SCRIPT = 'window.settings_{n}={{"ajax":"/wp-admin/admin-ajax.php","nonce":"{n:08x}","cart":"{n}"}};\n'
MENU = '<li id="menu-item-{n}" class="menu-item menu-item-type-post_type"><a href="/{word}-{n}/">{word} {n}</a></li>\n'
CARD = (
    '<section class="elementor-section elementor-inner-section elementor-section-boxed" data-id="{n:07x}">'
    '<div class="elementor-container elementor-column-gap-default"><div class="elementor-column elementor-col-{n}">'
    '<div class="elementor-widget-wrap elementor-element-populated"><div class="elementor-widget-heading">'
    '<h3 class="elementor-heading-title elementor-size-default">{title}</h3></div>'
    '<div class="elementor-widget-image"><img loading="lazy" decoding="async" width="640" height="480" '
    'src="/wp-content/uploads/2024/03/{n}-1024x768.jpg" srcset="/wp-content/uploads/2024/03/{n}-300x225.jpg 300w" '
    'alt="{title}"></div><div class="elementor-text-editor"><p>{text}</p></div>'
    '<a class="elementor-button" href="/{word}-{n}/"><span>{word}</span></a></div></div></div></section>\n'
)
LINKS = 25
LINES = 110


def write_pages(folder: Path) -> list[Path]:
    """Write the padded pages where every reader finds them."""
    written = []
    for page in sorted(CORPUS.glob("*/*.html")):
        path = folder / f"{page.parent.name}-{page.name}"
        path.write_text(dressed(page.read_text("utf-8"), random.Random(page.parent.name + page.name)), "utf-8")
        written.append(path)
    return written


def dressed(html: str, dice: random.Random) -> str:
    """Pad the page with style, script, menus and sections in its language to its size."""
    headings = re.findall(r"<h[123][^>]{0,80}>([^<]{3,60})</h", html) or ["Services"]
    sentences = [text for text in re.findall(r"<p>([^<]{40,300})</p>", html) if "@" not in text] or [
        "We are here for you."
    ]
    words = sorted(set(re.findall(r"[^\W\d_]{4,20}", " ".join(sentences))))
    style = "".join(STYLE.format(n=number) for number in range(LINES))
    script = "".join(SCRIPT.format(n=number) for number in range(LINES))
    menu = "".join(MENU.format(n=number, word=dice.choice(words)) for number in range(LINKS))
    html = html.replace("</head>", f"<style>{style}</style><script>{script}</script></head>", 1)
    html = html.replace('<nav><ul class="menu">', f'<nav><ul class="menu">{menu}', 1)
    sections: list[str] = []
    room = SIZE - len(html.encode())
    while room > 0:
        # Word order is shuffled so that no two paragraphs, and no two cached lines, are the same.
        text = " ".join(_shuffled(dice.choice(sentences), dice) for _ in range(dice.randint(1, 4)))
        title = f"{dice.choice(headings)} {dice.choice(words)}"
        card = CARD.format(n=dice.randint(1, 9999), title=title, text=text, word=dice.choice(words))
        sections.append(card)
        room -= len(card.encode())
    return html.replace("</main>", "".join(sections) + "</main>", 1)


def _shuffled(sentence: str, dice: random.Random) -> str:
    first, *rest = sentence.split()
    dice.shuffle(rest)
    return " ".join([first, *rest])
