"""Lists of web sites: however the file is written, and known by their content."""

import json
import os
from pathlib import Path

import pytest
from openpyxl import Workbook

from scrapersky.cli.finding.own_columns import OwnColumns
from scrapersky.cli.finding.site_list import BadSiteList, SiteList


def listed(tmp_path: Path, text: str | bytes, name: str = "sites.csv") -> SiteList:
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return SiteList.read(file)


@pytest.mark.parametrize(
    "text",
    [
        "molar.fi\nzahn.de\n",
        "# dentists, of 2026\nmolar.fi\n#hampi.fi\nzahn.de\n",
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


def test_a_list_is_read_from_a_pipe():
    """`find --domains <(grep fi sites.csv)`."""
    inlet, outlet = os.pipe()
    os.write(outlet, b"name;website\nMolar;molar.fi\n")
    os.close(outlet)
    sites = SiteList.read(Path(f"/dev/fd/{inlet}"))
    os.close(inlet)
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.cells["molar.fi"]["name"] == "Molar"


def test_json_lines_are_a_list_of_sites(tmp_path):
    sites = listed(tmp_path, '{"name": "Molar", "website": "molar.fi"}\n{"name": "Zahn"}\n', "sites.jsonl")
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.rejected == ("line 2: 'Zahn': It is empty.",)


def test_lines_that_are_no_site_are_named_with_the_reason(tmp_path):
    sites = listed(tmp_path, "website,city\nmolar.fi,Helsinki\nhttps://facebook.com/x,Turku\nzahn.de\nno site,Oulu\n")
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.rejected == (
        "line 3: 'https://facebook.com/x': A page on facebook is not a web site of its own.",
        "line 4: 'zahn.de': It has 1 cells for 2 columns.",
        "line 5: 'no site': It contains characters that no address has.",
    )


def test_the_cells_of_a_table_are_kept_by_site_and_those_of_several_lines_together(tmp_path):
    table = "Account ID;Website;note\n007;molar.fi;call, then write\n008;zahn.de;\n009;www.molar.fi;call, then write\n"
    expected = {
        "molar.fi": {
            "Account ID": "007; 009",
            "Website": "molar.fi; www.molar.fi",
            "note": "call, then write",
        },
        "zahn.de": {"Account ID": "008", "Website": "zahn.de"},
    }
    objects = "\n".join(
        json.dumps(dict(zip(table.splitlines()[0].split(";"), line.split(";"), strict=True)))
        for line in table.splitlines()[1:]
    )
    book, xlsx = Workbook(), tmp_path / "sites.xlsx"
    for line in table.splitlines():
        book.active.append(line.split(";"))
    book.save(xlsx)
    lists = (
        listed(tmp_path, table),
        listed(tmp_path, table.replace(";", "\t"), "sites.tsv"),
        listed(tmp_path, objects, "sites.jsonl"),
        SiteList.read(xlsx),
    )
    for sites in lists:
        assert sites.columns == ("Account ID", "Website", "note")
        assert {name: dict(cells) for name, cells in sites.cells.items()} == expected
    assert listed(tmp_path, "molar.fi\nzahn.de\n").columns == (), "a list without names of columns has none"


def test_an_own_column_that_a_file_of_leads_has_too_gets_another_name(tmp_path):
    sites = listed(tmp_path, "website,own_email,Email,ID\nmolar.fi,a,b,7\n")
    assert OwnColumns.of(sites, ("website", "email")).names == {
        "own_website": "website",
        "own_email": "own_email",
        "own_own_Email": "Email",
        "ID": "ID",
    }


def test_a_workbook_without_a_column_of_sites_is_refused_with_its_columns(tmp_path):
    book, xlsx = Workbook(), tmp_path / "sites.xlsx"
    for line in (["city"], ["Turku"]):
        book.active.append(line)
    book.save(xlsx)
    with pytest.raises(BadSiteList, match="No column is named website, url or domain; there are city"):
        SiteList.read(xlsx)


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


def test_a_file_of_json_is_an_array_of_objects(tmp_path):
    sites = listed(tmp_path, '[{"website": "molar.fi", "id": 7}, 7, {"website": "", "id": 8}]', "sites.json")
    assert [site.name for site in sites.found] == ["molar.fi"]
    assert sites.cells["molar.fi"]["id"] == "7"
    assert [line.split(":")[0] for line in sites.rejected] == ["line 2", "line 3"]
    with pytest.raises(BadSiteList, match="not an array of objects in JSON"):
        listed(tmp_path, '{"website": "molar.fi"}', "sites.json")
    with pytest.raises(BadSiteList, match="No column is named website, url or domain; there are town"):
        listed(tmp_path, '[{"town": "Turku"}]', "sites.json")
