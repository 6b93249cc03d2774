"""What was authored, in SI units and radians: frozen plain values, no arrays on a device, no USD types."""
