import StoreSchema

/// Changes that are made to one object as a whole: those of a child context's save, or those that an event is undone
/// with. `Other` stands for an object of a link: a child's save names the parent's objects by their keys.
struct ObjectChanges<Other> {
  /// Changed values that are no links.
  var values: [(slot: Int, value: Value)] = []
  /// By slot, the names of files in which a store has some of the values. A name is valid as long as the object's row
  /// has it.
  var stored: [Int: Value] = [:]
  /// Changed values of transformable attributes, as objects.
  var transformed: [(slot: Int, value: Any)] = []
  /// Values of transient attributes by their index.
  var transients: [(index: Int, value: Any?)] = []
  var toOnes: [(relationship: Relationship, destination: Other?)] = []
  var toManys: [Members] = []

  /// The changes of a to-many relationship.
  struct Members {
    let relationship: Relationship
    /// Empty where the inverse is a to-one relationship: as in a store, the link belongs to the member.
    let added, removed: [Other]
    /// All members in their order, or with `isAppended` the last ones; nil where the order has not changed.
    let order: [Other]?
    var isAppended = false
    /// Whether the order is the one that was saved when the changes were described.
    var isSavedOrder = false

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
  }

  var isEmpty: Bool { isUnsaved && transients.isEmpty }

  /// Whether a save would write nothing of them, such as those of an object whose values were set to what they are.
  var isUnsaved: Bool { values.isEmpty && transformed.isEmpty && toOnes.isEmpty && toManys.allSatisfy(\.isEmpty) }
}

/// Making such changes. Values come first, then links, then orders: a relationship can be put into its order when all
/// objects have their links.
extension ContextCore {
  func setValues<Other>(_ changes: ObjectChanges<Other>, of object: NSManagedObject) {
    for (slot, value) in changes.values {
      let stored = changes.stored[slot]
      let isStored = stored != nil && object.committed(slot) == stored
      // A file that could not be read, and that the row no longer names.
      if !isStored && stored == value { continue }
      let value = isStored ? stored ?? value : value
      if object.stored(slot) == value { continue }
      object.change(slot, to: value)
      // After the event's base has the former object.
      object.extras?.transformed[slot] = nil
    }
    for (slot, value) in changes.transformed {
      object.change(slot, to: TransformableCoding.pending)
      object.makeExtras().transformed[slot] = value
    }
    for (index, value) in changes.transients where !object.hasTransient(value, index) {
      object.changeTransient(value, index)
    }
  }

  /// Sets the links of objects, each with its inverse. Where both sides have changes, the second side does nothing: the
  /// links that `done` has. `found` gives the object of a link, nil where there is none any more.
  func setLinks<Other>(
    _ changed: some Sequence<(object: NSManagedObject, changes: ObjectChanges<Other>)>, done: inout Set<SetLink>,
    _ found: (Other) -> NSManagedObject?
  ) {
    for (object, changes) in changed {
      for (relationship, destination) in changes.toOnes {
        object.setToOne(relationship, destination.flatMap(found))
      }
      for members in changes.toManys {
        let relationship = members.relationship
        func set(_ member: Other, _ change: (NSManagedObject) -> Bool) {
          guard let member = found(member), !done.contains(SetLink(object, relationship, member)) else { return }
          // One side may show the link already, because it was read at another time. Then it is set from the other.
          if change(member), let inverse = relationship.linkedInverse, inverse.isToMany {
            done.insert(SetLink(member, inverse, object))
          }
        }
        // The last one first, because removing it is fastest.
        for member in members.removed.reversed() { set(member) { object.removeUnread($0, from: relationship) } }
        for member in members.added { set(member) { object.addUnread($0, to: relationship) } }
      }
    }
  }

  /// Where no save was since the changes were described, a saved order is the one that is stored now.
  func setOrders<Other>(
    _ changes: ObjectChanges<Other>, of object: NSManagedObject, isUnsaved: Bool = false,
    _ found: (Other) -> NSManagedObject?
  ) {
    for members in changes.toManys {
      guard let order = members.order else { continue }
      let isStored = isUnsaved && members.isSavedOrder
      let stored = isStored ? Array(object.loadedToMany(members.relationship).members(before: nil)) : nil
      object.setOrder(of: members.relationship, stored ?? order.compactMap(found), isAppended: members.isAppended)
    }
  }
}

/// A link that has been set or ended, as its other side has it.
struct SetLink: Hashable {
  private let (owner, member): (ObjectIdentifier, ObjectIdentifier)
  private let relationship: Relationship

  init(_ owner: NSManagedObject, _ relationship: Relationship, _ member: NSManagedObject) {
    (self.owner, self.relationship) = (ObjectIdentifier(owner), relationship)
    self.member = ObjectIdentifier(member)
  }
}

extension NSManagedObject {
  /// Removes an object from a to-many relationship. The members are read only where the other side shows no link,
  /// because that side may be older. Returns whether it was a member, as far as is known.
  @discardableResult
  func removeUnread(_ member: NSManagedObject, from relationship: Relationship) -> Bool {
    readOrderForUndo(relationship)
    let state = isLinked(to: member, by: relationship) == false ? loadedToMany(relationship) : toMany(relationship)
    if state.lacks(member) { return false }
    if !state.isFault {
      remove(member, from: relationship)
    } else {
      markUpdated()
      state.remove(member, keepsOrder: relationship.isOrdered)
      noteLinkChange(relationship)
      unlinkBack(member, relationship)
    }
    return true
  }

  /// Adds an object to a to-many relationship. The members are read only where they have an order, and where the other
  /// side shows the link already. Returns whether it was no member, as far as is known.
  fileprivate func addUnread(_ member: NSManagedObject, to relationship: Relationship) -> Bool {
    let isToBeRead = relationship.isOrdered || isLinked(to: member, by: relationship) == true
    let state = isToBeRead ? loadedToMany(relationship) : toMany(relationship)
    if state.isFault ? state.added.contains(where: { $0 === member }) : state.contains(member) { return false }
    if !state.isFault {
      add(member, to: relationship)
    } else {
      markUpdated()
      state.add(member)
      noteLinkChange(relationship)
      linkBack(member, relationship)
    }
    return true
  }

  /// Whether the members that a to-many inverse has read include this object; nil where they are unread.
  private func isLinked(to member: NSManagedObject, by relationship: Relationship) -> Bool? {
    guard let inverse = relationship.linkedInverse, inverse.isToMany, let state = member.toManys[inverse],
      !state.isFault
    else { return nil }
    return state.contains(self)
  }

  /// Puts the members into an order. Members that it does not name come last, or with `isAppended` first.
  fileprivate func setOrder(of relationship: Relationship, _ order: [NSManagedObject], isAppended: Bool) {
    let state = loadedToMany(relationship)
    let named = Set(order.map(ObjectIdentifier.init))
    let known = ContiguousArray(order.filter(state.contains))
    let others = ContiguousArray(state.members.filter { !named.contains(ObjectIdentifier($0)) })
    let members = isAppended ? others + known : known + others
    if state.members.elementsEqual(members, by: ===) { return }
    markUpdated()
    state.reorder(members)
    noteLinkChange(relationship)
  }
}
