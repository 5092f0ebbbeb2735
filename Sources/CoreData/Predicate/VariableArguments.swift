import CRuntime
import Foundation
import StoreQuery
import Synchronization

// On Apple's platforms every value that bridges to an Objective-C object can be written `value as CVarArg`, for the
// arguments of a predicate's format. Here Foundation allows that for strings and numbers only.

extension NSObject: @retroactive _CVarArgObject {}
extension Array: @retroactive _CVarArgObject {}
extension Data: @retroactive _CVarArgObject {}
extension Date: @retroactive _CVarArgObject {}
extension Decimal: @retroactive _CVarArgObject {}
extension Dictionary: @retroactive _CVarArgObject {}
extension Set: @retroactive _CVarArgObject {}
extension URL: @retroactive _CVarArgObject {}
extension UUID: @retroactive _CVarArgObject {}

extension NSObject: @retroactive CVarArg {}
extension Array: @retroactive CVarArg {}
extension Data: @retroactive CVarArg {}
extension Date: @retroactive CVarArg {}
extension Decimal: @retroactive CVarArg {}
extension Dictionary: @retroactive CVarArg {}
extension Set: @retroactive CVarArg {}
extension URL: @retroactive CVarArg {}
extension UUID: @retroactive CVarArg {}

extension _CVarArgObject {
  public var _cVarArgObject: any CVarArg { ObjectArgument(self) }
  public var _cVarArgEncoding: [Int] { misuse("\(Self.self) is passed to C as the object that stands for it.") }
}

/// Stands for a value in a variable argument list. The list keeps it until the call has ended.
///
/// The list has a text that describes the value, so that `String(format: "%@", value)` prints it. Foundation can print
/// no other object here.
private final class ObjectArgument: CVarArg {
  private let text: NSString
  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(text).toOpaque()) }

  init(_ value: Any) {
    text = NSString(string: "\(value)")
    let (address, held) = (address, Held(value: value))
    Self.values.withLock { $0[address] = held }
  }

  deinit {
    let address = address
    Self.values.withLock { $0[address] = nil }
  }

  var _cVarArgEncoding: [Int] { [Int(bitPattern: address)] }

  private struct Held: @unchecked Sendable {
    let value: Any
  }

  /// The values of all arguments in use, by the addresses of their texts.
  private static let values = Mutex<[UInt: Held]>([:])

  /// The object or value at an address from an argument list.
  static func value(at pointer: UnsafeRawPointer?) -> Any? {
    guard let pointer else { return nil }
    let address = UInt(bitPattern: pointer)
    if let held = values.withLock({ $0[address] }) { return held.value }
    let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    return (object as? NSString).map { $0 as String } ?? object
  }
}

/// Reads arguments of a format that are passed as in C.
enum VariableArguments {
  /// The arguments for the substitutions of a format. The substitutions name the types, as in `printf`. Stops the
  /// program for a text that is no format.
  static func read(_ list: CVaListPointer, for format: String) -> [Any?] {
    let types: [String]
    do { types = try FormatArgument.substitutions(in: format) } catch {
      misuse("Unable to parse the format string \"\(format)\": \(error.message)")
    }
    let kinds = types.map(kind)
    let arguments = [cd_argument](unsafeUninitializedCapacity: kinds.count) { buffer, count in
      kinds.withUnsafeBufferPointer { kinds in
        kinds.withMemoryRebound(to: CChar.self) {
          cd_read_arguments(list, $0.baseAddress, $0.count, buffer.baseAddress)
        }
      }
      count = kinds.count
    }
    return zip(types, arguments).map { type, argument in value(type, argument) }
  }

  /// The letter that tells ``cd_read_arguments`` the type to read.
  private static func kind(_ type: String) -> UInt8 {
    switch type.utf8.last {
    case UInt8(ascii: "@"), UInt8(ascii: "K"), UInt8(ascii: "s"), UInt8(ascii: "S"), UInt8(ascii: "p"):
      return UInt8(ascii: "p")
    case let letter? where "aAeEfFgG".utf8.contains(letter): return UInt8(ascii: "d")
    case let letter?:
      if "DOU".utf8.contains(letter) || type.utf8.contains(where: "lqLzjt".utf8.contains) { return UInt8(ascii: "l") }
      return UInt8(ascii: "uxXo".utf8.contains(letter) ? "u" : "i")
    case nil: return UInt8(ascii: "i")
    }
  }

  private static func value(_ type: String, _ argument: cd_argument) -> Any? {
    switch kind(type) {
    case UInt8(ascii: "d"): return argument.real
    case UInt8(ascii: "p"):
      guard type.hasSuffix("s") else { return ObjectArgument.value(at: argument.pointer) }
      return argument.pointer.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    default: return argument.integer
    }
  }
}
