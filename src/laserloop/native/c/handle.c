/* The handle of a deployed controller: where what it holds lies, and who may use it now. Included after `door`, with HANDLE its
   struct and PUBLIC(name) the name of a function of its header. */

#define STARTED 0x6c617365 /* marks a handle that was initialised */

#ifdef LASERLOOP_MEASURE /* before an export: how large a handle has to be */
size_t PUBLIC(size)(void)
{
    return sizeof(door);
}
#else

/* If this fails: define the BYTES of its config header larger, in all files that include it. */
typedef char handle_is_large_enough[sizeof(door) <= sizeof(HANDLE) ? 1 : -1];

size_t PUBLIC(size)(void)
{
    return sizeof(HANDLE);
}

static int is_aligned(const HANDLE *laser)
{
    const struct {
        char first;
        door second;
    } *placed = NULL;
    const size_t step = sizeof *placed - sizeof(door); /* what the compiler puts before a door */
    return laser && (size_t)laser % step == 0;
}

/* What a handle holds; NULL if it was not initialised. */
static door *open_door(const HANDLE *laser)
{
    door *d = (door *)(void *)laser;
    return is_aligned(laser) && d->started == STARTED ? d : NULL;
}

/* The same for a call that changes it; NULL while another does. */
static door *use_door(HANDLE *laser)
{
    door *d = open_door(laser);
    if (!d || d->busy)
        return NULL;
    d->busy = 1;
    return d;
}

unsigned long PUBLIC(faults)(const HANDLE *laser)
{
    const door *d = open_door(laser);
    return d ? d->faults : 0UL;
}

/* The sentence of a code of a list of them. */
static int explain(int code, const char *const *sentences, const char **sentence)
{
    if (sentence)
        *sentence = sentences[code];
    return code;
}

static int is_within(double x, double low, double high) /* NaN is not */
{
    return x >= low && x <= high;
}
#endif
