"""Lists of web sites: however the file is written, and known by their content."""

from pathlib import Path

import pytest

from scrapersky.cli.finding.site_list import BadSiteList, SiteList


def listed(tmp_path: Path, text: str | bytes, name: str = "sites.csv") -> SiteList:
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return SiteList.read(file)


@pytest.mark.parametrize(
    "text",
    [
        "molar.fi\nzahn.de\n",
        "\ufeffwebsite\nhttps://www.molar.fi/en\nzahn.de\n",
        "Name;Website;City\nMolar Oy;molar.fi;Helsinki\nZahn GmbH;http://zahn.de;Köln\n",
        "name,homepage\n\"Molar, Oy\",molar.fi\n'Zahn',zahn.de\n",
        "company\tURL\nMolar\tmolar.fi\nZahn\tzahn.de\n",
        "domain name|notes\nzahn.de|a\nmolar.fi|b\n",
        "Molar Oy;molar.fi\nZahn GmbH;zahn.de\n",
        "Kotisivu\r\nmolar.fi\r\nzahn.de\r\n",
        "molar.fi, a dentist\n\nzahn.de\nMOLAR.fi\n",
        "name;website\nMolar;molar.fi\nZahn;zahn.de\n".encode("utf-16"),
    ],
)
def test_a_list_is_read_as_people_write_it_and_known_by_its_content(tmp_path, text):
    sites = listed(tmp_path, text)
    assert [site.name for site in sites.found] == ["molar.fi", "zahn.de"]
    assert sites.rejected == ()
    assert sites.name == listed(tmp_path, "zahn.de\nmolar.fi\n", "renamed.txt").name
    assert sites.name != listed(tmp_path, "zahn.de\nmolar.fi\nhampi.fi\n").name


def test_objects_a_line_are_a_list_too(tmp_path):
    sites = listed(tmp_path, '{"name": "Molar", "website": "molar.fi"}\n{"name": "Zahn"}\n', "sites.jsonl")
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.rejected == ("line 2: It is empty.",)


def test_lines_that_are_no_site_are_named_with_the_reason(tmp_path):
    sites = listed(tmp_path, "website,city\nmolar.fi,Helsinki\nhttps://facebook.com/x,Turku\nzahn.de\nno site,Oulu\n")
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.rejected == (
        "line 3: a page on facebook is not a web site of its own",
        "line 4: has 1 cells for 2 columns",
        "line 5: It contains characters that no address has.",
    )


def test_the_name_of_a_list_tells_what_is_in_it(tmp_path):
    assert listed(tmp_path, "molar.fi").name.startswith("1 web site (molar.fi; ")
    assert listed(tmp_path, "a.fi\nb.fi\nc.fi\nd.fi").name.startswith("4 web sites (a.fi, b.fi, c.fi, …; ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("domain,notes\nhttps://facebook.com/x,theirs\n", "contains no web site"),
        ("", "It is empty"),
        (b"PK\x03\x04\x00\x01", "not text"),
    ],
)
def test_a_list_without_a_site_is_refused(tmp_path, text, sentence):
    with pytest.raises(BadSiteList, match=sentence):
        listed(tmp_path, text)
