"""`scrapersky import` and `scrapersky export`: what people have goes in once, and comes out as a file."""

import asyncio
import csv
import json
import os
import subprocess
import sys

import openpyxl
import pyarrow.parquet
import pytest

from scrapersky.actions.imports.targets import TARGETS
from scrapersky.core import clock
from tests.factories.line_rows import add, add_line

FILES = {
    "places": "Name,Web Site,Phone Number,CITY,Country\nMolar Oy,https://molar.fi/,09 6123 4567,Helsinki,FI\n",
    "domains": "website\nhttps://www.molar.fi/en\n",
    "sitemaps": "loc\nhttps://molar.fi/sitemap.xml\n",
    "pages": "page_url,title\nhttps://molar.fi/yhteystiedot,Yhteystiedot\n",
    "contacts": "E-mail;Full name;job_title\nAnna@Molar.fi;Anna Molar;Dentist\n",
}
TABLES = {
    "places": ("place", "deep_scan"),
    "domains": ("domain", "domain_metadata"),
    "sitemaps": ("sitemap_file", "sitemap_import"),
    "pages": ("page", "page_processing"),
    "contacts": ("contact", None),
}


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "given.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


async def imported(line, *words: str) -> dict:
    said = await line("import", *words, "--json")
    assert said.code in (0, 1), said.err
    return {"code": said.code, **json.loads(said.out)}


@pytest.mark.parametrize("noun", FILES)
async def test_importing_the_same_file_again_changes_nothing(line, admin, written, noun):
    file, table = written(FILES[noun]), TABLES[noun][0]
    first = await imported(line, noun, file)
    assert (first["code"], first["created"], first["failed"], first["queued"]) == (0, 1, 0, 0)
    await admin.execute(f"UPDATE {table} SET curation_status = 'Maybe', priority = 7")
    before = await admin.fetchrow(f"SELECT * FROM {table}")
    second = await imported(line, noun, file)
    assert (second["created"], second["updated"], second["unchanged"]) == (0, 0, 1)
    after = await admin.fetchrow(f"SELECT * FROM {table}")
    untouched = set(before.keys()) - {"fetched_at", "seen_at", "edited_at"}
    assert {name: before[name] for name in untouched} == {name: after[name] for name in untouched}
    searches = await admin.fetch("SELECT text, provider, place_search_status, result_count FROM search")
    assert [tuple(row) for row in searches] == [(f"{noun} of given.csv", "import", "Completed", 1)]
    assert str(second["search_id"]) == first["search_id"]


@pytest.mark.parametrize("noun", [noun for noun, (_, step) in TABLES.items() if step])
async def test_queue_queues_the_next_step_once_and_no_rejected_rows(line, admin, written, noun):
    file, (table, step) = written(FILES[noun]), TABLES[noun]
    assert (await imported(line, noun, file, "--queue"))["queued"] == 1
    assert await admin.fetchval(f"SELECT {step}_status FROM {table}") == "Queued"
    assert (await imported(line, noun, file, "--queue"))["queued"] == 0
    await admin.execute(f"UPDATE {table} SET {step}_status = 'New', curation_status = 'Not a Fit'")
    assert (await imported(line, noun, file, "--queue"))["queued"] == 0


async def test_a_dry_run_checks_everything_and_keeps_nothing(line, admin, written):
    file = written(FILES["pages"] + "not an address,x\n")
    said = await line("import", "pages", file, "--dry-run", "--queue")
    assert said.code == 1
    assert said.out == (
        "pages: 1 created, 0 updated, 0 unchanged, 1 queued, 1 failed. Nothing was stored: this was a dry run.\n"
    )
    assert said.sentence == "line 3: no web address: It contains characters that no address has"
    for table in ("page", "domain", "search", "audit"):
        assert await admin.fetchval(f"SELECT count(*) FROM {table}") == 0


REPEATED = {
    "places": ("provider_id,name,city,phone", "p{n},Molar {n},{city},{phone}"),
    "domains": ("domain,country", "site{n}.fi,{land}"),
    "sitemaps": ("url", "https://site{n}.fi/sitemap.xml"),
    "pages": ("url,title", "https://site{n}.fi/yhteystiedot,{city}"),
    "contacts": ("email,name,phone", "anna{n}@gmail.com,{city},{phone}"),
    "suppressions": ("email,reason", "anna{n}@molar.fi,{city}"),
}


