/// Reads and writes the tables of members that classes have.
package enum VirtualTable {
  /// Gives `target` the members that `donor`, a subclass without state of its own, overrides. Returns whether it did.
  ///
  /// They are found by comparison. What differs between two subclasses that override nothing belongs to each class by
  /// itself, such as its initializers. What is the same in both and in the target, but not in the donor, is overridden
  /// there.
  @discardableResult
  package static func patch(
    _ target: AnyClass, plain: (AnyClass, AnyClass), donor: AnyClass,
    trusting works: Bool = RuntimeTrick.virtualTables.works
  ) -> Bool {
    guard works else { return false }
    let (own, inherited, given) = (words(target), words(plain.0), words(donor))
    for index in members(overriddenBy: donor, plain: plain) where index < own.count && own[index] == inherited[index] {
      own[index] = given[index]
    }
    return true
  }

  /// Whether a class overrides one of the members that `donor` overrides. All are subclasses of `base`. Where the trick
  /// does not work, any class may: the result is true.
  package static func overrides(
    _ type: AnyClass, _ base: AnyClass, membersOf donor: AnyClass, plain: (AnyClass, AnyClass),
    trusting works: Bool = RuntimeTrick.virtualTables.works
  ) -> Bool {
    guard works else { return true }
    let (own, inherited) = (words(type), words(base))
    return members(overriddenBy: donor, plain: plain).contains {
      $0 < own.count && $0 < inherited.count && own[$0] != inherited[$0]
    }
  }

  /// The indices of the members that `donor` overrides.
  private static func members(overriddenBy donor: AnyClass, plain: (AnyClass, AnyClass)) -> [Int] {
    let (one, two, given) = (words(plain.0), words(plain.1), words(donor))
    let end = min(given.count, one.count, two.count)
    return (min(firstMember, end)..<end).filter { one[$0] == two[$0] && given[$0] != one[$0] }
  }

  /// After kind, superclass, flags, sizes, descriptor and destroyer of variables, on 64-bit platforms without
  /// Objective-C.
  private static let firstMember = 7

  /// No class has as many words. A count that is read at a wrong offset is most likely larger.
  private static let mostWords = 1 << 16

  private static func words(_ type: AnyClass) -> UnsafeMutableBufferPointer<UInt> {
    let metadata = unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
    let classSize = Int(metadata.load(fromByteOffset: 32, as: UInt32.self))
    let addressPoint = Int(metadata.load(fromByteOffset: 36, as: UInt32.self))
    let count = (classSize - addressPoint) / MemoryLayout<UInt>.size
    return UnsafeMutableBufferPointer(
      start: metadata.assumingMemoryBound(to: UInt.self), count: (0..<mostWords).contains(count) ? count : 0)
  }

  /// Patches a class of its own, and compares subclasses of it.
  @inline(never)
  static func canary() -> Bool {
    let plain: (AnyClass, AnyClass) = (_PlainCanary.self, _OtherPlainCanary.self)
    let donor: AnyClass = _DonorCanary.self
    guard members(overriddenBy: donor, plain: plain).count == 1,
      overrides(donor, plain.0, membersOf: donor, plain: plain, trusting: true),
      !overrides(plain.1, plain.0, membersOf: donor, plain: plain, trusting: true)
    else { return false }
    patch(_Canary.self, plain: plain, donor: donor, trusting: true)
    let object = _Canary.make()
    return object.first() == 1 && object.second() == 22 && object.third() == 3
  }
}

// Open, so that the compiler expects subclasses elsewhere and calls the members through the table.

/// The class that the canary patches.
open class _Canary {
  init() {}
  open func first() -> Int { 1 }
  open func second() -> Int { 2 }
  open func third() -> Int { 3 }

  @inline(never)
  static func make() -> _Canary { _Canary() }
}

/// A subclass that overrides nothing.
open class _PlainCanary: _Canary {}

/// Another one.
open class _OtherPlainCanary: _Canary {}

/// A subclass that overrides one member.
open class _DonorCanary: _Canary {
  open override func second() -> Int { 22 }
}
