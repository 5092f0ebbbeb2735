import CoreData
import Testing

/// Selectors with methods, and observers of notifications by them.
@Suite struct SelectorTests {
  final class Observer {
    var heard: [String] = []
    func note(_ notification: Notification) { heard.append(notification.name.rawValue) }
    func ring() { heard.append("ring") }
    func several(_ one: Int, _ other: Int) {}
    deinit { NotificationCenter.default.removeObserver(self) }
  }

  @MainActor final class Window {
    var heard = 0
    func note(_ notification: Notification) { heard += 1 }
  }

  private let name = Notification.Name("SelectorTests." + UUID().uuidString)
  private let center = NotificationCenter()

  private func post(_ object: AnyObject? = nil) { center.post(name: name, object: object) }

  @Test func `a selector is equal to one with the same name`() {
    #expect(Selector("ring", Observer.ring) == "ring")
    #expect(Selector("ring", Observer.ring) != Selector("note:", Observer.note))
    #expect(Set([Selector("ring", Observer.ring), "ring"]).count == 1)
    #expect(NSStringFromSelector(Selector("several::", checking: Observer.several)) == "several::")
  }

  @Test func `an observer is called until it is removed`() {
    let observer = Observer()
    center.addObserver(observer, selector: Selector("note:", Observer.note), name: name, object: nil)
    center.addObserver(observer, selector: Selector("ring", Observer.ring), name: nil, object: nil)
    post()
    #expect(observer.heard.sorted() == [name.rawValue, "ring"].sorted())
    center.removeObserver(observer, name: name, object: nil)
    post()
    #expect(observer.heard.last == "ring" && observer.heard.count == 3)
    center.removeObserver(observer)
    post()
    #expect(observer.heard.count == 3)
  }

  @Test func `an observer of an object hears of no other`() {
    let (observer, object) = (Observer(), Observer())
    center.addObserver(observer, selector: Selector("ring", Observer.ring), name: name, object: object)
    post()
    post(observer)
    #expect(observer.heard.isEmpty)
    post(object)
    #expect(observer.heard == ["ring"])
    center.removeObserver(observer, name: nil, object: observer)
    post(object)
    center.removeObserver(observer, name: nil, object: object)
    post(object)
    #expect(observer.heard.count == 2)
  }

  @Test func `the center keeps no observer alive`() {
    weak var gone: Observer?
    do {
      let observer = Observer()
      gone = observer
      center.addObserver(observer, selector: Selector("ring", Observer.ring), name: name, object: observer)
    }
    #expect(gone == nil)
    post()
    for _ in 0..<1000 {
      center.addObserver(Observer(), selector: Selector("ring", Observer.ring), name: name, object: nil)
    }
    post()
  }

  @Test @MainActor func `a function of the main actor`() {
    let window = Window()
    center.addObserver(window, selector: Selector("note:", Window.note), name: name, object: nil)
    post()
    #expect(window.heard == 1)
    center.removeObserver(window)
  }

  @Test func `tokens are removed as before`() {
    let observer = Observer()
    let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in }
    center.addObserver(observer, selector: Selector("ring", Observer.ring), name: name, object: nil)
    center.removeObserver(token)
    post()
    #expect(observer.heard == ["ring"])
  }
}
