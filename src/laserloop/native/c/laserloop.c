/* laserloop: the power of a moving laser, one tick at a time. All of it as one unit, so that it can be inlined. */

#ifndef LASERLOOP_ENGINE /* an export keeps all that it is told in its public header */
#include "laserloop_network.h"

#define LASERLOOP_HORIZON LASERLOOP_NETWORK_HORIZON
#define LASERLOOP_DOUBLE LASERLOOP_NETWORK_DOUBLE
#define LASERLOOP_WIDTH LASERLOOP_NETWORK_WIDTH
#define LASERLOOP_FEATURES LASERLOOP_NETWORK_FEATURES
#define LASERLOOP_RANK LASERLOOP_NETWORK_RANK
#define LASERLOOP_SMOOTHING LASERLOOP_NETWORK_SMOOTHING
#endif

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
#ifndef LASERLOOP_MEASURE /* see handle.c */
#include "laserloop_model.c"
#endif

#include "controller.c"
#endif
