#include "common/grammar/image_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace lockstep {

namespace {

constexpr std::string_view kForm = "[HOST[:PORT]/]NAME[:TAG][@sha256:…]";
constexpr std::size_t kMaxTagBytes = 128;
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kShortIdDigits = 12;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

bool all_of(std::string_view text, bool (*holds)(char)) {
  return std::all_of(text.begin(), text.end(), holds);
}

// Whether a text is lower-case letters and digits, separated by one '.', one or two '_', or any
// number of '-'.
bool is_component(std::string_view text) {
  const auto is_end = [](char c) { return is_lower(c) || is_digit(c); };
  if (text.empty() || !is_end(text.front()) || !is_end(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_end(text[i])) {
      ++i;
      continue;
    }
    const auto end = std::min(text.find_first_not_of(text[i], i), text.size());
    const std::size_t most = text[i] == '.' ? 1 : text[i] == '_' ? 2 : text[i] == '-' ? end : 0;
    if (end - i > most || !is_end(text[end])) return false;
    i = end;
  }
  return true;
}

// "localhost", "registry.example.com", "[fd00::1]".
bool is_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']'))
    return text.size() > 2 && all_of(text.substr(1, text.size() - 2), [](char c) {
             return is_hex(c) || (c >= 'A' && c <= 'F') || c == ':';
           });
  const auto good = [](char c) { return is_word(c) || c == '.' || c == '-'; };
  return !text.empty() && all_of(text, good) && is_word(text.front()) && is_word(text.back());
}

class Name {
 public:
  explicit Name(std::string_view image) : image_(image), rest_(image) {}

  Status check() {
    TRY(check_characters());
    TRY(check_short_id());
    TRY(take_digest());
    TRY(take_host());
    TRY(take_tag());
    if (host_.size() + 1 + rest_.size() > kMaxImageNameBytes)
      return wrong(fmt::format("is longer than {} characters", kMaxImageNameBytes));
    return check_path();
  }

 private:
  Error wrong(std::string_view why) const {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' {}", image_, why));
  }

  Status check_characters() const {
    if (image_.empty()) return wrong(fmt::format("is not an image's name; write {}", kForm));
    if (std::any_of(image_.begin(), image_.end(),
                    [](unsigned char c) { return std::isspace(c) != 0 || std::iscntrl(c) != 0; }))
      return wrong(
          fmt::format("contains a blank or a control character; an image's name is {}", kForm));
    if (image_.starts_with('-'))
      return wrong(
          "begins with '-' like an option; write options of the container engine in "
          "resources.docker_args");
    if (const auto scheme = image_.find("://"); scheme != std::string_view::npos)
      return wrong(fmt::format("is an address; write the name alone: {}",
                               scheme + 3 == image_.size() ? kForm : image_.substr(scheme + 3)));
    return {};
  }

  // Refuses a short id as `docker images` prints it: an engine would read it as an id, a registry
  // as a name.
  Status check_short_id() const {
    const bool is_id =
        image_.size() >= kShortIdDigits && image_.size() < kHexDigits && all_of(image_, is_hex);
    if (!is_id) return {};
    return wrong(
        fmt::format("may be an id, which only one engine knows; write the image's name (if this is "
                    "the name: {}:latest)",
                    image_));
  }

  Status take_digest() {
    const auto at = rest_.find('@');
    if (at == std::string_view::npos) return {};
    const std::string_view digest = rest_.substr(at + 1);
    rest_ = rest_.substr(0, at);
    constexpr std::string_view kAlgorithm = "sha256:";
    if (digest.starts_with(kAlgorithm) && digest.size() == kAlgorithm.size() + kHexDigits &&
        all_of(digest.substr(kAlgorithm.size()), is_hex))
      return {};
    return wrong(fmt::format(
        "has the digest '{}', which must be sha256: and {} hexadecimal digits (0-9, a-f)", digest,
        kHexDigits));
  }

  // Takes the first part of the name, if it cannot be part of a path.
  Status take_host() {
    const auto slash = rest_.find('/');
    if (slash == std::string_view::npos) return {};
    const std::string_view first = rest_.substr(0, slash);
    const bool is_place =
        first == "localhost" || first.find_first_of(".:[") != std::string_view::npos;
    if (!is_place) return {};
    host_ = first;
    rest_.remove_prefix(slash + 1);
    const auto colon = first.ends_with(']') ? std::string_view::npos : first.rfind(':');
    if (colon != std::string_view::npos) {
      const std::string_view port = first.substr(colon + 1);
      const bool good = !port.empty() && port.size() <= 5 && all_of(port, is_digit) &&
                        std::stoi(std::string(port)) <= 65535;
      if (!good) return wrong(fmt::format("has the port '{}', which is not a port number", port));
    }
    if (is_host(first.substr(0, colon))) return {};
    return wrong(fmt::format("has the registry '{}', which is not a valid host", first));
  }

