/// Items with values and links as plain values: what a context must show. It shares no code with the library.
struct PlainGraph: Equatable {
  struct Item: Equatable {
    var number: Int?
    var text = ""
    var owner: String?
    var parent: String?
    var line: String?
    var friends: Set<String> = []
  }

  private(set) var items: [String: Item] = [:]
  /// The members of each ordered relationship, whose inverse is `line`.
  private(set) var queues: [String: [String]] = [:]

  var names: [String] { items.keys.sorted() }

  subscript(name: String) -> Item { items[name] ?? Item() }

  func queue(_ name: String) -> [String] { queues[name] ?? [] }

  // MARK: Changes

  mutating func insert(_ name: String) { items[name] = Item(text: "new") }

  mutating func set(_ name: String, number: Int?) { items[name]?.number = number }

  mutating func set(_ name: String, text: String) { items[name]?.text = text }

  mutating func set(_ name: String, owner: String?) { items[name]?.owner = owner }

  mutating func set(_ name: String, parent: String?) { items[name]?.parent = parent }

  mutating func set(_ name: String, friends: Set<String>) { items[name]?.friends = friends }

  /// An item is in one queue at most: it leaves the one that it was in.
  mutating func set(_ name: String, queue members: [String]) {
    for former in queue(name) where !members.contains(former) { items[former]?.line = nil }
    for member in members {
      if let other = items[member]?.line, other != name { leave(other, member) }
      items[member]?.line = name
    }
    queues[name] = members.isEmpty ? nil : members
  }

  private mutating func leave(_ line: String, _ member: String) {
    let left = queue(line).filter { $0 != member }
    queues[line] = left.isEmpty ? nil : left
  }

  /// Deletes an item and all below it. Links to them are reset.
  mutating func delete(_ name: String) {
    var gone: Set<String> = [name]
    while let next = items.first(where: { !gone.contains($0.key) && $0.value.parent.map(gone.contains) ?? false })?.key
    {
      gone.insert(next)
    }
    for name in gone {
      for member in queue(name) { items[member]?.line = nil }
      if let line = items[name]?.line { leave(line, name) }
      (items[name], queues[name]) = (nil, nil)
    }
    for name in names {
      items[name]?.friends.subtract(gone)
      if let owner = items[name]?.owner, gone.contains(owner) { items[name]?.owner = nil }
    }
  }

  /// Whether an item is below another one, or is it.
  func isBelow(_ name: String, _ other: String) -> Bool {
    var next: String? = name
    while let found = next {
      if found == other { return true }
      next = items[found]?.parent
    }
    return false
  }

  /// Takes items from another graph, which has them with the same links, or without any.
  mutating func take(_ names: Set<String>, from other: PlainGraph) {
    for name in names { (items[name], queues[name]) = (other.items[name], other.queues[name]) }
  }

  // MARK: Comparing

  /// What is shown of each item.
  var shown: [String: String] {
    var shown: [String: String] = [:]
    for (name, item) in items {
      func all(_ key: KeyPath<Item, String?>) -> [String] { items.filter { $1[keyPath: key] == name }.keys.sorted() }
      shown[name] = Self.text(
        number: item.number, text: item.text, owner: item.owner, owned: all(\.owner), parent: item.parent,
        children: all(\.parent), line: item.line, queue: queue(name), friends: item.friends.sorted(),
        friendsOf: items.filter { $1.friends.contains(name) }.keys.sorted())
    }
    return shown
  }

  static func text(
    number: Int?, text: String, owner: String?, owned: [String], parent: String?, children: [String], line: String?,
    queue: [String], friends: [String], friendsOf: [String]
  ) -> String {
    "\(number.map(String.init) ?? "-") \(text) owner \(owner ?? "-") owned \(owned) parent \(parent ?? "-") children "
      + "\(children) line \(line ?? "-") queue \(queue) friends \(friends) friendsOf \(friendsOf)"
  }

  /// The items that differ, links included.
  func differing(from other: PlainGraph) -> Set<String> {
    let (one, two) = (shown, other.shown)
    return Set(one.keys).union(two.keys).filter { one[$0] != two[$0] }
  }
}
