#include "means/codec.h"
#include "common/wire/table_codec.h"
#include "proto/compute.access.h"
#include "proto/journal.access.h"
