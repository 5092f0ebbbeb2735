#if LMDB
  import Foundation

  /// The pages of a closed store's file in its last state. Tests change them in ways that LMDB never would.
  struct PagedFile {
    let url: URL
    private(set) var bytes: [UInt8]
    static let pageSize = 4096

    init(_ url: URL) throws {
      self.url = url
      bytes = Array(try Data(contentsOf: url))
    }

    /// Writes into the same file.
    func write() throws {
      let handle = try FileHandle(forWritingTo: url)
      handle.write(Data(bytes))
      try handle.close()
    }

    // MARK: Numbers

    func number(_ position: Int, _ size: Int) -> Int {
      bytes[position..<position + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func put(_ number: Int, at position: Int, _ size: Int) {
      for index in 0..<size { bytes[position + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    }

    mutating func flip(_ position: Int, _ bits: UInt8 = 1) { bytes[position] ^= bits }

    // MARK: Pages

    /// The offset of the meta page of the last state.
    var meta: Int { number(144, 8) > number(Self.pageSize + 144, 8) ? 0 : Self.pageSize }
    var lastPage: Int { number(meta + 136, 8) }
    var freeRoot: Int { number(meta + 80, 8) }
    var mainRoot: Int { number(meta + 128, 8) }

    func kind(_ page: Int) -> Int { number(page * Self.pageSize + 10, 2) }

    /// The offsets of a page's nodes, in the order of their keys.
    func nodes(_ page: Int) -> [Int] {
      let start = page * Self.pageSize
      return stride(from: 16, to: number(start + 12, 2), by: 2).map { start + number(start + $0, 2) }
    }

    func key(_ node: Int) -> [UInt8] { Array(bytes[(node + 8)..<(node + 8 + number(node + 6, 2))]) }

    /// The offset of a node's value, or of the reference to the value.
    func value(_ node: Int) -> Int { node + 8 + number(node + 6, 2) }

    func child(_ node: Int) -> Int { number(node, 6) }

    /// The offset of a tree's descriptor.
    func tree(_ name: String) -> Int {
      nodes(mainRoot).first { key($0) == Array(name.utf8) }.map(value) ?? 0
    }

    func root(_ name: String) -> Int { number(tree(name) + 40, 8) }

    /// The leaves of a tree, in the order of their keys.
    func leaves(_ root: Int) -> [Int] {
      var (leaves, pending) = ([Int](), [root])
      while let page = pending.popLast() {
        if kind(page) == 2 { leaves.append(page) } else { pending += nodes(page).reversed().map(child) }
      }
      return leaves
    }
  }
#endif
