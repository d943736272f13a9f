"""THE WHOLE PATH AT ONCE: power and speed of every vector of a file, from the twin, without a camera."""
