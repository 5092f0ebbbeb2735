"""Tables, columns, join tables and indexes that a model gets in a store."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Attribute, Model, Relationship

COLUMN_TYPES = {
    "Integer 16": "INTEGER", "Integer 32": "INTEGER", "Integer 64": "INTEGER", "Boolean": "INTEGER",
    "Double": "FLOAT", "Float": "FLOAT", "Date": "TIMESTAMP", "Decimal": "DECIMAL", "String": "VARCHAR",
    "URI": "VARCHAR", "UUID": "BLOB", "Transformable": "BLOB", "Binary": "BLOB"}
NUMBER_TYPES = {"Integer 16", "Integer 32", "Integer 64", "Boolean"}
GROUPS_AFTER_NUMBERS = [{"Double", "Float", "Date"}, {"Decimal"}, {"String"}, {"URI"}, {"UUID"}, {"Transformable"},
                        {"Binary"}]
SYSTEM_TABLES = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"]
MODEL_CACHE_TABLE = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"
LAST_WITH_INDEX_BESIDE_TABLE, LAST_WITH_OLD_INDEX_NAMES, LAST_WITH_UNIQUE_COLUMNS = 481, 754, 851


@dataclass
class Join:
    """The table of a many-to-many relationship; `owner` and `relationship` name it."""
    owner: str
    relationship: Relationship
    table: str
    owner_column: str
    target_column: str
    owner_order: str | None = None
    target_order: str | None = None
    reversed_columns: bool = False

    @property
    def reflexive(self) -> bool:
        return self.target_column == "REFLEXIVE"

    def statement(self) -> str:
        columns = [self.owner_column, self.target_column]
        if self.reversed_columns:
            columns.reverse()
        columns += [column for column in (self.owner_order, self.target_order) if column]
        return (f"CREATE TABLE {self.table} ( {', '.join(f'{column} INTEGER' for column in columns)}, "
                f"PRIMARY KEY ({', '.join(columns[:2])}) )")

    def index(self) -> str:
        return (f"CREATE INDEX {self.table}_{self.target_column}_INDEX ON {self.table} "
                f"({self.target_column}, {self.owner_column})")


@dataclass
class Oddities:
    """What in-place migration or another side of the rules makes of a layout; relationships as (entity, name)."""
    joins_by_other_side: set[tuple[str, str]] = field(default_factory=set)
    joins_with_reversed_columns: set[tuple[str, str]] = field(default_factory=set)
    appended: set[tuple[str, str]] = field(default_factory=set)


class Layout:
    """Where a store of a framework keeps each property of a model.

    Properties are (declaring entity, name); composite elements, which have columns of their own, add their path.
    """

    def __init__(self, model: Model, framework: int, oddities: Oddities | None = None):
        self.model, self.framework, self.oddities = model, framework, oddities or Oddities()
        self.numbers = {name: number for number, name in enumerate(
            (name for root in model.children(None) for name in model.subtree(root)), start=1)}
        self.columns: dict[tuple[str, ...], str] = {}
        self.entity_columns: dict[tuple[str, str], str] = {}
        self.order_columns: dict[tuple[str, str], str] = {}
        for root in model.children(None):
            self._name_columns(root)
        self._name_columns_in_destinations()
        self.joins = self._joins()

    def table(self, entity: str) -> str:
        return "Z" + self.model.root(entity).upper()

    # Names of columns

    def _name_columns(self, root: str) -> None:
        """Names the columns of a table; of properties with the same name each but the first gets a number."""
        used: dict[str, int] = {}
        for entity in self.model.subtree(root):
            for path, attribute in self._leaves(entity):
                self.columns[path] = "Z" + self._numbered(attribute.name.upper(), used)
            for item in self.model.entities[entity].relationships:
                if not item.many:
                    self._name_to_one(entity, item, self._numbered(item.name.upper(), used))

    @staticmethod
    def _numbered(name: str, used: dict[str, int]) -> str:
        count = used.get(name, 0)
        used[name] = count + 1
        return f"{name}{count or ''}"

    def _name_to_one(self, entity: str, item: Relationship, name: str) -> None:
        self.columns[entity, item.name] = "Z" + name
        if self.model.children(item.destination):
            self.entity_columns[entity, item.name] = f"Z{self.numbers[item.destination]}_{name}"
        inverse = self.inverse(item)
        if inverse and inverse.many and inverse.ordered:
            self.order_columns[item.destination, inverse.name] = f"Z_FOK_{name}"

    def _name_columns_in_destinations(self) -> None:
        """To-many relationships without an inverse have their columns in the destination's table."""
        for owner, item in self.one_way_to_many():
            name = f"{self.numbers[owner]}{item.name.upper()}"
            self.columns[owner, item.name] = "Z" + name
            if item.ordered:
                self.order_columns[owner, item.name] = f"Z_FOK_{name}"

    def _leaves(self, entity: str) -> list[tuple[tuple[str, ...], Attribute]]:
        """The stored attributes that an entity declares, with elements in the place of composites."""
        found = []

        def collect(path: tuple[str, ...], attributes) -> None:
            for attribute in attributes:
                if attribute.elements:
                    collect((*path, attribute.name), attribute.elements)
                elif not attribute.transient:
                    found.append(((*path, attribute.name), attribute))

        collect((entity,), self.model.entities[entity].attributes)
        return sorted(found, key=lambda item: item[1].name)

    # Relationships

    def inverse(self, item: Relationship) -> Relationship | None:
        if item.inverse is None:
            return None
        return self.model.declared(item.destination)[item.inverse][1]

    def one_way_to_many(self) -> list[tuple[str, Relationship]]:
        return [(owner, item) for owner, item in self.model.all_relationships() if item.many and item.inverse is None]

    def _joins(self) -> dict[tuple[str, str], Join]:
        """The join table of each many-to-many relationship, under both its sides."""
        found, columns_of_entity = {}, {name: {} for name in self.model.entities}
        sides = sorted(self.model.all_relationships(), key=lambda side: (self.numbers[side[0]], side[1].name))
        for owner, item in sides:
            inverse = self.inverse(item)
            if not (item.many and inverse and inverse.many) or (owner, item.name) in found:
                continue
            if self._other_side_names(owner, item):
                owner, item, inverse = item.destination, inverse, item
            join = self._join(owner, item, inverse, columns_of_entity)
            found[owner, item.name] = found[item.destination, inverse.name] = join
        return found

    def _other_side_names(self, owner: str, item: Relationship) -> bool:
        """The lower number names a join table, unless only the higher one's entity has sub-entities."""
        lower_is_leaf, higher_is_parent = not self.model.children(owner), bool(self.model.children(item.destination))
        by_rule = owner != item.destination and lower_is_leaf and higher_is_parent
        return by_rule != ((owner, item.name) in self.oddities.joins_by_other_side)

    def _join(self, owner: str, item: Relationship, inverse: Relationship, used: dict) -> Join:
        here, there = self.numbers[owner], self.numbers[item.destination]
        table = f"Z_{here}{item.name.upper()}"
        target = f"{there}{self._numbered(item.name.upper(), used[item.destination])}"
        if inverse is item:
            return Join(owner, item, table, f"Z_{target}", "REFLEXIVE")
        source = f"{here}{self._numbered(inverse.name.upper(), used[owner])}"
        return Join(owner, item, table, f"Z_{source}", f"Z_{target}",
                    f"Z_FOK_{source}" if inverse.ordered else None, f"Z_FOK_{target}" if item.ordered else None,
                    (owner, item.name) in self.oddities.joins_with_reversed_columns)

    # Statements

    def statements(self) -> list[str]:
        """All statements but those of the history, in the order of a fresh store of the framework."""
        tables, indexes = [], []
        for root in self.model.children(None):
            joins = [join for key, join in self.joins.items()
                     if key == (join.owner, join.relationship.name) and self.model.root(join.owner) == root]
            own_indexes = [*self._indexes(root), *(join.index() for join in joins)]
            tables += [self._table(root), *(join.statement() for join in joins)]
            (tables if self.framework <= LAST_WITH_INDEX_BESIDE_TABLE else indexes).extend(own_indexes)
        return tables + indexes + SYSTEM_TABLES

    def appended_columns(self) -> list[str]:
        """What adds the columns that a migration put at the end of a table."""
        return [f"ALTER TABLE {self.table(path[0])} ADD COLUMN {self.columns[path]} {COLUMN_TYPES[attribute.type]}"
                for entity in self.model.entities for path, attribute in self._leaves(entity)
                if path in self.oddities.appended]

    def _table(self, root: str) -> str:
        columns = [f"{name} {type}{' UNIQUE' * (name in self._unique_columns(root))}"
                   for name, type in self._columns_of_table(root)]
        columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER", *columns]
        constraints = self._compound_constraints(root)
        end = "".join(f", CONSTRAINT {'_'.join(names)} UNIQUE ({', '.join(names)})" for names in constraints) or " "
        return f"CREATE TABLE {self.table(root)} ( {', '.join(columns)}{end})"

    def _columns_of_table(self, root: str) -> list[tuple[str, str]]:
        """The names and declared types of a table's columns, in their order."""
        subtree = self.model.subtree(root)
        leaves = [(path, attribute) for entity in subtree for path, attribute in self._leaves(entity)
                  if path not in self.oddities.appended]
        found = [(name, "INTEGER") for entity in subtree for name in self._integer_columns(entity)]
        found += [(column, "INTEGER") for column in sorted(
            self.order_columns[owner, item.name] for owner, item in self.model.all_relationships()
            if (owner, item.name) in self.order_columns and item.inverse is not None and item.destination in subtree)]
        return found + [(self.columns[path], COLUMN_TYPES[attribute.type]) for group in GROUPS_AFTER_NUMBERS
                        for path, attribute in leaves if attribute.type in group]

    def _integer_columns(self, entity: str) -> list[str]:
        """An entity's numbers, then its to-one relationships, then the to-many ones that end in it."""
        found = [self.columns[path] for path, attribute in self._leaves(entity)
                 if attribute.type in NUMBER_TYPES and path not in self.oddities.appended]
        for item in self.model.entities[entity].relationships:
            key = entity, item.name
            if not item.many:
                found += [self.columns[key], *filter(None, [self.entity_columns.get(key)])]
        one_way = sorted((self.numbers[owner], item.name, owner) for owner, item in self.one_way_to_many()
                         if item.destination == entity)
        for _, name, owner in one_way:
            found += [self.columns[owner, name], *filter(None, [self.order_columns.get((owner, name))])]
        return found

    def _unique_groups(self, root: str) -> list[tuple[str, list[str], list[str]]]:
        """(entity, property names, columns) of every uniqueness constraint of a table."""
        found = []
        for entity in self.model.subtree(root):
            declared = self.model.declared(entity)
            for names in self.model.entities[entity].unique:
                found.append((entity, names, [self.columns[declared[name][0], name] for name in names]))
        return found

    def _unique_columns(self, root: str) -> set[str]:
        if self.framework > LAST_WITH_UNIQUE_COLUMNS:
            return set()
        return {columns[0] for _, _, columns in self._unique_groups(root) if len(columns) == 1}

    def _compound_constraints(self, root: str) -> list[list[str]]:
        if self.framework > LAST_WITH_UNIQUE_COLUMNS:
            return []
        return [columns for _, _, columns in self._unique_groups(root) if len(columns) > 1]

    def _indexes(self, root: str) -> list[str]:
        table, subtree = self.table(root), self.model.subtree(root)
        keys = [self.columns[entity, item.name] for entity in subtree
                for item in self.model.entities[entity].relationships if not item.many]
        keys += [self.columns[owner, item.name] for owner, item in self.one_way_to_many()
                 if item.destination in subtree]
        keys += ["Z_ENT"] * (len(subtree) > 1)
        found = [f"CREATE INDEX {table}_{column}_INDEX ON {table} ({column})" for column in keys]
        for entity in subtree:
            found += self._indexes_of_attributes(entity)
        if self.framework > LAST_WITH_UNIQUE_COLUMNS:
            found += [f"CREATE UNIQUE INDEX Z_{entity}_UNIQUE_{'_'.join(names)} ON {table} ({_ascending(columns)})"
                      for entity, names, columns in self._unique_groups(root)]
        return found

    def _indexes_of_attributes(self, entity: str) -> list[str]:
        """The indexes that the model asks for: indexed attributes, compound indexes and fetch indexes."""
        table, declared = self.table(entity), self.model.declared(entity)
        column = {name: self.columns.get((owner, name)) for name, (owner, _) in declared.items()}
        found, old = [], self.framework <= LAST_WITH_OLD_INDEX_NAMES
        for item in self.model.entities[entity].attributes:
            if item.indexed:
                name = column[item.name]
                found.append(f"CREATE INDEX {table}_{name}_INDEX ON {table} ({name})" if old else
                             f"CREATE INDEX Z_{entity}_{item.name} ON {table} ({_ascending([name])})")
        for names in self.model.entities[entity].compound_indexes:
            columns = [column[name] for name in names]
            found.append(f"CREATE INDEX {table}_{'_'.join(columns)} ON {table} ({', '.join(columns)})")
        for name, items in self.model.entities[entity].indexes.items():
            elements = [f"{column[item.lstrip('-')]} COLLATE BINARY {'DESC' if item[0] == '-' else 'ASC'}"
                        for item in items]
            found.append(f"CREATE INDEX Z_{entity}_{name} ON {table} ({', '.join(elements)})")
        return found


def _ascending(columns: list[str]) -> str:
    return ", ".join(f"{column} COLLATE BINARY ASC" for column in columns)
