import Foundation
import Testing

@testable import CoreData

/// The manager alone, without a context. The tests run on other threads than the main one, so no turn of the main queue
/// ends an event.
@Suite struct UndoManagerTests {
  /// A number whose changes can be undone.
  final class Counter {
    var value = 0
    let manager = UndoManager()

    init(groupsByEvent: Bool = true) { manager.groupsByEvent = groupsByEvent }

    func add(_ amount: Int) {
      value += amount
      manager.registerUndo(withTarget: self) { $0.add(-amount) }
    }

    func group(_ amounts: Int..., name: String = "") {
      manager.beginUndoGrouping()
      for amount in amounts { add(amount) }
      if !name.isEmpty { manager.setActionName(name) }
      manager.endUndoGrouping()
    }
  }

  @Test func groupsAreUndoneAndRedone() {
    let counter = Counter(groupsByEvent: false)
    let manager = counter.manager
    counter.group(1)
    counter.group(2, 3)
    #expect(counter.value == 6 && manager.undoCount == 2 && manager.redoCount == 0)
    manager.undo()
    #expect(counter.value == 1 && manager.canUndo && manager.canRedo)
    manager.redo()
    #expect(counter.value == 6 && !manager.canRedo)
    manager.undo()
    manager.undo()
    #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
    manager.undo()
    #expect(counter.value == 0)
    manager.redo()
    counter.group(10)
    // What could be redone is forgotten with a new action.
    #expect(!manager.canRedo && counter.value == 11)
    manager.redo()
    #expect(counter.value == 11)
  }

  /// "groupsByEvent: automatically creates undo groups around each pass of the run loop".
  @Test func allActionsOfAnEventAreOneGroup() {
    let counter = Counter()
    counter.add(1)
    #expect(counter.manager.groupingLevel == 1)
    counter.group(2)
    counter.add(3)
    counter.manager.undo()
    #expect(counter.value == 0 && !counter.manager.canUndo && counter.manager.groupingLevel == 0)
    counter.manager.redo()
    #expect(counter.value == 6)
  }

  @Test func aGroupByHandIsInTheGroupOfTheEvent() {
    let counter = Counter()
    counter.manager.beginUndoGrouping()
    #expect(counter.manager.groupingLevel == 2)
    counter.manager.endUndoGrouping()
    counter.manager.undo()
    #expect(!counter.manager.canUndo && !counter.manager.canRedo)
  }

  /// An event that has registered nothing takes away nothing that can be redone. The redo ends it.
  @Test func aRedoEndsTheEvent() {
    let counter = Counter()
    counter.add(1)
    counter.manager.undo()
    counter.group()
    #expect(counter.manager.groupingLevel == 1 && counter.manager.canRedo)
    counter.manager.redo()
    #expect(counter.value == 1 && counter.manager.groupingLevel == 0 && counter.manager.undoCount == 1)
  }

  @MainActor @Test func aTurnOfTheMainQueueEndsTheEvent() async {
    let counter = Counter()
    counter.add(1)
    counter.add(2)
    #expect(counter.manager.groupingLevel == 1)
    await mainQueueTurn()
    #expect(counter.manager.groupingLevel == 0)
    counter.add(4)
    counter.manager.undo()
    #expect(counter.value == 3)
    counter.manager.undo()
    #expect(counter.value == 0)
  }

