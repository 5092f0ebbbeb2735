import Foundation
import StoreQuery

/// A key in a key path, so that a sort descriptor made of a name has a key path like any other.
public struct _SortKey: Hashable, Comparable, Sendable {
  let name: String
  let selector: Selector?
  public static func < (a: _SortKey, b: _SortKey) -> Bool { a.name < b.name }
}

/// The value of a key, as comparators get it.
public struct _ComparedValue {
  let name: String
  let value: Any?
}

extension NSObject {
  /// Only for sort descriptors made of a key.
  public subscript(_sortKey name: String, _selector selector: Selector?) -> _SortKey {
    _SortKey(name: name, selector: selector)
  }

  /// Only for sort descriptors made of a key and a comparator.
  public subscript(_comparedKey name: String) -> _ComparedValue {
    let path = name == "self" ? [] : name.split(separator: ".").map(String.init)
    return _ComparedValue(name: name, value: KeyPathValue.value(of: self, path[...]))
  }
}

extension NSSortDescriptor {
  /// Sorts by the value of a key, or of a dotted path of keys.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key: key, ascending: ascending, selector: nil)
  }

  /// Sorts by the value of a key, by a method of it. Stores know `compare:`, `caseInsensitiveCompare:`,
  /// `localizedCompare:`, `localizedCaseInsensitiveCompare:` and `localizedStandardCompare:`; a fetch with any other is
  /// an error.
  public convenience init(key: String?, ascending: Bool, selector: Selector?) {
    SortDescriptorPatch.apply()
    self.init(keyPath: \NSObject[_sortKey: key ?? "self", _selector: selector], ascending: ascending)
  }

  /// Sorts by a property of a managed object class, of any type.
  public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: Self.name(of: keyPath), ascending: ascending)
  }

  /// A key path without a name stops the program, as on Apple's platforms.
  private static func name(of keyPath: AnyKeyPath) -> String {
    guard let name = KeyPathName.name(of: keyPath) else {
      misuse("\(keyPath) is no key path of a managed object's properties; give the key as text.")
    }
    return name
  }

  /// The same for a comparable type, which Foundation's own initialiser would take too.
  public convenience init<Root: NSManagedObject, Value: Comparable>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: Self.name(of: keyPath), ascending: ascending)
  }

  /// The same by a method of the values.
  public convenience init<Root: NSManagedObject, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool, selector: Selector?
  ) {
    self.init(key: Self.name(of: keyPath), ascending: ascending, selector: selector)
  }

  /// The same by a comparator over the values, in memory after the fetch. Missing values come as `NSNull`.
  public convenience init<Root: NSManagedObject, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
  ) {
    self.init(key: Self.name(of: keyPath), ascending: ascending, comparator: cmptr)
  }

  /// A sort descriptor of Swift's as one that fetch requests take, with its order and its comparator of strings.
  ///
  /// Off Apple's platforms the only comparator that Foundation declares is `.lexical`: `compare:`, which compares
  /// literally. A descriptor without a comparator compares so too, where Apple's default is `.localizedStandard`. For
  /// the order of a language give a key and a selector: `NSSortDescriptor(key: "title", ascending: true, selector:
  /// "localizedStandardCompare:")`. A comparator that a later Foundation may add stops the program rather than being
  /// taken for `.lexical`.
  /// (https://developer.apple.com/documentation/foundation/sortdescriptor/stringcomparator)
  public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
    if let comparator = sortDescriptor.stringComparator,
      String.StandardComparator(comparator, order: .forward) != .lexical
    {
      misuse("The comparator \(comparator) has no selector; make the NSSortDescriptor of a key and a selector.")
    }
    self.init(key: sortDescriptor.keyPath.map(Self.name), ascending: sortDescriptor.order == .forward)
  }

  /// Sorts by a comparator over the values of a key, in memory after the fetch. Missing values come as `NSNull`.
  public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
    self.init(keyPath: \NSObject[_comparedKey: key ?? "self"], ascending: ascending) { a, b in
      cmptr((a as? _ComparedValue)?.value ?? NSNull(), (b as? _ComparedValue)?.value ?? NSNull())
    }
  }

  /// Whether the order is a comparator's, which no store knows.
  var comparesByBlock: Bool { keyPath is KeyPath<NSObject, _ComparedValue> }

  /// The method that values are compared by, nil for `compare:`.
  public var selector: Selector? {
    (keyPath as? KeyPath<NSObject, _SortKey>).flatMap { NSObject()[keyPath: $0].selector }
  }

  /// The key, also of a descriptor that was made of the key path of a managed object's property.
  public var key: String? {
    if let path = keyPath as? KeyPath<NSObject, _SortKey> { return NSObject()[keyPath: path].name }
    if let path = keyPath as? KeyPath<NSObject, _ComparedValue> { return NSObject()[keyPath: path].name }
    return KeyPathName.name(of: keyPath)
  }
}
