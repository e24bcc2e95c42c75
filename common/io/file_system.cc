#include "common/io/file_system.h"