@pytest.mark.parametrize("noun", REPEATED)
async def test_a_dry_run_says_what_the_import_says(line, admin, written, noun):
    """Rows come again in later batches: the same, with more, with something else; and some were known before."""
    head, row = REPEATED[noun]
    said = [
        {"city": "", "land": "", "phone": ""},
        {"city": "Turku", "land": "FI", "phone": "+358961234567"},
        {"city": "Turku", "land": "SE", "phone": "+358961234568"},
    ]
    lines = [row.format(n=n, **words) for words in said for n in range(260)]
    await imported(line, noun, written("\n".join([head, *(row.format(n=n, **said[1]) for n in range(40))]) + "\n"))
    file = written("\n".join([head, *lines, "x" * 3_000]) + "\n", "again.csv")
    words = (noun, file, *(["--queue"] if noun != "suppressions" else []))
    dry, real = await imported(line, *words, "--dry-run"), await imported(line, *words)
    told = ("rows", "created", "updated", "unchanged", "queued", "failed", "errors")
    assert {name: dry[name] for name in told} == {name: real[name] for name in told}
    assert (real["created"], dry["search_id"]) == (220, None)


async def test_a_dry_run_locks_no_row(line, admin, written):
    """The copies are the rehearsal's own: a row that somebody has in hand is read as it is."""
    await imported(line, "domains", written("domain\nmolar.fi\n"))
    async with admin.transaction():
        await admin.execute("SELECT FROM domain WHERE name = 'molar.fi' FOR UPDATE")
        report = await imported(line, "domains", written("domain,country\nmolar.fi,FI\n", "more.csv"), "--dry-run")
    assert (report["updated"], report["failed"]) == (1, 0)


async def test_imported_places_bring_their_details_to_the_deep_scan(line, admin, written):
    await imported(line, "places", written(FILES["places"]), "--queue")
    await admin.execute("UPDATE workflow_control SET paused_at = now()")
    said = await line("run", "deep_scan", SCRAPERSKY_LOG_LEVEL="error")
    assert said.code == 0, said.err
    business = await admin.fetchrow("SELECT name, city, phone, website, search_id FROM local_business")
    search_id = await admin.fetchval("SELECT id FROM search")
    assert tuple(business) == ("Molar Oy", "Helsinki", "+358961234567", "https://molar.fi/", search_id)
    assert await admin.fetchval("SELECT count(*) FROM search_place") == 1


async def test_what_the_file_says_is_taken_and_what_it_leaves_out_is_kept(line, admin, written):
    await imported(line, "places", written("id,name,phone,rating\nx1,Molar,+358961234567,4.5\n"))
    again = await imported(line, "places", written("id,name,city,rating\nx1,Molar Oy,Helsinki,\n"))
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 1, 0)
    row = await admin.fetchrow("SELECT name, phone, rating, details FROM place")
    assert tuple(row)[:3] == ("Molar Oy", "+358961234567", 4.5)
    assert json.loads(row["details"])["city"] == "Helsinki"


async def test_an_import_fills_only_empty_fields_of_a_known_contact(line, admin, tenant, written):
    known = await add_line(admin, tenant)
    file = written("email,name,title\nanna@molar.fi,Somebody Else,Dentist\nlone@gmail.com,Lone,\n")
    report = await imported(line, "contacts", file)
    assert (report["created"], report["updated"]) == (1, 1)
    row = await admin.fetchrow("SELECT name, title, source_url FROM contact WHERE id = $1", known["contacts"])
    assert tuple(row)[:2] == ("Anna Molar", "Dentist")
    assert await admin.fetchval("SELECT domain_id FROM contact WHERE email = 'lone@gmail.com'") is None
    assert (await imported(line, "contacts", file))["unchanged"] == 2
    assert str(await admin.fetchval("SELECT search_id FROM domain")) == known["searches"]


