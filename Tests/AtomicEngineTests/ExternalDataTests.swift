import AtomicEngine
import BinaryBackend
import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import TestSupport
import Testing
import XMLBackend

@Suite struct ExternalDataTests {
  static let backends: [any StoreBackend] = [XMLBackend(), BinaryBackend()]

  private static func schema() throws -> Schema {
    var photo = AttributeDefinition(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    var picture = EntityDefinition(name: "Picture")
    picture.attributes = [photo]
    return try Schema([picture])
  }

  private static func insert(_ values: [Data], _ store: any Store) throws -> [Int64] {
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    for (index, value) in values.enumerated() {
      builder.begin(slots: 1)
      builder.set(0, .data(value))
      changes.insertions.append(builder.finishDraft(key: Int64(-(index + 1)), entity: 0, version: 1))
    }
    guard case .committed(let receipt) = try store.commit(changes) else {
      throw StoreError(.invalidArgument, "not committed")
    }
    return receipt.keys
  }

  private static func values(_ store: any Store) throws -> [Data] {
    var found: [Data] = []
    try store.snapshot().scan(0..<1) { found.append($0.data(0)) }
    return found
  }

  /// A value that looks like a file name is read as a value, whatever files are beside the store.
  @Test(arguments: backends)
  func namesAreDistinguishedFromDataThatLooksLikeThem(_ backend: any StoreBackend) throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let store = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
    let large = Data(repeating: 9, count: 200_000)
    let name = try #require(try store.externalDataStore?.keepExternalData(large))
    let values = [name, Data([1]) + name.dropFirst(), Data([1]) + name, Data([1])]
    #expect(try Self.insert(values, store).count == 4)
    try store.close()
    let again = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
    #expect(try Self.values(again) == values)
    #expect(try again.externalData(name) == large)
    #expect(again.metadata.additional.keys.allSatisfy { !$0.hasPrefix("OpenCoreData") })
    try again.close()
  }

  /// A reader without a model gets the external data too. (Binary files do not contain their model.)
  @Test func aGuessedModelKnowsThatDataLiesOutside() throws {
    let backend = XMLBackend()
    let home = try StoreFolder("external")
    defer { home.remove() }
    let store = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
    let name = try #require(try store.externalDataStore?.keepExternalData(Data(repeating: 9, count: 200_000)))
    _ = try Self.insert([name], store)
    try store.close()
    let model = try backend.inferredModel(at: home.url, options: StoreOptions())
    #expect(model.flatMap(\.attributes).map(\.allowsExternalBinaryDataStorage) == [true])
  }

