import CoreData

/// A kind of relationship between owners and members: its shape and the delete rule of the owner.
struct RaceKind: Hashable, Codable, Sendable {
  enum Shape: String, Codable, CaseIterable, Sendable {
    case toOne, ordered, oneToOne, manyToMany, orderedManyToMany
  }
  enum Rule: String, Codable, CaseIterable, Sendable { case nullify, cascade, deny, noAction }

  let shape: Shape
  let rule: Rule

  /// All kinds of a run, in the order of reports.
  static let all: [RaceKind] = [
    RaceKind(.toOne, .nullify), RaceKind(.toOne, .cascade), RaceKind(.toOne, .deny), RaceKind(.toOne, .noAction),
    RaceKind(.ordered, .nullify), RaceKind(.ordered, .cascade), RaceKind(.ordered, .deny),
    RaceKind(.oneToOne, .nullify), RaceKind(.oneToOne, .cascade), RaceKind(.oneToOne, .deny),
    RaceKind(.manyToMany, .nullify), RaceKind(.manyToMany, .cascade), RaceKind(.manyToMany, .deny),
    RaceKind(.manyToMany, .noAction), RaceKind(.orderedManyToMany, .nullify),
  ]

  init(_ shape: Shape, _ rule: Rule) { (self.shape, self.rule) = (shape, rule) }

  /// For example `toOne-cascade`.
  var text: String { "\(shape.rawValue)-\(rule.rawValue)" }

  init?(text: Substring) {
    guard let kind = Self.all.first(where: { $0.text == text }) else { return nil }
    self = kind
  }

  /// Whether a member can have more than one owner.
  var isPairs: Bool { shape == .manyToMany || shape == .orderedManyToMany }
  var isOrdered: Bool { shape == .ordered || shape == .orderedManyToMany }

  var ownerEntity: String { "\(shape.rawValue.capitalizedFirst)\(rule.rawValue.capitalizedFirst)Owner" }
  var memberEntity: String { "\(shape.rawValue.capitalizedFirst)\(rule.rawValue.capitalizedFirst)Member" }
  /// The names of the owner's relationship and of its inverse, the member's relationship.
  var members: String { shape == .oneToOne ? "member" : "members" }
  var owners: String { isPairs ? "owners" : "owner" }

  var deleteRule: NSDeleteRule {
    switch rule {
    case .nullify: .nullifyDeleteRule
    case .cascade: .cascadeDeleteRule
    case .deny: .denyDeleteRule
    case .noAction: .noActionDeleteRule
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// An object of a run, identified by the name that it stores. No name is used twice.
struct RaceObject: Hashable, Codable, Sendable {
  let kind: RaceKind
  let isOwner: Bool
  let number: Int
  /// The store into which the object is inserted, 0 or 1.
  let store: Int

  static func owner(_ kind: RaceKind, _ number: Int, store: Int = 0) -> RaceObject {
    RaceObject(kind: kind, isOwner: true, number: number, store: store)
  }
  static func member(_ kind: RaceKind, _ number: Int, store: Int = 0) -> RaceObject {
    RaceObject(kind: kind, isOwner: false, number: number, store: store)
  }

  var entity: String { isOwner ? kind.ownerEntity : kind.memberEntity }
  /// For example `toOne-cascade.owner3`, or `toOne-cascade.owner3.second` in the second store.
  var text: String { "\(kind.text).\(isOwner ? "owner" : "member")\(number)\(store == 0 ? "" : ".second")" }

  private init(kind: RaceKind, isOwner: Bool, number: Int, store: Int) {
    (self.kind, self.isOwner, self.number, self.store) = (kind, isOwner, number, store)
  }

  init?(text: some StringProtocol) {
    let parts = String(text).split(separator: Character("."))
    guard parts.count == 2 || parts.count == 3 && parts[2] == "second", let kind = RaceKind(text: Substring(parts[0]))
    else { return nil }
    let isOwner = parts[1].hasPrefix("owner")
    guard isOwner || parts[1].hasPrefix("member"), let number = Int(parts[1].dropFirst(isOwner ? 5 : 6)) else {
      return nil
    }
    self.init(kind: kind, isOwner: isOwner, number: number, store: parts.count - 2)
  }
}

extension Models {
  /// The model of races: one entity of owners and one of members for each kind.
  static let races: NSManagedObjectModel = {
    let entities = RaceKind.all.flatMap { kind in
      [kind.ownerEntity, kind.memberEntity].map { name in
        let large = attribute("large", .binaryDataAttributeType)
        large.allowsExternalBinaryDataStorage = true
        return entity(
          name, [attribute("name", .stringAttributeType), attribute("value", .integer64AttributeType), large])
      }
    }
    return model(entities) { all in
      for kind in RaceKind.all {
        let owners =
          switch kind.shape {
          case .oneToOne: one(kind.ownerEntity, kind.members, kind.deleteRule)
          default: many(kind.ownerEntity, kind.members, kind.deleteRule, ordered: kind.isOrdered)
          }
        let members = kind.isPairs ? many(kind.memberEntity, kind.owners) : one(kind.memberEntity, kind.owners)
        link(all, owners, members)
      }
    }
  }()
}
