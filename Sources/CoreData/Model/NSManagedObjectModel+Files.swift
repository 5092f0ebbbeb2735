import Foundation
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema

extension NSManagedObjectModel {
  /// Reads a compiled model (`.mom`, `.momd`) or a source model (`.xcdatamodel`, `.xcdatamodeld`); of several versions
  /// the current one. Nil where that fails; ``read(_:)`` throws the reason.
  public convenience init?(contentsOf url: URL) {
    guard let record = try? ModelFile.read(at: url) else { return nil }
    self.init(record)
    addTexts(ofModelAt: url)
  }

  /// Reads a model file. Throws 259 (`fileReadCorruptFile`), with the reason in the description.
  public static func read(_ url: URL) throws -> NSManagedObjectModel {
    do {
      let model = NSManagedObjectModel(try ModelFile.read(at: url))
      model.addTexts(ofModelAt: url)
      return model
    } catch {
      throw CocoaError(
        .fileReadCorruptFile,
        userInfo: [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: "\(error)"])
    }
  }

  /// The model as the `contents` file of an `.xcdatamodel`, formatted as Xcode does, and what of the model a source
  /// cannot express, a sentence each.
  ///
  /// Throws 134060 (`coreData`) where a part has no form in a model file, such as a validation by a block.
  public func sourceContents() throws -> (contents: Data, omissions: [String]) {
    do {
      let source = ModelSourceWriter(try ModelArchive.record(of: self))
      return (source.contents, source.omissions)
    } catch {
      throw CocoaError(
        .coreData, userInfo: [NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: "\(error.message)"])
    }
  }

  static func merged(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    NSManagedObjectModel(byMerging: modelFiles(bundles).compactMap { NSManagedObjectModel(contentsOf: $0) })
  }

  static func merged(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
    let models = modelFiles(bundles).flatMap(allVersions)
    return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
  }

  /// Merges models into a new one. Relationships are connected by name. Nil where there are no models.
  ///
  /// Two entities with one name must have the same version hash; else the program stops, where Apple's framework raises
  /// an exception.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models, !models.isEmpty else { return nil }
    self.init()
    take(models.flatMap(\.entities), from: models)
  }

  /// Merges the entities whose version hashes are those of the metadata. Nil where one is missing.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
    guard let required = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
    self.init()
    // A whole model that matches is used as it is: entities with derived attributes have no hash to identify them by.
    if let whole = models.first(where: { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }) {
      take(whole.entities, from: [whole])
      return
    }
    var chosen: [NSEntityDescription] = []
    for (name, hash) in required {
      let found = models.lazy.compactMap { model in
        model.entityVersionHashesByName[name] == hash ? model.entitiesByName[name] : nil
      }.first
      guard let found else { return nil }
      chosen.append(found)
    }
    take(chosen, from: models)
  }

  /// Copies entities of other models into this one, and connects them by name.
  private func take(_ entities: [NSEntityDescription], from models: [NSManagedObjectModel]) {
    var copies: [String: (entity: NSEntityDescription, hash: Data)] = [:]
    var order: [String] = []
    for entity in entities {
      guard let name = entity.name else { continue }
      let hash = entity.versionHash
      if let known = copies[name] {
        if known.hash != hash {
          misuse(
            "Can't merge models with two different entities named '\(name)'; rename one, or merge one version only.")
        }
        continue
      }
      guard let copy = entity.copy() as? NSEntityDescription else { continue }
      copies[name] = (copy, hash)
      order.append(name)
    }
    for entity in entities {
      guard let name = entity.name, let parent = entity.parentEntity?.name, let copy = copies[name]?.entity,
        let owner = copies[parent]?.entity
      else { continue }
      if !owner.subentities.contains(where: { $0 === copy }) { owner.subentities.append(copy) }
    }
    self.entities = order.compactMap { copies[$0]?.entity }
    for entity in self.entities { relink(entity) }
    for model in models {
      versionIdentifiers.formUnion(model.versionIdentifiers)
      addTexts(of: model)
      for (name, request) in model.fetchRequestTemplatesByName {
        setFetchRequestTemplate(request.copy() as? NSFetchRequest<any NSFetchRequestResult>, forName: name)
      }
      for configuration in model.configurations {
        let names = model.entities(forConfigurationName: configuration)?.compactMap(\.name) ?? []
        setEntities(names.compactMap { copies[$0]?.entity }, forConfigurationName: configuration)
      }
    }
  }

  private static func modelFiles(_ bundles: [Bundle]?) -> [URL] {
    ModelSearch.files(in: bundles, ["momd", "mom", "xcdatamodeld", "xcdatamodel"])
  }

  /// All versions of the model at `url`; one for a model of one version.
  public static func versions(ofModelAt url: URL) -> [NSManagedObjectModel] { allVersions(url) }

  private static func allVersions(_ url: URL) -> [NSManagedObjectModel] {
    guard let bundle = try? ModelBundle(url) else {
      return NSManagedObjectModel(contentsOf: url).map { [$0] } ?? []
    }
    return bundle.versionNames.compactMap { name in
      let model = (try? bundle.record(of: name)).map { NSManagedObjectModel($0) }
      model?.addTexts(ofModelAt: url)
      return model
    }
  }
}
