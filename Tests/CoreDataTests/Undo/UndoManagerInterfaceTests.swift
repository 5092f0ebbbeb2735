import CoreData
import Foundation
import Testing

/// The declarations of `UndoManager`, each with its type:
/// https://developer.apple.com/documentation/foundation/undomanager
///
/// Selectors and invocations are left out, because they need the Objective-C runtime.
@Suite struct UndoManagerInterfaceTests {
  /// A subclass may override everything that Apple's interface declares in the class.
  private final class Subclass: UndoManager {
    override init() { super.init() }
    override func registerUndo<TargetType: AnyObject>(
      withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) { super.registerUndo(withTarget: target, handler: handler) }
    override func beginUndoGrouping() { super.beginUndoGrouping() }
    override func endUndoGrouping() { super.endUndoGrouping() }
    override func disableUndoRegistration() { super.disableUndoRegistration() }
    override func enableUndoRegistration() { super.enableUndoRegistration() }
    override func undo() { super.undo() }
    override func redo() { super.redo() }
    override func undoNestedGroup() { super.undoNestedGroup() }
    override func removeAllActions() { super.removeAllActions() }
    override func removeAllActions(withTarget target: Any) { super.removeAllActions(withTarget: target) }
    override func setActionName(_ actionName: String) { super.setActionName(actionName) }
    override func setActionIsDiscardable(_ discardable: Bool) { super.setActionIsDiscardable(discardable) }
    override func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
      super.setActionUserInfoValue(info, forKey: key)
    }
    override func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
      super.undoActionUserInfoValue(forKey: key)
    }
    override func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
      super.redoActionUserInfoValue(forKey: key)
    }
    override func undoMenuTitle(forUndoActionName actionName: String) -> String { "Undo it: \(actionName)" }
    override func redoMenuTitle(forUndoActionName actionName: String) -> String { "Redo it: \(actionName)" }
    override var groupingLevel: Int { super.groupingLevel }
    override var isUndoRegistrationEnabled: Bool { super.isUndoRegistrationEnabled }
    override var groupsByEvent: Bool { didSet {} }
    override var levelsOfUndo: Int { didSet {} }
    override var runLoopModes: [RunLoop.Mode] { didSet {} }
    override var canUndo: Bool { super.canUndo }
    override var canRedo: Bool { super.canRedo }
    override var undoCount: Int { super.undoCount }
    override var redoCount: Int { super.redoCount }
    override var isUndoing: Bool { super.isUndoing }
    override var isRedoing: Bool { super.isRedoing }
    override var undoActionName: String { super.undoActionName }
    override var redoActionName: String { super.redoActionName }
    override var undoActionIsDiscardable: Bool { super.undoActionIsDiscardable }
    override var redoActionIsDiscardable: Bool { super.redoActionIsDiscardable }
    override var undoMenuItemTitle: String { super.undoMenuItemTitle }
    override var redoMenuItemTitle: String { super.redoMenuItemTitle }
  }

  @Test func aSubclassOverridesAll() {
    let (manager, target) = (Subclass(), NSObject())
    let key = UndoManager.UserInfoKey(rawValue: "key")
    manager.beginUndoGrouping()
    manager.registerUndo(withTarget: target) { [weak manager] target in
      manager?.registerUndo(withTarget: target) { _ in }
    }
    manager.setActionName("Typing")
    manager.setActionIsDiscardable(true)
    manager.setActionUserInfoValue(1, forKey: key)
    manager.endUndoGrouping()
    #expect(manager.groupingLevel == 1 && manager.canUndo && manager.undoMenuItemTitle == "Undo it: Typing")
    manager.undo()
    #expect(manager.groupingLevel == 0 && manager.canRedo && manager.redoCount == 1 && manager.undoCount == 0)
    #expect(manager.redoMenuItemTitle == "Redo it: Typing" && manager.redoActionName == "Typing")
    #expect(manager.redoActionIsDiscardable && manager.redoActionUserInfoValue(forKey: key) as? Int == 1)
    manager.redo()
    #expect(!manager.canUndo && !manager.canRedo && !manager.isUndoing && !manager.isRedoing)
  }

  @Test func constantsHaveApplesNames() {
    let names: [Notification.Name] = [
      .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    let texts = [
      "Checkpoint", "DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup", "WillUndoChange", "DidUndoChange",
      "WillRedoChange", "DidRedoChange",
    ]
    #expect(names.map(\.rawValue) == texts.map { "NSUndoManager\($0)Notification" })
    let key: String = NSUndoManagerGroupIsDiscardableKey
    #expect(key == "NSUndoManagerGroupIsDiscardableKey")
    let ordering: Int = NSUndoCloseGroupingRunLoopOrdering
    #expect(ordering == 350_000)
  }
}
