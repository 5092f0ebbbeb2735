/// Puts functions into the tables of classes whose own are of no use off Apple's platforms.
///
/// A test fails when a toolchain lays classes out differently.
enum VirtualTable {
  /// Gives `target` the members that `donor`, a subclass without state of its own, overrides.
  ///
  /// They are found by comparison: what differs between two subclasses that override nothing belongs to each class by
  /// itself, such as its initialisers; what is the same in both but not in the donor is overridden there.
  static func patch(_ target: AnyClass, plain: (AnyClass, AnyClass), donor: AnyClass) {
    let (own, given) = (words(target), words(donor))
    for index in members(overriddenBy: donor, plain: plain) where index < own.count { own[index] = given[index] }
  }

  /// Where the tables have the members that `donor` overrides.
  static func members(overriddenBy donor: AnyClass, plain: (AnyClass, AnyClass)) -> [Int] {
    let (one, two, given) = (words(plain.0), words(plain.1), words(donor))
    return (firstMember..<min(given.count, one.count, two.count)).filter {
      one[$0] == two[$0] && given[$0] != one[$0]
    }
  }

  /// Whether a class has another member than a superclass of it at one of the places.
  static func differ(_ type: AnyClass, _ superclass: AnyClass, at places: [Int]) -> Bool {
    let (own, inherited) = (words(type), words(superclass))
    return places.contains { $0 < own.count && $0 < inherited.count && own[$0] != inherited[$0] }
  }

  /// After kind, superclass, flags, sizes, descriptor and ivar destroyer, on 64-bit platforms without Objective-C.
  private static let firstMember = 7

  private static func words(_ type: AnyClass) -> UnsafeMutableBufferPointer<UInt> {
    let metadata = unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
    let classSize = Int(metadata.load(fromByteOffset: 32, as: UInt32.self))
    let addressPoint = Int(metadata.load(fromByteOffset: 36, as: UInt32.self))
    let count = (classSize - addressPoint) / MemoryLayout<UInt>.size
    return UnsafeMutableBufferPointer(start: metadata.assumingMemoryBound(to: UInt.self), count: max(count, 0))
  }
}
