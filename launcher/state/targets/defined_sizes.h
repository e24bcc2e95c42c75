#pragma once
// The sizes that operators define, and the number of machines granted for a size. Part of State,
// and so the fold of facts; the sizes of the build's catalogue are in CoreConfig::catalogue.

#include <map>
#include <optional>
#include <string>

#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/targets/size.h"

namespace lockstep::launcher {

struct SizeDefined {  // Defines a size, or replaces it.
  static constexpr int kBody = 89;
  Size size;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "size", s.size);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const SizeDefined&, const SizeDefined&) = default;
};
struct SizeRemoved {  // Removes a size that an operator defined.
  static constexpr int kBody = 90;
  std::string name;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const SizeRemoved&, const SizeRemoved&) = default;
};
struct SizeGranted {  // how many machines of the size all targets together may have
  static constexpr int kBody = 91;
  std::string name;
  int machines = 0;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "machines", s.machines, {.low = 0, .high = kMaxGrantedMachines});
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const SizeGranted&, const SizeGranted&) = default;
};

class DefinedSizes {
 public:
  const Sizes& all() const { return sizes_; }
  const Size* find(const std::string& name) const;  // null: no operator defined it
  std::optional<int> granted(const std::string& name) const;

  void apply(const SizeDefined& fact) { sizes_[size_key(fact.size.name)] = fact.size; }
  void apply(const SizeRemoved& fact) { sizes_.erase(size_key(fact.name)); }
  void apply(const SizeGranted& fact) { grants_[size_key(fact.name)] = fact.machines; }

  friend bool operator==(const DefinedSizes&, const DefinedSizes&) = default;

 private:
  Sizes sizes_;
  std::map<std::string, int> grants_;  // granted numbers, by size_key()
};

}  // namespace lockstep::launcher
