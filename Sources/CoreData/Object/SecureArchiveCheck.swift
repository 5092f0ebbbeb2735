import Foundation
import PropertyLists

/// Whether an archive may be passed to Foundation's unarchiver, which ends the process for inconsistent collections and
/// for objects that contain themselves.
///
/// - Collections must have as many keys as values and no gaps.
/// - Other usual values must be readable by ``SecureArchive``.
/// - Referenced objects must exist, and no object may contain itself.
///
/// Which classes an object of the application may contain is left to its own secure coding.
struct SecureArchiveCheck {
  private let archive: KeyedArchiveReader

  init(_ archive: KeyedArchiveReader) { self.archive = archive }

  private static let collections: Set<String> = [
    "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary",
  ]

  var isSound: Bool {
    let descriptions = Set(archive.objects.compactMap { $0["$class"].flatMap(position) })
    for position in archive.objects.indices.dropFirst() where !descriptions.contains(position) {
      guard hasSoundReferences(archive.objects[position], descriptions) else { return false }
      guard let object = archive.object(at: position), case .dictionary = object.value else { continue }
      guard let name = object.className else { return false }
      if Self.collections.contains(name) {
        let isWhole =
          name.hasSuffix("Dictionary") ? object.entries != nil : object.array != nil && object.entries == nil
        if !isWhole { return false }
      } else if SecureArchive.usualClasses.contains(name) {
        var budget = SecureArchive.budget
        if SecureArchive.value(object, depth: 0, &budget) == nil { return false }
      }
    }
    return !hasCycle
  }

  /// Whether `root` is an object of one of the classes, or consists of collections of such objects and of usual values.
  /// There must be at least one such object.
  func holds(_ root: ArchivedObject, of classes: Set<String>) -> Bool {
    var (open, seen, found) = ([root], Set<UInt64>(), false)
    while let object = open.popLast() {
      if let uid = object.uid, !seen.insert(uid).inserted { continue }
      guard let name = object.className else { continue }
      if Self.collections.contains(name) {
        if let entries = object.entries {
          for entry in entries { open += [entry.key, entry.value] }
        } else {
          open += object.array ?? []
        }
      } else if !SecureArchive.usualClasses.contains(name) {
        guard classes.contains(name) else { return false }
        found = true
      }
    }
    return found
  }

  private func position(_ reference: PropertyList) -> Int? {
    guard case .uid(let uid) = reference, let position = Int(exactly: uid), archive.objects.indices.contains(position)
    else {
      return nil
    }
    return position
  }

  /// Whether all objects that a value refers to exist and are not class descriptions. Lists must not contain a
  /// reference to nil.
  private func hasSoundReferences(_ value: PropertyList, _ descriptions: Set<Int>) -> Bool {
    var open: [(value: PropertyList, isInList: Bool)] = []
    if case .dictionary(let entries) = value {
      for (key, entry) in entries where key != "$class" { open.append((entry, false)) }
    } else {
      open.append((value, false))
    }
    while let (value, isInList) = open.popLast() {
      switch value {
      case .uid:
        guard let position = position(value), !descriptions.contains(position), position > 0 || !isInList else {
          return false
        }
      case .array(let list): for element in list { open.append((element, true)) }
      case .dictionary(let entries): for entry in entries.values { open.append((entry, false)) }
      default: break
      }
    }
    return true
  }

  private enum State { case new, open, done }

  private var hasCycle: Bool {
    var states = [State](repeating: .new, count: archive.objects.count)
    for start in archive.objects.indices where states[start] == .new {
      var stack: [(object: Int, rest: [Int])] = [(start, references(start))]
      states[start] = .open
      while let (object, rest) = stack.last {
        guard let next = rest.last else {
          states[object] = .done
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].rest.removeLast()
        switch states[next] {
        case .open: return true
        case .done: continue
        case .new:
          states[next] = .open
          stack.append((next, references(next)))
        }
      }
    }
    return false
  }

  /// The objects that an object refers to, in its values and in lists of them at any depth.
  private func references(_ position: Int) -> [Int] {
    var (found, open): ([Int], [PropertyList]) = ([], [archive.objects[position]])
    while let value = open.popLast() {
      switch value {
      case .uid: if let next = self.position(value) { found.append(next) }
      case .array(let list): open += list
      case .dictionary(let entries): open += entries.values
      default: break
      }
    }
    return found
  }
}
