#pragma once
// The keys of JSON objects. Each object has one function, which describes each of its keys once, in
// the order in which they are printed:
//
//   void keys(const ProjectView& project, See& see) {
//     see.page("project", "Project", "A project.");
//     see("name", project.name, "Its name.");
//     see("users", project.users, "Users with a role in it.");
//   }
//
// JsonWriter makes the JSON of a value, SchemaWriter the JSON schema of its type. A line's value
// may be any expression. Its type says what the schema says of it:
//   text, bool, enum (its words)    the same
//   a number                        not negative, unless its Allowed says otherwise
//   Duration, Bytes                 seconds, bytes
//   Instant                         a time in UTC; null at zero. SetTime: never null
//   Digest, Why                     hexadecimal digits; {"code": …, …} for programs, or null
//   std::optional                   null without a value
//   a list, a set, a map, Entries   an array; an object with any keys
//   std::variant                    one of these
//   std::true_type, std::false_type always this value
//   nullptr                         always null
//   a type with keys()              its object; if that has a page, the schema refers to it
// SchemaWriter calls keys() with values that are default-constructed: no line may rely on more.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/why/why.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// ---- values -------------------------------------------------------------------------------------

using Words = std::span<const std::string_view>;

// Which values a key can have. Holds for the items of a list, too.
struct Allowed {
  std::int64_t low = 0, high = kHighest;
  Words words = {};            // of a text: only these
  bool more_than_low = false;  // `low` itself is not allowed
};
inline constexpr Allowed kAnyNumber{.low = kLowest};
inline constexpr Allowed kFromOne{.low = 1};
inline constexpr Allowed kPercent{.high = 100};

struct SetTime {
  Instant at;
};

// An object whose keys are names that people gave, in their order.
template <class T>
using Entries = std::vector<std::pair<std::string, T>>;

// For the keys of what is not there, which only SchemaWriter sees.
template <class T>
const T& none_of() {
  static const T none{};
  return none;
}
template <class T>
const T& or_none(const std::optional<T>& value) {
  return value ? *value : none_of<T>();
}
template <class T>
const T& or_none(const T* value) {
  return value != nullptr ? *value : none_of<T>();
}

// Null for an empty text or list.
inline std::optional<std::string_view> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}
std::optional<std::string_view> unless_empty(std::string&& text) = delete;  // would outlive it
template <class T>
std::optional<std::vector<T>> unless_empty(const std::vector<T>& list) {
  return list.empty() ? std::nullopt : std::optional<std::vector<T>>(list);
}
template <class N>
std::optional<N> unless_zero(N number) {
  return number == N{} ? std::nullopt : std::optional<N>(number);
}
template <class N>
std::optional<N> unless_negative(N number) {
  return number < 0 ? std::nullopt : std::optional<N>(number);
}
// Always with a fraction: 3 s are 3.0.
inline double exact_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// ---- visitors -----------------------------------------------------------------------------------

// What a line of keys() is given to.
class See {
 public:
  using Keys = std::function<void(See&)>;

  virtual ~See() = default;
  template <class T>
  void operator()(const char* key, const T& value, const char* says = "",
                  const Allowed& allowed = {}) {
    pass({key, says, true, true, allowed}, value_of(value));
  }
  // A key that is left out of some objects.
  template <class T>
  void only_if(bool is_there, const char* key, const T& value, const char* says = "",
               const Allowed& allowed = {}) {
    pass({key, says, false, is_there, allowed}, value_of(value));
  }
  template <class T>
  void if_set(const char* key, const std::optional<T>& value, const char* says = "",
              const Allowed& allowed = {}) {
    const T none{};
    only_if(value.has_value(), key, value ? *value : none, says, allowed);
  }
  // The keys that `keys` sees are left out of some objects.
  void only_if(bool is_there, const Keys& keys);
  // An object that is made here.
  void object(const char* key, const Keys& keys, const char* says = "");
  // The same; null unless there is one.
  void object_or_null(bool is_there, const char* key, const Keys& keys, const char* says = "");
  // The object has a schema page of its own: NAME.json. Only first in keys().
  virtual void page(const char* name, const char* title, const char* says) = 0;
  // An object that has the key `key`, which may be left out, has these keys, too.
  virtual void together(const char* key, std::initializer_list<const char*> with) = 0;

