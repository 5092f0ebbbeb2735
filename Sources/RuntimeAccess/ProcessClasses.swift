import CRuntime

/// Finds classes of the process by their name without a module.
package enum ProcessClasses {
  /// The classes with a name, in any module, also within other types. Generic classes are left out. Nil where
  /// the trick does not work.
  package static func named(
    _ name: String, trusting works: Bool = RuntimeTrick.processClasses.works
  ) -> [AnyClass]? { works ? search(name) : nil }

  private static func search(_ name: String) -> [AnyClass] {
    var found: [AnyClass] = []
    withUnsafeMutablePointer(to: &found) { list in
      cd_find_classes(
        name,
        { metadata, context in
          guard let metadata, let context else { return true }
          // A type is a pointer to its metadata.
          if let type = unsafeBitCast(metadata, to: Any.Type.self) as? AnyClass {
            context.assumingMemoryBound(to: [AnyClass].self).pointee.append(type)
          }
          return true
        }, list)
    }
    return found
  }

  static func canary() -> Bool {
    let found = search("RuntimeAccessCanaryClass")
    return found.count == 1 && found[0] == RuntimeAccessCanaryClass.self
      && search("RuntimeAccessCanaryStructure").isEmpty && search("RuntimeAccessNoSuchClass").isEmpty
      && MemoryLayout<RuntimeAccessCanaryStructure>.size > 0
  }
}

private final class RuntimeAccessCanaryClass {}
private struct RuntimeAccessCanaryStructure { var number = 0 }
