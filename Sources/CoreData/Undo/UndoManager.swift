import Dispatch
import Foundation

/// Records how to undo changes, and undoes and redoes them. Foundation has this class on Apple's platforms only; its
/// interface and rules are those of https://developer.apple.com/documentation/foundation/undomanager .
///
/// Actions are kept in groups, and `undo()` reverses one group. The actions that are registered meanwhile are the group
/// that `redo()` reverses. A context that has a manager registers its changes when its event ends: see
/// ``NSManagedObjectContext/undoManager``.
///
/// A manager is used by one thread at a time. The manager of a context is used on the context's queue.
open class UndoManager: NSObject {
  /// The groups that can be undone and redone, the next one last.
  private var done: [UndoGroup] = []
  private var undone: [UndoGroup] = []
  /// The open groups, the outermost first.
  private var open: [UndoGroup] = []
  /// The groups that were open when an undo or redo began, and the group whose actions it runs.
  private var interrupted: [UndoGroup] = []
  private var running: UndoGroup?
  private var allGroups: [UndoGroup] { done + undone + open + interrupted + (running.map { [$0] } ?? []) }
  private var disabled = 0
  /// Whether a group is beginning or ending. Observers of that end no event.
  private var isChangingGroups = false
  private var isEndOfEventQueued = false
  /// Whether a context of another queue than the main one has used the manager. Then turns of the main queue end no
  /// event.
  final var isOfOtherQueue = false

  /// A manager without actions.
  public override init() { super.init() }

  // MARK: Registering

