; A washer with a slot and an engraved arrow, in the dialect of a laser cutter's program (GRBL)
; S1000 is the laser's full power
; Bounds: X8.8 Y8.8 to X11.2 Y11.2
G00 G17 G40 G21 G54
G90
M4
; Cut @ 304 mm/sec, 55% power
M8
G0 X11.2Y10
; Layer C00 (outline)
G91
G3 X-1.2Y1.2I-1.2J0S550F18240
G3 X-1.2Y-1.2I0J-1.2
G3 X1.2Y-1.2I1.2J0
G3 X1.2Y1.2I0J1.2
; the bore, the other way round
G0 X-0.7Y0
G2 X-1Y0I-0.5J0
G2 X1Y0I0.5J0
; Layer C01 (arrow)
G0 X-0.15Y-0.75
G1 X-0.35Y-0.2S480
G1 X-0.35Y0.2
G90
M9
G1 S0
M5
; return to user-defined finish pos
G0 X0 Y0
M2
