"""`make profile-line` draws the samples that it has read, each with its share, and counts each for one step."""

from xml.etree import ElementTree as ET

from benchmarks.flame_graph import draw, read_stacks
from benchmarks.profile_line import by_part

RAW = """process 12:"python -m x";run (asyncio/runners.py:118);work (scrapersky/workflows/page_curation.py:9) 3
process 13:"python child.py";main (child.py:1);read_contacts (scrapersky/extract/contacts.py:7) 2
process 12:"python -m x";run (asyncio/runners.py:120);work (scrapersky/workflows/page_curation.py:11) 4
process 13:"python child.py";main (child.py:1);_receive (child.py:5) 90
process 12:"python -m x";<module> (<frozen importlib._bootstrap>:5) 1
"""


def test_samples_are_counted_by_step_and_waits_are_left_out():
    stacks = read_stacks(RAW, ["_receive"])
    assert sum(stacks.values()) == 10
    assert by_part(stacks) == [("page_curation", 9), ("start: imports", 1)]


def test_the_graph_has_a_box_for_each_frame_with_its_share():
    drawn = ET.fromstring(draw(read_stacks(RAW, ["_receive"]), "a & b"))
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert "work (scrapersky/workflows/page_curation.py): 7 samples, 70.0%" in titles
    assert not any("python -m" in title for title in titles if title)
