"""Figures that the paper's text gives outside its tables, to be printed beside ours."""

# Highest true T_max of the settled ticks, K.
HIGHEST = {
    ("baseline", "vertical"): 795.4,
    ("baseline", "spiral"): 798.3,
    ("baseline", "diagonal"): 851.1,
    ("corner", "vertical"): 805.8,
    ("corner", "spiral"): 802.7,
    ("corner", "diagonal"): 801.4,
    ("corner + δ", "vertical"): 796.3,
    ("corner + δ", "spiral"): 799.5,
    ("corner + δ", "diagonal"): 791.8,
}
# Deepest dip of T_max below the window, K.
DEEPEST = {("baseline", "vertical"): 4.8, ("corner", "diagonal"): 34.0}
# Of the baseline on the vertical path.
MEAN_RESIDUAL = 1.2  # K, mean |e|
LARGEST_MOVE = 0.86  # W, largest |ΔP| of a tick
MARGIN_POWER = 0.06  # W, most that δ changes the mean power
CALIBRATION_WINDOWS = 25280
EPISODES = 320  # of an ensemble
WINDOWS = 126_000  # of an ensemble, "≈ 1.26 × 10⁵"
FORWARD_RATIO = 1.2e3  # five plant steps over one forecast
SOLVE_INTERVALS = 331  # control intervals that one IPOPT solve spans
