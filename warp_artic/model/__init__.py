"""Arrays on a device: what a group of equal trees is, where it is now, what acts on it, and work space."""
