#include "common/io/process.h"
