/// Gives arrays of objects another element type without a cast for each element.
package enum ObjectArray {
  /// The same objects as an array of `T`, which is a class that all of them have. Nil where one has another class; with
  /// the trick, the caller has made sure of that.
  @inlinable
  package static func retyped<Object: AnyObject, T>(
    _ objects: [Object], as _: T.Type, trusting works: Bool = RuntimeTrick.retypedArrays.works
  ) -> [T]? {
    // An array is a reference to a buffer of references, whatever class they have.
    works ? unsafeBitCast(objects, to: [T].self) : objects as? [T]
  }

  private class Base { var number: Int { 1 } }
  private final class Canary: Base {
    let own: Int
    override var number: Int { 2 }
    init(_ own: Int) { self.own = own }
  }

  @inline(never)
  static func canary() -> Bool {
    guard MemoryLayout<[Base]>.size == MemoryLayout<[Canary]>.size else { return false }
    let objects: [Base] = (0..<20).map { Canary($0) }
    guard let typed = retyped(objects, as: Canary.self, trusting: true) else { return false }
    return typed.map(\.own) == Array(0..<20) && typed.dropFirst(7).first?.number == 2
  }
}