  /// Registers a closure that undoes something; during an undo, one that redoes it. Outside of an undo or redo, it also
  /// forgets the groups that could be redone.
  ///
  /// The manager does not keep the target alive. If the target is gone, the action does nothing. Outside of a group, it
  /// begins the group of the event; with ``groupsByEvent`` false it stops the program.
  open func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping (TargetType) -> Void
  ) {
    if !isUndoRegistrationEnabled { return }
    beginEventGroup()
    guard let group = open.last else {
      misuse("An action was registered outside of a group; call beginUndoGrouping() first, or set groupsByEvent.")
    }
    let former = isUndoing || isRedoing ? [] : undone
    if !former.isEmpty { undone = [] }
    group.add(UndoGroup.Action(target, handler))
    withExtendedLifetime(former) {}
  }

  /// Whether actions are registered, rather than ignored.
  open var isUndoRegistrationEnabled: Bool { disabled == 0 }
  /// Ignores actions that are registered, until ``enableUndoRegistration()`` is called as often.
  ///
  /// Before and after changes of a context that are not to be undone, call
  /// ``NSManagedObjectContext/processPendingChanges()``: the context registers its changes only then.
  open func disableUndoRegistration() { disabled += 1 }
  /// Takes one call of ``disableUndoRegistration()`` back. Stops the program where there is none.
  open func enableUndoRegistration() {
    if disabled == 0 { misuse("Undo registration was enabled more often than disabled.") }
    disabled -= 1
  }

  /// Forgets all actions, and enables registration. Open groups stay open, without actions.
  open func removeAllActions() {
    disabled = 0
    forgetActions()
  }

  final func forgetActions() {
    let actions = allGroups.map { $0.takeActions() }
    (done, undone) = ([], [])
    // Released last: that may run code of the client, which may register actions.
    withExtendedLifetime(actions) {}
  }

  /// Forgets the actions that were registered with a target.
  open func removeAllActions(withTarget target: Any) { removeActions(of: ObjectIdentifier(target as AnyObject)) }

  final func removeActions(of id: ObjectIdentifier, ifGone: Bool = false) {
    let removed = allGroups.map { $0.removeActions(of: id, ifGone: ifGone) }
    done.removeAll(where: \.isEmpty)
    undone.removeAll(where: \.isEmpty)
    withExtendedLifetime(removed) {}
  }

  // MARK: Groups

  /// Whether the actions of one event make a group, without calls of the client; true unless set. With false, the
  /// client begins and ends each group.
  ///
  /// The group begins with the event's first action or call of ``beginUndoGrouping()``. An undo or redo ends it. So
  /// does the turn of the main queue where it began, if no context of another queue has ever had the manager. So does
  /// an event of a context that has this manager: ``NSManagedObjectContext/processPendingChanges()``, a save, or the
  /// end of a block of ``NSManagedObjectContext/perform(_:)``. On Apple's platforms the run loop ends it.
  open var groupsByEvent = true
  /// How many groups are kept, the newest; 0, the default, for all.
  open var levelsOfUndo = 0 { didSet { trim() } }
  /// How many groups are open, the one of the event included.
  open var groupingLevel: Int { open.count }
  /// On Apple's platforms, the modes of the run loop in which an event ends. It has no effect here.
  open var runLoopModes: [RunLoop.Mode] = [.default]

  /// Begins a group of actions, which are undone together. Groups nest. With ``groupsByEvent``, the outermost group is
  /// the one of the event.
  open func beginUndoGrouping() {
    beginEventGroup()
    if !isUndoing && !isRedoing { post(.NSUndoManagerCheckpoint) }
    begin(UndoGroup())
  }

  /// Ends the innermost group. An empty one leaves nothing to undo. Stops the program where no group is open.
  open func endUndoGrouping() {
    let wasChanging = isChangingGroups
    isChangingGroups = true
    defer { isChangingGroups = wasChanging }
    post(.NSUndoManagerCheckpoint)
    guard let group = open.last else { misuse("endUndoGrouping() without beginUndoGrouping().") }
    let info: [AnyHashable: Any]? = group.isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: true] : nil
    NotificationCenter.default.post(name: .NSUndoManagerWillCloseUndoGroup, object: self, userInfo: info)
    // An observer may have ended the group.
    guard open.last === group else { return }
    open.removeLast()
    if let outer = open.last {
      outer.add(group)
    } else if !group.isEmpty {
      if isUndoing { undone.append(group) } else { done.append(group) }
      trim()
    }
    NotificationCenter.default.post(name: .NSUndoManagerDidCloseUndoGroup, object: self, userInfo: info)
    if open.count == 1 { queueEndOfEvent() }
  }

  private func begin(_ group: UndoGroup) {
    let wasChanging = isChangingGroups
    isChangingGroups = true
    open.append(group)
    post(.NSUndoManagerDidOpenUndoGroup)
    isChangingGroups = wasChanging
  }

  private func trim() {
    if levelsOfUndo <= 0 { return }
    let old = (done.prefix(max(0, done.count - levelsOfUndo)), undone.prefix(max(0, undone.count - levelsOfUndo)))
    done.removeFirst(old.0.count)
    undone.removeFirst(old.1.count)
    withExtendedLifetime(old) {}
  }

  /// Begins the group of the event, unless some group is open.
  private func beginEventGroup() {
    if !groupsByEvent || !open.isEmpty { return }
    begin(UndoGroup(isOfEvent: true))
    queueEndOfEvent()
  }

  /// Makes the turn of the main queue end the event.
  private func queueEndOfEvent() {
    if open.first?.isOfEvent != true || isOfOtherQueue || !MainQueue.isCurrent || isEndOfEventQueued { return }
    isEndOfEventQueued = true
    nonisolated(unsafe) weak let manager = self
    DispatchQueue.main.async {
      guard let manager else { return }
      manager.isEndOfEventQueued = false
      if !manager.isOfOtherQueue { manager.endEvent() }
    }
  }

  /// Ends the group of the event, unless a group is open in it.
  final func endEvent() {
    if isChangingGroups { return }
    if open.count == 1 && open[0].isOfEvent { endUndoGrouping() }
  }

  // MARK: Undo and redo

  /// Whether an action is being undone.
  open private(set) var isUndoing = false
  /// Whether an action is being redone.
  open private(set) var isRedoing = false
  /// Whether there is an action to undo, in an open group too. Changes that a context has not registered yet count.
  open var canUndo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !done.isEmpty || open.contains { !$0.isEmpty }
  }
  /// Whether there is an action to redo.
  open var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !undone.isEmpty
  }
  /// How many ended groups can be undone. An open group does not count.
  open var undoCount: Int { done.count }
  /// How many groups can be redone.
  open var redoCount: Int { undone.count }

  /// Ends the open group and undoes the last group. Does nothing where there is none. More than one open group, and a
  /// call during an undo or redo, stop the program.
  open func undo() {
    post(.NSUndoManagerCheckpoint)
    if open.count > 1 && !isUndoing && !isRedoing {
      misuse(
        "undo() was called with \(open.count) open groups; end the nested groups first, or call undoNestedGroup().")
    }
    if open.count == 1 && !isUndoing && !isRedoing { endUndoGrouping() }
    undoNestedGroup()
  }

  /// Undoes one group. With an open group: the nested group that ended last in it, if no action was registered since.
  /// Without one: the last group. Does nothing where there is no such group. ``redo()`` redoes it as a whole. A call
  /// during an undo or redo stops the program.
  open func undoNestedGroup() {
    if isUndoing || isRedoing { misuse("An undo was called during an undo or redo.") }
    post(.NSUndoManagerCheckpoint)
    let nested = open.last
    guard nested == nil ? !done.isEmpty : nested?.hasNestedGroup == true else { return }
    post(.NSUndoManagerWillUndoChange)
    if let group = nested.map({ $0.takeNestedGroup() }) ?? done.popLast() {
      isUndoing = true
      run(group)
      isUndoing = false
    }
    post(.NSUndoManagerDidUndoChange)
  }

  /// Redoes the group that was undone last. Does nothing where there is none. A call during an undo or redo stops the
  /// program.
  open func redo() {
    if isUndoing || isRedoing { misuse("A redo was called during an undo or redo.") }
    post(.NSUndoManagerCheckpoint)
    endEvent()
    if undone.isEmpty { return }
    post(.NSUndoManagerWillRedoChange)
    if let group = undone.popLast() {
      isRedoing = true
      run(group)
      isRedoing = false
    }
    post(.NSUndoManagerDidRedoChange)
  }

  /// Runs the actions of a group, the last one first. What they register is a group.
  private func run(_ group: UndoGroup) {
    (interrupted, open, running) = (open, [], group)
    begin(UndoGroup(named: group))
    while let action = group.takeLast() { action.run() }
    // An action may have left groups open.
    while !open.isEmpty { endUndoGrouping() }
    (open, interrupted, running) = (interrupted, [], nil)
  }

  // MARK: Names

  /// The group that is named: the outermost open one, else the last that was done.
  private var named: UndoGroup? {
    // Changes of a context that are not registered yet belong to the group that is named.
    post(.NSUndoManagerCheckpoint)
    return open.first ?? done.last
  }

  /// Names what the open group does, or the last one where none is open, such as "Paste".
  open func setActionName(_ actionName: String) { named?.name = actionName }
  /// The name of the group that is undone next; empty for none.
  open var undoActionName: String { (open.first { !$0.isEmpty } ?? done.last)?.name ?? "" }
  /// The name of the group that is redone next; empty for none.
  open var redoActionName: String { undone.last?.name ?? "" }
  /// The title of a menu item: "Undo", with the name of the next group.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// The title of a menu item: "Redo", with the name of the next group.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
  /// "Undo" and a name. A subclass may translate it.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }
  /// "Redo" and a name. A subclass may translate it.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  /// Marks the outermost open group, or the last one where none is open: whether it may be discarded when a document is
  /// saved.
  open func setActionIsDiscardable(_ discardable: Bool) { named?.isDiscardable = discardable }
  /// Whether the last ended group that can be undone was marked with ``setActionIsDiscardable(_:)``.
  open var undoActionIsDiscardable: Bool { done.last?.isDiscardable ?? false }
  /// Whether the next group to redo was marked with ``setActionIsDiscardable(_:)``.
  open var redoActionIsDiscardable: Bool { undone.last?.isDiscardable ?? false }

  /// The name of a value that a client keeps with a group.
  public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
    /// The text of the name.
    public let rawValue: String
    /// A name of the client's choice.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// Keeps a value with the open group, or the last one where none is open; nil removes it.
  open func setActionUserInfoValue(_ value: Any?, forKey key: UserInfoKey) { named?.userInfo[key] = value }
  /// A value of the last ended group that can be undone.
  open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { done.last?.userInfo[key] }
  /// A value of the group that is redone next.
  open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undone.last?.userInfo[key] }

  private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

