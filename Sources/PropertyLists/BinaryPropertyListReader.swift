import Foundation

/// Reads binary property lists (`bplist00`), including the UIDs of keyed archives.
///
/// Time and memory are linear in the size of the data: every count is checked against the bytes left, each object is
/// decoded once, and shared containers that would unfold beyond a budget are refused.
public enum BinaryPropertyListReader {
  static let magic = Data("bplist00".utf8)

  /// Reads the top object of `data`. Throws for everything that is not a complete, acyclic property list.
  public static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
    guard data.starts(with: magic) else {
      throw PropertyListError(.notAPropertyList, "the data does not begin with bplist00")
    }
    var decoding = try Decoding(data)
    return try decoding.run()
  }

  /// The layout that the last 32 bytes of the file describe.
  private struct Trailer {
    static let size = 32
    let offsetWidth: Int
    let referenceWidth: Int
    let count: Int
    let top: Int
    let table: Int

    init(_ source: ByteSource) throws(PropertyListError) {
      let start = source.end - Trailer.size
      guard start > 8 else { throw PropertyListError(.truncated, offset: source.end, "there is no trailer") }
      offsetWidth = Int(try source.byte(at: start + 6))
      referenceWidth = Int(try source.byte(at: start + 7))
      let numbers = [
        try source.unsigned(at: start + 8, width: 8), try source.unsigned(at: start + 16, width: 8),
        try source.unsigned(at: start + 24, width: 8),
      ].map { Int(clamping: $0) }
      (count, top, table) = (numbers[0], numbers[1], numbers[2])
      guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
        throw PropertyListError(.malformed, offset: start, "integer widths \(offsetWidth), \(referenceWidth)")
      }
      guard table > 8, table <= start, count >= 1, count <= (start - table) / offsetWidth else {
        throw PropertyListError(.truncated, offset: start, "no room for an offset table of \(count) objects")
      }
      guard top < count else { throw PropertyListError(.malformed, offset: start, "the top object \(top) is missing") }
    }
  }

  /// What is known of one object: not seen, under construction, or its value and the nodes it unfolds to.
  private enum Slot {
    case new
    case open
    case done(PropertyList, nodes: Int)
  }

  private struct Decoding {
    let trailer: Trailer
    /// The whole file, for the offset table.
    let file: ByteSource
    /// The part before the offset table, where all objects lie.
    let source: ByteSource
    var slots: [Slot]
    var bytesLeft: Int
    let nodeLimit: Int

    init(_ data: Data) throws(PropertyListError) {
      file = ByteSource(data)
      trailer = try Trailer(file)
      source = file.prefix(trailer.table)
      slots = Array(repeating: .new, count: trailer.count)
      bytesLeft = PropertyListLimits.bytes(fileSize: data.count)
      nodeLimit = PropertyListLimits.nodes(fileSize: data.count)
    }

    /// Depth first with an explicit stack. The objects marked open are exactly the containers around the one on top,
    /// so that meeting one of them again is a cycle, and their number is the depth.
    mutating func run() throws(PropertyListError) -> PropertyList {
      var stack = [trailer.top]
      var depth = 0
      while let index = stack.last {
        switch slots[index] {
        case .done:
          stack.removeLast()
        case .new:
          let object = try header(of: index)
          guard object.isContainer else {
            slots[index] = .done(try scalar(object), nodes: 1)
            continue
          }
          depth += 1
          guard depth <= PropertyListLimits.depth else {
            throw PropertyListError(.tooDeep, offset: object.offset, "more than \(depth - 1) nested containers")
          }
          slots[index] = .open
          for child in try children(of: object) {
            switch slots[child] {
            case .new: stack.append(child)
            case .open: throw PropertyListError(.cyclic, offset: object.offset, "a container contains itself")
            case .done: break
            }
          }
        case .open:
          depth -= 1
          slots[index] = try assemble(try header(of: index))
        }
      }
      guard case .done(let value, _) = slots[trailer.top] else {
        throw PropertyListError(.malformed, "the top object was not read")
      }
      return value
    }

    private func header(of index: Int) throws(PropertyListError) -> BinaryObject {
      let position = try file.unsigned(
        at: trailer.table + index * trailer.offsetWidth, width: trailer.offsetWidth)
      guard position >= 8, position < UInt64(source.end) else {
        throw PropertyListError(.malformed, offset: trailer.table, "object \(index) lies outside the data")
      }
      return try BinaryObject(source, at: Int(position), referenceWidth: trailer.referenceWidth)
    }

    private mutating func spend(_ count: Int, at offset: Int) throws(PropertyListError) {
      guard count <= bytesLeft else {
        throw PropertyListError(.tooLarge, offset: offset, "objects overlap beyond the size of the file")
      }
      bytesLeft -= count
    }

    private mutating func scalar(_ object: BinaryObject) throws(PropertyListError) -> PropertyList {
      try spend(object.payloadCount, at: object.offset)
      return try object.scalar(source)
    }

    private mutating func children(of object: BinaryObject) throws(PropertyListError) -> [Int] {
      try spend(object.payloadCount, at: object.offset)
      return try references(of: object)
    }

    private func references(of object: BinaryObject) throws(PropertyListError) -> [Int] {
      let width = trailer.referenceWidth
      let payload = try source.slice(at: object.payload, count: object.payloadCount)
      var result: [Int] = []
      result.reserveCapacity(object.payloadCount / width)
      var position = payload.startIndex
      while position < payload.endIndex {
        let reference = try source.unsigned(at: position, width: width)
        guard reference < UInt64(trailer.count) else {
          throw PropertyListError(.malformed, offset: position, "object \(reference) is missing")
        }
        result.append(Int(reference))
        position += width
      }
      return result
    }

    private func assemble(_ object: BinaryObject) throws(PropertyListError) -> Slot {
      var nodes = 1
      var values: [PropertyList] = []
      for child in try references(of: object) {
        guard case .done(let value, let count) = slots[child] else {
          throw PropertyListError(.cyclic, offset: object.offset, "a container contains itself")
        }
        nodes += count
        guard nodes <= nodeLimit else {
          throw PropertyListError(.tooLarge, offset: object.offset, "shared containers unfold beyond all proportion")
        }
        values.append(value)
      }
      guard object.isDictionary else { return .done(.array(values), nodes: nodes) }
      let half = values.count / 2
      var entries: [String: PropertyList] = [:]
      entries.reserveCapacity(half)
      for (key, value) in zip(values.prefix(half), values.dropFirst(half)) {
        guard case .string(let name) = key else {
          throw PropertyListError(.malformed, offset: object.offset, "a dictionary key is not a string")
        }
        entries[name] = value
      }
      return .done(.dictionary(entries), nodes: nodes)
    }
  }
}