  /// An action that is undone may forget the actions of another target.
  @Test func actionsAreForgottenWhileAGroupIsUndone() {
    let manager = UndoManager()
    let (a, b) = (NSObject(), NSObject())
    var ran: [String] = []
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: a) { _ in ran.append("a") }
    manager.registerUndo(withTarget: b) { _ in
      ran.append("b")
      manager.removeAllActions(withTarget: a)
    }
    manager.endUndoGrouping()
    manager.undo()
    #expect(ran == ["b"] && !manager.canUndo)
  }

  /// A context that ends on another queue forgets its actions later. A new context may have the same address then.
  @Test func onlyTheActionsOfATargetThatIsGoneAreForgotten() {
    let counter = Counter()
    counter.add(1)
    counter.manager.removeActions(of: ObjectIdentifier(counter), ifGone: true)
    #expect(counter.manager.canUndo)
    var gone: NSObject? = NSObject()
    let id = gone.map(ObjectIdentifier.init)
    let other = UndoManager()
    if let gone { other.registerUndo(withTarget: gone) { _ in } }
    gone = nil
    if let id { other.removeActions(of: id, ifGone: true) }
    #expect(!other.canUndo)
  }

  @Test func nestedGroupsAreUndoneAlone() {
    let counter = Counter(groupsByEvent: false)
    let manager = counter.manager
    manager.beginUndoGrouping()
    counter.add(1)
    counter.group(2, 3)
    counter.group(4)
    manager.undoNestedGroup()
    #expect(counter.value == 6 && manager.redoCount == 1)
    manager.undoNestedGroup()
    #expect(counter.value == 1 && manager.redoCount == 2)
    // The last action is no group.
    manager.undoNestedGroup()
    #expect(counter.value == 1)
    manager.endUndoGrouping()
    manager.undoNestedGroup()
    #expect(counter.value == 0)
    manager.redo()
    #expect(counter.value == 1)
    manager.redo()
    #expect(counter.value == 6)
  }

  @Test func registrationCanBePaused() {
    let counter = Counter()
    counter.manager.disableUndoRegistration()
    counter.manager.disableUndoRegistration()
    counter.add(1)
    counter.manager.enableUndoRegistration()
    #expect(!counter.manager.isUndoRegistrationEnabled)
    counter.add(1)
    counter.manager.enableUndoRegistration()
    #expect(counter.manager.isUndoRegistrationEnabled && !counter.manager.canUndo)
    counter.manager.disableUndoRegistration()
    counter.manager.removeAllActions()
    #expect(counter.manager.isUndoRegistrationEnabled)
  }

  @Test func theOldestGroupsAreForgotten() {
    let counter = Counter(groupsByEvent: false)
    counter.manager.levelsOfUndo = 2
    for amount in 1...4 { counter.group(amount) }
    #expect(counter.manager.undoCount == 2)
    counter.manager.levelsOfUndo = 1
    counter.manager.undo()
    #expect(counter.value == 6 && !counter.manager.canUndo)
  }

  @Test func actionsOfATargetAreForgotten() {
    let manager = UndoManager()
    manager.groupsByEvent = false
    let (one, two) = (NSMutableArray(), NSMutableArray())
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: one) { $0.add(1) }
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: two) { $0.add(2) }
    manager.registerUndo(withTarget: one) { $0.add(3) }
    manager.endUndoGrouping()
    manager.removeAllActions(withTarget: one)
    manager.undoNestedGroup()
    #expect(two == [2] && one == [])
    manager.endUndoGrouping()
    #expect(!manager.canUndo)
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: one) { $0.add(4) }
    manager.endUndoGrouping()
    manager.removeAllActions(withTarget: one)
    #expect(manager.undoCount == 0)
  }

  @Test func aTargetIsNotKeptAlive() {
    let manager = UndoManager()
    weak var gone: Counter?
    do {
      let counter = Counter()
      gone = counter
      manager.registerUndo(withTarget: counter) { $0.value = 7 }
    }
    #expect(gone == nil)
    manager.undo()
    #expect(!manager.canUndo)
  }

  @Test func groupsHaveNamesAndValues() {
    let counter = Counter(groupsByEvent: false)
    let manager = counter.manager
    let key = UndoManager.UserInfoKey(rawValue: "where")
    #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo" && manager.undoActionName == "")
    counter.group(1, name: "Add")
    manager.setActionIsDiscardable(true)
    manager.setActionUserInfoValue("here", forKey: key)
    counter.group(2)
    #expect(manager.undoMenuItemTitle == "Undo" && !manager.undoActionIsDiscardable)
    manager.undo()
    #expect(manager.undoActionName == "Add" && manager.undoMenuItemTitle == "Undo Add" && manager.redoActionName == "")
    #expect(manager.undoActionIsDiscardable && manager.undoActionUserInfoValue(forKey: key) as? String == "here")
    manager.undo()
    #expect(manager.redoMenuItemTitle == "Redo Add" && manager.redoActionIsDiscardable)
    #expect(manager.redoActionUserInfoValue(forKey: key) as? String == "here")
    manager.redo()
    #expect(manager.undoActionName == "Add")
  }

  /// The order is that of Apple's documentation of each function.
  @Test func notificationsArePostedInOrder() {
    let counter = Counter(groupsByEvent: false)
    let names = Names(of: counter.manager)
    counter.group(1)
    #expect(names.taken == ["Checkpoint", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"])
    counter.manager.undo()
    #expect(
      names.taken == [
        "Checkpoint", "Checkpoint", "WillUndoChange", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup",
        "DidCloseUndoGroup", "DidUndoChange",
      ])
    counter.manager.redo()
    #expect(
      names.taken == [
        "Checkpoint", "WillRedoChange", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup",
        "DidRedoChange",
      ])
    _ = counter.manager.canRedo
    #expect(names.taken == ["Checkpoint"])
    counter.manager.beginUndoGrouping()
    counter.group(1)
    _ = names.taken
    counter.manager.undoNestedGroup()
    #expect(names.taken.filter { $0.hasSuffix("UndoChange") } == ["WillUndoChange", "DidUndoChange"])
    counter.manager.endUndoGrouping()
  }

  /// "The userInfo dictionary may contain NSUndoManagerGroupIsDiscardableKey."
  @Test func aDiscardableGroupSaysSo() {
    let manager = UndoManager()
    manager.groupsByEvent = false
    nonisolated(unsafe) var seen: [Bool] = []
    let observer = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerWillCloseUndoGroup, object: manager, queue: nil
    ) { seen.append($0.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true) }
    defer { NotificationCenter.default.removeObserver(observer) }
    for isDiscardable in [true, false] {
      manager.beginUndoGrouping()
      manager.registerUndo(withTarget: manager) { _ in }
      manager.setActionIsDiscardable(isDiscardable)
      manager.endUndoGrouping()
      #expect(manager.undoActionIsDiscardable == isDiscardable)
    }
    #expect(seen == [true, false])
  }

  @Test func handlersSeeWhatIsGoingOn() {
    let counter = Counter(groupsByEvent: false)
    var seen: [[Bool]] = []
    func register() {
      counter.manager.registerUndo(withTarget: counter) { counter in
        seen.append([counter.manager.isUndoing, counter.manager.isRedoing])
        register()
      }
    }
    counter.manager.beginUndoGrouping()
    register()
    counter.manager.endUndoGrouping()
    counter.manager.undo()
    counter.manager.redo()
    #expect(seen == [[true, false], [false, true]])
    #expect(!counter.manager.isUndoing && !counter.manager.isRedoing)
  }

  private final class Translated: UndoManager {
    override func undoMenuTitle(forUndoActionName actionName: String) -> String { "Zurück: \(actionName)" }
    override func redoMenuTitle(forUndoActionName actionName: String) -> String { "Vor: \(actionName)" }
  }

  @Test func aSubclassTranslatesTitles() {
    let manager = Translated()
    manager.groupsByEvent = false
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: manager) { _ in }
    manager.setActionName("Farbe")
    manager.endUndoGrouping()
    #expect(manager.undoMenuItemTitle == "Zurück: Farbe")
    manager.undo()
    #expect(manager.redoMenuItemTitle == "Vor: ")
  }

  private final class Names: @unchecked Sendable {
    private var seen: [String] = []
    private var observers: [any NSObjectProtocol] = []

    init(of manager: UndoManager) {
      let names: [Notification.Name] = [
        .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
        .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
        .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
      ]
      observers = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [unowned self] in
          seen.append(
            $0.name.rawValue.replacingOccurrences(of: "NSUndoManager", with: "")
              .replacingOccurrences(of: "Notification", with: ""))
        }
      }
    }

    /// The names since the last call.
    var taken: [String] {
      defer { seen = [] }
      return seen
    }

    deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
  }

  /// What an undo registers is its redo, in a group that is left open too.
  @Test func anActionMayBeginGroups() {
    let counter = Counter(groupsByEvent: false)
    let manager = counter.manager
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: counter) {
      $0.manager.beginUndoGrouping()
      $0.add(5)
    }
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 5 && manager.groupingLevel == 0 && manager.redoCount == 1)
    manager.redo()
    #expect(counter.value == 0)
  }

  @Test func actionsThatAreForgottenDuringAnUndoDoNotRun() {
    let counter = Counter(groupsByEvent: false)
    counter.manager.beginUndoGrouping()
    counter.add(1)
    counter.manager.registerUndo(withTarget: counter.manager) { $0.removeAllActions() }
    counter.manager.endUndoGrouping()
    counter.manager.undo()
    #expect(counter.value == 1 && !counter.manager.canUndo && !counter.manager.canRedo)
  }

  /// Groups are not undone by recursion.
  @Test func groupsNestDeeply() {
    let counter = Counter(groupsByEvent: false)
    for _ in 0..<100_000 { counter.manager.beginUndoGrouping() }
    counter.add(1)
    for _ in 0..<100_000 { counter.manager.endUndoGrouping() }
    counter.manager.undo()
    #expect(counter.value == 0)
  }

  #if os(Linux)
    @Test func wrongUseStopsTheProgram() async {
      await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
      await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
      await #expect(processExitsWith: .failure) {
        let manager = UndoManager()
        manager.groupsByEvent = false
        manager.registerUndo(withTarget: manager) { _ in }
      }
      await #expect(processExitsWith: .failure) {
        let manager = UndoManager()
        manager.beginUndoGrouping()
        manager.undo()
      }
      await #expect(processExitsWith: .failure) {
        let manager = UndoManager()
        manager.registerUndo(withTarget: manager) { $0.undo() }
        manager.undo()
      }
    }
  #endif
}
