import Foundation
import ModelFiles

/// Encodes models, entities and properties as the bytes of a `.mom` archive, which Apple's framework and this library
/// both read. An entity or a property is put into a model of its own.
///
/// A part that a `.mom` file cannot contain, such as a predicate made of a block, stops the program, because a coder
/// cannot report errors.
enum DescriptionCoding {
  private static let (archiveKey, textsKey) = ("archive", "localizationDictionary")

  static func encode(_ model: NSManagedObjectModel, with coder: NSCoder) {
    let archive: Data
    do { archive = try ModelArchive.write(model) } catch { misuse("The model cannot be encoded: \(error).") }
    coder.encode(archive as NSData, forKey: archiveKey)
    if let texts = model.localizationDictionary { coder.encode(texts as NSDictionary, forKey: textsKey) }
  }

  static func encode(_ entity: NSEntityDescription, with coder: NSCoder) {
    guard let copy = entity.copy() as? NSEntityDescription else { return }
    let model = NSManagedObjectModel()
    model.entities = [copy]
    encode(model, with: coder)
  }

  static func encode(_ property: NSPropertyDescription, with coder: NSCoder) {
    guard let copy = property.copy() as? NSPropertyDescription else { return }
    let entity = NSEntityDescription()
    entity.name = "Entity"
    entity.properties = [copy]
    encode(entity, with: coder)
  }

  /// Encodes an index in an entity that has only the properties of the index elements.
  static func encode(_ index: NSFetchIndexDescription, with coder: NSCoder) {
    guard let copy = index.copy() as? NSFetchIndexDescription else { return }
    let entity = NSEntityDescription()
    entity.name = "Entity"
    var properties: [String: NSPropertyDescription] = [:]
    for case let property? in copy.elements.map(\.indexedProperty) {
      properties[property.name] = property.copy() as? NSPropertyDescription
    }
    entity.properties = properties.values.sorted { $0.name < $1.name }
    entity.indexes = [copy]
    encode(entity, with: coder)
  }

  static func indexes(_ coder: NSCoder) -> [NSFetchIndexDescription]? { entity(coder)?.indexes }

  /// Nil where there is no archive, or one that cannot be read. The error is not passed to the coder, which may be
  /// configured to stop the program.
  static func record(_ coder: NSCoder) -> ModelRecord? {
    guard coder.containsValue(forKey: archiveKey),
      let archive = coder.decodeObject(of: NSData.self, forKey: archiveKey)
    else { return nil }
    return try? CompiledModelReader.read(Data(referencing: archive))
  }

  static func texts(_ coder: NSCoder) -> [String: String]? {
    if !coder.containsValue(forKey: textsKey) { return nil }
    return coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: textsKey) as? [String: String]
  }

  static func entity(_ coder: NSCoder) -> NSEntityDescription? {
    record(coder)?.entities.first.map { record in
      let entity = ModelRecordCoding.entity(record)
      ModelRecordCoding.addIndexes(record, to: entity)
      return entity
    }
  }

  static func property(_ coder: NSCoder) -> NSPropertyDescription? {
    record(coder)?.entities.first?.properties.first.map(ModelRecordCoding.property)
  }
}