  /// If a save takes so long that its file was removed as unused, it is not acknowledged.
  @Test(arguments: backends) func noRowIsCommittedThatNamesAFileThatIsGone(_ backend: any StoreBackend) throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let store = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
    let name = try #require(try store.externalDataStore?.keepExternalData(Data(repeating: 9, count: 200_000)))
    store.externalDataStore?.discardExternalData([name])
    let error = #expect(throws: StoreError.self) { try Self.insert([name], store) }
    #expect(error?.code == .missingExternalData)
    #expect(error?.outcome == .notSaved)
    #expect(try Self.values(store) == [])
    try store.close()
  }

  /// Each opening of a store removes at most a thousand files that no row names. Later openings remove the rest.
  @Test func anOpeningRemovesAThousandFilesAtMost() throws {
    let backend = XMLBackend()
    let home = try StoreFolder("external")
    defer { home.remove() }
    let store = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
    let large = Data(repeating: 9, count: 200_000)
    let name = try #require(try store.externalDataStore?.keepExternalData(large))
    _ = try Self.insert([name], store)
    try store.close()
    let folder = ExternalDataFolder(beside: home.url.path).folder
    let named = String(decoding: name.dropFirst().dropLast(), as: UTF8.self)
    func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder.path).count }
    // Names of this store that differ in the last eight digits.
    for number in 0..<1200 {
      let orphan = folder.appending(path: named.dropLast(8) + String(format: "%08X", number)).path
      try Data("orphan".utf8).write(to: URL(filePath: orphan))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -86_400)], ofItemAtPath: orphan)
    }
    var counts = [try count()]
    while let before = counts.last, before > 1, counts.count < 50 {
      let again = try backend.open(at: home.url, schema: Self.schema(), options: StoreOptions())
      var (last, isStill) = (before, 0)
      while isStill < 20 {
        usleep(20_000)
        let now = try count()
        (isStill, last) = (now == last ? isStill + 1 : 0, now)
      }
      #expect(try again.externalData(name) == large)
      try again.close()
      counts.append(last)
    }
    #expect(counts.last == 1)
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 - $1 <= 1000 }, "\(counts)")
    #expect(counts[1] < counts[0], "\(counts)")
  }

  @Test func whatIsInTheWayOfTheFolderIsNotFollowed() throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let store = try XMLBackend().open(at: home.url, schema: Self.schema(), options: StoreOptions())
    let folder = ExternalDataFolder(beside: home.url.path).folder
    let elsewhere = home.url.deletingLastPathComponent().appending(path: "elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: elsewhere)
    let error = #expect(throws: StoreError.self) { try store.externalDataStore?.keepExternalData(Data(count: 200_000)) }
    #expect(error?.code == .corrupt)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
    try store.close()
  }

  @Test func namesTellDamage() throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let folder = ExternalDataFolder(beside: home.url.path)
    let data = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })
    let name = try #require(try folder.write(data, ofStore: UUID().uuidString))
    #expect(try folder.read(name) == data)
    let file = folder.folder.appending(path: folder.names[0])
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    for count in [0, 1, 149_999] {
      try data.prefix(count).write(to: file)
      #expect(#expect(throws: StoreError.self) { try folder.read(name) }?.code == .corrupt)
    }
    folder.remove([name])
    #expect(#expect(throws: StoreError.self) { try folder.read(name) }?.code == .missingExternalData)
    // The names of files that Apple's framework wrote contain no information about the data.
    let foreign = UUID().uuidString
    try Data("any".utf8).write(to: folder.folder.appending(path: foreign))
    #expect(try folder.read(Data([2]) + Data(foreign.utf8) + Data([0])) == Data("any".utf8))
  }

  @Test func aLinkInsteadOfTheFolderLeadsNobodyToRemoveAnything() throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let folder = ExternalDataFolder(beside: home.url.path)
    let name = try #require(try folder.write(Data(count: 150_000), ofStore: UUID().uuidString))
    let elsewhere = home.url.deletingLastPathComponent().appending(path: "elsewhere")
    try FileManager.default.moveItem(at: folder.folder, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: folder.folder, withDestinationURL: elsewhere)
    folder.remove([name])
    #expect(#expect(throws: StoreError.self) { try folder.requireOwn() }?.code == .notAStore)
    #expect(#expect(throws: StoreError.self) { try folder.removeAll() }?.code == .notAStore)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).count == 1)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.folder.path) == elsewhere.path)
  }

  @Test func aFolderGoesWithAllThatIsInItOrNotAtAll() throws {
    let home = try StoreFolder("external")
    defer { home.remove() }
    let folder = ExternalDataFolder("DATA", within: home.url)
    _ = try folder.write(Data(count: 150_000), ofStore: UUID().uuidString)
    let deep = folder.folder.appending(path: "a/b/c")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: deep.appending(path: "file"))
    let pipe = deep.appending(path: "pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    let error = #expect(throws: StoreError.self) { try folder.requireOwn() }
    #expect(error?.code == .notAStore && error?.context["path"] == pipe)
    unlink(pipe)
    try folder.requireOwn()
    try folder.removeAll()
    #expect(!FileManager.default.fileExists(atPath: home.url.path))
    try folder.removeAll()
  }
}
