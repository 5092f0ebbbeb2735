/// A reference back to an owner, cleared by the owner's deinitializer.
///
/// With Swift's `weak`, every entity would get a side table, and each retain and release of it would go through the
/// table; objects are made by the hundred thousand, and each uses its entity. Like all mutable parts of a model, two
/// threads must not use it at the same time. Entities of a used model are never freed.
final class BackReference<Target: AnyObject> {
  unowned(unsafe) var target: Target?
}
