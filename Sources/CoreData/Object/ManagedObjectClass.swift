import Foundation
import RuntimeAccess

/// Finds the class of an entity's objects by its name in the model.
enum ManagedObjectClass {
  /// The named class. Where it is not found, reports that and returns `NSManagedObject`.
  static func resolve(_ entity: NSEntityDescription) -> NSManagedObject.Type {
    let name: String = entity.managedObjectClassName ?? "NSManagedObject"
    if name == "NSManagedObject" || name == "CoreData.NSManagedObject" { return NSManagedObject.self }
    let bare = name.split(separator: ".").last.map(String.init) ?? name
    if !name.hasPrefix("."), bare != name {
      if let found = qualified(name) as? NSManagedObject.Type { return found }
    } else {
      // The name has no module, as in models for `@objc(Name)` classes.
      let found = classes(named: bare)
      if found.count == 1 { return found[0] }
      if found.count > 1 { return preferred(found, entity) }
    }
    report("no class \(name) for the entity \(entity.name ?? "?"); its objects will be plain NSManagedObjects.")
    return NSManagedObject.self
  }

  /// Of classes with the same name in several modules, the class in the main executable.
  private static func preferred(_ found: [NSManagedObject.Type], _ entity: NSEntityDescription) -> NSManagedObject.Type
  {
    let module = executableModule
    let names = found.map { String(reflecting: $0) }
    if let index = names.firstIndex(where: { $0.hasPrefix(module + ".") }) { return found[index] }
    report(
      "the class \(entity.managedObjectClassName ?? "?") of the entity \(entity.name ?? "?") could be \(names.sorted().joined(separator: " or ")); name it with its module."
    )
    return NSManagedObject.self
  }

  /// The managed object classes of the process with that name, in any module. Where the runtime does not say which
  /// there are, the one of the main executable's module.
  static func classes(named name: String) -> [NSManagedObject.Type] {
    (ProcessClasses.named(name) ?? inExecutable(name)).compactMap { $0 as? NSManagedObject.Type }
  }

  private static func inExecutable(_ name: String) -> [AnyClass] {
    NSClassFromString(executableModule + "." + name).map { [$0] } ?? []
  }

  /// The module of the main executable, as its file name has it.
  private static var executableModule: String {
    let executable = (CommandLine.arguments.first ?? "") as NSString
    return executable.lastPathComponent.replacingOccurrences(of: "-", with: "_")
  }

  /// The class of the process with a name, given with its module or without; nil where there is none, or several.
  static func only(_ name: String) -> AnyClass? {
    guard let bare = name.split(separator: ".").last.map(String.init) else { return nil }
    guard let all = ProcessClasses.named(bare) else {
      return bare == name ? inExecutable(name).first : NSClassFromString(name)
    }
    let found = all.filter { bare == name || String(reflecting: $0) == name }
    return found.count == 1 ? found[0] : nil
  }

  /// The class with a name that begins with its module. A class within other types, or a private one, has the name that
  /// `String(reflecting:)` gives, which Foundation does not take.
  static func qualified(_ name: String) -> AnyClass? {
    name.split(separator: ".").count == 2 ? NSClassFromString(name) : only(name)
  }
}
