"""Exports of other products: their own headers, invented rows. What they say is understood, the rest is listed."""

import csv
import io
import json

import pytest

Row = dict[str, str | None]

# Headers as the products write them; a value is None where the column is empty.
APOLLO: Row = {
    "First Name": "Anna",
    "Last Name": "Molar",
    "Title": "Dentist",
    "Company": "Molar Oy",
    "Company Name for Emails": "Molar",
    "Email": "anna@molar.fi",
    "Email Status": "Verified",
    "Seniority": "Owner",
    "Departments": "Medical",
    "Contact Owner": "me@agency.example",
    "Work Direct Phone": None,
    "Home Phone": None,
    "Mobile Phone": None,
    "Corporate Phone": "'+358 9 6123 4567",
    "Other Phone": "+358 9 6123 4568",
    "Stage": "Cold",
    "Lists": "",
    "# Employees": "12",
    "Industry": "health care",
    "Person Linkedin Url": "http://www.linkedin.com/in/anna-molar",
    "Website": "https://www.molar.fi",
    "Company Linkedin Url": "http://www.linkedin.com/company/molar",
    "Facebook Url": "https://facebook.com/molaroy",
    "Twitter Url": None,
    "City": "Helsinki",
    "State": "Uusimaa",
    "Country": "Finland",
    "Company Address": "Katu 1, Helsinki",
    "Company City": "Helsinki",
    "Company Country": "Finland",
    "Company Phone": "+358 9 6123 4569",
    "Apollo Contact Id": "64f",
}
HUBSPOT: Row = {
    "Record ID": "101",
    "First Name": "Anna",
    "Last Name": "Molar",
    "Email": "anna@molar.fi",
    "Phone Number": "09 6123 4567",
    "Mobile Phone Number": "+358 40 1234567",
    "Job Title": "Dentist",
    "Company Name": "Molar Oy",
    "Associated Company": "Molar Oy",
    "Website URL": "molar.fi",
    "LinkedIn URL": "https://www.linkedin.com/in/anna-molar",
    "Street Address": "Katu 1",
    "City": "Helsinki",
    "State/Region": "Uusimaa",
    "Postal Code": "00100",
    "Country/Region": "Finland",
    "Lead Status": "New",
    "Contact owner": "Me",
    "Create Date": "2026-01-01",
}
SALESFORCE: Row = {
    "Salutation": "Ms.",
    "First Name": "Anna",
    "Last Name": "Molar",
    "Title": "Dentist",
    "Account Name": "Molar Oy",
    "Email": "anna@molar.fi",
    "Phone": "09 6123 4567",
    "Mobile": None,
    "Fax": "09 6123 4500",
    "Mailing Street": "Katu 1",
    "Mailing City": "Helsinki",
    "Mailing State/Province": "Uusimaa",
    "Mailing Zip/Postal Code": "00100",
    "Mailing Country": "Suomi",
    "Website": "https://molar.fi",
    "Lead Source": "Web",
}
PIPEDRIVE: Row = {
    "Person - Name": "Anna Molar",
    "Person - First name": "Anna",
    "Person - Last name": "Molar",
    "Person - Organization": "Molar Oy",
    "Person - Job title": "Dentist",
    "Person - Email - Work": None,
    "Person - Email - Home": "anna@molar.fi",
    "Person - Email - Other": None,
    "Person - Phone - Work": "+358 9 6123 4567",
    "Person - Phone - Mobile": "+358 40 1234567",
    "Person - Owner": "Me",
    "Organization - Address": "Katu 1, Helsinki",
    "Organization - LinkedIn profile": "https://www.linkedin.com/company/molar",
}
GOOGLE_CONTACTS: Row = {
    "First Name": "Anna",
    "Middle Name": None,
    "Last Name": "Molar",
    "Phonetic First Name": None,
    "Nickname": "Ansku",
    "Organization Name": "Molar Oy",
    "Organization Title": "Dentist",
    "Labels": "* myContacts",
    "E-mail 1 - Label": "Work",
    "E-mail 1 - Value": "anna@molar.fi ::: anna@home.example",
    "Phone 1 - Label": "Work",
    "Phone 1 - Value": "+358 9 6123 4567",
    "Address 1 - Street": "Katu 1",
    "Address 1 - City": "Helsinki",
    "Address 1 - Postal Code": "00100",
    "Address 1 - Country": "FI",
    "Website 1 - Value": "https://molar.fi",
}
OLD_GOOGLE_CONTACTS: Row = {
    "Name": "Anna Molar",
    "Given Name": "Anna",
    "Family Name": "Molar",
    "Group Membership": "* myContacts",
    "E-mail 1 - Type": "Work",
    "E-mail 1 - Value": "anna@molar.fi",
    "Phone 1 - Type": "Work",
    "Phone 1 - Value": "+358 9 6123 4567",
    "Organization 1 - Type": "",
    "Organization 1 - Name": "Molar Oy",
    "Organization 1 - Title": "Dentist",
    "Address 1 - Formatted": "Katu 1, Helsinki",
}
SALESFORCE_DATA_LOADER: Row = {
    "Id": "003000000000001AAA",
    "Salutation": "Ms.",
    "FirstName": "Anna",
    "LastName": "Molar",
    "Title": "Dentist",
    "Account.Name": "Molar Oy",
    "Email": "anna@molar.fi",
    "Phone": None,
    "MobilePhone": "+358 9 6123 4567",
    "MailingStreet": "Katu 1",
    "MailingCity": "Helsinki",
    "MailingState": "Uusimaa",
    "MailingPostalCode": "00100",
    "MailingCountry": "Finland",
    "LeadSource": "Web",
}
CONTACTS: dict[str, tuple[Row, set[str]]] = {
    "Apollo": (APOLLO, {"Email Status", "# Employees", "State", "Apollo Contact Id"}),
    "HubSpot": (HUBSPOT, {"Record ID", "Lead Status", "State/Region"}),
    "Salesforce": (SALESFORCE, {"Lead Source"}),
    "Salesforce Data Loader": (SALESFORCE_DATA_LOADER, {"Id", "LeadSource"}),
    "Pipedrive": (PIPEDRIVE, {"Person - Owner"}),
    "Google Contacts": (GOOGLE_CONTACTS, {"Middle Name", "Nickname", "Labels", "E-mail 1 - Label"}),
    "Google Contacts until 2024": (OLD_GOOGLE_CONTACTS, {"Group Membership", "E-mail 1 - Type"}),
}
OUTSCRAPER: Row = {
    "query": "dentists, Helsinki",
    "name": "Molar Oy",
    "site": "https://molar.fi/",
    "subtypes": "Dentist, Dental clinic",
    "category": "dentist",
    "type": "Dentist",
    "phone": "+358 9 6123 4567",
    "full_address": "Katu 1, 00100 Helsinki, Finland",
    "borough": "Kamppi",
    "street": "Katu 1",
    "city": "Helsinki",
    "postal_code": "00100",
    "state": "Uusimaa",
    "us_state": None,
    "country": "Finland",
    "country_code": "FI",
    "latitude": "60.17",
    "longitude": "24.94",
    "rating": "4.5",
    "reviews": "12",
    "business_status": "OPERATIONAL",
    "place_id": "ChIJxyz",
    "google_id": "0x1:0x2",
    "cid": "77",
    "email_1": "info@molar.fi",
    "email_2": "anna@molar.fi",
    "email_3": None,
    "email_1_full_name": "Anna Molar",
    "email_1_title": "Dentist",
    "phone_1": "+358 9 6123 4568",
    "facebook": "https://facebook.com/molaroy",
    "linkedin": "https://www.linkedin.com/company/molar",
    "instagram": "https://www.instagram.com/molar.oy/",
}
APOLLO_ACCOUNTS: Row = {
    "Company": "Molar Oy",
    "Company Name for Emails": "Molar",
    "# Employees": "12",
    "Industry": "dentist",
    "Website": "https://molar.fi/",
    "Company Linkedin Url": "http://www.linkedin.com/company/molar",
    "Facebook Url": "https://facebook.com/molaroy",
    "Twitter Url": None,
    "Company Street": "Katu 1",
    "Company City": "Helsinki",
    "Company State": "Uusimaa",
    "Company Country": "Finland",
    "Company Postal Code": "00100",
    "Company Phone": "'+358 9 6123 4567",
}
HUBSPOT_COMPANIES: Row = {
    "Record ID": "202",
    "Company name": "Molar Oy",
    "Company Domain Name": "molar.fi",
    "Website URL": "https://molar.fi/",
    "Phone Number": "09 6123 4567",
    "Street Address": "Katu 1",
    "City": "Helsinki",
    "Postal Code": "00100",
    "State/Region": "Uusimaa",
    "Country/Region": "Finland",
    "Industry": "dentist",
    "Company owner": "Me",
}
SALESFORCE_ACCOUNTS: Row = {
    "Account Name": "Molar Oy",
    "Account Owner": "Me",
    "Billing Street": "Katu 1",
    "Billing City": "Helsinki",
    "Billing State/Province": "Uusimaa",
    "Billing Zip/Postal Code": "00100",
    "Billing Country": "Finland",
    "Phone": "09 6123 4567",
    "Website": "https://molar.fi/",
    "Industry": "dentist",
    "Rating": "Hot",
}


