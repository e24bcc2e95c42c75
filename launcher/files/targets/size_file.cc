#include "launcher/files/targets/size_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "common/base/nearest.h"
#include "launcher/files/targets/sizes_text.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/named_text.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::string_view kKeysOfFile[] = {"sizes", "series", "max_mpi_nodes"};
constexpr std::string_view kKeysOfSeries[] = {"name", "category", "approval", "supported_by"};
constexpr std::string_view kKeysOfSize[] = {
    "name",    "series", "category", "approval",       "supported_by",
    "vcpus",   "memory", "gpus",     "gpu_name",       "gpu_memory",
    "ib_gbps", "rdma",   "isolated", "price_per_hour", "max_mpi_nodes"};

class SizeReader {
 public:
  SizeReader(const Source& source, Faults& faults) : source_(source), faults_(faults) {}

  SizeCatalogue read(const YamlNode& root) {
    const bool is_list = root.find("sizes") != nullptr || root.find("series") != nullptr;
    if (!is_list) {
      add_size(root);
      return std::move(catalogue_);
    }
    check_keys(root, kKeysOfFile);
    max_mpi_nodes_ = number(root, "max_mpi_nodes").value_or(0);
    if (const YamlNode* series = list(root, "series"))
      for (const YamlNode& item : series->items)
        if (is_mapping(item, "series")) add_series(item);
    if (const YamlNode* sizes = list(root, "sizes"))
      for (const YamlNode& item : sizes->items)
        if (is_mapping(item, "sizes")) add_size(item);
    if (faults_.empty() && catalogue_.sizes.empty()) fault(root.place, "'sizes' is empty");
    return std::move(catalogue_);
  }

 private:
  void fault(const Place& place, std::string_view message) {
    faults_.add(place, source_.error(place, message));
  }

  const YamlNode* at(const YamlNode& node, std::string_view key) const {
    const YamlEntry* entry = node.find(key);
    return entry == nullptr || entry->value.kind == Kind::null ? nullptr : &entry->value;
  }

  void check_keys(const YamlNode& node, std::span<const std::string_view> keys) {
    for (const YamlEntry& entry : node.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
      const std::string near = nearest(entry.key, keys);
      fault(entry.place,
            fmt::format("unknown key '{}'; {}", entry.key,
                        near.empty() ? fmt::format("there are {}", fmt::join(keys, ", "))
                                     : fmt::format("did you mean '{}'?", near)));
    }
  }

  const YamlNode* list(const YamlNode& node, std::string_view key) {
    const YamlNode* value = at(node, key);
    if (value == nullptr || value->kind == Kind::sequence) return value;
    fault(value->place, fmt::format("'{}' must be a list, not {}", key, describe(value->kind)));
    return nullptr;
  }
  bool is_mapping(const YamlNode& node, std::string_view of) {
    if (node.kind == Kind::mapping) return true;
    fault(node.place, fmt::format("an item of '{}' must be a mapping of keys to values, not {}", of,
                                  describe(node.kind)));
    return false;
  }
  const YamlNode* scalar(const YamlNode& node, std::string_view key) {
    const YamlNode* value = at(node, key);
    if (value == nullptr || value->kind == Kind::scalar) return value;
    fault(value->place,
          fmt::format("'{}' must be a single value, not {}", key, describe(value->kind)));
    return nullptr;
  }

  std::optional<std::string> text(const YamlNode& node, std::string_view key) {
    const YamlNode* value = scalar(node, key);
    if (value == nullptr) return std::nullopt;
    return value->text;
  }
  std::optional<int> number(const YamlNode& node, std::string_view key) {
    const YamlNode* value = scalar(node, key);
    if (value == nullptr) return std::nullopt;
    const auto read = to_whole_number(value->text);
    if (!read)
      fault(value->place, fmt::format("'{}': '{}' is not a whole number", key, value->text));
    return read;
  }
  std::optional<Bytes> bytes(const YamlNode& node, std::string_view key) {
    const YamlNode* value = scalar(node, key);
    if (value == nullptr) return std::nullopt;
    const auto read = parse_bytes(value->text);
    if (!read)
      fault(value->place,
            fmt::format("'{}': '{}' is not a size; write 512m or 448g", key, value->text));
    return read;
  }
  std::optional<bool> flag(const YamlNode& node, std::string_view key) {
    const YamlNode* value = scalar(node, key);
    if (value == nullptr) return std::nullopt;
    if (value->text == "true" || value->text == "false") return value->text == "true";
    fault(value->place, fmt::format("'{}': '{}' is neither true nor false", key, value->text));
    return std::nullopt;
  }
  std::optional<double> price(const YamlNode& node) {
    const YamlNode* value = scalar(node, "price_per_hour");
    if (value == nullptr) return std::nullopt;
    double read = 0;
    const char* end = value->text.data() + value->text.size();
    const auto [stop, failure] = std::from_chars(value->text.data(), end, read);
    if (failure == std::errc{} && stop == end) return read;
    fault(value->place,
          fmt::format("'price_per_hour': '{}' is not a number; write 3.06", value->text));
    return std::nullopt;
  }