async def test_bad_rows_are_named_by_their_lines_and_the_good_ones_are_stored(line, admin, written):
    lines = ["domain,country", "good.fi,FI", '"two', 'lines.fi"', "", "127.0.0.1,", "https://facebook.com/x,", "a,b,c"]
    report = await imported(line, "domains", written("\n".join([*lines, "x.fi,Mars", "fine.fi,Suomi"]) + "\n"))
    assert (report["code"], report["rows"], report["created"], report["failed"]) == (1, 7, 3, 4)
    assert [(error["line"], error["message"][:26]) for error in report["errors"]] == [
        (3, "has 1 cells for 2 columns"),
        (6, "no web address: 127.0.0.1 "),
        (7, "a page on facebook is not "),
        (8, "has 3 cells for 2 columns"),
    ]
    assert [(cell["line"], cell["column"], cell["message"][:25]) for cell in report["cells"]] == [
        (9, "country", "'Mars' is not a country; ")
    ]
    stored = await admin.fetch("SELECT name, country FROM domain ORDER BY name")
    assert [tuple(row) for row in stored] == [("fine.fi", "FI"), ("good.fi", "FI"), ("x.fi", None)]


async def test_the_command_names_wrong_cells_and_columns_that_it_does_not_read(line, written):
    file = written("email,phone,Mood\nanna@molar.fi,09 6123 4567,good\nbo@molar.fi,abc,\n")
    said = await line("import", "contacts", file, "--country", "FI", "--dry-run")
    assert said.code == 0
    assert said.out.splitlines() == [
        "contacts: 2 created, 0 updated, 0 unchanged, 0 failed. 1 of them is stored without a wrong cell. "
        "Nothing was stored: this was a dry run.",
        "Columns that were not read: Mood.",
    ]
    assert said.sentence.startswith("line 3, phone: 'abc' is not a phone number; write it as +358 9 1234567")
    assert "'Mars' is unknown" in (await line("import", "contacts", file, "--country", "Mars")).sentence


async def test_more_than_a_thousand_errors_are_counted(line, written):
    report = await imported(line, "domains", written("domain\n" + "nothing\n" * 1_200 + "good.fi\n"))
    assert (report["failed"], len(report["errors"]), report["created"]) == (1_200, 1_000, 1)


async def test_a_row_that_the_database_refuses_does_not_take_its_batch_along(line, admin, written):
    await admin.execute("ALTER TABLE domain ADD CONSTRAINT no_bad CHECK (name <> 'bad.fi')")
    report = await imported(line, "domains", written("domain\none.fi\nbad.fi\ntwo.fi\n"))
    assert (report["created"], report["failed"], report["errors"][0]["line"]) == (2, 1, 3)
    assert "no_bad" in report["errors"][0]["message"]


async def test_a_long_file_is_imported_in_batches(line, admin, written):
    report = await imported(line, "domains", written("domain\n" + "".join(f"site{n}.fi\n" for n in range(1_700))))
    assert (report["created"], await admin.fetchval("SELECT count(*) FROM domain")) == (1_700, 1_700)
    assert await admin.fetchval("SELECT result_count FROM search") == 1_700
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'import'") == 4


async def test_columns_can_be_mapped(line, admin, written):
    file = written("Firm site,Land\nmolar.fi,FI\n")
    said = await line("import", "domains", file)
    assert (said.code, "Map one of them: COLUMN=domain" in said.sentence) == (2, True)
    assert (await imported(line, "domains", file, "--map", "firm_site=domain"))["created"] == 1
    assert tuple(await admin.fetchrow("SELECT name, country FROM domain")) == ("molar.fi", "FI")


@pytest.mark.parametrize(
    ("words", "content", "sentence"),
    [
        (("domains",), b"", "It is empty."),
        (("domains",), b"domain,country\n\n", "It has no row below the names of its columns."),
        (("domains",), b"PK\x03\x04" + bytes(200), "It is not text."),
        (("domains",), b"x" * 10_000_000, "Line 1 is longer than 1,000,000 bytes."),
        (("domains",), b"\x81\x8d\x8f\n", "save the file as UTF-8"),
        (("animals",), b"name\n", "'animals' is not one of places, domains"),
        (("domains", "--map", "x=colour"), b"domain\n", "'colour' is not a field of domains"),
        (("domains", "--map", "nothing"), b"domain\n", "'nothing' is not COLUMN=FIELD."),
        (("domains", "--map", "x=domain"), b"domain\na.fi\n", "There is no column 'x'; there are domain."),
        (("places",), b"colour,size\nred,3\n", "Places need a column for name"),
        (("domains", "--tenant", "nobody"), b"domain\na.fi\n", "has no tenant 'nobody'"),
    ],
)
async def test_what_cannot_be_used_gets_a_sentence(line, admin, written, words, content, sentence):
    noun, *options = words
    said = await line("import", noun, written(content), *options)
    assert said.code == 2
    assert sentence in said.sentence
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_a_file_that_cannot_be_read_gets_a_sentence(line, tmp_path, written):
    assert "Is a directory" in (await line("import", "domains", str(tmp_path))).sentence
    assert "No such file" in (await line("import", "domains", str(tmp_path / "none.csv"))).sentence
    assert "one object per line" in (await line("import", "domains", written("[]", "all.json"))).sentence


