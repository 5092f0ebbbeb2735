import Foundation
import ModelFiles

extension NSMappingModel {
  /// The mapping model in a file; nil where there is none that can be read.
  static func record(_ file: URL) -> MappingRecord? {
    (try? Data(contentsOf: file)).flatMap { try? CompiledMapping.read($0) }
  }

  /// The first mapping model in bundles whose entities have the version hashes of both models.
  static func record(
    in bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> MappingRecord? {
    let (old, new) = (source.entityVersionHashesByName, destination.entityVersionHashesByName)
    func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
      name.map { hashes[$0] != nil && hashes[$0] == hash } ?? true
    }
    return ModelSearch.files(in: bundles, ["cdm"]).lazy.compactMap(record).first { record in
      !record.entityMappings.isEmpty
        && record.entityMappings.allSatisfy {
          fits($0.sourceEntity, $0.sourceHash, old) && fits($0.destinationEntity, $0.destinationHash, new)
        }
    }
  }
}

extension NSEntityMapping {
  convenience init(_ record: EntityMappingRecord) {
    self.init()
    name = record.name
    mappingType = NSEntityMappingType(rawValue: UInt(clamping: record.type)) ?? .undefinedEntityMappingType
    (sourceEntityName, sourceEntityVersionHash) = (record.sourceEntity, record.sourceHash)
    (destinationEntityName, destinationEntityVersionHash) = (record.destinationEntity, record.destinationHash)
    attributeMappings = record.attributeMappings?.map(NSPropertyMapping.init)
    relationshipMappings = record.relationshipMappings?.map(NSPropertyMapping.init)
    sourceExpression = record.sourceExpression.map { ExpressionTree.expression($0) }
    entityMigrationPolicyClassName = record.policyClassName
    userInfo = record.userInfo.map(ModelRecordCoding.userInfo)
  }
}

extension NSPropertyMapping {
  convenience init(_ record: PropertyMappingRecord) {
    self.init()
    name = record.name
    valueExpression = record.valueExpression.map { ExpressionTree.expression($0) }
    userInfo = record.userInfo.map(ModelRecordCoding.userInfo)
  }
}
