import CoreData

extension Notification.Name {
  fileprivate static let bell = Notification.Name("ConstructsBell")
  fileprivate static let horn = Notification.Name("ConstructsHorn")
}

class Listener: NSObject {
  var heard: [String] = []
  private let bellSelector = #selector(Listener.heardBell(_:))
  lazy var lateSelector = #selector(heardBell)

  func listenByClass() {
    NotificationCenter.default.addObserver(self, selector: #selector(Listener.heardBell(_:)), name: .bell, object: nil)
  }
  func listenWithoutLabels() {
    NotificationCenter.default.addObserver(self, selector: #selector(Listener.heardBell), name: .bell, object: nil)
  }
  func listenBySelf() {
    let center = NotificationCenter.default
    center.addObserver(
      self,
      selector: #selector(self._heard(notification:)),
      name: .horn,
      object: nil)
  }
  func listenByName() {
    NotificationCenter.default.addObserver(self, selector: #selector(rang), name: .bell, object: nil)
  }
  func listen(to object: AnyObject?) {
    NotificationCenter.default.addObserver(
      self, selector: #selector(heardBell(_:)), name: NSNotification.Name.bell, object: object)
  }
  func listenToEverything() {
    NotificationCenter.default.addObserver(self, selector: bellSelector, name: nil, object: self)
  }
  func listenLate() {
    NotificationCenter.default.addObserver(self, selector: lateSelector, name: .bell, object: nil)
  }
  func listenByOverload() {
    let selector = #selector(note(_:) as (Notification) -> Void)
    NotificationCenter.default.addObserver(self, selector: selector, name: .bell, object: nil)
  }
  func stop() { NotificationCenter.default.removeObserver(self) }
  func stopBell() { NotificationCenter.default.removeObserver(self, name: .bell, object: nil) }

  @objc func heardBell(_ notification: Notification) { heard.append("bell") }
  @objc
  private func _heard(notification: Notification) { heard.append("horn") }
  @objc fileprivate func rang() { heard.append("ring") }
  @objc(noteNotification:) func note(_ notification: Notification) { heard.append("note") }
  func note(_ text: String) { heard.append(text) }
  @objc(foundationNote:) func foundation(_ notification: NSNotification) { heard.append(notification.name.rawValue) }
}

final class LoudListener: Listener {
  override func heardBell(_ notification: Notification) { heard.append("BELL") }
  deinit { NotificationCenter.default.removeObserver(self) }
}

final class Monitor<Value>: NSObject {
  private let selector = #selector(Monitor<Value>.changed(_:))
  var changes = 0
  init(_ context: NSManagedObjectContext) {
    super.init()
    NotificationCenter.default.addObserver(
      self, selector: selector, name: .NSManagedObjectContextObjectsDidChange, object: context)
  }
  @objc final func changed(_ notification: Notification) { changes += 1 }
}

extension NSManagedObjectContext {
  func countSaves() {
    NotificationCenter.default.addObserver(
      self, selector: #selector(NSManagedObjectContext.countSave(_:)),
      name: NSNotification.Name.NSManagedObjectContextWillSave, object: self)
  }
  @objc func countSave(_ notification: Notification) {
    userInfo["saves"] = (userInfo["saves"] as? Int ?? 0) + 1
  }
}

final class Song: NSManagedObject {
  @NSManaged var name: String?
  @objc(isLoud) @NSManaged var loud: Bool
  @objc func play(_ times: Int, with volume: Double) {}
  @objc func stop() {}
  @objc(pauseForSeconds:) func pause(_ seconds: Double) {}
  @objc func rename(to name: String) { self.name = name }
}

private func ring(_ object: AnyObject? = nil) { NotificationCenter.default.post(name: .bell, object: object) }

func selectorConstructs() {
  World.add([entity(Song.self, texts("name") + [attribute("isLoud", .booleanAttributeType, false)])])
  namedSelectors()
  observerSelectors()
  contextSelectors()
}

private func namedSelectors() {
  construct(.selectors, "a getter") { expect(NSStringFromSelector(#selector(getter: Song.name)), is: "name") }
  construct(.selectors, "a setter") { expect(NSStringFromSelector(#selector(setter: Song.name)), is: "setName:") }
  construct(.selectors, "a getter with a name in Objective-C") {
    expect(NSStringFromSelector(#selector(getter: Song.loud)), is: "isLoud")
  }
  construct(.selectors, "the names of functions") {
    expect(NSStringFromSelector(#selector(Song.stop)), is: "stop")
    expect(NSStringFromSelector(#selector(Song.play(_:with:))), is: "play:with:")
    expect(NSStringFromSelector(#selector(Song.rename(to:))), is: "renameTo:")
    expect(NSStringFromSelector(#selector(Song.pause)), is: "pauseForSeconds:")
  }
  construct(.selectors, "comparisons of strings in sort descriptors") {
    let selectors = [
      #selector(NSString.compare(_:)), #selector(NSString.caseInsensitiveCompare(_:)),
      #selector(NSString.localizedCompare(_:)), #selector(NSString.localizedStandardCompare),
      #selector(NSString.localizedCaseInsensitiveCompare(_:)),
    ]
    let context = World.context()
    for name in ["b", "A", "c"] {
      let song = Song(context: context)
      song.name = name
    }
    let request = NSFetchRequest<Song>(entityName: "Song")
    for selector in selectors.dropFirst() {
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: selector)]
      expect(try context.fetch(request).compactMap(\.name), is: ["A", "b", "c"])
    }
  }
  construct(.selectors, "a comparison of numbers") {
    let descriptor = NSSortDescriptor(key: "loud", ascending: true, selector: #selector(NSNumber.compare(_:)))
    expect(descriptor.key, is: "loud")
  }
  construct(.selectors, "selectors are equal by their names") {
    expect(#selector(Song.stop) == #selector(Song.stop as (Song) -> () -> Void))
    expect(#selector(Song.stop) != #selector(getter: Song.name))
  }
}

private func observerSelectors() {
  construct(.selectors, "an observer by the name of its class") {
    let listener = Listener()
    listener.listenByClass()
    ring()
    listener.stop()
    ring()
    expect(listener.heard, is: ["bell"])
  }
  construct(.selectors, "a function without its labels") {
    let listener = Listener()
    listener.listenWithoutLabels()
    ring()
    listener.stop()
    expect(listener.heard, is: ["bell"])
  }
  construct(.selectors, "a private function of self with a label") {
    let listener = Listener()
    listener.listenBySelf()
    NotificationCenter.default.post(Notification(name: .horn))
    listener.stop()
    expect(listener.heard, is: ["horn"])
  }
  construct(.selectors, "a function without parameters by its name alone") {
    let listener = Listener()
    listener.listenByName()
    ring()
    listener.stop()
    expect(listener.heard, is: ["ring"])
  }
  construct(.selectors, "an observer of one object") {
    let (listener, object) = (Listener(), NSObject())
    listener.listen(to: object)
    ring()
    ring(object)
    listener.stop()
    expect(listener.heard, is: ["bell"])
  }
  construct(.selectors, "a selector in a constant, for all names of an object") {
    let listener = Listener()
    listener.listenToEverything()
    ring(listener)
    NotificationCenter.default.post(name: .horn, object: listener)
    listener.stop()
    expect(listener.heard, is: ["bell", "bell"])
  }
  construct(.selectors, "a selector in a lazy property") {
    let listener = Listener()
    listener.listenLate()
    ring()
    listener.stop()
    expect(listener.heard, is: ["bell"])
  }
  construct(.selectors, "one of several functions with a name, by its type") {
    let listener = Listener()
    listener.listenByOverload()
    ring()
    listener.stop()
    expect(listener.heard, is: ["note"])
  }
  construct(.selectors, "a function with a parameter of NSNotification") {
    let listener = Listener()
    NotificationCenter.default.addObserver(
      listener, selector: #selector(Listener.foundation(_:)), name: .bell, object: nil)
    ring()
    listener.stop()
    expect(listener.heard, is: ["ConstructsBell"])
  }
}

private func contextSelectors() {
  construct(.selectors, "an override is called") {
    let listener = LoudListener()
    listener.listenByClass()
    ring()
    expect(listener.heard, is: ["BELL"])
  }
  construct(.selectors, "an observer that is gone is not called") {
    weak var gone: LoudListener?
    autoreleasepool {
      let listener = LoudListener()
      listener.listenByClass()
      gone = listener
    }
    ring()
    expect(gone == nil)
  }
  construct(.selectors, "removing the observer for one name") {
    let listener = Listener()
    listener.listenByClass()
    listener.listenBySelf()
    listener.stopBell()
    ring()
    NotificationCenter.default.post(Notification(name: .horn))
    listener.stop()
    expect(listener.heard, is: ["horn"])
  }
  construct(.selectors, "a generic class observes a context") {
    let context = World.context()
    let monitor = Monitor<Int>(context)
    _ = Song(context: context)
    context.processPendingChanges()
    NotificationCenter.default.removeObserver(monitor)
    expect(monitor.changes, is: 1)
  }
  construct(.selectors, "an extension of the context observes its saves") {
    let context = World.context()
    context.countSaves()
    _ = Song(context: context)
    try context.save()
    NotificationCenter.default.removeObserver(context)
    expect(context.userInfo["saves"] as? Int, is: 1)
  }
}
