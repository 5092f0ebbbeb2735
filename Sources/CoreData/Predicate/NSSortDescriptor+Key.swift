import Foundation
import StoreQuery

/// A key within a key path. It gives a sort descriptor that was made from a name a key path.
public struct _SortKey: Hashable, Comparable, Sendable {
  let name: String
  let selector: Selector?
  public static func < (a: _SortKey, b: _SortKey) -> Bool { a.name < b.name }
}

/// The value of a key, for comparators.
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

  /// Sorts by a property of a comparable type. Without this overload the call would be ambiguous with Foundation's
  /// initializer.
  public convenience init<Root: NSManagedObject, Value: Comparable>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: Self.name(of: keyPath), ascending: ascending)
  }

  /// Sorts by a property of a managed object class, by a method of the values.
  public convenience init<Root: NSManagedObject, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool, selector: Selector?
  ) {
    self.init(key: Self.name(of: keyPath), ascending: ascending, selector: selector)
  }

  /// Sorts by a property of a managed object class with a comparator, in memory after the fetch. Nil values come as
  /// `NSNull`.
  public convenience init<Root: NSManagedObject, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
  ) {
    self.init(key: Self.name(of: keyPath), ascending: ascending, comparator: cmptr)
  }

  /// A sort descriptor of Swift's in the form that fetch requests take, with its order and its comparator of strings.
  ///
  /// Off Apple's platforms Foundation declares one comparator, `.lexical`, which compares literally (`compare:`). A
  /// descriptor without a comparator compares literally, too; Apple's default is `.localizedStandard`. For the order of
  /// a language use a key and a selector: `NSSortDescriptor(key: "title", ascending: true, selector:
  /// "localizedStandardCompare:")`. A comparator that is unknown here stops the program.
  /// (https://developer.apple.com/documentation/foundation/sortdescriptor/stringcomparator)
  public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
    if let comparator = sortDescriptor.stringComparator,
      String.StandardComparator(comparator, order: .forward) != .lexical
    {
      misuse("The comparator \(comparator) has no selector; make the NSSortDescriptor of a key and a selector.")
    }
    self.init(key: sortDescriptor.keyPath.map(Self.name), ascending: sortDescriptor.order == .forward)
  }

  /// Sorts by the values of a key with a comparator, in memory after the fetch. Nil values come as `NSNull`.
  public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
    self.init(keyPath: \NSObject[_comparedKey: key ?? "self"], ascending: ascending) { a, b in
      cmptr((a as? _ComparedValue)?.value ?? NSNull(), (b as? _ComparedValue)?.value ?? NSNull())
    }
  }

  /// Whether the descriptor has a comparator. No store can sort by it.
  var comparesByBlock: Bool { keyPath is KeyPath<NSObject, _ComparedValue> }

  /// The method that compares values; nil for `compare:`.
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