 protected:
  struct Line {
    const char* key;
    const char* says;
    bool is_required;
    bool is_there;  // in this value
    const Allowed& allowed;
  };
  // A value of a type that is known to the functions alone.
  struct Value {
    const void* at;
    void (*put)(Json& to, const void* at);
    void (*put_schema)(Json& schema, const void* at, const Allowed& allowed);
  };
  virtual void line(const Line& line, const Value& value) = 0;

 private:
  template <class T>
  static Value value_of(const T& value);
  void pass(Line line, const Value& value);

  enum class Group { always, there, left_out };  // see only_if()
  Group group_ = Group::always;
};

class JsonWriter : public See {
 public:
  // `to` becomes an object with the keys that are seen.
  explicit JsonWriter(Json& to);
  void page(const char*, const char*, const char*) override {}
  void together(const char*, std::initializer_list<const char*>) override {}

 protected:
  void line(const Line& line, const Value& value) override;

 private:
  Json& to_;
};

class SchemaWriter : public See {
 public:
  enum class Of { page, nested_object };
  // `to` becomes the schema of an object with the keys that are seen.
  SchemaWriter(Json& to, Of of);
  // Call it after keys(). Within another page, an object with a page becomes a reference to it.
  void finish();
  void page(const char* name, const char* title, const char* says) override;
  void together(const char* key, std::initializer_list<const char*> with) override;

 protected:
  void line(const Line& line, const Value& value) override;

 private:
  Json& to_;
  const Of of_;
  const char* refers_to_ = nullptr;
};

// ---- for the templates below --------------------------------------------------------------------

// nlohmann's templates take long to compile: only keys.cc has them.
void put_bool(Json& to, bool value);
void put_number(Json& to, std::int64_t value);
void put_number(Json& to, std::uint64_t value);
void put_number(Json& to, double value);
void put_text(Json& to, std::string_view value);
void put_time(Json& to, Instant value);  // never null
void put_seconds(Json& to, Duration value);
void put_reason(Json& to, const Why& value);  // in why.cc
void put_empty_list(Json& to);
void put_empty_object(Json& to);
Json& new_item(Json& list);
Json& new_key(Json& object, std::string_view key);  // that it does not have yet

Json page_head(const char* name, const char* title, const char* says);
Json shared_types();  // those of types.json
void describe_const(Json& schema, bool value);
void describe_null(Json& schema);
void describe_bool(Json& schema);
void describe_number(Json& schema, const char* type, const Allowed& allowed);
void describe_text(Json& schema, Words words);
void describe_type(Json& schema, const char* name);  // of types.json
Json& describe_list(Json& schema);                   // returns the schema of its items
Json& describe_map(Json& schema);
Json& describe_choice(Json& schema);  // adds an alternative
void end_choice(Json& schema);
void allow_null(Json& schema);

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsMap<Entries<T>> = true;

template <class E>
std::string_view word_of(E value) {
  if constexpr (requires { to_string(value); })
    return to_string(value);
  else
    return describe(value).word;
}

// The words of all enumerators, also of those that are added later. A to_string() without
// describe() has "?" or the word of another one for what is no enumerator. The empty word is left
// out where null stands for it.
template <class E>
std::vector<std::string_view> words_of(bool with_empty) {
  std::vector<std::string_view> words;
  for (int i = 0; i < kMostWords; ++i) {
    const E value = static_cast<E>(i);
    if constexpr (requires { describe(value); })
      if (describe(value).word == nullptr) continue;
    const std::string_view word = word_of(value);
    const bool is_new = std::find(words.begin(), words.end(), word) == words.end();
    if (is_new && word != "?" && (with_empty || !word.empty())) words.push_back(word);
  }
  return words;
}

