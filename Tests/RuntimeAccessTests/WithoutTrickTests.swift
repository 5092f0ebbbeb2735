import Foundation
import Testing

@testable import RuntimeAccess

/// Each trick, and the documented way that is taken where its canary fails, give the same.
@Suite struct WithoutTrickTests {
  private final class Plain {}

  private final class Watched {
    let end: (Watched) -> Void
    init(_ end: @escaping (Watched) -> Void = { _ in }) { self.end = end }
    deinit {
      end(self)
      LivingObject.forget(self, trusting: false)
    }
  }

  @Test(arguments: [true, false]) func anObjectIsFoundAsLongAsItLives(_ works: Bool) {
    var isFoundAtEnd: Bool?
    var object: Watched? = Watched { ending in
      let address = Unmanaged.passUnretained(ending).toOpaque()
      isFoundAtEnd = LivingObject.retained(address, as: Watched.self, trusting: works) != nil
    }
    guard let address = object.map({ Unmanaged.passUnretained($0).toOpaque() }) else { return }
    object.map { LivingObject.note($0, trusting: works) }
    do {
      let found = LivingObject.retained(address, as: Watched.self, trusting: works)
      #expect(found != nil && found === object)
    }
    #expect(isFoundAtEnd == nil)
    object = nil
    #expect(isFoundAtEnd == false)
  }

  @Test func objectsAtTheSameAddressAreKeptApart() {
    for _ in 0..<5000 {
      let object = Watched()
      LivingObject.note(object, trusting: false)
      let address = Unmanaged.passUnretained(object).toOpaque()
      #expect(LivingObject.retained(address, as: Watched.self, trusting: false) === object)
    }
  }

  @Test func anObjectIsCountedWithoutTheTrick() {
    var hasEnded = false
    var object: Watched? = Watched { _ in hasEnded = true }
    object.map { ImmortalObject.make($0, trusting: false) }
    #expect(!hasEnded)
    object = nil
    #expect(hasEnded)
  }

  @Test func anImmortalObjectIsNotCounted() {
    var hasEnded = false
    var object: Watched? = Watched { _ in hasEnded = true }
    object.map { ImmortalObject.make($0, trusting: true) }
    object = nil
    #expect(!hasEnded)
  }

  @Test(arguments: [true, false]) func anObjectIsFoundInItsBox(_ works: Bool) {
    let (object, plain) = (NSObject(), Plain())
    func address(of object: AnyObject) -> UnsafeRawPointer {
      UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
    func found(_ value: Any?) -> UnsafeRawPointer? { ObjectInAny.address(in: value, trusting: works) }
    #expect(found(object) == address(of: object) && found(plain) == address(of: plain))
    #expect(found(nil) == nil && found(7) == nil && found("text") == nil && found(Plain.self) == nil)
    #expect(found(AnyHashable(object)) == nil && found(Optional(object) as Any) == nil)
    #expect(found(UUID()) == nil && found({ () -> Int in 7 }) == nil && found([object]) == nil)
  }

  private class Base {
    var number: Int
    init(_ number: Int) { self.number = number }
  }

  private final class Raw: Base {
    var plain: Plain?
  }

  @Test func aRawObjectIsMadeOnlyByTheTrick() throws {
    let made = try #require(RawObject.make(Raw.self, trusting: true))
    #expect(type(of: made) == Raw.self && made.plain == nil && made.number == 0)
    #expect(RawObject.make(Raw.self, trusting: false) == nil)
  }

  @Test func anArrayGetsItsType() {
    let objects: [Base] = (1...3).map { _ in Raw(0) }
    for works in [true, false] {
      let typed = ObjectArray.retyped(objects, as: Raw.self, trusting: works)
      #expect(typed.map { $0.elementsEqual(objects, by: ===) } == true)
    }
    #expect(ObjectArray.retyped([Base(0)], as: Raw.self, trusting: false) == nil)
  }

  @Test func classesAreFoundByTheTrick() {
    let found = ProcessClasses.named("RuntimeAccessTestedClass", trusting: true)
    #expect(found?.count == 1 && found?[0] == RuntimeAccessTestedClass.self)
    #expect(ProcessClasses.named("RuntimeAccessTestedClass", trusting: false) == nil)
  }

  private struct Song {
    var title = ""
    var length: Int? { 7 }
  }

  @Test func keyPathsAreReadByTheTrick() {
    #expect(KeyPathText.storedNames(\Song.title, trusting: true) == "title")
    #expect(KeyPathText.storedNames(\Song.length, trusting: true) == nil)
    #expect(KeyPathText.propertyCount(\Song.length?.description, trusting: true) == 2)
    #expect(KeyPathText.isForced(\Song.length!.description, trusting: true) == true)
    #expect(KeyPathText.isForced(\Song.length?.description, trusting: true) == false)
    #expect(KeyPathText.storedNames(\Song.title, trusting: false) == nil)
    #expect(KeyPathText.propertyCount(\Song.title, trusting: false) == nil)
    #expect(KeyPathText.isForced(\Song.title, trusting: false) == nil)
  }
}

private final class RuntimeAccessTestedClass {}

/// The tables of members, on classes that nothing else uses.
@Suite struct VirtualTableTests {
  @Test func anOverriddenMemberIsFound() {
    func overrides(_ type: AnyClass, _ works: Bool) -> Bool {
      VirtualTable.overrides(
        type, PatchedBase.self, membersOf: PatchedDonor.self, plain: (PatchedPlain.self, PatchedPlainToo.self),
        trusting: works)
    }
    #expect(overrides(PatchedDonor.self, true) && !overrides(PatchedPlain.self, true))
    #expect(overrides(PatchedDonor.self, false) && overrides(PatchedPlain.self, false))
  }

  @Test func membersArePatchedByTheTrick() {
    func patch(_ works: Bool) -> Bool {
      VirtualTable.patch(
        PatchedTarget.self, plain: (PatchedTargetPlain.self, PatchedTargetPlainToo.self),
        donor: PatchedTargetDonor.self, trusting: works)
    }
    #expect(!patch(false) && PatchedTarget.make().answer() == "target")
    #expect(patch(true) && PatchedTarget.make().answer() == "donor" && PatchedTarget.make().question() == "target?")
  }
}

open class PatchedBase {
  init() {}
  open func answer() -> Int { 1 }
}
open class PatchedPlain: PatchedBase {}
open class PatchedPlainToo: PatchedBase {}
open class PatchedDonor: PatchedBase {
  open override func answer() -> Int { 2 }
}

open class PatchedTarget {
  init() {}
  open func question() -> String { "target?" }
  open func answer() -> String { "target" }
  @inline(never)
  static func make() -> PatchedTarget { PatchedTarget() }
}
open class PatchedTargetPlain: PatchedTarget {}
open class PatchedTargetPlainToo: PatchedTarget {}
open class PatchedTargetDonor: PatchedTarget {
  open override func answer() -> String { "donor" }
}
