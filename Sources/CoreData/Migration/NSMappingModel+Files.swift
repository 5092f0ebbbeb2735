import Foundation
import ModelFiles

extension NSMappingModel {
  /// Reads a compiled mapping model, a `.cdm` file. Nil where there is none that can be read.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let data = try? Data(contentsOf: url), let record = try? CompiledMapping.read(data) else {
      return nil
    }
    self.init()
    entityMappings = record.entityMappings.map(NSEntityMapping.init)
  }

  /// Reads the compiled mapping model in bundles that is for these models; nil where there is none. Without bundles it
  /// is the main bundle, and where that has none, the resources of packages beside the program.
  ///
  /// It is for the models if the entities of each mapping have the same version hashes in them
  /// ([init(from:forSourceModel:destinationModel:)](https://developer.apple.com/documentation/coredata/nsmappingmodel/init(from:forsourcemodel:destinationmodel:))).
  /// Of several the first by its path is read.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let source = sourceModel?.entityVersionHashesByName,
      let destination = destinationModel?.entityVersionHashesByName
    else { return nil }
    func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
      name.map { hashes[$0] != nil && hashes[$0] == hash } ?? true
    }
    for file in ModelSearch.files(in: bundles, ["cdm"]) {
      guard let data = try? Data(contentsOf: file), let record = try? CompiledMapping.read(data),
        !record.entityMappings.isEmpty,
        record.entityMappings.allSatisfy({
          fits($0.sourceEntity, $0.sourceHash, source) && fits($0.destinationEntity, $0.destinationHash, destination)
        })
      else { continue }
      self.init()
      entityMappings = record.entityMappings.map(NSEntityMapping.init)
      return
    }
    return nil
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