async def test_a_json_line_of_ten_megabytes_is_one_bad_row(line, written):
    content = b'{"domain": "' + b"x" * 10_000_000 + b'"}\n{"domain": "good.fi"}\n{"domain": "\\ud800.fi"}\n'
    report = await imported(line, "domains", written(content, "sites.jsonl"))
    assert (report["created"], [error["line"] for error in report["errors"]]) == (1, [1, 3])


TRAVELLERS = {
    "places": "provider,provider_id,name,website,phone,city,country,lat,lon,category,rating,reviews,email\n"
    "mine,7,=Molar Oy,https://molar.fi/,+358961234567,Helsinki,FI,60.17,24.94,dentist; doctor,4.5,12,info@molar.fi\n",
    "domains": "domain,country\nhttps://www.molar.fi/en,FI\nhammaslääkäri.fi,\n",
    "sitemaps": "url,domain\nhttps://cdn.example.com/molar.xml,molar.fi\nhttps://molar.fi/sitemap.xml,\n",
    "pages": "url,domain,title\nhttps://about.example.com/us?a=1,molar.fi,@Molar\nhttps://molar.fi/,,-\n",
    "contacts": "email,name,phone,fax,address,title,domain,source\n"
    "anna@molar.fi,Anna Molar,+358961234567,,,=Dentist,,https://molar.fi/\nben@gmail.com,,,,,,clinic.fi,\n"
    "lone@gmail.com,Lone,,,,,,\n,-Dora,,,,,clinic.fi,\n,,,+358961234568,,,clinic.fi,\n"
    ',,,,"Katu 1, Turku",,clinic.fi,\n',
    "suppressions": "value,reason\nanna@molar.fi,=asked\nclinic.fi,\n+358961234567,\n",
}


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("noun", TRAVELLERS)
async def test_an_export_can_be_imported_again(line, admin, written, tmp_path, noun, ending):
    first = await imported(line, noun, written(TRAVELLERS[noun]))
    assert (first["failed"], first["created"]) == (0, first["rows"]), first
    path = tmp_path / f"{noun}.{ending}"
    await line("export", noun, "--out", str(path))
    back = await imported(line, noun, str(path), "--dry-run")
    assert (back["errors"], back["created"], back["updated"], back["unchanged"]) == ([], 0, 0, first["rows"])


async def test_an_export_names_the_site_and_the_business_of_a_row(line, admin, tenant, tmp_path):
    await add_line(admin, tenant)
    for noun, names in {"sitemaps": ["domain"], "pages": ["domain"], "contacts": ["domain", "business"]}.items():
        path = tmp_path / f"{noun}.csv"
        await line("export", noun, "--out", str(path))
        row = next(csv.DictReader(path.open(encoding="utf-8-sig")))
        assert [row[name] for name in names] == ["molar.fi", "Molar Dental"][: len(names)]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx", "parquet"])
async def test_an_export_holds_every_row(line, admin, tenant, other_tenant, tmp_path, ending):
    await add_line(admin, tenant)
    await add_line(admin, other_tenant, "foreign")
    await admin.execute("UPDATE place SET name = '=HYPERLINK(1)', categories = '{dentist,doctor}', rating_count = 3")
    path = tmp_path / f"places.{ending}"
    said = await line("export", "places", "--out", str(path), "--where", "has_website=true")
    assert (said.code, said.out) == (0, f"1 row in {path}.\n")
    row = {
        "csv": lambda: next(csv.DictReader(path.open(encoding="utf-8-sig"))),
        "jsonl": lambda: json.loads(path.read_text()),
        "xlsx": lambda: dict(zip(*openpyxl.load_workbook(path).active.values, strict=True)),
        "parquet": lambda: pyarrow.parquet.read_table(path).to_pylist()[0],
    }[ending]()
    assert row["name"] == ("'=HYPERLINK(1)" if ending == "csv" else "=HYPERLINK(1)")
    assert row["categories"] == (["dentist", "doctor"] if ending == "jsonl" else "dentist; doctor")
    assert str(row["rating_count"]) == "3"
    assert str(row["created_at"]).startswith(f"{clock.now():%Y}")
    assert "tenant_id" not in row
    assert "deep_scan_order" not in row


