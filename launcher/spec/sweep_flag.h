#pragma once
// A parameter of a sweep as a flag of the command line has it, for those who write no file:
// lr=loguniform:1e-5:1e-1, batch=choice:16,32,64. Bounds of logarithmic expressions are the values
// themselves here, not their exponents, since that is what people type.

#include <string>

#include "common/base/result.h"
#include "common/domain/sweep.h"

namespace lockstep::spec {

// NAME=choice:A,B,…   NAME=randint:UPPER   NAME=uniform:MIN:MAX   NAME=quniform:MIN:MAX:Q
// NAME=loguniform:MIN:MAX   NAME=qloguniform:MIN:MAX:Q   NAME=normal:MU:SIGMA
// NAME=qnormal:MU:SIGMA:Q   NAME=lognormal:MU:SIGMA   NAME=qlognormal:MU:SIGMA:Q
// mu and sigma of lognormal are of the exponent. Errors name the flag's text and say the form.
Result<SearchParameter> parse_sweep_flag(const std::string& text);

}  // namespace lockstep::spec
