import StoreProtocol
import StoreSchema
import StoreSupport

/// Applies one change set to a copy of the content: all of it, or conflicts and nothing.
struct DictionaryCommit {
  private(set) var content: Content
  private let schema: Schema
  private let before: Content
  let changes: SealedChanges
  private let targets: [ObjectReference]
  private var conflicts: [Conflict] = []

  init(_ schema: Schema, _ content: Content, _ changes: ChangeSet, isRehearsal: Bool = false) throws(StoreError) {
    (self.schema, self.content, before) = (schema, content, content)
    let draft = CommitDraft(changes, schema, isRehearsal: isRehearsal)
    targets = draft.targets
    var ranges: [Int: Range<Int64>] = [:]
    for need in draft.keyNeeds {
      self.content.note(need.highestGiven)
      ranges[need.root] = self.content.takeKeys(need.count)
    }
    self.changes = try draft.seal(ranges)
  }

  mutating func run() -> [Conflict] {
    for update in changes.updates { check(update.row.reference, update.versionRead) }
    for deletion in changes.deletions + changes.checks { check(deletion.reference, deletion.versionRead) }
    deleteRows()
    for row in changes.updates.map(\.row) + changes.insertions {
      content.rows[root(row.entity), default: [:]][row.key] = row
    }
    changeLinks()
    for target in targets where content.rows[root(target.entity)]?[target.key] == nil {
      conflicts.append(Conflict(reference: target, versionRead: 0, kind: .version(persisted: nil)))
    }
    for deletion in changes.deletions { judge(deletion) }
    dropLinks()
    judgeUniqueness()
    return changes.unsealed(conflicts)
  }

  private func root(_ entity: Int) -> Int { schema.entities[entity].root }
  private func stored(_ entity: Int, _ key: Int64) -> Row? { before.rows[root(entity)]?[key] }

  private mutating func check(_ reference: ObjectReference, _ versionRead: Int64) {
    let row = stored(reference.entity, reference.key)
    if let row, row.version == versionRead, row.entity == reference.entity { return }
    conflicts.append(Conflict(reference: reference, versionRead: versionRead, kind: .version(persisted: row)))
  }

  private mutating func deleteRows() {
    for deletion in changes.deletions { content.rows[root(deletion.reference.entity)]?[deletion.reference.key] = nil }
  }

  /// What somebody else has linked to a deleted object since its delete rules were followed.
  private mutating func judge(_ deletion: ChangeSet.Deletion) {
    let (entity, key) = (schema.entities[deletion.reference.entity], deletion.reference.key)
    for relationship in entity.guardedMembers + entity.guardedLinks {
      let members = content.rows[root(relationship.destination)] ?? [:]
      let referrers =
        if let slot = schema.inverse(of: relationship)?.slot {
          members.values.filter { row in
            relationship.destinations.contains(row.entity) && !row.isNull(slot) && row.int(slot) == key
          }
        } else {
          (content.links[.init(relationship: relationship, owner: key)] ?? []).compactMap { members[$0] }
        }
      if referrers.isEmpty { continue }
      conflicts.append(
        Conflict(
          reference: deletion.reference, versionRead: deletion.versionRead,
          kind: .referrers(relationship: relationship.index, referrers.map(\.reference))))
    }
  }

  /// A deleted object takes its links with it, on both sides.
  private mutating func dropLinks() {
    for deletion in changes.deletions {
      let (entity, key) = (deletion.reference.entity, deletion.reference.key)
      for (link, found) in content.links {
        let relationship = link.relationship
        if link.owner == key && root(relationship.declaringEntity) == root(entity) {
          content.links[link] = nil
        } else if found.contains(key) && root(relationship.destination) == root(entity) {
          content.links[link] = found.filter { $0 != key }
        }
      }
    }
  }

  /// Removals before additions before orders: a member that moves must not lose its new owner.
  private mutating func changeLinks() {
    for change in changes.links {
      for other in change.removed { unlink(relationship(change), key(change.owner), key(other.key)) }
    }
    for change in changes.links {
      for other in change.added { link(relationship(change), key(change.owner), key(other.key)) }
    }
    for change in changes.links {
      guard let order = change.order?.map({ key($0.key) }) else { continue }
      let pair = Content.Link(relationship: relationship(change), owner: key(change.owner))
      let listed = content.links[pair] ?? []
      content.links[pair] =
        pair.relationship.storage == .inverseToOne
        ? order : order.filter(listed.contains) + listed.filter { !order.contains($0) }
    }
  }

  /// The key of an owner or a member, which may be new.
  private func key(_ key: Int64) -> Int64 { changes.permanentKey(key) }

  private func relationship(_ change: ChangeSet.LinkChange) -> Relationship {
    schema.entities[change.entity].relationships[change.relationship]
  }

  private mutating func unlink(_ relationship: Relationship, _ owner: Int64, _ other: Int64) {
    content.links[.init(relationship: relationship, owner: owner)]?.removeAll { $0 == other }
    guard case .pairs = relationship.storage, let inverse = schema.inverse(of: relationship) else { return }
    content.links[.init(relationship: inverse, owner: other)]?.removeAll { $0 == owner }
  }

  private mutating func link(_ relationship: Relationship, _ owner: Int64, _ other: Int64) {
    if relationship.storage == .inverseToOne { return }
    if relationship.storage == .destination {
      // A one-way destination belongs to one owner.
      for pair in content.links.keys where pair.relationship == relationship {
        content.links[pair]?.removeAll { $0 == other }
      }
    }
    append(other, to: .init(relationship: relationship, owner: owner))
    guard case .pairs = relationship.storage, let inverse = schema.inverse(of: relationship) else { return }
    append(owner, to: .init(relationship: inverse, owner: other))
  }

  private mutating func append(_ key: Int64, to pair: Content.Link) {
    if content.links[pair]?.contains(key) != true { content.links[pair, default: []].append(key) }
  }

  /// Judged on the state after the save, so that values can be swapped.
  private mutating func judgeUniqueness() {
    for entity in schema.entities {
      for slots in entity.uniquenessConstraints {
        let rows = (content.rows[entity.root] ?? [:]).values.filter { row in
          entity.subtree.contains(row.entity) && !slots.contains { row.isNull($0) }
        }
        let groups = Dictionary(grouping: rows) { row in slots.map { row.value($0, entity.slots[$0]) } }
        for group in groups.values where group.count > 1 { report(group, slots) }
      }
    }
  }

  /// Whoever changed, or is new, is in conflict with the one that was there.
  private mutating func report(_ group: [Row], _ slots: [Int]) {
    let changed = Set(changes.updates.map(\.row.reference) + changes.insertions.map(\.reference))
    let sorted = group.sorted { $0.key < $1.key }
    let holder = sorted.first { !changed.contains($0.reference) } ?? sorted[0]
    for row in sorted where row.key != holder.key && changed.contains(row.reference) {
      let other = stored(holder.entity, holder.key)
      let isNew = stored(row.entity, row.key) == nil
      conflicts.append(
        Conflict(
          reference: row.reference, versionRead: isNew ? 0 : row.version - 1,
          kind: .constraint(slots: slots, other: holder.reference, persisted: other)))
    }
  }
}
