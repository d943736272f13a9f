"""G and M codes by what they mean to the path of a beam; ten times their number, so that G91.1 is 911."""

MOTIONS = frozenset((0, 10, 20, 30))  # G0 to G3
ARCS = frozenset((20, 30))
DWELL, NEW_ORIGIN, NO_MOTION = 40, 920, 800
ELSEWHERE = frozenset((280, 300, 530))  # homes, and moves in coordinates that no file gives
LASER = frozenset((30, 40, 50))  # M3 to M5
FAN_ON = 1060  # M106
FAN = frozenset((FAN_ON, 1070))
PROGRAM_END = frozenset((20, 300))  # M2, M30
# Absolute or relative material, heaters, fans, accelerations: words of Marlin and RepRap.
PRINTER = FAN | {820, 830, 920, 1040, 1050, 1090, 1400, 1900, 2010, 2030, 2040, 2050}

# Planes, units, absolute or relative, offsets taken back: obeyed.
MODES = frozenset((170, 180, 190, 200, 210, 900, 910, 901, 911, 921))
# Retraction, tools, compensation off, work coordinates, blending, feed per minute: change no way in x, y.
HARMLESS_G = MODES | {100, 110, 150, 290, 400, 430, 431, 490, 500, *range(540, 600, 10), 610, 611, 640, 690}
HARMLESS_G |= {940, 970, 980, 990, DWELL, NEW_ORIGIN, NO_MOTION, *MOTIONS, *ELSEWHERE}
# Pauses, tools, coolant, absolute or relative material.
HARMLESS_M = LASER | FAN | PROGRAM_END | {0, 10, 60, 70, 80, 90, 820, 830}

# Splines, polar coordinates, threads, probes, cutter compensation, scaling, macros, rotation, canned cycles,
# other feeds; subprograms. To pass over these would be to follow another path.
REFUSED_G = frozenset((50, 51, 52, 53, 60, 70, 120, 130, 160, 330, *range(380, 386), 410, 411, 420, 421, 510))
REFUSED_G |= {520, *range(650, 690, 10), *range(700, 800, 10), *range(810, 900, 10), 922, 923, 930, 950}
REFUSED_M = frozenset((970, 980, 990))
