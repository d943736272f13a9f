"""What the paper reports, to be printed beside ours."""

EXCITATION_NAMES = ("persistent", "hf-random", "bang-bang")

# Table 1: horizon RMSE per excitation class, their mean, the worst error; K.
TABLE_1 = {
    ("vertical", "paper-base"): (2.6, 3.4, 5.3, 3.7, 27.7),
    ("vertical", "paper-corner"): (4.7, 5.4, 7.7, 5.9, 37.2),
    ("spiral", "paper-base"): (3.8, 4.1, 7.0, 4.9, 34.9),
    ("spiral", "paper-corner"): (8.0, 8.2, 10.1, 8.8, 41.9),
    ("diagonal", "paper-base"): (12.1, 13.6, 13.4, 13.0, 79.9),
    ("diagonal", "paper-corner"): (13.7, 14.2, 14.6, 14.2, 71.2),
}

# Offline ablations on the corner ensemble: horizon RMSE, K, mean of the seen paths and unseen diagonal; None
# where the paper has it in a figure only.
ABLATIONS: dict[tuple[str, str], tuple[float | None, float | None]] = {
    ("trunk", "temps"): (6.1, 13.2),
    ("trunk", "loc"): (11.6, 53.0),
    ("trunk", "both"): (5.8, 15.6),
    ("basis", "100"): (6.1, 13.2),
    ("width", "128"): (6.1, 13.2),
    ("noise", "0"): (6.1, 13.2),
    ("noise", "2"): (6.4, None),
    ("noise", "10"): (9.0, 14.5),
    ("shared noise", "0"): (6.1, 13.2),  # the paper does not say whether its draws are shared
    ("shared noise", "2"): (6.4, None),
    ("shared noise", "10"): (9.0, 14.5),
    ("noise on loc", "0"): (11.6, 53.0),
    ("horizon", "3"): (None, 20.2),
    ("horizon", "5"): (6.1, 13.2),
    ("horizon", "10"): (None, 9.8),
    ("structure", "one-shot"): (6.1, 13.2),
}
SIZES_SEEN = (5.8, 6.8)  # K, least and most over the basis dimensions and widths
SIZES_UNSEEN_CHANGE = 3.5  # K, over these the unseen diagonal changes by less
SS_AR_STEPS = (29.0, 80.0)  # K, error of the first and the fifth step
ONE_SHOT_STEPS = 15.0  # K, of every step "on the same data"
LSTM_LATENCY_RATIO = 6.0  # to the one-shot DeepONet, "roughly"
