import Foundation

/// The possible contents of a disk after a loss of power, from a record of all changes to one folder; see trace.h.
///
/// Only a sync makes changes durable. A sync of a file keeps its bytes and its size, not its name. A sync of a folder
/// keeps the names in it. Of all other changes any part may have reached the disk: any of the writes, any of their
/// sectors, any of the changes of names. A file system promises more; a store must not need it.
struct PowerLossDisk {
  /// The part of the other changes that has reached the disk.
  enum Rest: CaseIterable {
    case nothing, all
    /// The first operations, the last write of them torn.
    case first
    /// Some of the operations, or some of their sectors.
    case some, sectors
  }

  private enum Operation {
    case write(Int, [UInt8])
    case truncate(Int)
  }

  /// A file or a folder: its durable operations, and later ones.
  private final class Node {
    let isFolder: Bool
    var lasting: [UInt8] = []
    var pending: [Operation] = []
    /// The number of durable operations.
    var finished = 0

    init(isFolder: Bool) { self.isFolder = isFolder }

    func finish(_ total: Int) {
      let count = max(0, total - finished)
      for operation in pending.prefix(count) { PowerLossDisk.apply(operation, to: &lasting) }
      pending.removeFirst(min(count, pending.count))
      finished += count
    }
  }

  /// Names that change together, completely or not at all; nil for a removed name.
  private typealias Change = [String: Node?]

  private let folder: String
  private var now: [String: Node]
  private var lasting: [String: Node]
  private var pending: [Change] = []
  private var nodes: [String: Node] = [:]
  /// The operations that a started sync makes durable.
  private var syncs: [String: (node: Node, total: Int, folder: String?)] = [:]

  init(folder: String) {
    self.folder = folder
    now = [folder: Node(isFolder: true)]
    lasting = now
  }

  // MARK: Following the record

  /// Applies a record. With `isDone` false the call is in progress: the operations that it waits for are not yet
  /// durable.
  mutating func take(_ record: PowerLossRecord, isDone: Bool = true) throws {
    let words = record.words
    switch record.kind {
    case "create", "mkdir":
      let node = Node(isFolder: record.kind == "mkdir")
      nodes[words[0]] = node
      rename([words[1]: node])
    case "open": if nodes[words[0]] == nil { nodes[words[0]] = now[words[1]] }
    case "write", "dwrite":
      let node = try node(words[0])
      node.pending.append(.write(Int(words[1]) ?? 0, record.bytes))
      if record.kind == "dwrite" && isDone { node.finish(node.finished + node.pending.count) }
    case "truncate": try node(words[0]).pending.append(.truncate(Int(words[1]) ?? 0))
    case "sync":
      let node = try node(words[1])
      let path = node.isFolder ? now.first { $0.value === node }?.key : nil
      syncs[words[0]] = (node, node.isFolder ? pending.count : node.finished + node.pending.count, path)
    case "synced": if isDone, let sync = syncs.removeValue(forKey: words[0]) { finish(sync) }
    case "link": rename([words[1]: try node(words[0])])
    case "unlink": rename([words[0]: nil])
    case "rename":
      guard let node = now[words[0]], !node.isFolder else { throw HarnessProblem("a record of a rename of a folder") }
      rename([words[1]: node, words[0]: nil])
    default: break
    }
  }

  private func node(_ inode: String) throws -> Node {
    guard let node = nodes[inode] else { throw HarnessProblem("a record of a file that nobody opened") }
    return node
  }

  private mutating func rename(_ change: Change) {
    for (path, node) in change { now[path] = node }
    pending.append(change)
  }

  private mutating func finish(_ sync: (node: Node, total: Int, folder: String?)) {
    guard let folder = sync.folder else { return sync.node.finish(sync.total) }
    // Changes of other folders stay. A durable change is emptied, so that the indexes of the others stay valid.
    for position in pending.indices.prefix(sync.total)
    where pending[position].keys.contains(where: { ($0 as NSString).deletingLastPathComponent == folder }) {
      for (path, node) in pending[position] { lasting[path] = node }
      pending[position] = [:]
    }
  }

  // MARK: Possible contents

