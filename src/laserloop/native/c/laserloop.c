/* laserloop: the power of a moving laser, one tick at a time. All of it as one unit, so that it can be inlined. */

#include "types.h"

#include "network.c"

#include "working_set.c"

#include "qp.c"

#include "costs.c"

#include "kinks.c"

#include "tick.c"

#include "sqp.c"

#ifdef LASERLOOP_ENGINE
#include "engine.c"
#else
#include "laserloop_model.c"

#include "controller.c"
#endif
