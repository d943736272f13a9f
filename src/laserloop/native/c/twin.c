/* laserloop: the power of a moving laser by the physics twin. All of it as one unit, so that it can be inlined. */

#include "types.h"

#include "working_set.c"

#include "qp.c"

#include "costs.c"

#include "tick.c"

#include "twin_field.c"

#include "twin_far.c"

#include "twin_newest.c"

#include "twin_history.c"

#include "twin_forecast.c"

#include "twin_gain.c"

#include "twin_plan.c"

#include "twin_act.c"

#ifdef LASERLOOP_ENGINE
#include "twin_engine.c"
#else
#include "laserloop_process.c"

#include "twin_controller.c"
#endif
