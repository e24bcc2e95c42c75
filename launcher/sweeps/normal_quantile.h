#pragma once
// The inverse of the standard normal distribution, by Wichura's algorithm AS 241 (PPND16, Applied
// Statistics 37, 1988): 16 digits, and the same on every machine but for the rounding of log().

namespace lockstep::sweeps {

// `p` is more than 0 and less than 1; the value that a standard normal variable is below with
// probability `p`.
double normal_quantile(double p);

}  // namespace lockstep::sweeps
