"""What the paper reports of its closed loops, to be printed beside ours."""

# Table 2: overshoot K, ticks over, ms over, residual RMS K, its max |e| K, its mean K, mean power W,
# mean |ΔP| W.
TABLE_2 = {
    ("baseline", "vertical"): (0.0, 0, 0.00, 1.8, 11.1, -0.7, 13.85, 0.23),
    ("baseline", "spiral"): (0.0, 0, 0.00, 3.6, 14.0, 0.0, 14.47, 0.40),
    ("baseline", "diagonal"): (51.1, 22, 2.75, 17.2, 91.1, 3.3, 13.94, 0.65),
    ("corner", "vertical"): (5.8, 1, 0.13, 3.6, 17.1, 0.3, 13.82, 0.40),
    ("corner", "spiral"): (2.7, 5, 0.63, 6.9, 23.9, 1.0, 14.40, 0.54),
    ("corner", "diagonal"): (1.4, 1, 0.13, 14.8, 37.7, 9.3, 13.64, 0.58),
    ("corner + δ", "vertical"): (0.0, 0, 0.00, 3.6, 17.1, 0.3, 13.82, 0.41),
    ("corner + δ", "spiral"): (0.0, 0, 0.00, 6.9, 23.8, 1.0, 14.36, 0.63),
    ("corner + δ", "diagonal"): (0.0, 0, 0.00, 14.7, 37.5, 9.1, 13.58, 0.79),
}

# The text around it: share of the settled ticks below the window.
BELOW = {
    ("baseline", "diagonal"): 0.19,
    ("corner", "vertical"): 0.148,
    ("corner", "spiral"): 0.232,
    ("corner", "diagonal"): 0.358,
    ("corner + δ", "vertical"): 0.148,
    ("corner + δ", "spiral"): 0.232,
    ("corner + δ", "diagonal"): 0.368,
}

# Table 3: highest T_max K, overshoot K, ticks over, share below, RMS one-tick residual K, mean solve ms.
TABLE_3 = {
    ("N_h = 3", "vertical"): (796.0, 0.0, 0, 0.187, 2.9, 29.0),
    ("N_h = 3", "diagonal"): (803.6, 3.6, 2, 0.477, 17.4, 30.0),
    ("N_h = 5", "vertical"): (802.7, 2.7, 1, 0.106, 3.6, 40.0),
    ("N_h = 5", "diagonal"): (798.0, 0.0, 0, 0.271, 12.5, 50.0),
    ("N_h = 7", "vertical"): (801.8, 1.8, 1, 0.210, 3.3, 51.0),
    ("N_h = 7", "diagonal"): (807.1, 7.1, 1, 0.342, 11.5, 51.0),
    ("N_h = 10", "vertical"): (794.4, 0.0, 0, 0.226, 3.2, 90.0),
    ("N_h = 10", "diagonal"): (791.6, 0.0, 0, 0.339, 12.4, 91.0),
    ("SS-AR", "vertical"): (791.0, 0.0, 0, 0.335, 12.1, 50.0),
    ("SS-AR", "spiral"): (798.5, 0.0, 0, 0.406, 14.5, 56.0),
    ("SS-AR", "diagonal"): (798.4, 0.0, 0, 0.642, 29.3, 52.0),
}

DELTA = {"one-sided": 13.2, "symmetric": 18.5}  # K, of the corner model; the paper applies 13
TIMING = {
    "forward_ms": 0.42,
    "plant_5_steps_ms": 515.0,
    "solve_mean_ms": 41.0,
    "solve_p95_ms": 59.6,
    "solve_max_ms": 71.7,
    "iterations_mean": 16.0,
    "iterations_max": 22.0,
    "run_320_s": 50.0,
}
GRADIENT = {"typical_k_w": 7.0, "mean_k_w": 2.8, "median_k_w": 2.5, "sign_agreement": 1.0}
CORNER_FAILURE = {"residual_k": -91.1, "x_mm": -1.5, "y_mm": -1.5, "t_ms": 4.9}
