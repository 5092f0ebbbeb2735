import CoreData
import Foundation

/// The folder of stores: written by one platform, checked by another.
struct ProbeFolder {
  let url: URL

  static let platform = "\(ProcessInfo.processInfo.operatingSystemVersionString)"

  private func modelURL(_ name: String) -> URL { url.appendingPathComponent("models/\(name).momd") }

  // MARK: Writing

  /// Writes the models and the manifest, but not yet the stores.
  func prepare() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    guard try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty else {
      throw ProbeError("\(url.path) is not empty; name a new folder")
    }
    for name in ProbeModels.names { try writeModel(name) }
    let hashes = ProbeModels.names.map { ($0, ProbeFolder.hashes(ProbeModels.model($0))) }
    let manifest = Manifest(
      platform: ProbeFolder.platform, hashes: Dictionary(uniqueKeysWithValues: hashes), stores: ProbeStores.all)
    try manifest.json().write(to: url.appendingPathComponent(Manifest.file))
  }

  func write(_ store: ProbeStore) throws {
    let model = ProbeModels.model(store.model)
    try open(store, model) { context in
      try store.written.apply(to: context, model)
      try context.save()
    }
  }

  /// Writes a model as a bundle of one version, as the model compiler of Xcode does.
  private func writeModel(_ name: String) throws {
    let (model, bundle) = (ProbeModels.model(name), modelURL(name))
    try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
    let archive = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: false)
    try ProbeFolder.modelFile(in: archive).write(to: bundle.appendingPathComponent("\(name).mom"))
    let info: [String: Any] = [
      "NSManagedObjectModel_CurrentVersionName": name,
      "NSManagedObjectModel_VersionHashes": [name: model.entityVersionHashesByName],
    ]
    try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
      .write(to: bundle.appendingPathComponent("VersionInfo.plist"))
  }

  /// A compiled model is an archive of a model. An archive that holds such an archive as data stands for the inner one.
  private static func modelFile(in archive: Data) -> Data {
    let list = try? PropertyListSerialization.propertyList(from: archive, options: [], format: nil)
    let objects = (list as? [String: Any])?["$objects"] as? [Any] ?? []
    for case let data as Data in objects where data.starts(with: Data("bplist00".utf8)) { return data }
    return archive
  }

  private static func hashes(_ model: NSManagedObjectModel) -> [String: String] {
    model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
  }

  // MARK: Checking

  /// Loads a model file and compares its version hashes with the writer's; so too those of the same model made here.
  func checkModel(_ name: String, _ expected: [String: String]) -> ModelReport {
    guard let loaded = NSManagedObjectModel(contentsOf: modelURL(name)) else {
      return ModelReport(name: name, differences: ["the model file is not read"])
    }
    let made = ProbeModels.names.contains(name) ? ProbeModels.model(name) : NSManagedObjectModel()
    let (fromFile, fromCode) = (ProbeFolder.hashes(loaded), ProbeFolder.hashes(made))
    var differences: [String] = []
    for entity in Set(expected.keys).union(fromFile.keys).sorted() {
      if fromFile[entity] != expected[entity] { differences.append("\(entity): hash of the model file") }
      if fromCode[entity] != expected[entity] { differences.append("\(entity): hash of the model made here") }
    }
    return ModelReport(name: name, differences: differences)
  }

  /// Reads a store, changes it and reads it again; or reads only, when it was changed before.
  func check(_ store: ProbeStore, isChanged: Bool) -> StoreReport {
    var report = StoreReport(file: store.file)
    var step = "load the model"
    do {
      guard let model = NSManagedObjectModel(contentsOf: modelURL(store.model)) else {
        throw ProbeError("the model file is not read")
      }
      step = "read the metadata"
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: store.type, at: url.appendingPathComponent(store.file), options: nil)
      if !model.isConfiguration(withName: store.configuration, compatibleWithStoreMetadata: metadata) {
        report.differences.append("the model is not compatible with the metadata")
      }
      func compare(_ expected: State, _ found: State) {
        report.compared += expected.count
        report.differences += expected.differences(found).map { "\(step): \($0)" }
      }
      if !isChanged {
        step = "open"
        try open(store, model) { context in
          step = "read"
          compare(store.written, try State.read(context, model))
          step = "change"
          try store.changed.apply(to: context, model)
          step = "save"
          try context.save()
        }
      }
      step = "open again"
      try open(store, model) { context in
        step = "read again"
        compare(store.changed, try State.read(context, model))
      }
      report.isComplete = true
    } catch { report.failure = "\(step): \(Text.of(error))" }
    return report
  }

  private func open(
    _ store: ProbeStore, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: store.type, configurationName: store.configuration, at: url.appendingPathComponent(store.file),
      options: store.options)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try body(context)
    context.reset()
    try coordinator.remove(opened)
  }
}

/// A failure of the probe itself.
struct ProbeError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
