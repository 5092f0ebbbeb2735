import AppKit
@preconcurrency import CloudKit
import Combine; import CoreData
import os
// swift-format-ignore: OneStatementPerLine
import Foundation; import Security

#if canImport(SwiftUI)
  import SwiftUI
#endif

/// Uses a framework where there is one.
private var usesColor: Bool {
  #if canImport(AppKit)
    return NSColor.red.alphaComponent == 1
  #else
    return true
  #endif
}

func importConstructs() {
  World.add([entity(ImportedBySubmodule.self, texts("text")), entity(ImportedByKind.self, texts("text"))])
  construct(.imports, "a framework that is not everywhere") { expect(usesColor) }
  construct(.imports, "two imports on a line, the first of an absent framework") {
    expect(World.make(ImportedByKind.self).managedObjectContext != nil)
  }
  construct(.imports, "an import of a submodule") { try works(\ImportedBySubmodule.text, "text", "a") }
  construct(.imports, "imports of a class and of a structure") { try works(\ImportedByKind.text, "text", "a") }
  construct(.imports, "lines behind changed imports are those of the source") { expect(#line, is: 29) }
}
