"""What files, exports and deliveries withhold because of a suppression, as SQL conditions.

A suppression marks the contacts that have the address, the number or the domain (`suppressed_at`). Beside those,
outputs withhold what else belongs to the same people: contacts that they were merged into, other contacts of the same
name at the same site, and numbers, profiles and postal addresses that only they have; and the places and businesses
whose web site is at a suppressed domain. The conditions are computed from the rows alone, so the order in which pages
were read or suppressions added does not matter.
"""

ACCENTED = "àáâãäåąăçćčďèéêëęěğìíîïıłñńňòóôõöøőřśšşșťțùúûüůűýÿźżž"
PLAIN = "aaaaaaaacccdeeeeeegiiiiilnnnooooooorssssttuuuuuuyyzzz"
# Evaluated once per statement: a tenant without suppressions pays for no further condition.
_ANY = "(SELECT EXISTS (SELECT FROM suppression))"
_ANY_DOMAIN = "(SELECT EXISTS (SELECT FROM suppression WHERE kind = 'domain'))"


def is_withheld(row: str) -> str:
    """Return the condition that a contact is in no file and no delivery; `row` is the alias of the table."""
    return f"""({row}.suppressed_at IS NOT NULL OR {is_business_withheld(f"{row}.business_id")}
        OR ({_ANY} AND ({_is_same_person_suppressed(row)}
            OR ({row}.name IS NULL AND {row}.email IS NULL AND ({_only_withheld_have(row, _shares(row))})))))"""


def is_snippet_withheld(row: str) -> str:
    """Return the condition that the text around a contact may name somebody who is suppressed."""
    return f"({_ANY} AND EXISTS (SELECT FROM contact s WHERE {_is_suppressed_beside(row)}))"


def is_number_withheld(phone: str, business_id: str) -> str:
    """Return the condition that the number of a business is suppressed, or that only suppressed people have it."""
    return f"""({_ANY} AND (EXISTS (SELECT FROM suppression s
            WHERE s.kind = 'phone' AND s.value_hash = sha256_hex({phone}))
        OR {_only_withheld_have_at(business_id, f"{phone} IN (h.phone, h.fax)")}))"""


def is_profile_withheld(url: str, business_id: str) -> str:
    """Return the condition that only suppressed people of the business have this profile."""
    has_it = f"EXISTS (SELECT FROM jsonb_each_text(h.profiles) p WHERE p.value = {url})"
    return f"({_ANY} AND {_only_withheld_have_at(business_id, has_it)})"


def is_person_mentioned(text: str, domain_id: str) -> str:
    """Return the condition that a text or a URL has all words of the name of a withheld person of the site.

    In any order, case and punctuation, with or without accents: `/team/molar-anna` is Änna Molar.
    """
    written, words = _written("h"), _words(text)
    return f"""({_ANY} AND EXISTS (SELECT FROM contact h
        WHERE h.domain_id = {domain_id} AND h.name IS NOT NULL
            AND (h.suppressed_at IS NOT NULL OR {_is_same_person_suppressed("h")})
            AND (({_words(written)} <@ {words} AND {_words(written)} <> '{{}}')
                OR (h.name_latin IS NOT NULL AND {_words("h.name_latin")} <@ {words}))))"""


def _written(row: str) -> str:
    """Return the name of a contact without form of address and degree, where its parts are known."""
    return (
        f"CASE WHEN {row}.last_name IS NULL THEN {row}.name ELSE concat_ws(' ', {row}.first_name, {row}.last_name) END"
    )


def _words(text: str) -> str:
    plain = f"translate(lower({text}), '{ACCENTED}', '{PLAIN}')"
    return rf"array_remove(regexp_split_to_array({plain}, '(\W|_)+'), '')"


def is_site_withheld(name: str) -> str:
    """Return the condition that the domain of this name is suppressed."""
    return f"""({_ANY_DOMAIN} AND EXISTS (SELECT FROM suppression s
        WHERE s.kind = 'domain' AND s.value_hash = sha256_hex({name})))"""


def is_website_withheld(url: str) -> str:
    """Return the condition that the host of this URL, or a domain above it, is suppressed."""
    return f"""({_ANY_DOMAIN} AND EXISTS (SELECT FROM suppression s
        WHERE s.kind = 'domain' AND s.value_hash = ANY (site_hashes({url}))))"""


