; A hatch of ten lines of 2 mm, 0.1 mm apart, all in one direction at 304 mm/s.
; The beam flies back with the laser off. S in W; the plate's centre is X0 Y0.
G21 G90
M3 S14
G0 X-1 Y-0.45
G1 X1 F18240
G0 X-1 Y-0.35
G1 X1
G0 X-1 Y-0.25
G1 X1
G0 X-1 Y-0.15
G1 X1
G0 X-1 Y-0.05
G1 X1
G0 X-1 Y0.05
G1 X1 S13
G0 X-1 Y0.15
G1 X1
G0 X-1 Y0.25
G1 X1
G0 X-1 Y0.35
G1 X1
G0 X-1 Y0.45
G1 X1
M5
G0 X0 Y0
M2
