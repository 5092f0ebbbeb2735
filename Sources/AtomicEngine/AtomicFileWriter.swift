import Foundation
import StoreProtocol

/// Writes the new content of an ``AtomicFile``, in pieces as they come.
public final class AtomicFileWriter {
  private let file: Int32
  private let path: String
  private var buffer: [UInt8] = []
  /// How many bytes were given to the file.
  private var offset: Int64 = 0
  private var sum = CRC64()
  /// Where the checksum is to be written.
  private var checksumPlace: Int64?
  private var filled: [(gap: Gap, bytes: Data)] = []
  private static let size = 1 << 18

  init(_ file: Int32, _ path: String) {
    self.file = file
    self.path = path
    buffer.reserveCapacity(Self.size)
  }

  /// Writes bytes behind those that were written before.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if buffer.count + bytes.count > Self.size { try finish() }
    if bytes.count < Self.size { buffer.append(contentsOf: bytes) } else { try put(bytes) }
  }

  /// Writes what a range of another file has.
  public func write(_ range: Range<Int>, of file: AtomicFileContent) throws(StoreError) {
    var start = range.lowerBound
    while start < range.upperBound {
      let part = try file.data(start..<min(range.upperBound, start + Self.size))
      if part.isEmpty { throw StoreError(.corrupt, "The file ends before its last object.") }
      try write(part)
      start += part.count
    }
  }

  /// Writes bytes behind those that were written before.
  public func write(_ data: Data) throws(StoreError) {
    try rethrow { data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try write(bytes) } } }
  }

  /// Writes a text as UTF-8 behind what was written before.
  public func write(_ text: String) throws(StoreError) {
    var text = text
    try rethrow {
      text.withUTF8 { bytes in Result { () throws(StoreError) in try write(UnsafeRawBufferPointer(bytes)) } }
    }
  }

  /// Bytes that are written when what comes behind them is known.
  public struct Gap {
    fileprivate let offset: Int64
    fileprivate let count: Int
  }

  /// Leaves zeros, to be filled with ``fill(_:_:)``.
  public func leave(_ count: Int) throws(StoreError) -> Gap {
    let gap = Gap(offset: offset + Int64(buffer.count), count: count)
    try write(Data(count: count))
    return gap
  }

  /// Fills a gap with as many bytes, once.
  public func fill(_ gap: Gap, _ bytes: Data) throws(StoreError) {
    precondition(bytes.count == gap.count, "A gap is filled with as many bytes as it has.")
    try finish()
    try put(Array(bytes)[...], at: gap.offset)
    filled.append((gap, bytes))
  }

  /// Writes the metadata, which has the checksum's placeholder in it.
  public func writeMetadata(_ data: Data) throws(StoreError) {
    if let place = AtomicChecksum.place(in: data, isLast: false) {
      checksumPlace = offset + Int64(buffer.count) + Int64(place.lowerBound - data.startIndex)
    }
    try write(data)
  }

  /// Puts the checksum of all that was written in its place.
  func seal() throws(StoreError) {
    try finish()
    for (gap, bytes) in filled { sum.change(by: bytes, before: offset - gap.offset - Int64(gap.count)) }
    guard let checksumPlace else { return }
    try put(Array(AtomicChecksum.text(sum).utf8)[...], at: checksumPlace)
  }

  private func put(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(StoreError) {
    var (rest, place) = (bytes, off_t(offset))
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, place) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw StoreError.system("The new store file cannot be written", path) }
      rest = rest.dropFirst(count)
      place += off_t(count)
    }
  }

  /// Hands what is left to the file.
  func finish() throws(StoreError) {
    defer { buffer.removeAll(keepingCapacity: true) }
    try rethrow { buffer.withUnsafeBytes { bytes in Result { () throws(StoreError) in try put(bytes) } } }
  }

  /// Foundation's closures throw anything; a result keeps the type.
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
