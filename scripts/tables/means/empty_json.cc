#include <nlohmann/json.hpp>
#include "means/codec.h"
