import Foundation
import PropertyLists

/// Whether an archive may be given to Foundation's unarchiver, which ends the process where a collection contradicts itself and where
/// objects contain themselves.
///
/// The usual values in it must be such that ``SecureArchive`` can read them, all other classes must be allowed, and no object may lead
/// back to itself.
struct SecureArchiveCheck {
  private let archive: KeyedArchiveReader
  private let allowed: Set<String>

  init(_ archive: KeyedArchiveReader, allowed: Set<String>) { (self.archive, self.allowed) = (archive, allowed) }

  var isSound: Bool {
    var budget = SecureArchive.budget
    let descriptions = Set(archive.objects.compactMap { $0["$class"].flatMap(place) })
    for place in archive.objects.indices.dropFirst() where !descriptions.contains(place) {
      guard hasSoundReferences(archive.objects[place], descriptions) else { return false }
      guard let object = archive.object(at: place), case .dictionary = object.value else { continue }
      guard let name = object.className else { return false }
      if SecureArchive.usualClasses.contains(name) {
        if SecureArchive.value(object, depth: 0, &budget) == nil { return false }
      } else if !allowed.contains(name) {
        return false
      }
    }
    return !hasCycle
  }

  private func place(_ reference: PropertyList) -> Int? {
    guard case .uid(let uid) = reference, let place = Int(exactly: uid), archive.objects.indices.contains(place) else {
      return nil
    }
    return place
  }

  /// Whether all that a value names is there, and is no description of a class; in lists there is no reference to nothing.
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
        guard let place = place(value), !descriptions.contains(place), place > 0 || !isInList else { return false }
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

  /// The objects that an object names, in its values and in lists of them, however deep these are.
  private func references(_ place: Int) -> [Int] {
    var (found, open): ([Int], [PropertyList]) = ([], [archive.objects[place]])
    while let value = open.popLast() {
      switch value {
      case .uid(let uid):
        if let index = Int(exactly: uid), archive.objects.indices.contains(index) { found.append(index) }
      case .array(let list): open += list
      case .dictionary(let entries): open += entries.values
      default: break
      }
    }
    return found
  }
}
