import CoreData

final class Watcher: NSObject {
  @objc func changed(_ notification: Notification) {}
  @objc static func make() {}

  func watch(_ other: Watcher) {
    let center = NotificationCenter.default
    center.addObserver(self, selector: #selector(chnaged(_:)), name: nil, object: nil)  // error: no member 'chnaged'
    center.addObserver(self, selector: #selector(Watcher.make), name: nil, object: nil)  // finding: of a class needs
    center.addObserver(
      other,
      selector: #selector(other.changed(_:)),  // finding: #selector of this expression needs Objective-C
      name: nil, object: nil)
  }
}

let selector = #selector(changed(_:))  // finding: the type of this #selector is not stated
