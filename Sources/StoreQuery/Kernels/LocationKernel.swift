import Foundation
import StoreSchema

/// The distance between two locations. A location is a latitude and a longitude in degrees.
public enum LocationKernel {
  /// The function's name in archives and formats; `distanceToLocation(a, b)` also calls it.
  public static let selector = "distanceToLocation:fromLocation:"

  /// The keys of a location in an object, a composite attribute or a dictionary.
  package static let keys = ["latitude", "longitude"]

  /// The mean radius of the earth, in metres (International Union of Geodesy and Geophysics).
  private static let radius = 6_371_008.8

  /// Metres along the surface of a sphere, by the haversine formula: at most 0.6 % different from the distance on the
  /// ellipsoid.
  ///
  /// The operands are latitude and longitude of one location, then of the other. Null where one of them is null or not
  /// a number, a latitude is outside of ±90 degrees, or a longitude outside of ±180.
  public static func distance(_ operands: [Value]) -> Value {
    let degrees = operands.compactMap { Number($0)?.double }
    guard operands.count == 4, degrees.count == 4, isLocation(degrees[0], degrees[1]),
      isLocation(degrees[2], degrees[3])
    else { return .null }
    let angles = degrees.map { $0 * .pi / 180 }
    let (latitude, longitude) = (sin((angles[2] - angles[0]) / 2), sin((angles[3] - angles[1]) / 2))
    let haversine = latitude * latitude + cos(angles[0]) * cos(angles[2]) * longitude * longitude
    return .double(2 * radius * asin(min(1, haversine.squareRoot())))
  }

  private static func isLocation(_ latitude: Double, _ longitude: Double) -> Bool {
    abs(latitude) <= 90 && abs(longitude) <= 180
  }
}
