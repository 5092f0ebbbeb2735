import Foundation
import StoreProtocol
import StoreSchema

/// One stored object as it is, sound or not, for tools that show and check stores.
///
/// A fetch refuses or skips content that contradicts the format. Here each value says whether it can be read.
public struct InspectedObject: Sendable {
  /// The object's own entity and its key.
  public var reference: ObjectReference
  /// The optimistic-locking version, nil where the store holds none.
  public var version: Int64?
  /// The attribute values, by slot. Null for the slots of relationships.
  public var values: [InspectedValue]
  /// The destinations, by the entity's relationships.
  public var relationships: [InspectedTargets]

  /// An object with a value for each slot and the targets of each relationship.
  public init(
    reference: ObjectReference, version: Int64?, values: [InspectedValue], relationships: [InspectedTargets]
  ) {
    self.reference = reference
    self.version = version
    self.values = values
    self.relationships = relationships
  }
}

/// A stored attribute value, or why there is none.
public enum InspectedValue: Sendable, Equatable {
  /// A value of the attribute's type, or null.
  case sound(Value)
  /// The invalid content, as a part of a sentence.
  case invalid(String)
}

/// The destinations of a relationship, in their order where it is ordered; or why they cannot be read.
public enum InspectedTargets: Sendable, Equatable {
  /// The destinations that are stored.
  case objects([InspectedTarget])
  /// The invalid content, as a part of a sentence.
  case invalid(String)
}

/// One destination.
public struct InspectedTarget: Sendable, Equatable {
  /// The destination's own entity; the declared one where there is no such object.
  public var entity: Int
  /// The destination's key.
  public var key: Int64
  /// Why the destination is invalid, nil for an existing object.
  public var defect: String?
  /// Whether the defect is a missing object.
  public var isMissing: Bool

  /// A destination; with a `defect`, an invalid one.
  public init(entity: Int, key: Int64, defect: String? = nil, isMissing: Bool = false) {
    self.entity = entity
    self.key = key
    self.defect = defect
    self.isMissing = isMissing
  }
}

/// A snapshot that shows its content without judging it.
public protocol InspectingSnapshot: VerifyingSnapshot {
  /// Calls `body` with each object of exactly `entity`, in key order. Values of kind `externalData` are given as
  /// stored.
  func inspect(
    _ entity: Int, _ body: (InspectedObject) throws(StoreError) -> Void
  ) throws(StoreError)
}

/// A snapshot whose store can check itself.
public protocol VerifyingSnapshot: StoreSnapshot {
  /// Calls `body` with each defect of the store that is not a defect of one object.
  func findings(_ body: (StoreFinding) -> Void) throws(StoreError)
}

/// A defect of a store, or content that the framework which defines the format would not have written.
public struct StoreFinding: Sendable, Equatable {
  /// The kinds of findings.
  public enum Kind: String, Sendable, CaseIterable {
    /// The medium's own structure is damaged.
    case integrity
    /// A value cannot be one of its type.
    case value
    /// A reference leads nowhere, or to an object of another entity.
    case reference
    /// Two sides of a relationship do not say the same.
    case inverse
    /// Order keys are missing or tied.
    case order
    /// Keys or the highest key listed are wrong.
    case key
    /// A version is missing.
    case version
    /// Rows that belong to no entity, pairs without objects and the like.
    case stray
    /// The metadata contradicts itself or the model.
    case metadata
    /// Sound, but not as the framework writes it.
    case foreign
  }

  /// The kind of the finding.
  public var kind: Kind
  /// The finding as a sentence.
  public var text: String
  /// The name of the entity; nil where the finding is of no entity.
  public var entity: String?
  /// The key of the object; nil where the finding is of no single object.
  public var key: Int64?
  /// The name of the property; nil where the finding is of no single property.
  public var property: String?

  /// A finding, with its object and property where it has them.
  public init(_ kind: Kind, _ text: String, entity: String? = nil, key: Int64? = nil, property: String? = nil) {
    self.kind = kind
    self.text = text
    self.entity = entity
    self.key = key
    self.property = property
  }
}

extension StoreSnapshot {
  /// This snapshot if it can show its content itself, nil otherwise.
  public var inspecting: (any InspectingSnapshot)? { self as? any InspectingSnapshot }
}
