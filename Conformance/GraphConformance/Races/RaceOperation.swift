/// One step of a worker.
enum RaceOperation: Hashable, Sendable {
  /// Inserts an object with a value.
  case insert(RaceObject, Int64)
  case write(RaceObject, Int64)
  /// Sets binary data that is large enough for external storage.
  case writeLarge(RaceObject, Int64)
  /// Links from the member's side; `adopt` links from the owner's side.
  case link(owner: RaceObject, member: RaceObject)
  case adopt(owner: RaceObject, member: RaceObject)
  case unlink(owner: RaceObject, member: RaceObject)
  /// Reverses the order of an owner's members.
  case reverse(RaceObject)
  case delete(RaceObject)
  /// Reads the row without its large value and retains the object.
  case hold(RaceObject)
  /// Reads the large value of a retained object. It may be nil only if nil was saved.
  case readLarge(RaceObject)
  /// Loads what others have saved. Unsaved changes are kept or discarded.
  case refresh(keeping: Bool)
  case reset
  /// Performs an action on the whole first store.
  case act(RaceAction.Kind)
  /// Waits for all workers with this number.
  case meet(Int)
  /// Saves. With a number it first waits for all workers with that number, then pauses for `pause` microseconds.
  case save(meeting: Int?, pause: Int)

  /// The objects that the operation names.
  var objects: [RaceObject] {
    switch self {
    case .insert(let object, _), .write(let object, _), .writeLarge(let object, _): [object]
    case .link(let owner, let member), .adopt(let owner, let member), .unlink(let owner, let member): [owner, member]
    case .reverse(let object), .delete(let object), .hold(let object), .readLarge(let object): [object]
    case .refresh, .reset, .act, .meet, .save: []
    }
  }

  /// The number of the operation's meeting.
  var meeting: Int? {
    switch self {
    case .meet(let number): number
    case .save(let number, _): number
    default: nil
    }
  }
}

/// The operation as a line of a program.
extension RaceOperation: CustomStringConvertible {
  var description: String {
    switch self {
    case .insert(let object, let token): "insert \(object.text) \(token)"
    case .write(let object, let token): "write \(object.text) \(token)"
    case .writeLarge(let object, let token): "large \(object.text) \(token)"
    case .link(let owner, let member): "link \(owner.text) \(member.text)"
    case .adopt(let owner, let member): "adopt \(owner.text) \(member.text)"
    case .unlink(let owner, let member): "unlink \(owner.text) \(member.text)"
    case .reverse(let owner): "reverse \(owner.text)"
    case .delete(let object): "delete \(object.text)"
    case .hold(let object): "hold \(object.text)"
    case .readLarge(let object): "read \(object.text)"
    case .refresh(let keeping): keeping ? "refresh keeping" : "refresh"
    case .reset: "reset"
    case .act(let kind): kind.rawValue
    case .meet(let number): "meet \(number)"
    case .save(let meeting, let pause):
      meeting.map { "save meeting \($0) pause \(pause)" } ?? "save"
    }
  }

  init?(text: some StringProtocol) {
    let words = String(text).split(separator: Character(" ")).map(String.init)
    guard let name = words.first else { return nil }
    if words.count == 1, let kind = RaceAction.Kind(rawValue: name) {
      self = .act(kind)
      return
    }
    let objects = words.dropFirst().compactMap { RaceObject(text: $0) }
    let token = words.count == 3 ? Int64(words[2]) : nil
    switch (name, words.count, objects.count) {
    case ("insert", 3, 1): guard let token else { return nil }; self = .insert(objects[0], token)
    case ("write", 3, 1): guard let token else { return nil }; self = .write(objects[0], token)
    case ("large", 3, 1): guard let token else { return nil }; self = .writeLarge(objects[0], token)
    case ("link", 3, 2): self = .link(owner: objects[0], member: objects[1])
    case ("adopt", 3, 2): self = .adopt(owner: objects[0], member: objects[1])
    case ("unlink", 3, 2): self = .unlink(owner: objects[0], member: objects[1])
    case ("reverse", 2, 1): self = .reverse(objects[0])
    case ("delete", 2, 1): self = .delete(objects[0])
    case ("hold", 2, 1): self = .hold(objects[0])
    case ("read", 2, 1): self = .readLarge(objects[0])
    case ("refresh", 1, 0): self = .refresh(keeping: false)
    case ("refresh", 2, 0): self = .refresh(keeping: true)
    case ("reset", 1, 0): self = .reset
    case ("meet", 2, 0): guard let number = Int(words[1]) else { return nil }; self = .meet(number)
    case ("save", 1, 0): self = .save(meeting: nil, pause: 0)
    case ("save", 5, 0):
      guard let number = Int(words[2]), let pause = Int(words[4]) else { return nil }
      self = .save(meeting: number, pause: pause)
    default: return nil
    }
  }
}
