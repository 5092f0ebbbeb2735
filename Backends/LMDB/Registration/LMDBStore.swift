#if LMDB
  import CoreData
  import LMDBBackend

  extension NSPersistentStore.StoreType {
    /// Stores in an LMDB file, once ``LMDBStore/register()`` was called.
    public static let lmdb = NSPersistentStore.StoreType(rawValue: LMDBBackend().storeType)
  }

  /// The LMDB store for applications.
  public enum LMDBStore {
    /// Makes stores of type ``CoreData/NSPersistentStore/StoreType/lmdb`` known to all coordinators. Call it once, at
    /// the start; more often is no harm.
    public static func register() { NSPersistentStoreCoordinator.register(LMDBBackend()) }
  }
#endif