  /// The files that the disk may hold, by their paths below the folder; nil for a folder.
  func image(_ rest: Rest?, _ random: inout SplitMix64) -> [String: [UInt8]?] {
    var names = lasting
    // Changes of names have no sectors.
    let ofNames = rest ?? [Rest.nothing, .all, .first, .some][random.below(4)]
    for change in chosen(pending, ofNames, &random) { for (path, node) in change { names[path] = node } }
    var result: [String: [UInt8]?] = [:]
    for (path, node) in names.sorted(by: { $0.key < $1.key }) where path != folder && isReachable(path, names) {
      let content = node.isFolder ? nil : content(node, rest ?? Rest.allCases[random.below(5)], &random)
      result.updateValue(content, forKey: String(path.dropFirst(folder.count + 1)))
    }
    return result
  }

  private func isReachable(_ path: String, _ names: [String: Node]) -> Bool {
    var parent = (path as NSString).deletingLastPathComponent
    while parent != folder && parent.count > folder.count {
      if names[parent] == nil { return false }
      parent = (parent as NSString).deletingLastPathComponent
    }
    return true
  }

  private func content(_ node: Node, _ rest: Rest, _ random: inout SplitMix64) -> [UInt8] {
    var content = node.lasting
    let operations = chosen(node.pending, rest, &random)
    for (position, operation) in operations.enumerated() {
      let isTorn = rest == .sectors || (rest == .first && position == operations.count - 1)
      for part in isTorn ? sectors(operation, &random) : [operation] { Self.apply(part, to: &content) }
    }
    return content
  }

  private func chosen<T>(_ operations: [T], _ rest: Rest, _ random: inout SplitMix64) -> [T] {
    switch rest {
    case .nothing: return []
    case .all, .sectors: return operations
    case .first: return Array(operations.prefix(random.below(operations.count + 1)))
    case .some: return operations.filter { _ in random.below(2) == 0 }
    }
  }

  /// Some of the sectors of a write. A truncation is done completely or not at all.
  private func sectors(_ operation: Operation, _ random: inout SplitMix64) -> [Operation] {
    guard case .write(let offset, let bytes) = operation else { return random.below(2) == 0 ? [operation] : [] }
    var (parts, start) = ([Operation](), offset)
    while start < offset + bytes.count {
      let end = min((start / 512 + 1) * 512, offset + bytes.count)
      if random.below(2) == 0 { parts.append(.write(start, Array(bytes[start - offset..<end - offset]))) }
      start = end
    }
    return parts
  }

  private static func apply(_ operation: Operation, to content: inout [UInt8]) {
    func extend(to count: Int) {
      if content.count < count { content += [UInt8](repeating: 0, count: count - content.count) }
    }
    switch operation {
    case .write(let offset, let bytes):
      extend(to: offset + bytes.count)
      content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .truncate(let size):
      extend(to: size)
      content.removeSubrange(size...)
    }
  }
}

/// One record of a trace: a word, its arguments, and its bytes if it has any.
struct PowerLossRecord {
  let kind: String
  let words: [String]
  let bytes: [UInt8]

  /// All of a file.
  static func read(_ data: Data) throws -> [PowerLossRecord] {
    var (records, rest) = ([PowerLossRecord](), data[...])
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
      rest = rest[rest.index(after: end)...]
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw HarnessProblem("the record “\(line)” has one word") }
      var bytes: [UInt8] = []
      if ["write", "dwrite", "say"].contains(parts[0]) {
        guard let count = line.split(separator: " ").last.flatMap({ Int($0) }), count <= rest.count else {
          throw HarnessProblem("the record “\(line)” has other bytes than it says")
        }
        bytes = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      records.append(PowerLossRecord(kind: parts[0], words: words(parts[0], parts[1]), bytes: bytes))
    }
    return records
  }

  /// Paths may have spaces.
  private static func words(_ kind: String, _ text: String) -> [String] {
    switch kind {
    case "unlink": return [text]
    case "rename": return text.split(separator: "|").map(String.init)
    case "create", "open", "mkdir", "link":
      let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
      // A folder may be opened as `.` within itself.
      return [parts[0], (parts[1] as NSString).standardizingPath]
    default: return text.split(separator: " ").map(String.init)
    }
  }
}