/// The key of `userInfo` for whether a group that ends may be discarded: true, or missing.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

/// On Apple's platforms, the order in which the run loop ends an event among its observers. It has no effect here.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000

extension NSNotification.Name {
  /// Posted before a group begins, ends, is undone or redone, by `canUndo` and `canRedo`, and before a group is named
  /// or marked. Observers register the changes that they have not registered yet.
  public static let NSUndoManagerCheckpoint = Self("NSUndoManagerCheckpointNotification")
  /// A group has begun.
  public static let NSUndoManagerDidOpenUndoGroup = Self("NSUndoManagerDidOpenUndoGroupNotification")
  /// A group is about to end.
  public static let NSUndoManagerWillCloseUndoGroup = Self("NSUndoManagerWillCloseUndoGroupNotification")
  /// A group has ended.
  public static let NSUndoManagerDidCloseUndoGroup = Self("NSUndoManagerDidCloseUndoGroupNotification")
  /// A group is about to be undone.
  public static let NSUndoManagerWillUndoChange = Self("NSUndoManagerWillUndoChangeNotification")
  /// A group has been undone.
  public static let NSUndoManagerDidUndoChange = Self("NSUndoManagerDidUndoChangeNotification")
  /// A group is about to be redone.
  public static let NSUndoManagerWillRedoChange = Self("NSUndoManagerWillRedoChangeNotification")
  /// A group has been redone.
  public static let NSUndoManagerDidRedoChange = Self("NSUndoManagerDidRedoChangeNotification")
}
