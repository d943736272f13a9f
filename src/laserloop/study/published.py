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
