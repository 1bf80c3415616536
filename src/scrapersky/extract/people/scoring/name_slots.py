"""Slots of names: lines of one shape that are mostly names, and lists of names in a team section."""

from collections import Counter
from functools import cached_property
from itertools import pairwise

from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.labels import is_team_heading
from scrapersky.extract.people.scoring.layout import PageLayout, Shape
from scrapersky.extract.people.scoring.nearby_contacts import has_contact_below, has_own_address
from scrapersky.extract.people.scoring.nearby_roles import NearbyRoles

KNOWN = 0.3  # the score of a known given name
MAX_GAP = 2  # lines between two names of a list


class NameSlots:
    """Finds the names of one page that stand where names stand."""

    def __init__(self, layout: PageLayout, roles: NearbyRoles) -> None:
        self.layout = layout
        self.roles = roles
        self.blocks = layout.blocks
        self.phone_blocks = layout.phone_blocks

    @cached_property
    def names(self) -> set[int]:
        """The names in slots of names: lines of one shape that are mostly names, lists of names in a team section."""
        groups: dict[Shape, list[int]] = {}
        for index in self.layout.name_indexes:
            groups.setdefault(self.layout.shape(self.blocks[index]), []).append(index)
        found: set[int] = set()
        for shape, indexes in groups.items():
            if len(indexes) > 1 and self._are_mostly_names(shape, indexes):
                found.update(self._in_sections_with_people(indexes))
            elif len(indexes) > 2:
                listed = self._names_in_team_list(indexes)
                known = sum(_is_known(self.layout.names[index].name) for index in listed)
                found.update(listed if known * 3 >= len(listed) else ())
        return found

    def _in_sections_with_people(self, indexes: list[int]) -> list[int]:
        """Return the names of one shape without those of sections where none is known or has a role or an address."""
        sections = {index: self.layout.section_of(self.blocks[index]) for index in indexes}
        if self.layout.is_team_page or len(set(sections.values())) == 1:
            return indexes
        with_people = {
            section
            for index, section in sections.items()
            if _is_known(self.layout.names[index].name) or self._has_role_or_address(index)
        }
        return [index for index in indexes if sections[index] in with_people]

    def _are_mostly_names(self, shape: Shape, indexes: list[int]) -> bool:
        """Return whether most lines of a shape are names, and most of these are known or have a role or an address."""
        count = len(indexes)
        if count < 0.6 * self.layout.line_shapes[shape]:
            return False
        known = [index for index in indexes if _is_known(self.layout.names[index].name)]
        if len(known) >= max(1, 0.4 * count):
            return True
        if not known and not self.layout.is_in_team(self.blocks[indexes[0]]):
            return False
        if len(set(known).union(filter(self._has_role_or_address, indexes))) >= max(2, 0.5 * count):
            return True
        is_list = count == self.layout.line_shapes[shape] and self._names_in_team_list(indexes) == indexes
        return is_list and (count > 2 or all(has_contact_below(self.layout, self.blocks[index]) for index in indexes))

    def _names_in_team_list(self, indexes: list[int]) -> list[int]:
        """Return the names below a team heading, if each follows the one before after a few lines."""
        found = [i for i in indexes if self.layout.is_under_heading(self.blocks[i], is_team_heading)]
        gaps = [
            sum(line not in self.phone_blocks and "@" not in self.blocks[line].text for line in range(one + 1, other))
            for one, other in pairwise(found)
        ]
        return found if all(gap <= MAX_GAP for gap in gaps) else []

    def _has_role_or_address(self, index: int) -> bool:
        candidate, block = self.layout.names[index], self.blocks[index]
        if candidate.role and candidate.is_known_role:
            return True
        return bool(self.roles.beside(block)) or has_own_address(self.layout, candidate.name, block)

    @cached_property
    def shapes_with_roles(self) -> set[Shape]:
        """The shapes of lines in which a known role stands behind a name."""
        return {
            self.layout.shape(self.blocks[index])
            for index, candidate in self.layout.names.items()
            if candidate.role and candidate.is_known_role
        }

    @cached_property
    def shapes_with_functions(self) -> set[Shape]:
        """The shapes of lines of which half, two or more, have a text of no list beside the name."""
        shape, names = self.layout.shape, self.layout.names
        counts = Counter(
            [shape(self.blocks[index]) for index, one in names.items() if one.role and not one.is_known_role]
        )
        return {one for one, count in counts.items() if count > 1 and count * 2 >= self.layout.name_shapes[one]}

    @cached_property
    def shapes_beside_roles(self) -> set[Shape]:
        """The shapes of names in slots of which one has a role beside it."""
        return {self.layout.shape(self.blocks[index]) for index in self.names if self.roles.beside(self.blocks[index])}

    def roles_among_names(self) -> set[int]:
        """Return the lines taken for names that are roles: of no known word, below a name of a slot, in no slot."""
        names = self.layout.names
        unknown = [i for i, one in names.items() if one.name.score < 0 and not one.role and i - 1 in names]
        slots = self.names if unknown else ()
        return {
            index
            for index in unknown
            if index not in slots
            and index - 1 in slots
            and self.layout.shape(self.blocks[index]) != self.layout.shape(self.blocks[index - 1])
            and self.layout.is_in_own_card(self.blocks[index - 1], self.blocks[index])
        }


def _is_known(name: Name) -> bool:
    return name.score >= (KNOWN if name.text[0].isupper() else 0.1)
