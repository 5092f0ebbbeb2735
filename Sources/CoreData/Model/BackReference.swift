/// A reference back to an owner, cleared by the owner's deinitialiser.
///
/// Swift's `weak` would give every entity a side table, through which each retain and release of it then goes; objects
/// are made by the hundred thousand with their entity in hand. Like all mutable parts of a model, not for use from two
/// threads at once; entities of a used model are never freed.
final class BackReference<Target: AnyObject> {
  unowned(unsafe) var target: Target?
}
