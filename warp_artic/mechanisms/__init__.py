"""What trees and their constraint families become on a device: structure, numbers and arrays."""
