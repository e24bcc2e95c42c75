#include "launcher/sweeps/normal_quantile.h"

#include <array>
#include <cmath>

namespace lockstep::sweeps {
namespace {

// The highest power first.
using Polynomial = std::array<double, 8>;

double value_at(const Polynomial& polynomial, double x) {
  double value = 0;
  for (const double coefficient : polynomial) value = value * x + coefficient;
  return value;
}

// Of the middle, where |p - 0.5| is at most 0.425.
constexpr Polynomial kMiddleOver = {2.50908092873012267270e+3, 3.34305755835881281050e+4,
                                    6.72657709270087008530e+4, 4.59219539315498714570e+4,
                                    1.37316937655094611250e+4, 1.97159095030655144270e+3,
                                    1.33141667891784377450e+2, 3.38713287279636660800e+0};
constexpr Polynomial kMiddleUnder = {5.22649527885285456100e+3, 2.87290857357219426740e+4,
                                     3.93078958000927106100e+4, 2.12137943015865958670e+4,
                                     5.39419602142475110770e+3, 6.87187007492057908300e+2,
                                     4.23133307016009112520e+1, 1.0};
// Of the tails, by sqrt(-log(p)): up to 5, and beyond.
constexpr Polynomial kNearOver = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                  2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                  3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                  4.63033784615654529590e+0, 1.42343711074968357734e+0};
constexpr Polynomial kNearUnder = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                   1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                   6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                   2.05319162663775882187e+0, 1.0};
constexpr Polynomial kFarOver = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                 2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                 5.46378491116411436990e+0, 6.65790464350110377720e+0};
constexpr Polynomial kFarUnder = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                  1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                  1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                  5.99832206555887937690e-1,  1.0};

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * value_at(kMiddleOver, r) / value_at(kMiddleUnder, r);
  }
  const double r = std::sqrt(-std::log(q <= 0 ? p : 1 - p));
  const double tail = r <= 5 ? value_at(kNearOver, r - 1.6) / value_at(kNearUnder, r - 1.6)
                             : value_at(kFarOver, r - 5) / value_at(kFarUnder, r - 5);
  return q < 0 ? -tail : tail;
}

}  // namespace lockstep::sweeps
