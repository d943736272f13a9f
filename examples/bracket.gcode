; The outline of a bracket with rounded corners and a hollow, and its bolt hole, at 304 mm/s.
; The plate's centre is X0 Y0. Travel is G0, and the laser is on between M3 and M5.
%
N10 G21 G90 G17 (mm, absolute, XY plane)
N20 G0 X-1.2 Y-1.0
N30 M3 S180
N40 G1 X0.8 F18240
N50 G3 X1.2 Y-0.6 I0 J0.4 (rounded corner)
N60 G1 Y0.6
N70 G3 X0.8 Y1.0 R0.4
N80 G1 X-0.6
N90 G2 X-1.2 Y0.4 I-0.6 J0 (hollow for the neighbour)
N100 G1 Y-1.0
N110 M5
N120 G0 X0.7 Y0.2
N130 M3
N140 G2 I-0.3 (bolt hole, 0.3 mm)
N150 M5
N160 G0 X0 Y0
N170 M30
