// On Apple's platforms `import CoreData` brings Foundation with it, and existing code relies on that.
@_exported import Foundation
