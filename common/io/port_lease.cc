#include "common/io/port_lease.h"
