import Foundation

/// Reads binary property lists (`bplist00`), including the UIDs of keyed archives.
///
/// Time and memory are linear in the size of the data. Every count is checked against the bytes left, each object is
/// decoded once, and shared containers that would unfold beyond a limit are refused.
public enum BinaryPropertyListReader {
  /// Reads the top object of `data`. Throws for everything that is not a complete, acyclic property list.
  public static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
    // A closure of Foundation would lose the type of the error; a `Result` keeps it.
    let result = data.withUnsafeBytes { bytes in
      Result { () throws(PropertyListError) in
        var decoding = BinaryDecoding(try BinaryObjectTable(bytes), fileSize: bytes.count)
        return try decoding.value(of: decoding.table.top)
      }
    }
    return try result.get()
  }
}

/// Decodes objects of a property list into values, each object once. Valid as long as the list's bytes are.
struct BinaryDecoding {
  /// The state of one object: not visited, open (its children are being decoded), or done with its value and the number
  /// of nodes that it unfolds to.
  private enum Slot {
    case new
    case open
    case done(PropertyList, nodes: Int)
  }

  let table: BinaryObjectTable
  private var source: ByteSource { table.source }
  private var slots: [Slot]
  private var bytesLeft: Int
  private let nodeLimit: Int

  init(_ table: BinaryObjectTable, fileSize: Int) {
    self.table = table
    slots = Array(repeating: .new, count: table.count)
    bytesLeft = PropertyListLimits.bytes(fileSize: fileSize)
    nodeLimit = PropertyListLimits.nodes(fileSize: fileSize)
  }

  /// Walks depth first with an explicit stack. The open objects are exactly the containers around the current one.
  /// Meeting an open object again therefore means a cycle, and the number of open objects is the depth.
  mutating func value(of number: Int) throws(PropertyListError) -> PropertyList {
    var stack = [number]
    var depth = 0
    while let index = stack.last {
      switch slots[index] {
      case .done:
        stack.removeLast()
      case .new:
        let object = try table.object(index)
        guard object.isContainer else {
          slots[index] = .done(try scalar(object), nodes: 1)
          continue
        }
        depth += 1
        guard depth <= PropertyListLimits.depth else {
          throw PropertyListError(
            .tooDeep, offset: object.offset, "more than \(depth - 1) nested containers")
        }
        slots[index] = .open
        for child in try children(of: object) {
          switch slots[child] {
          case .new: stack.append(child)
          case .open:
            throw PropertyListError(.cyclic, offset: object.offset, "a container contains itself")
          case .done: break
          }
        }
      case .open:
        depth -= 1
        slots[index] = try assemble(try table.object(index))
      }
    }
    guard case .done(let value, _) = slots[number] else {
      throw PropertyListError(.malformed, "the object \(number) was not read")
    }
    return value
  }

  private mutating func spend(_ count: Int, at offset: Int) throws(PropertyListError) {
    guard count <= bytesLeft else {
      throw PropertyListError(
        .tooLarge, offset: offset, "objects overlap beyond the size of the file")
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
    var result: [Int] = []
    result.reserveCapacity(object.isDictionary ? 2 * object.count : object.count)
    for offset in stride(
      from: object.payload, to: object.payload + object.payloadCount, by: table.referenceWidth)
    {
      result.append(try table.reference(at: offset))
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
        throw PropertyListError(
          .tooLarge, offset: object.offset, "shared containers unfold beyond all proportion")
      }
      values.append(value)
    }
    let value: PropertyList = object.isDictionary ? try Self.dictionary(values, at: object.offset) : .array(values)
    return .done(value, nodes: nodes)
  }

  /// The dictionary of `content`, which has all keys first and then all values.
  static func dictionary(_ content: [PropertyList], at offset: Int) throws(PropertyListError) -> PropertyList {
    let half = content.count / 2
    var entries: [String: PropertyList] = [:]
    entries.reserveCapacity(half)
    for (key, value) in zip(content.prefix(half), content.dropFirst(half)) {
      guard case .string(let name) = key else {
        throw PropertyListError(.malformed, offset: offset, "a dictionary key is not a string")
      }
      entries[name] = value
    }
    return .dictionary(entries)
  }
}
