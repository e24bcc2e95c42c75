#include "common/io/clock.h"
