"""The model as a keyed archive: the content of a store's model cache."""

from __future__ import annotations

import plistlib
import zlib

from .model import Attribute, Entity, Model, Relationship

NIL = plistlib.UID(0)
EMPTY_SLOT = "__empty_slot_token_4c24_98dc_ac1e_b773__"
ANCESTORS = {
    "NSMutableDictionary": ["NSDictionary"], "NSMutableArray": ["NSArray"],
    "NSKnownKeysDictionary1": ["NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
    "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
    "NSAttributeDescription": ["NSPropertyDescription"], "NSRelationshipDescription": ["NSPropertyDescription"],
    "_NSPropertyDescriptionProxy": ["NSPropertyDescription"],
    "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"]}
VALUE_CLASSES = {
    "String": "NSString", "Decimal": "NSDecimalNumber", "Date": "NSDate", "Binary": "NSData", "UUID": "NSUUID",
    "URI": "NSURL", "Transformable": None, "Composite": "NSDictionary"}
DELETE_RULES = {"No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3}
EXTERNAL_FLAG, PRESERVED_FLAG = 4, 16
OPTIONAL_BIT, TRANSIENT_BIT, ORDERED_BIT = 2, 8, 1024
PLAIN_BITS = 1 + 16 + 32 + 64 + 128  # no validation, no warnings, no user info


def model_cache(model: Model, copies: bool) -> bytes:
    """The compressed archive of the model; see `ModelArchiver` for `copies`."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(ModelArchiver(model, copies).archive()) + compressor.flush()


class KeyedArchiver:
    """Objects by number; an object can be named before its content is known, which is what cycles need."""

    def __init__(self):
        self.objects: list = ["$null"]
        self.shared: dict = {}

    def reserve(self) -> plistlib.UID:
        self.objects.append(None)
        return plistlib.UID(len(self.objects) - 1)

    def fill(self, uid: plistlib.UID, class_name: str, content: dict) -> plistlib.UID:
        self.objects[uid.data] = {**content, "$class": self.class_of(class_name)}
        return uid

    def add(self, class_name: str, content: dict) -> plistlib.UID:
        return self.fill(self.reserve(), class_name, content)

    def value(self, value) -> plistlib.UID:
        """A string, number or Boolean; each is stored once."""
        if value is None:
            return NIL
        return self._once((value.__class__, value), value)

    def class_of(self, name: str) -> plistlib.UID:
        return self._once(("class", name), {"$classname": name, "$classes": [name, *ANCESTORS.get(name, []),
                                                                            "NSObject"]})

    def array(self, class_name: str, members: list) -> plistlib.UID:
        return self.add(class_name, {"NS.objects": members})

    def dictionary(self, class_name: str, members: dict) -> plistlib.UID:
        return self.add(class_name, {"NS.keys": [self.value(key) for key in members],
                                     "NS.objects": list(members.values())})

    def known_keys_dictionary(self, members: dict) -> plistlib.UID:
        keys = self.array("NSArray", [self.value(key) for key in members])
        mapping = self.add("NSKnownKeysMappingStrategy1", {"keys": keys, "length": len(members), "version": 1})
        return self.add("NSKnownKeysDictionary1", {
            "searchMapping": mapping, "values": self.array("NSArray", list(members.values())),
            "emptyToken": self.value(EMPTY_SLOT), "version": 1})

    def data(self, root: plistlib.UID) -> bytes:
        return plistlib.dumps({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": root},
                               "$objects": self.objects}, fmt=plistlib.FMT_BINARY)

    def _once(self, key, value) -> plistlib.UID:
        if key not in self.shared:
            self.objects.append(value)
            self.shared[key] = plistlib.UID(len(self.objects) - 1)
        return self.shared[key]


class ModelArchiver(KeyedArchiver):
    """Archives a model; inherited properties appear in each sub-entity as complete copies or as proxies."""

    def __init__(self, model: Model, copies: bool):
        super().__init__()
        self.model, self.copies = model, copies
        self.model_uid = self.reserve()
        self.entity_uids = {name: self.reserve() for name in model.entities}
        self.property_uids = {(name, item.name): self.reserve() for name, entity in model.entities.items()
                              for item in entity.properties}
        self.no_user_info = self.dictionary("NSDictionary", {})

    def archive(self) -> bytes:
        for name in self.model.entities:
            self._entity(name)
        return self.data(self.fill(self.model_uid, "NSManagedObjectModel", {
            "NSEntities": self.known_keys_dictionary(self.entity_uids), "NSFetchRequestTemplates": NIL,
            "NSVersionIdentifiers": self.array("NSSet", [self.value(self.model.identifier)])}))

    def _entity(self, name: str) -> None:
        entity = self.model.entities[name]
        properties = {item.name: self._property(name, owner, item)
                      for owner, item in self.model.declared(name).values()}
        content = {
            "NSEntityName": self.value(name), "NSClassNameForEntity": NIL,
            "NSRenamingIdentifier": self.value(entity.renaming or name),
            "NSVersionHashModifier": self.value(entity.modifier), "NSUserInfo": self.no_user_info,
            "NSManagedObjectModel": self.model_uid, "NSSuperentity": self.entity_uids.get(entity.parent, NIL),
            "NSSubentities": self.dictionary("NSMutableDictionary", {
                child: self.entity_uids[child] for child in self.model.children(name)}),
            "NSProperties": self.dictionary("NSMutableDictionary", properties),
            "NSFetchIndexDescriptions": self._fetch_indexes(entity), "NSCompoundIndexes": self._names([])}
        if entity.abstract:
            content["NSIsAbstract"] = True
        if entity.unique:
            content["NSUniqueTuples"] = self._names(entity.unique)
        self.fill(self.entity_uids[name], "NSEntityDescription", content)

    def _names(self, groups: list[list[str]]) -> plistlib.UID:
        return self.array("NSMutableArray", [
            self.array("NSMutableArray", [self.value(name) for name in group]) for group in groups])

    def _property(self, name: str, owner: str, item: Attribute | Relationship) -> plistlib.UID:
        """The property as `name` has it: its own, or a stand-in for the one of `owner`."""
        if name == owner:
            return self._describe(self.property_uids[owner, item.name], name, owner, item)
        if self.copies:
            return self._describe(self.reserve(), name, owner, item)
        return self.add("_NSPropertyDescriptionProxy", {
            "NSUnderlyingProperty": self.property_uids[owner, item.name],
            "NSEntityDescription": self.entity_uids[name]})

    def _describe(self, uid: plistlib.UID, name: str, owner: str, item: Attribute | Relationship) -> plistlib.UID:
        is_attribute = isinstance(item, Attribute)
        transient, ordered = is_attribute and item.transient, not is_attribute and item.ordered
        content = {
            "NSPropertyName": self.value(item.name), "NSEntity": self.entity_uids[name],
            "NSRenamingIdentifier": self.value((is_attribute and item.renaming) or item.name),
            "_P": PLAIN_BITS + OPTIONAL_BIT * item.optional + TRANSIENT_BIT * transient + ORDERED_BIT * ordered}
        flags = {"NSIsOptional": item.optional, "NSIsTransient": transient, "NSIsOrdered": ordered,
                 "NSIsIndexed": is_attribute and item.indexed}
        content.update({key: True for key, value in flags.items() if value})
        if item.modifier is not None:
            content["NSVersionHashModifier"] = self.value(item.modifier)
        content.update(self._attribute(name, item) if is_attribute else self._relationship(item))
        kind = "NSRelationshipDescription" if not is_attribute else \
            "NSCompositeAttributeDescription" if item.elements else "NSAttributeDescription"
        return self.fill(uid, kind, content)

    def _attribute(self, name: str, item: Attribute) -> dict:
        content = {
            "NSAttributeType": item.code, "NSDefaultValue": self.value(_default(item)),
            "NSAttributeValueClassName": self.value(VALUE_CLASSES.get(item.type, "NSNumber")),
            "NSValueTransformerName": self.value(item.transformer),
            "NSFlagsKey": EXTERNAL_FLAG * item.external + PRESERVED_FLAG * item.preserved}
        if item.elements:
            content["NSCompositeElements"] = self.array("NSMutableArray", [
                self._describe(self.reserve(), name, name, element) for element in item.elements])
        return content

    def _relationship(self, item: Relationship) -> dict:
        return {
            "NSDestinationEntity": self.entity_uids[item.destination],
            "_NSDestinationEntityName": self.value(item.destination),
            "NSInverseRelationship": self.property_uids.get((item.destination, item.inverse), NIL),
            "_NSInverseRelationshipName": self.value(item.inverse),
            "NSMinCount": item.minimum, "NSMaxCount": item.maximum, "NSDeleteRule": DELETE_RULES[item.rule]}

    def _fetch_indexes(self, entity: Entity) -> plistlib.UID:
        descriptions = []
        for name, properties in entity.indexes.items():
            description = self.reserve()
            elements = [self._fetch_index_element(description, item) for item in properties]
            descriptions.append(self.fill(description, "NSFetchIndexDescription", {
                "NSIndexName": self.value(name), "NSIndexElements": self.array("NSMutableArray", elements),
                "NSEntity": self.entity_uids[entity.name], "NSPartialIndexPredicate": NIL}))
        return self.array("NSMutableArray", descriptions)

    def _fetch_index_element(self, description: plistlib.UID, item: str) -> plistlib.UID:
        content = {"NSPropertyName": self.value(item.lstrip("-")), "NSFetchIndexElementType": 0,
                   "NSFetchIndexDescription": description}
        if item[0] != "-":
            content["NSAscending"] = True
        return self.add("NSFetchIndexElementDescription", content)


def _default(attribute: Attribute):
    """The default value as the archive holds it; fixtures have none of other types."""
    if attribute.default is None:
        return None
    if attribute.type == "Boolean":
        return attribute.default == "YES"
    if attribute.type.startswith("Integer"):
        return int(attribute.default)
    return float(attribute.default) if attribute.type in ("Double", "Float") else attribute.default
