"""WHAT WE BELIEVE: the interface of every predictor, and the networks that fill it."""
