import Foundation
import StoreProtocol
import StoreSupport

/// Writes the new content of an ``AtomicFile``, piece by piece.
public final class AtomicFileWriter {
  private let file: Int32
  private let path: String
  private var buffer: [UInt8] = []
  /// The number of bytes written to the file; those in the buffer do not count.
  private var offset: Int64 = 0
  private var sum = CRC64()
  /// The offset of the checksum's digits.
  private var checksumOffset: Int64?
  private var filled: [(gap: Gap, bytes: Data)] = []
  private static let size = 1 << 18

  init(_ file: Int32, _ path: String) {
    self.file = file
    self.path = path
    buffer.reserveCapacity(Self.size)
  }

  /// Appends bytes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if buffer.count + bytes.count > Self.size { try finish() }
    if bytes.count < Self.size { buffer.append(contentsOf: bytes) } else { try put(bytes) }
  }

  /// Writes a range of bytes of another file.
  public func write(_ range: Range<Int>, of file: AtomicFileContent) throws(StoreError) {
    var start = range.lowerBound
    while start < range.upperBound {
      let part = try file.data(start..<min(range.upperBound, start + Self.size))
      if part.isEmpty { throw StoreError(.corrupt, "The file ends before its last object.") }
      try write(part)
      start += part.count
    }
  }

  /// Appends bytes.
  public func write(_ data: Data) throws(StoreError) {
    try rethrow { data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try write(bytes) } } }
  }

  /// Appends a text as UTF-8.
  public func write(_ text: String) throws(StoreError) {
    var text = text
    try rethrow {
      text.withUTF8 { bytes in Result { () throws(StoreError) in try write(UnsafeRawBufferPointer(bytes)) } }
    }
  }

  /// A range of bytes that is filled later, because its content depends on the bytes behind it.
  public struct Gap {
    fileprivate let offset: Int64
    fileprivate let count: Int
  }

  /// Writes `count` zeros, to be replaced with ``fill(_:_:)``.
  public func leave(_ count: Int) throws(StoreError) -> Gap {
    let gap = Gap(offset: offset + Int64(buffer.count), count: count)
    try write(Data(count: count))
    return gap
  }

  /// Replaces the bytes of a gap, once. `bytes` must have its size.
  public func fill(_ gap: Gap, _ bytes: Data) throws(StoreError) {
    precondition(bytes.count == gap.count, "A gap is filled with as many bytes as it has.")
    try finish()
    try put(Array(bytes)[...], at: gap.offset)
    filled.append((gap, bytes))
  }

  /// Writes the metadata, which contains the placeholder of the checksum.
  public func writeMetadata(_ data: Data) throws(StoreError) {
    if let location = AtomicChecksum.location(in: data, isLast: false) {
      checksumOffset = offset + Int64(buffer.count) + Int64(location.lowerBound - data.startIndex)
    }
    try write(data)
  }

  /// Replaces the placeholder with the checksum of all bytes.
  func seal() throws(StoreError) {
    try finish()
    for (gap, bytes) in filled { sum.change(by: bytes, before: offset - gap.offset - Int64(gap.count)) }
    guard let checksumOffset else { return }
    try put(Array(AtomicChecksum.text(sum).utf8)[...], at: checksumOffset)
  }

  private func put(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(StoreError) {
    var (rest, location) = (bytes, off_t(offset))
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, location) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw StoreError.system("The new store file cannot be written", path) }
      rest = rest.dropFirst(count)
      location += off_t(count)
    }
  }

  /// Writes the rest of the buffer to the file.
  func finish() throws(StoreError) {
    defer { buffer.removeAll(keepingCapacity: true) }
    try rethrow { buffer.withUnsafeBytes { bytes in Result { () throws(StoreError) in try put(bytes) } } }
  }

  /// A closure of Foundation would lose the type of the error; a `Result` keeps it.
  private func rethrow(_ body: () -> Result<Void, StoreError>) throws(StoreError) { try body().get() }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard var next = bytes.baseAddress else { return }
    var rest = bytes.count
    while rest > 0 {
      let (count, number) = FileSizeSignal.withoutIt { Foundation.write(file, next, rest) }
      if count < 0 && number == EINTR { continue }
      guard count > 0 else { throw StoreError.system(number, "The new store file cannot be written", path) }
      sum.add(UnsafeRawBufferPointer(start: next, count: count))
      next += count
      rest -= count
      offset += Int64(count)
    }
  }
}
