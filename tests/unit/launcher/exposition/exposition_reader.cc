#include "tests/unit/launcher/exposition/exposition_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "common/base/utf8.h"
#include "launcher/exposition/exposition_text.h"

namespace lockstep::launcher::test {
namespace {

// Cuts "\\", "\"" and "\n" out of a text that ends before `end`; nullopt: another escape, or no
// end.
std::optional<std::string> unescaped(std::string_view& text, char end) {
  std::string value;
  while (!text.empty() && text[0] != end) {
    if (text[0] == '\\') {
      if (text.size() < 2) return std::nullopt;
      const char c = text[1];
      if (c != '\\' && c != '"' && c != 'n') return std::nullopt;
      value += c == 'n' ? '\n' : c;
      text.remove_prefix(2);
      continue;
    }
    value += text[0];
    text.remove_prefix(1);
  }
  if (text.empty() && end != '\0') return std::nullopt;
  return value;
}

std::string take_name(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_metric_name(std::string("a") + text[length])) ++length;
  const std::string name(text.substr(0, length));
  text.remove_prefix(length);
  return name;
}

class Reader {
 public:
  Reader(const std::string& text, ExpositionFormat format) : text_(text), format_(format) {}

  ReadExposition read() {
    if (!text_.empty() && text_.back() != '\n') fail("the last line has no end");
    std::string_view rest = text_;
    bool is_over = false;
    while (!rest.empty() && all_.wrong.empty()) {
      const auto end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (is_over) fail("a line follows # EOF");
      if (line == "# EOF" && is_open())
        is_over = true;
      else
        read_line(line);
    }
    if (is_open() && !is_over && all_.wrong.empty()) fail("# EOF is not there");
    for (const ReadFamily& family : all_.families)
      if (all_.wrong.empty()) check(family);
    return std::move(all_);
  }

 private:
  bool is_open() const { return format_ == ExpositionFormat::open_metrics; }
  void fail(const std::string& why) {
    if (all_.wrong.empty()) all_.wrong = why;
  }

  void read_line(std::string_view line) {
    check_characters(line);
    if (line.starts_with("# "))
      read_comment(line.substr(2));
    else
      read_sample(line);
  }
  void check_characters(std::string_view line) {
    for (std::string_view rest = line; !rest.empty();) {
      const Utf8Character character = first_character(rest);
      if (character.length == 0) return fail(fmt::format("no UTF-8 in '{}'", line));
      if (character.code < 0x20) return fail(fmt::format("a control character in '{}'", line));
      rest.remove_prefix(character.length);
    }
  }

  void read_comment(std::string_view line) {
    const std::string kind(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(kind.size() + 1, line.size()));
    const std::string name = take_name(line);
    if (line.empty() || line[0] != ' ') return fail("a comment without a text: " + name);
    line.remove_prefix(1);
    if (kind != "HELP" && kind != "TYPE" && (kind != "UNIT" || !is_open()))
      return fail("a comment of kind " + kind);
    if (all_.families.empty() || all_.families.back().name != name) {
      if (!names_.insert(name).second) return fail("a second family " + name);
      all_.families.emplace_back();
      all_.families.back().name = name;
    }
    ReadFamily& family = all_.families.back();
    if (!family.samples.empty()) return fail("a comment behind samples of " + name);
    std::string& text = kind == "HELP" ? family.help : kind == "TYPE" ? family.type : family.unit;
    if (!text.empty()) return fail("two comments of one kind of " + name);
    const auto value = unescaped(line, '\0');
    if (!value) return fail("a wrong escape in the help of " + name);
    text = *value;
  }

  void read_sample(std::string_view line) {
    ReadSample sample;
    sample.name = take_name(line);
    if (!is_metric_name(sample.name)) return fail("a sample without a name");
    if (line.starts_with('{') && !read_labels(line, sample)) return;
    if (!line.starts_with(' ')) return fail("no value of " + sample.name);
    sample.text = line.substr(1);
    if (!read_value(sample)) return fail("the value of " + sample.name + " is " + sample.text);
    if (all_.families.empty() || !belongs(all_.families.back(), sample.name))
      return fail(sample.name + " belongs to no family");
    std::string key = sample.name;
    for (const auto& [label, value] : sample.labels) key += '\0' + label + '\0' + value;
    if (!series_.insert(key).second) return fail("a series of " + sample.name + " is there twice");
    all_.families.back().samples.push_back(std::move(sample));
  }

