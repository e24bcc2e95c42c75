#include "common/io/attempt_dir.h"