def is_business_withheld(business_id: str) -> str:
    """Return the condition that a domain of the business is suppressed; its web site, if no domain is known yet.

    Those of all records of the business count.
    """
    # Queries for one value, so that PostgreSQL reads the few domains of the business and not all of them.
    records = _records(business_id)
    return f"""({_ANY_DOMAIN} AND ((SELECT true FROM business_domain w WHERE w.business_id = ANY ({records})
        AND (SELECT {is_site_withheld("m.name")} FROM domain m WHERE m.id = w.domain_id) LIMIT 1) IS TRUE
        OR (SELECT bool_or({is_website_withheld("e.website")}) FROM local_business e WHERE e.id = ANY ({records}))
            IS TRUE))"""  # noqa: S608


def _records(business_id: str) -> str:
    """Return the ids of all records of the business that this record is of, as an array."""
    return f"""ARRAY(SELECT {business_id} UNION SELECT same.id FROM local_business one
        JOIN local_business same ON same.id = one.same_as_id OR same.same_as_id = coalesce(one.same_as_id, one.id)
        WHERE one.id = {business_id})"""  # noqa: S608 - own names


def _is_suppressed_beside(row: str) -> str:
    return f"s.domain_id = {row}.domain_id AND s.suppressed_at IS NOT NULL"


def _is_same_person_suppressed(row: str) -> str:
    """Return the condition that a contact merged into this one, or one of the same name at the site, is suppressed."""
    return f"""({_has_suppressed_name(row)} OR EXISTS (SELECT FROM contact s
        WHERE s.merged_into_id = {row}.id AND s.suppressed_at IS NOT NULL))"""


def _has_suppressed_name(row: str) -> str:
    """Return the condition that a suppressed contact of the same site has this name, in this form or in another."""
    return f"""({row}.name IS NOT NULL AND EXISTS (SELECT FROM contact s WHERE {_is_suppressed_beside(row)}
        AND s.name IS NOT NULL AND {_is_one_name(row, "s")}))"""


def _is_one_name(one: str, other: str) -> str:
    """Return the condition that one name has all words of the other: in any order, with accents or without.

    An initial is the word that begins with it; a name in two scripts has the words of both.
    """
    return f"""(lower({one}.name) = lower({other}.name)
        OR (SELECT n.a && n.b AND ({_has_words_of("n.a", "n.b")} OR {_has_words_of("n.b", "n.a")})
            FROM (SELECT {_words(_written(one))} AS a, {_words(_written(other))} AS b OFFSET 0) n)
        OR {_words(f"{one}.name_latin")} <@ {_words(_written(other))}
        OR {_words(f"{other}.name_latin")} <@ {_words(_written(one))})"""  # noqa: S608 - own names


def _has_words_of(one: str, other: str) -> str:
    return f"""(SELECT bool_and(EXISTS (SELECT FROM unnest({one}) x WHERE x = y
            OR (least(length(x), length(y)) = 1 AND left(x, 1) = left(y, 1)))) FROM unnest({other}) y)"""  # noqa: S608


def _shares(row: str) -> str:
    return f"""(h.phone IN ({row}.phone, {row}.fax) OR h.fax IN ({row}.phone, {row}.fax) OR h.address = {row}.address
        OR EXISTS (SELECT FROM jsonb_each_text(h.profiles) x JOIN jsonb_each_text({row}.profiles) y USING (value)))"""


def _only_withheld_have(row: str, shares: str) -> str:
    """Return the condition that people of the site have the value, and that all of them are withheld."""
    return f"""EXISTS (SELECT FROM contact s WHERE {_is_suppressed_beside(row)}) AND coalesce((
        SELECT bool_and(h.suppressed_at IS NOT NULL OR {_is_same_person_suppressed("h")}) FROM contact h
        WHERE h.domain_id = {row}.domain_id AND (h.name IS NOT NULL OR h.email IS NOT NULL) AND {shares}), false)"""  # noqa: S608


def _only_withheld_have_at(business_id: str, has_it: str) -> str:
    """Return the condition that people of the sites of a business have the value, and that all are withheld."""
    return f"""coalesce((SELECT bool_and(h.suppressed_at IS NOT NULL OR {_is_same_person_suppressed("h")})
        FROM business_domain w JOIN contact h ON h.domain_id = w.domain_id
        WHERE w.business_id = ANY ({_records(business_id)}) AND (h.name IS NOT NULL OR h.email IS NOT NULL)
            AND {has_it}), false)"""  # noqa: S608


# The phone number of a business `b` of the table local_business, or NULL if it is withheld.
BUSINESS_PHONE = f"CASE WHEN NOT {is_number_withheld('b.phone', 'b.id')} THEN b.phone END"
