/// Modules of Apple's platforms, and the names by which a source shows that it needs one. An import alone is no need:
/// many sources import more than they use.
struct Framework {
  let name: String
  /// Names begin with this, and an upper-case letter follows.
  var prefixes: [String] = []
  var names: Set<String> = []
  /// Whether a source can easily do without it, so that it is not left out.
  var isReplaceable = false

  func isNeeded(by word: String) -> Bool {
    if Self.all[word] != nil || Self.parts[word] != nil || Self.ofFoundation.contains(word) { return false }
    return names.contains(word)
      || prefixes.contains { prefix in
        guard word.hasPrefix(prefix) else { return false }
        guard let next = word.dropFirst(prefix.count).first else { return prefix.count > 2 }
        return next.isUppercase || prefix.hasSuffix("_")
      }
  }

  static let all: [String: Framework] = Dictionary(
    uniqueKeysWithValues: [
      Framework(name: "UIKit", prefixes: ["UI"]),
      Framework(
        name: "AppKit",
        prefixes: ["NSText", "NSTable", "NSCollectionView", "NSOutline", "NSWindow", "NSView", "NSImage"],
        names: [
          "NSAlert", "NSApp", "NSApplication", "NSApplicationDelegate", "NSColor", "NSDocument", "NSFont", "NSMenu",
          "NSPersistentDocument", "NSWorkspace",
        ]),
      Framework(
        name: "SwiftUI",
        names: [
          "@AppStorage", "@Binding", "@Environment", "@EnvironmentObject", "@FetchRequest", "@ObservedObject",
          "@SectionedFetchRequest", "@State", "@StateObject", "@ViewBuilder", "App", "Binding", "Button", "Color",
          "EnvironmentValues", "FetchedResults", "ForEach", "HStack", "Image", "List", "NavigationView",
          "PreviewProvider",
          "Scene", "Text", "VStack", "View", "WindowGroup", "ZStack",
        ]),
      Framework(
        name: "Combine",
        names: [
          "@Published", "AnyCancellable", "AnyPublisher", "CurrentValueSubject", "ObservableObject",
          "PassthroughSubject",
          "Publisher", "Publishers", "Subscriber",
        ]),
      Framework(name: "CloudKit", prefixes: ["CK", "NSPersistentCloudKit"]),
      Framework(name: "CoreLocation", prefixes: ["CL"]), Framework(name: "MapKit", prefixes: ["MK"]),
      Framework(name: "CoreSpotlight", prefixes: ["CS", "NSCoreDataCoreSpotlight"]),
      Framework(name: "CoreGraphics", prefixes: ["CGColor", "CGContext", "CGImage"]),
      Framework(name: "ImageIO", prefixes: ["CGImage", "kCGImage"]),
      Framework(name: "Security", prefixes: ["Sec", "kSec"]),
      Framework(name: "SwiftData", names: ["@Attribute", "@Model", "@Query", "@Relationship", "ModelContainer"]),
      Framework(name: "UniformTypeIdentifiers", names: ["UTType"]),
      Framework(name: "WidgetKit", names: ["TimelineEntry", "TimelineProvider", "Widget", "WidgetCenter"]),
      Framework(
        name: "os", prefixes: ["os_", "OSAllocated", "OSLog"], names: ["Logger", "os_log", "os_unfair_lock"],
        isReplaceable: true),
    ].map { ($0.name, $0) })

  /// Modules that bring others.
  static let parts: [String: [String]] = [
    "Cocoa": ["AppKit"], "OSLog": ["os"], "SwiftUI": ["SwiftUI", "Combine", "UIKit", "AppKit"],
    "WidgetKit": ["WidgetKit", "SwiftUI"],
    "UIKit": ["UIKit", "CoreGraphics"], "AppKit": ["AppKit", "CoreGraphics"], "CoreData": ["CloudKit"],
  ]

  /// Names that begin like those of a framework.
  private static let ofFoundation: Set<String> = ["NSTextCheckingResult", "NSTextCheckingTypes", "UID"]

  /// Modules of Apple's platforms that a source imports only because it needs them.
  static let others: Set<String> = [
    "ARKit", "AVFoundation", "Accelerate", "ActivityKit", "AppIntents", "AuthenticationServices", "BackgroundTasks",
    "Charts",
    "Contacts", "CoreBluetooth", "CoreImage", "CoreML", "CoreMotion", "CoreText", "CryptoKit", "EventKit", "GameKit",
    "HealthKit", "Intents", "LocalAuthentication", "MessageUI", "Metal", "MetricKit", "NaturalLanguage", "Network",
    "Photos",
    "PhotosUI", "QuartzCore", "SafariServices", "SceneKit", "SpriteKit", "StoreKit", "SystemConfiguration", "TipKit",
    "UserNotifications", "Vision", "WatchConnectivity", "WatchKit", "WebKit",
  ]

  /// Modules that are here.
  static let present: Set<String> = [
    "CoreData", "CoreFoundation", "Dispatch", "Foundation", "FoundationNetworking", "FoundationXML", "Glibc",
    "Observation",
    "RegexBuilder", "Swift", "Synchronization", "Testing", "XCTest", "_Concurrency",
  ]
}