  Status take_tag() {
    const auto colon = rest_.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view tag = rest_.substr(colon + 1);
    rest_ = rest_.substr(0, colon);
    if (rest_ == "sha256" && host_.empty())
      return wrong("is an id, which only one engine knows; write the image's name");
    const auto good = [](char c) { return is_word(c) || c == '_' || c == '.' || c == '-'; };
    if (!tag.empty() && tag.size() <= kMaxTagBytes && all_of(tag, good) && tag[0] != '.' &&
        tag[0] != '-')
      return {};
    return wrong(
        fmt::format("has the tag '{}', which must be 1 to {} letters, digits, '_', '.' or '-', and "
                    "not begin with '.' or '-'",
                    tag, kMaxTagBytes));
  }

  Status check_path() const {
    if (std::any_of(rest_.begin(), rest_.end(), is_upper)) {
      std::string lower(rest_);
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return wrong(fmt::format(
          "has upper-case letters, which an image's name cannot have; write {}", lower));
    }
    if (is_lockstep_image(image_))
      return wrong(
          "is a name that nodes give to what they built for a job, and never another job's; write "
          "the name of the image that it was built from");
    if (host_.empty() && rest_.size() == kHexDigits && all_of(rest_, is_hex))
      return wrong("is an id, which only one engine knows; write the image's name");
    for (std::size_t from = 0; from <= rest_.size();) {
      const auto slash = std::min(rest_.find('/', from), rest_.size());
      const std::string_view part = rest_.substr(from, slash - from);
      if (part.empty())
        return wrong(fmt::format("has an empty part; an image's name is {}", kForm));
      if (!is_component(part))
        return wrong(
            fmt::format("has the part '{}'; parts are lower-case letters and digits, with single "
                        "'.', '_', '__' or '-' between them",
                        part));
      from = slash + 1;
    }
    return {};
  }

  const std::string_view image_;
  std::string_view rest_;
  std::string_view host_;
};

}  // namespace

Status check_image_name(std::string_view image) { return Name(image).check(); }

bool is_lockstep_image(std::string_view image) {
  constexpr std::array<std::string_view, 5> kHosts{"", "docker.io/", "index.docker.io/",
                                                   "registry-1.docker.io/", "localhost/"};
  constexpr std::string_view kOurs = "lockstep/env";
  return std::any_of(kHosts.begin(), kHosts.end(), [&](std::string_view host) {
    if (!image.starts_with(host) || !image.substr(host.size()).starts_with(kOurs)) return false;
    const std::string_view rest = image.substr(host.size() + kOurs.size());
    return rest.empty() || rest[0] == ':' || rest[0] == '@';
  });
}

std::string tagged_image_name(std::string_view image) {
  // A ':' before the last '/' is of the host's port.
  const std::string_view last = image.substr(image.rfind('/') + 1);
  const bool is_whole = last.find_first_of(":@") != std::string_view::npos;
  return fmt::format("{}{}", image, is_whole ? "" : ":latest");
}

std::string full_image_name(const std::string& image) {
  if (image.starts_with("sha256:")) return image;
  const auto slash = image.find('/');
  if (slash == std::string::npos) return "docker.io/library/" + image;
  const std::string_view first = std::string_view(image).substr(0, slash);
  const bool is_host = first.find_first_of(".:") != std::string_view::npos || first == "localhost";
  return is_host ? image : "docker.io/" + image;
}

std::string normal_image_name(std::string_view image) {
  const auto at = image.find('@');
  const std::string_view digest = at == image.npos ? std::string_view() : image.substr(at);
  std::string name = full_image_name(std::string(image.substr(0, at)));
  if (const auto slash = name.find('/'); name.compare(0, slash, "index.docker.io") == 0)
    name.replace(0, slash, "docker.io");
  constexpr std::string_view kHub = "docker.io/";
  if (name.starts_with(kHub) && name.find('/', kHub.size()) == name.npos)
    name.insert(kHub.size(), "library/");
  if (digest.empty()) return tagged_image_name(name);
  const auto last = name.rfind('/') + 1;  // a ':' before the last '/' is of the host's port
  if (const auto colon = name.find(':', last); colon != name.npos) name.resize(colon);
  return name.append(digest);
}

}  // namespace lockstep
