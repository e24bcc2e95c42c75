#include "common/io/transport.h"
