import Foundation

/// Contexts above a store, for runs that leave changes unsaved. Objects are named by the number given at their
/// insertion.
public protocol ObjectStack {
  /// Inserts an object of an entity, named by the number from then on.
  func insert(_ number: Int, entity: String) throws
  /// Sets an attribute, or an element of a composite one by its path. The value may be nil.
  func set(_ value: Any?, _ name: String, of number: Int) throws
  /// Sets a to-one relationship.
  func set(target: Int?, _ name: String, of number: Int) throws
  /// Sets the members of an ordered relationship.
  func set(members: [Int], _ name: String, of number: Int) throws
  /// Adds a member to a to-many relationship.
  func add(_ member: Int, _ name: String, of number: Int) throws
  /// Removes a member from a to-many relationship.
  func remove(_ member: Int, _ name: String, of number: Int) throws
  /// Deletes an object.
  func delete(_ number: Int) throws
  /// Saves all changes.
  func save() throws
  /// Runs a fetch, its count, and its predicate in memory, over the objects and over values without a schema.
  func fetch(_ request: StackRequest) throws -> StackResult
  /// Closes the store.
  func close() throws
}

/// A fetch of a stack.
public struct StackRequest {
  /// An argument of the predicate's format.
  public enum Argument {
    /// A value of a Foundation type.
    case value(Any)
    /// The object with a number.
    case object(Int)
  }

  /// The name of the entity to fetch.
  public var entity: String
  /// The predicate in the format language.
  public var format: String
  /// The values of `%@` in the format, in order.
  public var arguments: [Argument]
  /// The sorts. The selector is the method that compares texts, nil for the literal order.
  public var sort: [(key: String, isAscending: Bool, selector: String?)]
  /// How many of the first results to leave out.
  public var offset: Int
  /// The most results; nil for no limit.
  public var limit: Int?
}

/// The response of a stack to a request.
public struct StackResult {
  /// The objects that are fetched.
  public var fetched: [Int]
  /// The count of the same request.
  public var count: Int
  /// The objects of the entity, in ascending order of their numbers, that meet the predicate in memory.
  public var met: [Int]
  /// The same where each object is given to the predicate as a dictionary of its values. Nil where the predicate means
  /// something else without a schema.
  public var metAsDictionaries: [Int]?

  /// The results of the ways to select.
  public init(fetched: [Int], count: Int, met: [Int], metAsDictionaries: [Int]?) {
    (self.fetched, self.count, self.met, self.metAsDictionaries) = (fetched, count, met, metAsDictionaries)
  }
}
