import Foundation

/// Contexts above a store, for runs that leave changes unsaved. Objects go by the numbers that they were inserted with.
public protocol ObjectStack {
  func insert(_ number: Int, entity: String) throws
  /// Sets an attribute, or an element of a composite one by its path, to nil too.
  func set(_ value: Any?, _ name: String, of number: Int) throws
  /// Sets a to-one relationship.
  func set(target: Int?, _ name: String, of number: Int) throws
  /// Sets the members of an ordered relationship.
  func set(members: [Int], _ name: String, of number: Int) throws
  func add(_ member: Int, _ name: String, of number: Int) throws
  func remove(_ member: Int, _ name: String, of number: Int) throws
  func delete(_ number: Int) throws
  func save() throws
  func fetch(_ request: StackRequest) throws -> StackResult
  func close() throws
}

/// A fetch of a stack.
public struct StackRequest {
  public enum Argument {
    case value(Any)
    case object(Int)
  }

  public var entity: String
  public var format: String
  public var arguments: [Argument]
  /// Each by the method that texts are compared by, nil for the literal order.
  public var sort: [(key: String, isAscending: Bool, selector: String?)]
  public var offset: Int
  public var limit: Int?
}

/// What a stack says to a request.
public struct StackResult {
  /// The objects that are fetched.
  public var fetched: [Int]
  /// The count of the same request.
  public var count: Int
  /// The objects of the entity, from the least number on, that meet the predicate in memory.
  public var met: [Int]

  public init(fetched: [Int], count: Int, met: [Int]) { (self.fetched, self.count, self.met) = (fetched, count, met) }
}
