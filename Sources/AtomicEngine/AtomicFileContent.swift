import Foundation
import StoreProtocol
import StoreSupport

/// The bytes of an opened ``AtomicFile``. A replacement of the file does not change them.
///
/// Used by one caller at a time.
public final class AtomicFileContent {
  /// The size of the file in bytes when it was opened. A file that was truncated since has fewer bytes.
  public let count: Int
  let generation: AtomicFile.Generation
  private let opened: AtomicFile.Descriptor
  private var file: Int32 { opened.number }
  private let path: String
  /// The checksum of the bytes that the latest pass has read, from the beginning of the file.
  private var sum = CRC64()
  private var summed = 0
  private var seal: AtomicChecksum.Seal?
  /// In bytes; a multiple of the block size of the checksum.
  private static let partSize = 3 << 15

  init(_ opened: AtomicFile.Descriptor, _ generation: AtomicFile.Generation, _ path: String) {
    self.opened = opened
    self.path = path
    self.generation = generation
    count = generation.size
  }

  // MARK: Reading

  /// The bytes of a range; fewer where the file ends in it.
  public func data(_ range: Range<Int>) throws(StoreError) -> Data {
    let range = range.clamped(to: 0..<count)
    var data = Data(count: range.count)
    // A closure of Foundation would lose the type of the error; a `Result` keeps it.
    let found = try data.withUnsafeMutableBytes { bytes in
      Result { () throws(StoreError) in try read(into: bytes, at: range.lowerBound) }
    }.get()
    return found == range.count ? data : data.prefix(found)
  }

  /// All bytes of the file.
  public func data() throws(StoreError) -> Data { try data(0..<count) }

  /// Passes all bytes to `body`, part by part from the beginning, until the last part or until `body` returns false.
  /// There is at least one part, which may be empty.
  public func forEachPart(
    _ body: (_ part: UnsafeRawBufferPointer, _ isLast: Bool) throws(StoreError) -> Bool
  ) throws(StoreError) {
    (sum, summed) = (CRC64(), 0)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partSize, alignment: 16)
    defer { buffer.deallocate() }
    var isLast = false
    repeat {
      let part = try nextPart(buffer)
      isLast = part.count < buffer.count || summed >= count
      if try !body(part, isLast) { return }
    } while !isLast
  }

  /// All bytes of the file, in memory that can be released in parts.
  public func memory() throws(StoreError) -> AtomicFileMemory {
    (sum, summed) = (CRC64(), 0)
    guard let memory = AtomicFileMemory(count: count) else {
      throw StoreError(
        .io, "There is not enough memory to read the store. Close other stores, or read on a machine with more memory.",
        context: ["path": path])
    }
    while summed < count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[summed..<min(count, summed + 2 * Self.partSize)])
      if try nextPart(rest).isEmpty { break }
    }
    memory.endsAt(summed)
    return memory
  }

  /// Reads the next bytes behind those that were added to the checksum. Returns fewer than `buffer` holds at the end of
  /// the file.
  private func nextPart(_ buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - summed)])
    let part = UnsafeRawBufferPointer(rebasing: rest[..<(try read(into: rest, at: summed))])
    sum.add(part)
    summed += part.count
    return part
  }

  private func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
    var done = 0
    while done < bytes.count {
      let part = pread(file, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
      if part < 0 && errno == EINTR { continue }
      if part < 0 { throw StoreError.system("The store file cannot be read", path) }
      if part == 0 { break }
      done += part
    }
    return done
  }

  // MARK: The checksum

  /// Finds the checksum text in the file: the first one, or the last one.
  func findSeal(isLast: Bool) throws(StoreError) {
    // Parts overlap by the length of the text, so a text across a boundary is found.
    let length = Self.partSize + AtomicChecksum.textSize
    var start = isLast ? max(0, count - length) : 0
    while seal == nil {
      let part = try data(start..<min(count, start + length))
      if let location = AtomicChecksum.location(in: part, isLast: isLast) {
        seal = AtomicChecksum.Seal(location: start + location.lowerBound - part.startIndex, text: part[location])
      }
      let next = isLast ? max(0, start - Self.partSize) : start + Self.partSize
      if next == start || next >= count { break }
      start = next
    }
  }

  /// Whether ``findSeal(isLast:)`` found a checksum.
  var isSealed: Bool { seal != nil }

  /// Throws `corrupt` where the file has a checksum that is not that of its bytes. Reads the bytes that the latest pass
  /// has not read. Does nothing for a file without a checksum.
  public func verify() throws(StoreError) {
    guard let seal else { return }
    if summed < count {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partSize, alignment: 16)
      defer { buffer.deallocate() }
      while summed < count, try !nextPart(buffer).isEmpty {}
    }
    guard seal.isOf(sum, fileSize: summed) else { throw AtomicChecksum.damaged }
  }
}

/// The bytes of a file in memory. Released parts go back to the system at once, and read as zeros.
public final class AtomicFileMemory {
  /// The memory, which is freed with this object.
  public let bytes: UnsafeMutableRawBufferPointer
  /// The size of the file in bytes.
  public private(set) var count: Int

  /// Nil where the system has not enough memory.
  init?(count: Int) {
    self.count = count
    guard let start = PlatformMemory.allocate(max(1, count)) else { return nil }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  deinit { PlatformMemory.free(bytes) }

  /// Sets the end of a file that is shorter than expected.
  func endsAt(_ end: Int) { count = min(end, count) }

  /// Releases the whole pages of a range. None of its bytes may be needed any more.
  public func giveBack(_ range: Range<Int>) {
    PlatformMemory.giveBack(UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
  }
}
