import Foundation

/// Undo and redo of registered actions. Foundation has this class on Apple's platforms only. Used from one thread.
///
/// The changes of a context are not recorded yet. If nothing is registered, undoing on the manager of a context stops
/// the program.
open class UndoManager: NSObject {
  private final class Group {
    var actions: [() -> Void] = []
    var name = ""
  }

  private var undone: [Group] = []
  private var done: [Group] = []
  private var open: [Group] = []
  private var disabled = 0
  /// Whether a context was given this manager.
  var belongsToContext = false

  /// A manager without actions.
  public override init() { super.init() }

  /// It has no effect here. An action that is registered outside of a group makes a group of its own, which ends at
  /// once, as there is no run loop.
  open var groupsByEvent = true
  /// How many groups are kept; 0 for all.
  open var levelsOfUndo = 0 { didSet { trim() } }
  /// Whether an action is being undone.
  open private(set) var isUndoing = false
  /// Whether an action is being redone.
  open private(set) var isRedoing = false
  /// How many groups are open.
  open var groupingLevel: Int { open.count }
  /// Whether there is an action to undo.
  open var canUndo: Bool { !done.isEmpty || open.contains { !$0.actions.isEmpty } }
  /// Whether there is an action to redo.
  open var canRedo: Bool { !undone.isEmpty }
  /// Whether actions are registered, rather than ignored.
  open var isUndoRegistrationEnabled: Bool { disabled == 0 }
  /// Ignores actions that are registered, until ``enableUndoRegistration()`` is called as often.
  open func disableUndoRegistration() { disabled += 1 }
  /// Takes one call of ``disableUndoRegistration()`` back. Stops the program where there is none.
  open func enableUndoRegistration() {
    if disabled == 0 { misuse("Undo registration was enabled more often than disabled.") }
    disabled -= 1
  }

  /// Begins a group of actions, which are undone together. Groups nest.
  open func beginUndoGrouping() { open.append(Group()) }

  /// Ends the innermost group. An empty one leaves nothing to undo.
  open func endUndoGrouping() {
    guard let group = open.popLast() else { misuse("endUndoGrouping() without beginUndoGrouping().") }
    if group.actions.isEmpty { return }
    if let outer = open.last { outer.actions += group.actions } else { push(group) }
  }

  private func push(_ group: Group) {
    if isUndoing { return undone.append(group) }
    if !isRedoing { undone = [] }
    done.append(group)
    trim()
  }

  private func trim() {
    if levelsOfUndo > 0 && done.count > levelsOfUndo { done.removeFirst(done.count - levelsOfUndo) }
  }

  /// Registers how to undo something. During an undo, registers how to redo it. The target is not kept alive: without
  /// it the action does nothing.
  open func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    if disabled > 0 { return }
    let action = { [weak target] in if let target { handler(target) } }
    if let group = open.last { return group.actions.append(action) }
    let group = Group()
    group.actions = [action]
    push(group)
  }

  /// Undoes the last group, after ending the open ones.
  open func undo() {
    while !open.isEmpty { endUndoGrouping() }
    undoNestedGroup()
  }

  /// Undoes the last group. On the manager of a context, stops the program where there is nothing to undo.
  open func undoNestedGroup() {
    guard let group = done.popLast() else {
      if belongsToContext { misuse("The changes of a context are not recorded for undo yet.") }
      return
    }
    isUndoing = true
    run(group)
    isUndoing = false
  }

  /// Redoes the group that was undone last. Does nothing where there is none.
  open func redo() {
    guard let group = undone.popLast() else { return }
    isRedoing = true
    run(group)
    isRedoing = false
  }

  private func run(_ group: Group) {
    beginUndoGrouping()
    open.last?.name = group.name
    for action in group.actions.reversed() { action() }
    endUndoGrouping()
  }

  /// Forgets all actions, those to redo and those of open groups included.
  open func removeAllActions() {
    (done, undone, open) = ([], [], [])
  }

  /// Names the open group, or the last one where none is open.
  open func setActionName(_ actionName: String) { (open.last ?? done.last)?.name = actionName }
  /// The name of the group that is undone next; empty for none.
  open var undoActionName: String { done.last?.name ?? "" }
  /// The name of the group that is redone next; empty for none.
  open var redoActionName: String { undone.last?.name ?? "" }
}
