#pragma once
// A growing array of pmix_info_t that frees its items. The type of each key's value is the one that
// pmix_common.h documents beside the key.

#include <pmix_common.h>
#include <pmix_server.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::pmix {

class PmixInfo {
 public:
  PmixInfo() = default;
  ~PmixInfo() {
    for (pmix_info_t& item : items_) PMIX_INFO_DESTRUCT(&item);
  }
  PmixInfo(const PmixInfo&) = delete;
  PmixInfo& operator=(const PmixInfo&) = delete;

  void text(const char* key, const std::string& value) { load(key, value.c_str(), PMIX_STRING); }
  void number(const char* key, std::uint32_t value) { load(key, &value, PMIX_UINT32); }
  void small(const char* key, std::uint16_t value) { load(key, &value, PMIX_UINT16); }
  void rank(const char* key, pmix_rank_t value) { load(key, &value, PMIX_PROC_RANK); }
  void flag(const char* key, bool value) { load(key, &value, PMIX_BOOL); }
  // Copies the other list into one item.
  void array(const char* key, PmixInfo& inner) {
    pmix_data_array_t value{PMIX_INFO, inner.size(), inner.data()};
    load(key, &value, PMIX_DATA_ARRAY);
  }

  pmix_info_t* data() { return items_.data(); }
  std::size_t size() const { return items_.size(); }

 private:
  void load(const char* key, const void* value, pmix_data_type_t type) {
    items_.emplace_back();
    PMIX_INFO_CONSTRUCT(&items_.back());
    PMIX_INFO_LOAD(&items_.back(), key, value, type);
  }

  std::vector<pmix_info_t> items_;
};

}  // namespace lockstep::pmix
