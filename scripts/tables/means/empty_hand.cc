#include <climits>
#include "means/codec.h"
#include "common/domain/provider_settings.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