async def test_leads_prefer_the_function_of_the_setting(line, admin, tenant, tmp_path, monkeypatch):
    known = await add_line(admin, tenant)
    it = {"email": "it@molar.fi", "name": "Ida Bay", "title": "Head of IT"}
    ceo = {"email": "ceo@molar.fi", "name": "Max Low", "title": "CEO"}
    for columns in (it, ceo):
        await add(admin, "contact", tenant, domain_id=known["domains"], identity=columns["email"], **columns)
    export = ("export", "leads", "--search", known["searches"], "--out", str(tmp_path / "leads.jsonl"))

    async def best(*options: str) -> str:
        assert (await line(*export, *options)).code == 0
        return json.loads((tmp_path / "leads.jsonl").read_text())["email"]

    assert await best() == "ceo@molar.fi"
    assert await best("--prefer", "it") == "it@molar.fi"
    monkeypatch.setenv("SCRAPERSKY_PREFERRED_FUNCTIONS", "it, marketing")
    assert await best() == "it@molar.fi"
    assert await best("--prefer", "") == "ceo@molar.fi"
    said = await line(*export, "--prefer", "magic")
    assert said.code == 2
    assert "'magic': choose from marketing, sales, it, finance" in said.err
    monkeypatch.setenv("SCRAPERSKY_PREFERRED_FUNCTIONS", "magic")
    said = await line(*export)
    assert said.code == 2
    assert "SCRAPERSKY_PREFERRED_FUNCTIONS=magic" in said.err
    assert "choose from marketing, sales, it, finance" in said.err


async def test_leads_of_a_search_are_exported(line, admin, tenant, tmp_path):
    known = await add_line(admin, tenant)
    path = tmp_path / "leads.csv"
    said = await line("export", "leads", "--search", known["searches"], "--out", str(path), "--json")
    assert json.loads(said.out) == {"resource": "leads", "rows": 1, "file": str(path)}
    assert "anna@molar.fi" in path.read_text()


async def test_a_reader_that_ends_before_the_export_is_no_error(admin, tenant, database_url, tmp_path):
    known = await add_line(admin, tenant)
    reader, writer = os.pipe()
    os.close(reader)
    words = ("export", "leads", "--search", known["searches"], "--out", "-")
    with os.fdopen(writer, "wb") as closed:
        said = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "scrapersky", *words],
            stdout=closed,
            stderr=subprocess.PIPE,
            env={**os.environ, "DATABASE_URL": database_url},
            cwd=tmp_path,
        )
    assert (said.returncode, said.stderr) == (141, b"")


async def test_an_export_of_nothing_has_a_head_and_exit_code_one(line, tmp_path):
    said = await line("export", "contacts")
    assert (said.code, said.out) == (1, "0 rows in contacts.csv.\n")
    assert (tmp_path / "contacts.csv").read_text(encoding="utf-8-sig").startswith("domain_id,")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("animals",), "'animals' is not one of places"),
        (("leads",), "use --search ID"),
        (("leads", "--search", "0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa"), "You have no searches with the id"),
        (("places", "--where", "colour=red"), "is not FIELD=VALUE with one of curation_status"),
        (("places", "--where", "curation_status=Red"), "curation_status: Input should be 'New'"),
        (("places", "--where", "has_website=perhaps"), "has_website: Input should be a valid boolean"),
        (("places", "--out", "places.doc"), "use .csv, .tsv, .json, .jsonl, .xlsx, .parquet"),
        (("places", "--out", "nowhere/places.csv"), "does not exist"),
    ],
)
async def test_an_export_that_cannot_be_made_gets_a_sentence(line, tmp_path, words, sentence):
    said = await line("export", *words)
    assert said.code == 2
    assert sentence in said.sentence
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".log"] == []


def test_the_page_names_every_column(request):
    page = (request.config.rootpath / "docs" / "imports.md").read_text()
    for noun, target in TARGETS.items():
        rows = [f"| {field} | {column.meaning} | {column.headers} |" for field, column in target.columns.items()]
        table = "\n".join(["| field | what it holds | also called |", "|---|---|---|", *rows])
        assert f"## {noun.capitalize()}\n\n{table}\n" in page
