import CRuntime
import Foundation
import RuntimeAccess

/// Finds registered objects by key, without keeping them alive.
///
/// Open addressing with linear probing. A removed object leaves its key in the table, without an object, until the next
/// rebuild: contexts release objects by the hundred thousand, and closing each gap would walk over the neighbours.
///
/// The last release of an object may happen on any thread. So the owner of the map guards every call with one lock, and
/// a look-up retains the object unless its deinitialization has begun.
struct IdentityMap {
  private struct Entry {
    var key: Int64
    var object: UnsafeMutableRawPointer?
  }

  private var entries: UnsafeMutablePointer<Entry>?
  private var mask = -1
  /// How many slots are used, by objects and by keys of removed objects.
  private var taken = 0
  /// How many objects there are.
  private(set) var count = 0

  /// Keys are never zero, so zero marks a free slot.
  @inline(__always)
  private func slot(_ key: Int64) -> Int { KeySlot.home(key, mask: mask) }

  /// The object with `key`, retained; nil where there is none or it is being deinitialised.
  func object(_ key: Int64) -> NSManagedObject? {
    guard let entries else { return nil }
    var index = slot(key)
    while entries[index].key != key {
      if entries[index].key == 0 { return nil }
      index = (index &+ 1) & mask
    }
    return entries[index].object.flatMap { LivingObject.retained($0, as: NSManagedObject.self) }
  }

  /// Returns whether no object had the key before.
  @discardableResult
  mutating func set(_ key: Int64, _ object: NSManagedObject) -> Bool {
    reserve(1)
    LivingObject.note(object)
    let before = count
    insert(Entry(key: key, object: Unmanaged.passUnretained(object).toOpaque()))
    return count > before
  }

  mutating func set(_ objects: ArraySlice<NSManagedObject>) {
    reserve(objects.count)
    if !RuntimeTrick.livingObjects.works { for object in objects { LivingObject.note(object) } }
    // The array holds the objects, so they are not retained here.
    objects.withUnsafeBytes { addresses in
      for (index, address) in addresses.bindMemory(to: UnsafeMutableRawPointer.self).enumerated() {
        let key = Unmanaged<NSManagedObject>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.key }
        // Adjacent keys share eight slots; the slots of the keys after the next eight are prefetched.
        if index & 7 == 0, let entries { cd_prefetch(entries + slot(key &+ 16)) }
        insert(Entry(key: key, object: address))
      }
    }
  }

  private mutating func insert(_ entry: Entry) {
    guard let entries else { return }
    var index = slot(entry.key)
    while entries[index].key != 0 && entries[index].key != entry.key { index = (index &+ 1) & mask }
    if entries[index].key == 0 { taken &+= 1 }
    if entries[index].object == nil { count &+= 1 }
    entries[index] = entry
  }

  /// Removes `key` if it still refers to this very object. Returns whether it did.
  @discardableResult
  mutating func remove(_ key: Int64, _ object: NSManagedObject) -> Bool {
    guard let entries else { return false }
    var index = slot(key)
    while entries[index].key != key {
      if entries[index].key == 0 { return false }
      index = (index &+ 1) & mask
    }
    guard entries[index].object == Unmanaged.passUnretained(object).toOpaque() else { return false }
    entries[index].object = nil
    count &-= 1
    return true
  }

  /// Makes room for `more` objects.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if (taken &+ more) &* 5 > (mask &+ 1) &* 4 { rebuild(for: more) }
  }

  /// Makes a table of the current objects, with room for a third more of them, and for `more` in addition.
  private mutating func rebuild(for more: Int) {
    var capacity = 16
    while (count + more) * 5 > capacity * 3 { capacity *= 2 }
    let (old, oldMask) = (entries, mask)
    // A free slot is all zeros.
    entries = cd_allocate_zeroed(capacity, MemoryLayout<Entry>.stride).bindMemory(to: Entry.self, capacity: capacity)
    mask = capacity - 1
    (taken, count) = (0, 0)
    guard let old else { return }
    for index in 0...oldMask where old[index].object != nil { insert(old[index]) }
    free(old)
  }

  /// Every object that is alive, retained.
  var all: [NSManagedObject] {
    guard let entries else { return [] }
    return (0...mask).compactMap { index in
      entries[index].object.flatMap { LivingObject.retained($0, as: NSManagedObject.self) }
    }
  }

  /// The keys of all objects, including objects whose deinitialization has begun.
  var keys: [Int64] {
    guard let entries else { return [] }
    return (0...mask).compactMap { entries[$0].object == nil ? nil : entries[$0].key }
  }

  /// Frees the table. The map is empty afterwards and may be used again.
  mutating func removeAll() {
    free(entries)
    entries = nil
    mask = -1
    (taken, count) = (0, 0)
  }
}
