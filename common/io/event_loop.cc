#include "common/io/event_loop.h"
