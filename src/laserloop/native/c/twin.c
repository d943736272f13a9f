/* laserloop: the power of a moving laser by the physics twin. All of it as one unit, so that it can be inlined. */

#ifndef LASERLOOP_ENGINE /* an export keeps all that it is told in its public header */
#include "laserloop_twin.h"

#define LASERLOOP_HORIZON LASERLOOP_TWIN_HORIZON
#define LASERLOOP_DOUBLE LASERLOOP_TWIN_DOUBLE
#define LASERLOOP_NODES LASERLOOP_TWIN_NODES
#define LASERLOOP_RECENT LASERLOOP_TWIN_RECENT
#endif

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

#include "twin_image.c"

#include "twin_plan.c"

#include "twin_act.c"

#ifdef LASERLOOP_ENGINE
#include "twin_engine.c"
#else
#ifndef LASERLOOP_MEASURE /* see handle.c */
#include "laserloop_process.c"
#endif

#include "twin_controller.c"
#endif
