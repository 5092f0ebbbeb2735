import Foundation

/// Evaluates nested compounds with a worklist instead of recursion. A program that combines a list of predicates one by
/// one nests them as deep as the list is long.
struct CompoundEvaluation {
  private let type: NSCompoundPredicate.LogicalType
  private let parts: [NSPredicate]
  private var next = 0

  private init(_ compound: NSCompoundPredicate) {
    (type, parts) = (compound.compoundPredicateType, compound.subpredicates)
  }

  static func evaluate(_ compound: NSCompoundPredicate, _ test: (NSPredicate) -> Bool) -> Bool {
    var (pending, result) = ([CompoundEvaluation(compound)], false)
    while var current = pending.popLast() {
      if let verdict = current.verdict(after: result) {
        result = verdict
        continue
      }
      let part = current.parts[current.next]
      current.next += 1
      pending.append(current)
      // A subclass may evaluate its parts in its own way.
      if Swift.type(of: part) == NSCompoundPredicate.self, let inner = part as? NSCompoundPredicate {
        pending.append(CompoundEvaluation(inner))
      } else {
        result = test(part)
      }
    }
    return result
  }

  /// The result of the compound, if `result`, the result of its latest part, decides it. Nil if more parts must be
  /// evaluated.
  private func verdict(after result: Bool) -> Bool? {
    let isDone = next == parts.count
    return switch type {
    case .not: next > 0 ? !result : isDone ? true : nil
    case .or: next > 0 && result ? true : isDone ? false : nil
    default: next > 0 && !result ? false : isDone ? true : nil
    }
  }
}
