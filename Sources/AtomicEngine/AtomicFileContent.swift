import Foundation
import StoreProtocol

/// The bytes of an ``AtomicFile`` that was opened. They stay the same when another file takes its name.
///
/// Used by one caller at a time.
public final class AtomicFileContent {
  /// How many bytes the file had when it was opened. Where it has become shorter there are fewer to be read.
  public let count: Int
  let generation: AtomicFile.Generation
  private let opened: AtomicFile.Descriptor
  private var file: Int32 { opened.number }
  private let path: String
  /// Over the bytes from the beginning on that the pass which began last has read.
  private var sum = CRC64()
  private var summed = 0
  private var seal: AtomicChecksum.Seal?
  /// A multiple of what the checksum does at once.
  private static let partSize = 3 << 15

  init(_ opened: AtomicFile.Descriptor, _ generation: AtomicFile.Generation, _ path: String) {
    self.opened = opened
    self.path = path
    self.generation = generation
    count = generation.size
  }

  // MARK: Reading

  /// The bytes of a range, as far as there are any.
  public func data(_ range: Range<Int>) throws(StoreError) -> Data {
    let range = range.clamped(to: 0..<count)
    var data = Data(count: range.count)
    // Foundation's closures throw anything; a result keeps the type.
    let found = try data.withUnsafeMutableBytes { bytes in
      Result { () throws(StoreError) in try read(into: bytes, at: range.lowerBound) }
    }.get()
    return found == range.count ? data : data.prefix(found)
  }

  /// All bytes of the file.
  public func data() throws(StoreError) -> Data { try data(0..<count) }

  /// Hands out all bytes from the beginning on, part by part, until the last one or until `body` says false. There is
  /// one part at least, which may be empty.
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

  /// All bytes of a file, in memory of which parts can be given back.
  public func memory() throws(StoreError) -> AtomicFileMemory {
    (sum, summed) = (CRC64(), 0)
    guard let memory = AtomicFileMemory(count: count) else {
      throw StoreError(.io, "There is no memory for reading the store.", context: ["path": path])
    }
    while summed < count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[summed..<min(count, summed + 2 * Self.partSize)])
      if try nextPart(rest).isEmpty { break }
    }
    memory.endsAt(summed)
    return memory
  }

  /// Fills `buffer` with what comes behind what was summed, as far as there is anything.
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

  /// Looks for the checksum that the file says: the first one in it, or the last.
  func findSeal(isLast: Bool) throws(StoreError) {
    // Parts have enough in common that none is overlooked.
    let length = Self.partSize + AtomicChecksum.textSize
    var start = isLast ? max(0, count - length) : 0
    while seal == nil {
      let part = try data(start..<min(count, start + length))
      if let place = AtomicChecksum.place(in: part, isLast: isLast) {
        seal = AtomicChecksum.Seal(place: start + place.lowerBound - part.startIndex, text: part[place])
      }
      let next = isLast ? max(0, start - Self.partSize) : start + Self.partSize
      if next == start || next >= count { break }
      start = next
    }
  }

  /// Whether the file says a checksum, as far as ``findSeal(isLast:)`` found one.
  var isSealed: Bool { seal != nil }

  /// Throws `corrupt` where the file says a checksum and the bytes have another: those that the last pass has read, and
  /// those that are left behind them.
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

/// The bytes of a file in memory. What is given back goes to the system at once, and reads as zeros.
public final class AtomicFileMemory {
  /// The memory. It is freed with this object.
  public let bytes: UnsafeMutableRawBufferPointer
  /// How many bytes the file has in it.
  public private(set) var count: Int

  /// Nil where there is not so much.
  init?(count: Int) {
    self.count = count
    guard let start = PlatformMemory.allocate(max(1, count)) else { return nil }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  deinit { PlatformMemory.free(bytes) }

  /// Where the file ended earlier.
  func endsAt(_ end: Int) { count = min(end, count) }

  /// Gives back the whole pages of a range, of which nothing is needed any more.
  public func giveBack(_ range: Range<Int>) {
    PlatformMemory.giveBack(UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
  }
}
