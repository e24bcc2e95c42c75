#pragma once
// The fields of a message in their order. Names are kept in lower case, which HTTP/1.1 allows in
// both directions.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {

class Headers {
 public:
  struct Field {
    std::string name;  // in lower case
    std::string value;
    friend bool operator==(const Field&, const Field&) = default;
  };

  void add(std::string_view name, std::string value) {
    fields_.push_back({lower_case(name), std::move(value)});
  }
  // Replaces the fields of that name.
  void set(std::string_view name, std::string value) {
    const std::string key = lower_case(name);
    std::erase_if(fields_, [&](const Field& field) { return field.name == key; });
    fields_.push_back({key, std::move(value)});
  }
  // The value of the first field of that name, which is in lower case; null: there is none.
  const std::string* find(std::string_view name) const {
    for (const Field& field : fields_)
      if (field.name == name) return &field.value;
    return nullptr;
  }
  // "": there is none, or it is empty.
  std::string_view get(std::string_view name) const {
    const std::string* value = find(name);
    return value == nullptr ? std::string_view() : *value;
  }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  friend bool operator==(const Headers&, const Headers&) = default;

 private:
  std::vector<Field> fields_;
};

}  // namespace lockstep::http
