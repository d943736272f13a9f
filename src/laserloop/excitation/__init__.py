"""How we shake it: stochastic power profiles that make the plant show its dynamics."""

from laserloop.excitation.power import Excitation, draw_power, parse_excitation

__all__ = ["Excitation", "draw_power", "parse_excitation"]