  // Reads which types of targets may have the size.
  template <typename Of>
  void read_support(const YamlNode& node, Of& to) {
    const YamlNode* types = list(node, "supported_by");
    if (types == nullptr) return;
    to.for_clusters = to.for_instances = false;
    for (const YamlNode& type : types->items) {
      if (type.text == "amlcompute")
        to.for_clusters = true;
      else if (type.text == "computeinstance")
        to.for_instances = true;
      else
        fault(type.place, fmt::format("'supported_by': '{}' is not a type; write amlcompute or "
                                      "computeinstance",
                                      type.text));
    }
  }

  void add_series(const YamlNode& node) {
    check_keys(node, kKeysOfSeries);
    SizeSeries series;
    series.name = text(node, "name").value_or("");
    series.category = text(node, "category").value_or("");
    series.needs_approval = flag(node, "approval").value_or(false);
    read_support(node, series);
    if (series.name.empty()) return fault(node.place, "a series needs a 'name'");
    if (series_called(series.name) != nullptr)
      return fault(node.place, fmt::format("series {} is there twice", series.name));
    catalogue_.series.push_back(std::move(series));
  }
  const SizeSeries* series_called(const std::string& name) const {
    const auto found = std::find_if(catalogue_.series.begin(), catalogue_.series.end(),
                                    [&](const SizeSeries& one) { return one.name == name; });
    return found == catalogue_.series.end() ? nullptr : &*found;
  }

  void add_size(const YamlNode& node) {
    check_keys(node, kKeysOfSize);
    Size size;
    size.name = text(node, "name").value_or("");
    size.series = text(node, "series").value_or("");
    if (const SizeSeries* series = series_called(size.series)) {
      size.category = series->category;
      size.needs_approval = series->needs_approval;
      size.for_clusters = series->for_clusters;
      size.for_instances = series->for_instances;
    }
    size.category = text(node, "category").value_or(size.category);
    size.needs_approval = flag(node, "approval").value_or(size.needs_approval);
    read_support(node, size);
    read_hardware(node, size);
    size.price_per_hour = price(node);
    size.max_mpi_nodes = number(node, "max_mpi_nodes").value_or(max_mpi_nodes_);
    check_size(node, std::move(size));
  }
  void read_hardware(const YamlNode& node, Size& size) {
    size.vcpus = number(node, "vcpus").value_or(0);
    size.memory = bytes(node, "memory").value_or(Bytes{});
    size.gpus = number(node, "gpus").value_or(0);
    size.gpu_name = text(node, "gpu_name").value_or("");
    size.gpu_memory = bytes(node, "gpu_memory").value_or(Bytes{});
    size.ib_gbps = number(node, "ib_gbps").value_or(0);
    size.rdma = flag(node, "rdma").value_or(size.ib_gbps > 0);
    size.isolated = flag(node, "isolated").value_or(false);
  }
  void check_size(const YamlNode& node, Size size) {
    for (const std::string_view key : {"name", "vcpus", "memory"})
      if (at(node, key) == nullptr)
        return fault(node.place, fmt::format("a size needs a '{}'", key));
    if (!faults_.empty()) return;
    if (const Status good = check(size); !good) {
      const std::string& why = good.error().message;
      const YamlNode* value = at(node, std::string_view(why).substr(0, why.find(':')));
      return fault(value == nullptr ? node.place : value->place, why);
    }
    const std::string name = size.name;
    if (!catalogue_.sizes.emplace(size_key(name), std::move(size)).second)
      fault(node.place, fmt::format("size {} is there twice", name));
  }

  const Source& source_;
  Faults& faults_;
  SizeCatalogue catalogue_;
  int max_mpi_nodes_ = 0;
};

}  // namespace

Result<SizeCatalogue> parse_sizes(const std::string& name, std::string_view text,
                                  const std::vector<std::string>& overrides) {
  const Source source{name, without_mark(text), "a file of sizes",
                      "a 'name', 'vcpus' and 'memory'"};
  TRY_ASSIGN(YamlNode root, parse_yaml(source));
  Faults faults;
  for (const auto& assignment : overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  SizeCatalogue catalogue = SizeReader(source, faults).read(root);
  TRY(faults.status());
  return catalogue;
}

Result<SizeCatalogue> load_sizes(const std::string& path,
                                 const std::vector<std::string>& overrides) {
  TRY_ASSIGN(const NamedText file, read_named_text(path, Bytes{kMaxFileBytes + 1}));
  return parse_sizes(file.name, file.text, overrides);
}

Result<SizeCatalogue> builtin_sizes() { return parse_sizes("sizes.yml", kSizesText); }

}  // namespace lockstep::spec