template <class T>
void put(Json& to, const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::true_type> ||
                std::is_same_v<T, std::false_type>) {
    put_bool(to, value);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    // `to` is null
  } else if constexpr (std::is_enum_v<T>) {
    put_text(to, word_of(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    put_number(to, double{value});
  } else if constexpr (std::is_unsigned_v<T>) {
    put_number(to, std::uint64_t{value});
  } else if constexpr (std::is_integral_v<T>) {
    put_number(to, std::int64_t{value});
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    put_text(to, value);
  } else if constexpr (std::is_same_v<T, Instant>) {
    if (value.ns != 0) put_time(to, value);
  } else if constexpr (std::is_same_v<T, SetTime>) {
    put_time(to, value.at);
  } else if constexpr (std::is_same_v<T, Duration>) {
    put_seconds(to, value);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    put_number(to, value.count);
  } else if constexpr (std::is_same_v<T, Digest>) {
    put_text(to, value.hex());
  } else if constexpr (std::is_same_v<T, Why>) {
    put_reason(to, value);
  } else if constexpr (std::is_same_v<T, JobId> || std::is_same_v<T, NodeId>) {
    put(to, value.value);
  } else if constexpr (kIsOptional<T>) {
    if (value) put(to, *value);
  } else if constexpr (kIsVariant<T>) {
    std::visit([&to](const auto& one) { put(to, one); }, value);
  } else if constexpr (kIsMap<T>) {
    put_empty_object(to);
    for (const auto& [key, one] : value) put(new_key(to, key), one);
  } else if constexpr (requires { value.begin(); }) {
    put_empty_list(to);
    for (const auto& one : value) put(new_item(to), one);
  } else {
    JsonWriter writer(to);
    keys(value, writer);
  }
}

template <class T>
void put_schema(Json& schema, const T& value, const Allowed& allowed);

template <class T>
void put_item_schema(Json& schema, const T* first, const Allowed& allowed) {
  if (first != nullptr)
    put_schema(schema, *first, allowed);
  else
    put_schema(schema, T{}, allowed);
}

template <class... T>
void put_variant_schema(Json& schema, const std::variant<T...>&, const Allowed& allowed) {
  (put_schema(describe_choice(schema), T{}, allowed), ...);
  end_choice(schema);
}

template <class T>
void put_schema(Json& schema, const T& value, const Allowed& allowed) {
  if constexpr (std::is_same_v<T, std::true_type> || std::is_same_v<T, std::false_type>) {
    describe_const(schema, T::value);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    describe_null(schema);
  } else if constexpr (std::is_same_v<T, bool>) {
    describe_bool(schema);
  } else if constexpr (std::is_enum_v<T>) {
    describe_text(schema, words_of<T>(true));
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Duration>) {
    describe_number(schema, "number", allowed);
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bytes> ||
                       std::is_same_v<T, NodeId>) {
    describe_number(schema, "integer", allowed);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view> ||
                       std::is_same_v<T, JobId>) {
    describe_text(schema, allowed.words);
  } else if constexpr (std::is_same_v<T, Instant>) {
    describe_type(schema, "time");
    allow_null(schema);
  } else if constexpr (std::is_same_v<T, SetTime>) {
    describe_type(schema, "time");
  } else if constexpr (std::is_same_v<T, Digest>) {
    describe_type(schema, "digest");
  } else if constexpr (std::is_same_v<T, Why>) {
    describe_type(schema, "reason");  // which may be null
  } else if constexpr (kIsOptional<T>) {
    using Inner = typename T::value_type;
    if constexpr (std::is_enum_v<Inner>)
      describe_text(schema, words_of<Inner>(false));
    else
      put_item_schema<Inner>(schema, value ? &*value : nullptr, allowed);
    allow_null(schema);
  } else if constexpr (kIsVariant<T>) {
    put_variant_schema(schema, value, allowed);
  } else if constexpr (kIsMap<T>) {
    using Inner = std::remove_cvref_t<decltype(value.begin()->second)>;
    put_item_schema<Inner>(describe_map(schema), value.empty() ? nullptr : &value.begin()->second,
                           allowed);
  } else if constexpr (requires { value.begin(); }) {
    using Inner = typename T::value_type;
    put_item_schema<Inner>(describe_list(schema), value.empty() ? nullptr : &*value.begin(),
                           allowed);
  } else {
    SchemaWriter writer(schema, SchemaWriter::Of::nested_object);
    keys(value, writer);
    writer.finish();
  }
}

template <class T>
See::Value See::value_of(const T& value) {
  return {&value, [](Json& to, const void* at) { put(to, *static_cast<const T*>(at)); },
          [](Json& schema, const void* at, const Allowed& allowed) {
            put_schema(schema, *static_cast<const T*>(at), allowed);
          }};
}

// ---- for users ----------------------------------------------------------------------------------

// Of any type above. Callers include nlohmann/json.hpp, which makes `Complete` what it says.
template <class T, class Complete = Json>
Complete to_json(const T& value) {
  Complete json;
  put(json, value);
  return json;
}

}  // namespace lockstep::api
