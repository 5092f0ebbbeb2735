import Foundation

/// The objects of a section in their order. An object is found, inserted and removed, and its position is computed, in
/// logarithmic time.
///
/// A treap: nodes in search order, each with a random priority that is below that of its parent. So its depth is
/// logarithmic, whatever the order of the changes.
struct ResultsOrder {
  final class Node {
    let object: NSManagedObject
    unowned var section: ResultsLayout.Section
    fileprivate let priority = UInt32.random(in: .min ... .max)
    fileprivate(set) var count = 1
    fileprivate unowned var parent: Node?
    fileprivate var left: Node?
    fileprivate var right: Node?

    init(_ object: NSManagedObject, _ section: ResultsLayout.Section) {
      (self.object, self.section) = (object, section)
    }

    fileprivate func update() { count = 1 + (left?.count ?? 0) + (right?.count ?? 0) }
  }

  private var root: Node?
  var count: Int { root?.count ?? 0 }
  var first: Node? { outermost(\.left) }
  var last: Node? { outermost(\.right) }

  private func outermost(_ side: (Node) -> Node?) -> Node? {
    var node = root
    while let found = node, let next = side(found) { node = next }
    return node
  }

  /// Appends nodes, which are in order and after all others. Linear where there are no nodes yet.
  mutating func append(_ nodes: some Sequence<Node>) {
    var spine: [Node] = []
    var node = root
    while let found = node {
      spine.append(found)
      node = found.right
    }
    for node in nodes {
      var below: Node?
      while let last = spine.last, last.priority < node.priority {
        last.update()
        below = spine.removeLast()
      }
      node.left = below
      below?.parent = node
      node.parent = spine.last
      if let last = spine.last { last.right = node } else { root = node }
      spine.append(node)
    }
    while let last = spine.popLast() { last.update() }
  }

  /// Inserts a node before the first object that `precedes` says it precedes.
  mutating func insert(_ node: Node, where precedes: (NSManagedObject, NSManagedObject) -> Bool) {
    var (parent, isLeft, next) = (Node?.none, false, root)
    while let found = next {
      (parent, isLeft) = (found, precedes(node.object, found.object))
      next = isLeft ? found.left : found.right
    }
    attach(node, parent, isLeft: isLeft)
  }

  /// Inserts a node at a position.
  mutating func insert(_ node: Node, at position: Int) {
    var (parent, isLeft, next, rest) = (Node?.none, false, root, position)
    while let found = next {
      let before = found.left?.count ?? 0
      (parent, isLeft) = (found, rest <= before)
      if !isLeft { rest -= before + 1 }
      next = isLeft ? found.left : found.right
    }
    attach(node, parent, isLeft: isLeft)
  }

  private mutating func attach(_ node: Node, _ parent: Node?, isLeft: Bool) {
    (node.left, node.right, node.parent, node.count) = (nil, nil, parent, 1)
    guard let parent else { return root = node }
    if isLeft { parent.left = node } else { parent.right = node }
    var above: Node? = parent
    while let found = above {
      found.count += 1
      above = found.parent
    }
    while let parent = node.parent, parent.priority < node.priority { raise(node, over: parent) }
  }

  mutating func remove(_ node: Node) {
    while let child = higher(node.left, node.right) { raise(child, over: node) }
    let parent = node.parent
    replace(node, with: nil, below: parent)
    var above = parent
    while let found = above {
      found.count -= 1
      above = found.parent
    }
  }

  private func higher(_ a: Node?, _ b: Node?) -> Node? {
    guard let a, let b else { return a ?? b }
    return a.priority > b.priority ? a : b
  }

  /// Rotates: the child takes the place of its parent, which becomes its child.
  private mutating func raise(_ child: Node, over parent: Node) {
    replace(parent, with: child, below: parent.parent)
    if parent.left === child {
      parent.left = child.right
      parent.left?.parent = parent
      child.right = parent
    } else {
      parent.right = child.left
      parent.right?.parent = parent
      child.left = parent
    }
    parent.parent = child
    parent.update()
    child.update()
  }

  private mutating func replace(_ node: Node, with other: Node?, below parent: Node?) {
    other?.parent = parent
    guard let parent else { return root = other }
    if parent.left === node { parent.left = other } else { parent.right = other }
  }

  /// The number of nodes before one of the nodes.
  func position(of node: Node) -> Int {
    var position = node.left?.count ?? 0
    var child = node
    while let parent = child.parent {
      if parent.right === child { position += 1 + (parent.left?.count ?? 0) }
      child = parent
    }
    return position
  }

  /// The node at a position; nil beyond the last.
  func node(at position: Int) -> Node? {
    if position < 0 { return nil }
    var (node, rest) = (root, position)
    while let found = node {
      let before = found.left?.count ?? 0
      if rest == before { return found }
      node = rest < before ? found.left : found.right
      if rest > before { rest -= before + 1 }
    }
    return nil
  }

  /// All objects in order.
  var objects: [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(count)
    var (waiting, next) = ([Node](), root)
    while true {
      while let found = next {
        waiting.append(found)
        next = found.left
      }
      guard let found = waiting.popLast() else { return result }
      result.append(found.object)
      next = found.right
    }
  }
}
