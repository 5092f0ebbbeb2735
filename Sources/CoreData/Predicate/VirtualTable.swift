/// Puts functions into the tables of classes whose own are of no use off Apple's platforms.
///
/// A test fails when a toolchain lays classes out differently.
enum VirtualTable {
  /// Gives `target` the members that `donor`, a subclass without state of its own, overrides.
  ///
  /// They are found by comparison: what differs between two subclasses that override nothing belongs to each class by
  /// itself, such as its initialisers; what is the same in both but not in the donor is overridden there.
  static func patch(_ target: AnyClass, plain: (AnyClass, AnyClass), donor: AnyClass) {
    let (one, two) = (words(plain.0), words(plain.1))
    let (own, given) = (words(target), words(donor))
    for index in firstMember..<min(own.count, given.count, one.count, two.count)
    where one[index] == two[index] && given[index] != one[index] {
      own[index] = given[index]
    }
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
