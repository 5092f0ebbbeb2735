import CoreData
import Foundation

/// The model and the transactions of the crash and fault tests.
enum CrashModel {
  static let accountCount = 10

  /// The amount of change in one transaction.
  struct Size {
    var rows = 20
    /// The number of transactions after which rows are deleted.
    var window: Int64 = 10
    /// Whether an account gets a photo that is large enough to be stored in a file of its own.
    var hasPhoto = false
  }

  static func model(hasPhoto: Bool = false) -> NSManagedObjectModel {
    let account = entity("Account", [("transaction", .integer64), ("balance", .integer64)])
    if hasPhoto {
      let photo = NSAttributeDescription()
      photo.name = "photo"
      photo.type = .binaryData
      photo.allowsExternalBinaryDataStorage = true
      account.properties += [photo]
    }
    let entry = entity("Entry", [("transaction", .integer64), ("check", .integer64), ("text", .string)])
    relate(entry, "account", false, account, "entries", true)
    relate(entry, "watchers", true, account, "watched", true)
    let model = NSManagedObjectModel()
    model.entities = [account, entry]
    return model
  }

  private static func entity(
    _ name: String, _ attributes: [(String, NSAttributeDescription.AttributeType)]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
    return entity
  }

  private static func relate(
    _ a: NSEntityDescription, _ name: String, _ isToMany: Bool, _ b: NSEntityDescription, _ inverse: String,
    _ isInverseToMany: Bool
  ) {
    let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (there.name, back.name) = (name, inverse)
    (there.destinationEntity, back.destinationEntity) = (b, a)
    (there.maxCount, back.maxCount) = (isToMany ? 0 : 1, isInverseToMany ? 0 : 1)
    (there.inverseRelationship, back.inverseRelationship) = (back, there)
    a.properties += [there]
    b.properties += [back]
  }

  /// The accounts, in the order of the store. If there are none, they are created in a separate save first.
  static func accounts(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
    let found = try context.fetch(request)
    if !found.isEmpty { return found }
    insertAccounts(in: context)
    try context.save()
    return try context.fetch(request)
  }

  static func insertAccounts(in context: NSManagedObjectContext) {
    for _ in 0..<accountCount {
      let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
      account.setValue(0, forKey: "transaction")
      account.setValue(1000, forKey: "balance")
    }
  }

  /// All changes of one transaction. Every account gets the transaction's number, and the sum of the balances stays the
  /// same. New entries get the number and a check value. The entries that are older than the window are deleted.
  static func change(
    _ accounts: [NSManagedObject], _ transaction: Int64, _ size: Size = Size(), in context: NSManagedObjectContext
  ) throws {
    for account in accounts { account.setValue(transaction, forKey: "transaction") }
    let (from, to) = (accounts[Int(transaction % 10)], accounts[Int((transaction + 3) % 10)])
    from.setValue((from.value(forKey: "balance") as? Int64 ?? 0) - 7, forKey: "balance")
    to.setValue((to.value(forKey: "balance") as? Int64 ?? 0) + 7, forKey: "balance")
    if size.hasPhoto {
      accounts[0].setValue(Data(repeating: UInt8(transaction & 255), count: 120_000), forKey: "photo")
    }
    for index in 0..<size.rows {
      let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
      entry.setValue(transaction, forKey: "transaction")
      entry.setValue(transaction &* 1_000_003 &+ Int64(index), forKey: "check")
      entry.setValue(String(repeating: "x", count: index * 40), forKey: "text")
      entry.setValue(accounts[index % accounts.count], forKey: "account")
      entry.mutableSetValue(forKey: "watchers").add(accounts[(index + 1) % accounts.count])
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
    request.predicate = NSPredicate(format: "transaction == %lld", transaction - size.window)
    for entry in try context.fetch(request) { context.delete(entry) }
  }
}