  bool read_labels(std::string_view& line, ReadSample& sample) {
    line.remove_prefix(1);
    while (true) {
      const std::string label = take_name(line);
      const bool is_good = is_label_name(label) || label == "le";
      if (!is_good || !line.starts_with("=\"")) {
        fail("a wrong label of " + sample.name);
        return false;
      }
      line.remove_prefix(2);
      const auto value = unescaped(line, '"');
      if (!value || !sample.labels.emplace(label, *value).second) {
        fail("a wrong value of label " + label);
        return false;
      }
      line.remove_prefix(1);
      if (line.starts_with('}')) break;
      if (!line.starts_with(',')) {
        fail("labels of " + sample.name + " without a comma");
        return false;
      }
      line.remove_prefix(1);
    }
    line.remove_prefix(1);
    return true;
  }

  static bool read_value(ReadSample& sample) {
    const std::string& text = sample.text;
    if (text == "NaN" || text == "+Inf" || text == "-Inf") {
      sample.value = text == "NaN" ? NAN : text == "+Inf" ? INFINITY : -INFINITY;
      return true;
    }
    if (text.find_first_not_of("0123456789+-.e") != std::string::npos) return false;
    char* end = nullptr;
    sample.value = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0';
  }

  // The name of the sample without what its family's type puts behind it.
  bool belongs(const ReadFamily& family, const std::string& name) const {
    const auto is = [&](std::string_view end) { return name == family.name + std::string(end); };
    if (family.type == "histogram") return is("_bucket") || is("_sum") || is("_count");
    if (is_open() && family.type == "counter") return is("_total");
    if (is_open() && family.type == "info") return is("_info");
    return is("");
  }

  void check(const ReadFamily& family) {
    if (family.type.empty() || family.help.empty())
      return fail(family.name + " has no type or no help");
    if (!family.unit.empty() && !family.name.ends_with("_" + family.unit))
      return fail(family.name + " does not end with its unit");
    const bool is_counter = family.type == "counter";
    if (!is_open() && is_counter != family.name.ends_with("_total"))
      return fail(family.name + " and _total");
    if (family.type == "histogram") check_histograms(family);
    for (const ReadSample& sample : family.samples) {
      if (is_counter && !(sample.value >= 0)) return fail(sample.name + " is no count");
      if (sample.name.ends_with("_info") && sample.value != 1) return fail("an info is not 1");
    }
  }

  // Buckets in order of their bounds, that grow; the last one is +Inf and the count.
  void check_histograms(const ReadFamily& family) {
    std::map<std::map<std::string, std::string>, std::pair<double, double>> last;  // bound, count
    for (const ReadSample& sample : family.samples) {
      auto labels = sample.labels;
      labels.erase("le");
      const bool is_new = !last.contains(labels);
      auto& [bound, count] = last[labels];
      if (sample.name.ends_with("_bucket")) {
        const std::string& le = sample.labels.at("le");
        if (is_open() && le.find_first_of(".eI") == std::string::npos)
          return fail("a bound that is no floating point number: " + le);
        const double next = le == "+Inf" ? INFINITY : std::strtod(le.c_str(), nullptr);
        if (!is_new && !(next > bound)) return fail("bounds are out of order");
        if (!is_new && sample.value < count) return fail("buckets become less");
        bound = next;
        count = sample.value;
      } else if (sample.name.ends_with("_count") && (bound != INFINITY || sample.value != count)) {
        return fail("the count is not that of the last bucket");
      }
    }
  }

  const std::string& text_;
  const ExpositionFormat format_;
  ReadExposition all_;
  std::set<std::string> names_, series_;
};

}  // namespace

const ReadFamily* ReadExposition::family(std::string_view name) const {
  for (const ReadFamily& one : families)
    if (one.name == name) return &one;
  return nullptr;
}

const ReadSample* ReadExposition::sample(std::string_view name,
                                         const std::map<std::string, std::string>& labels) const {
  const ReadSample* found = nullptr;
  for (const ReadFamily& one : families)
    for (const ReadSample& sample : one.samples) {
      if (sample.name != name || sample.labels != labels) continue;
      if (found != nullptr) return nullptr;
      found = &sample;
    }
  return found;
}

std::size_t ReadExposition::series() const {
  std::size_t count = 0;
  for (const ReadFamily& one : families) count += one.samples.size();
  return count;
}

ReadExposition read_exposition(const std::string& text, ExpositionFormat format) {
  return Reader(text, format).read();
}

}  // namespace lockstep::launcher::test
