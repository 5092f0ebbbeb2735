import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// Stores in Core Data's binary format, one whole file each.
public typealias BinaryBackend = AtomicFileBackend<BinaryFormat>

extension AtomicFileBackend<BinaryFormat> {
  /// The backend of binary stores.
  public init() { self.init(BinaryFormat()) }
}

/// The format: a header, a keyed archive of all objects, and a keyed archive of the metadata. The backend's README has
/// the details.
public struct BinaryFormat: AtomicFormat {
  public var storeType: String { "Binary" }
  public var capabilities: Capabilities { .binaryPropertyListFile }
  public var metadataIsLast: Bool { true }

  public func accepts(_ beginning: Data) -> Bool { beginning.starts(with: BinaryHeader.magic) }

  public func metadata(_ file: AtomicFileContent) throws(StoreError) -> StoreMetadata {
    let header = try BinaryHeader(file)
    let bytes = try file.data(header.metadata)
    let archive: KeyedArchiveReader
    do { archive = try KeyedArchiveReader(bytes) } catch {
      throw StoreError(.corrupt, "The store's metadata is not a keyed archive.", cause: "\(error)")
    }
    guard let entries = archive.root("metadata")?.propertyList(nodes: file.count),
      let identifier = entries["NSStoreUUID"]?.stringValue,
      identifier.utf8.count <= 255
    else { throw StoreError(.corrupt, "The store's metadata is not a dictionary with a UUID.") }
    var metadata = try StoreMetadata(entries, identifier: identifier, storeType: storeType)
    metadata.additional["NSStoreUUID"] = nil
    return metadata
  }

  public func graph(
    _ file: AtomicFileContent, _ schema: Schema, _ numbering: AtomicNumbering
  ) throws(StoreError) -> AtomicGraph {
    let header = try BinaryHeader(file)
    // The first attempt releases memory while it reads. That fails for files whose objects are in an unexpected order;
    // the second attempt keeps all bytes.
    for givesBack in [true, false] {
      let memory = try file.memory()
      try file.verify()
      guard header.objects.upperBound <= memory.count else { break }
      let first = header.objects.lowerBound
      // The pointer to the bytes does not retain the memory.
      defer { withExtendedLifetime(memory) {} }
      let graph = try BinaryGraphReader.graph(
        UnsafeRawBufferPointer(rebasing: memory.bytes[header.objects]), schema, numbering,
        highestNumber: header.highestNumber,
        giveBack: givesBack ? { memory.giveBack(first + $0.lowerBound..<first + $0.upperBound) } : nil)
      if let graph { return graph }
    }
    throw StoreError(.corrupt, "The store ends before its last object.")
  }

  public func write(
    _ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    let header = try writer.leave(BinaryHeader.count)
    let count = try BinaryGraphWriter(graph, writer).write()
    try write(metadata, header, objects: count, graph.highestNumber, to: writer)
  }

  public func rewrite(
    _ file: AtomicFileContent, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    let old = try BinaryHeader(file)
    let header = try writer.leave(BinaryHeader.count)
    try writer.write(old.objects, of: file)
    try write(metadata, header, objects: old.objects.count, old.highestNumber, to: writer)
  }

  /// Writes the metadata behind the objects, and fills the header, which has the ranges of both.
  private func write(
    _ metadata: StoreMetadata, _ header: AtomicFileWriter.Gap, objects: Int, _ highestNumber: Int64,
    to writer: AtomicFileWriter
  ) throws(StoreError) {
    var entries = metadata.propertyList(isNew: false)
    entries["NSStoreUUID"] = .string(metadata.identifier)
    var archive = KeyedArchiveWriter()
    let root = archive.add(.dictionary(entries), depth: 64)
    let last = archive.archive(top: ["metadata": root])
    try writer.writeMetadata(last)
    try writer.fill(
      header, BinaryHeader.bytes(objects: objects, metadata: last.count, highestNumber: highestNumber))
  }

  public func salvage(
    _ file: AtomicFileContent, _ numbering: AtomicNumbering, into salvage: Salvage
  ) throws(StoreError) {
    let data = try file.data()
    let objects: Range<Int>
    do { objects = try BinaryHeader(file).objects } catch {
      salvage.lose(StoreFinding(.integrity, error.message))
      // The last archive of the file is that of the metadata.
      guard let end = data.range(of: Data("bplist00".utf8), options: .backwards)?.lowerBound, end > BinaryHeader.count
      else { throw error }
      objects = BinaryHeader.count..<end
    }
    guard objects.upperBound <= data.count else {
      throw StoreError(.corrupt, "Another program has made the file shorter while it was read. Open the store again.")
    }
    let result: Result<Void, StoreError> = data.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        try BinaryGraphReader.salvage(UnsafeRawBufferPointer(rebasing: bytes[objects]), numbering, into: salvage)
      }
    }
    try result.get()
  }

  public func inferredModel(_ file: AtomicFileContent) throws(StoreError) -> [EntityDefinition] {
    throw StoreError(
      .unsupported,
      "A binary store has no names of properties, so that no model can be inferred. Open it with a model file.")
  }
}

/// The 64 bytes before the archives, big-endian.
struct BinaryHeader {
  static let magic = Data("CoreData".utf8)
  static let count = 64
  private static let version: UInt64 = 0x1_0804_0800

  let objects: Range<Int>
  let metadata: Range<Int>
  let highestNumber: Int64

  /// Throws unless both archives are in the file, the metadata directly behind the objects.
  init(_ file: AtomicFileContent) throws(StoreError) {
    let head = try file.data(0..<Self.count)
    guard head.starts(with: Self.magic) else {
      throw StoreError(
        .notAStore, "The file does not begin like a binary store of Core Data. Open it with its own type.")
    }
    guard head.count == Self.count else { throw StoreError(.corrupt, "The file ends within its header. Use a backup.") }
    let numbers = (0..<8).map { index in
      head[index * 8..<index * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    guard numbers[1] == Self.version else {
      throw StoreError(
        .newerFormat, "The store has an unknown version of the binary format. Open it with the version that made it.")
    }
    guard let first = Int(exactly: numbers[4]), let size = Int(exactly: numbers[5]),
      let second = Int(exactly: numbers[2]),
      let rest = Int(exactly: numbers[3]), first == Self.count, size <= file.count - first, second == first + size,
      rest == file.count - second
    else { throw StoreError(.corrupt, "The header of the store does not fit the size of its file. Use a backup.") }
    objects = first..<second
    metadata = second..<file.count
    highestNumber = Int64(exactly: numbers[6]) ?? 0
  }

  static func bytes(objects: Int, metadata: Int, highestNumber: Int64) -> Data {
    let numbers = [
      version, UInt64(count + objects), UInt64(metadata), UInt64(count), UInt64(objects), UInt64(max(0, highestNumber)),
      0,
    ]
    return numbers.reduce(into: magic) { data, number in
      withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }
  }
}