def written(tmp_path, row: Row) -> str:
    table = io.StringIO(newline="")
    csv.writer(table).writerows([row.keys(), ["" if value is None else value for value in row.values()]])
    (tmp_path / "export.csv").write_text(table.getvalue())
    return str(tmp_path / "export.csv")


async def imported(line, noun: str, file: str) -> dict:
    said = await line("import", noun, file, "--json")
    assert said.code == 0, said.err
    return dict(json.loads(said.out))


@pytest.mark.parametrize("product", CONTACTS)
async def test_contacts_of_other_products_are_understood(line, admin, tmp_path, product):
    row, not_read = CONTACTS[product]
    report = await imported(line, "contacts", written(tmp_path, row))
    assert (report["created"], report["failed"], report["cells"]) == (1, 0, [])
    assert not_read <= set(report["ignored_columns"])
    contact = await admin.fetchrow(
        "SELECT c.*, d.name AS domain FROM contact c LEFT JOIN domain d ON d.id = c.domain_id"
    )
    told = [contact[name] for name in ("name", "title", "email", "phone", "company", "domain")]
    assert told == ["Anna Molar", "Dentist", "anna@molar.fi", "+358961234567", "Molar Oy", "molar.fi"]
    assert (contact["first_name"], contact["last_name"]) == ("Anna", "Molar")
    assert contact["honorific"] == row.get("Salutation")
    assert contact["address"].startswith("Katu 1")
    if any("linkedin" in header.casefold() for header in row):
        expected = "company/molar" if product == "Pipedrive" else "in/anna-molar"
        assert json.loads(contact["profiles"])["linkedin"].endswith(expected)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [(OUTSCRAPER, []), (HUBSPOT_COMPANIES, []), (SALESFORCE_ACCOUNTS, ["Rating"]), (APOLLO_ACCOUNTS, [])],
)
async def test_businesses_of_other_products_are_understood(line, admin, tmp_path, row, wrong):
    report = await imported(line, "places", written(tmp_path, row))
    assert (report["created"], report["failed"]) == (1, 0)
    assert [cell["column"] for cell in report["cells"]] == wrong
    place = await admin.fetchrow("SELECT name, phone, website, categories, details FROM place")
    details = json.loads(place["details"])
    assert (place["name"], place["phone"], place["website"]) == ("Molar Oy", "+358961234567", "https://molar.fi/")
    assert place["categories"] == ["dentist"]
    told = [details[name] for name in ("street", "postcode", "city", "region", "country")]
    assert told == ["Katu 1", "00100", "Helsinki", "Uusimaa", "FI"]
    if row is OUTSCRAPER:
        assert details["extra"]["emails"] == ["info@molar.fi", "anna@molar.fi"]
        assert details["extra"]["people"] == [{"name": "Anna Molar", "title": "Dentist", "email": "info@molar.fi"}]
        assert details["extra"]["socials"]["instagram"] == "https://www.instagram.com/molar.oy"
        assert {"query", "borough"} <= set(report["ignored_columns"])
    if row in (OUTSCRAPER, APOLLO_ACCOUNTS):
        profiles = details["extra"]["socials"]
        assert profiles["linkedin"].endswith("linkedin.com/company/molar")
        assert profiles["facebook"].endswith("facebook.com/molaroy")


async def test_the_company_of_an_imported_contact_is_its_business_in_files(line, admin, tmp_path):
    report = await imported(line, "contacts", written(tmp_path, {**APOLLO, "Email": "anna@gmail.com", "Website": None}))
    out = tmp_path / "leads.csv"
    await line("export", "leads", "--search", report["search_id"], "--per", "contact", "--out", str(out))
    [lead] = csv.DictReader(out.open(encoding="utf-8-sig"))
    assert (lead["business"], lead["name"], lead["phone"]) == ("Molar Oy", "Anna Molar", "+358 9 61234567")
