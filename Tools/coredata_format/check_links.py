"""The judge's checks of join tables and of order keys."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from .contents import Contents, shown
from .findings import Findings
from .layout import Link
from .model import Relationship


class LinkChecks:
    """Checks every row that says who belongs to a to-many relationship."""

    def __init__(self, contents: Contents, findings: Findings):
        self.contents, self.findings = contents, findings

    def run(self) -> None:
        self.findings.run("the join tables", self._joins)
        self.findings.run("the order keys", self._orders)

    def _joins(self) -> None:
        for table, (owner, relationship, link) in self.contents.join_tables().items():
            for first, second in self._pairs(link):
                for entity, key in ((owner, first), (relationship.destination, second)):
                    if self.contents.target(entity, key) is None:
                        self.findings.find("join", f"{table} ({shown(first)}, {shown(second)}): "
                                           f"there is no {entity} {shown(key)}")
                if link.reflexive and isinstance(first, int) and isinstance(second, int) and first > second:
                    self.findings.find("join-reflexive", f"{table} ({first}, {second}): the smaller key comes first")

    def _pairs(self, link: Link) -> Iterator[tuple]:
        return self.contents.store.rows(f'SELECT "{link.owner}", "{link.target}" FROM "{link.table}"')

    def _orders(self) -> None:
        for owner, relationship, link in self.contents.links():
            if link.order:
                self._order(f"{owner}.{relationship.name}", relationship, link)

    def _order(self, name: str, relationship: Relationship, link: Link) -> None:
        """In an owner's members every order key is an integer of its own; who has no owner has no order key."""
        rows = self.contents.store.rows(
            f'SELECT "{link.owner}", "{link.order}", "{link.target}" FROM "{link.table}"').fetchall()
        orders: dict[object, Counter] = defaultdict(Counter)
        for owner_key, order, key in rows:
            member = f"{name} of {shown(owner_key)}, {relationship.destination} {shown(key)}"
            if owner_key is None:
                if order is not None:
                    self.findings.find("order-null", f"{member}: the order key is {shown(order)} without an owner")
            elif not isinstance(order, int):
                self.findings.find("order-key", f"{member}: the order key is {shown(order)}")
            else:
                orders[owner_key][order] += 1
        for owner_key, counts in orders.items():
            for order, count in counts.items():
                if count > 1:
                    self.findings.find("order-tie",
                                       f"{name} of {shown(owner_key)}: {count} members have the order key {order}")
