/// Actions of an ``UndoManager`` that are undone together, in the order in which they were registered.
final class UndoGroup {
  struct Action {
    private weak var target: AnyObject?
    private let id: ObjectIdentifier
    private let handler: (AnyObject) -> Void

    init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
      self.target = target
      id = ObjectIdentifier(target)
      self.handler = { target in if let target = target as? Target { handler(target) } }
    }

    func run() { if let target { handler(target) } }

    func isOf(_ id: ObjectIdentifier, ifGone: Bool) -> Bool { self.id == id && !(ifGone && target != nil) }
  }

  private var actions: [Action] = []
  /// The indices of the actions of each group that has ended in this one, as long as this one is open.
  private var nested: [Range<Int>] = []
  /// Whether the manager began the group for an event.
  let isOfEvent: Bool
  var name = ""
  var isDiscardable = false
  var userInfo: [UndoManager.UserInfoKey: Any] = [:]

  init(isOfEvent: Bool = false) { self.isOfEvent = isOfEvent }

  /// A group with the name and values of another one, which it redoes or undoes.
  convenience init(named other: UndoGroup) {
    self.init()
    (name, isDiscardable, userInfo) = (other.name, other.isDiscardable, other.userInfo)
  }

  var isEmpty: Bool { actions.isEmpty }

  func add(_ action: Action) { actions.append(action) }

  /// Adds the actions of a group that has ended.
  func add(_ group: UndoGroup) {
    if group.isEmpty { return }
    nested.append(actions.count..<actions.count + group.actions.count)
    actions += group.actions
    if name.isEmpty { name = group.name }
  }

  /// Whether the last action is that of a group that has ended.
  var hasNestedGroup: Bool { !isEmpty && nested.last?.upperBound == actions.count }

  /// Removes that group.
  func takeNestedGroup() -> UndoGroup {
    let group = UndoGroup(named: self)
    if let range = nested.popLast() {
      group.actions = Array(actions[range])
      actions.removeSubrange(range)
    }
    return group
  }

  /// Takes an action of a group that is being undone as a whole.
  func takeLast() -> Action? {
    nested = []
    return actions.popLast()
  }

  /// Removes all actions. The caller holds them until its own state is complete.
  func takeActions() -> [Action] {
    defer { (actions, nested) = ([], []) }
    return actions
  }

  /// Removes the actions of a target; with `ifGone`, only those whose target no longer exists. The caller holds them
  /// until its own state is complete.
  func removeActions(of target: ObjectIdentifier, ifGone: Bool) -> [Action] {
    let isRemoved = actions.map { $0.isOf(target, ifGone: ifGone) }
    let removed = zip(actions, isRemoved).filter(\.1).map(\.0)
    if removed.isEmpty { return [] }
    // How many actions stay before each index.
    let kept = isRemoved.reduce(into: [0]) { $0.append($0[$0.count - 1] + ($1 ? 0 : 1)) }
    nested = nested.map { kept[$0.lowerBound]..<kept[$0.upperBound] }.filter { !$0.isEmpty }
    actions = zip(actions, isRemoved).filter { !$1 }.map(\.0)
    return removed
  }
}
