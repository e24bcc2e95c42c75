#include "launcher/files/pipeline/component_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/quoted_name.h"
#include "common/domain/data/asset.h"
#include "common/io/file_system.h"
#include "launcher/files/job/code_folder.h"
#include "launcher/files/pipeline/pipeline_reader.h"
#include "launcher/files/yaml/parsed.h"

namespace lockstep::spec {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;

constexpr const char* kStep = "component";  // name of the step with which the component is checked

// Makes the path relative to the working directory, so that absolute paths inside the file can be
// noticed.
std::string from_here(const std::string& path) {
  if (!path.starts_with('/')) return path;
  std::error_code failure;
  const fs::path here = fs::current_path(failure);
  return failure ? path : fs::path(path).lexically_normal().lexically_relative(here).string();
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  std::string full = fs::absolute(path, failure).lexically_normal().string();
  while (full.size() > 1 && full.ends_with('/')) full.pop_back();
  return full;
}

YamlNode scalar(const std::string& text, const Place& place) {
  YamlNode node;
  node.kind = Kind::scalar;
  node.text = text;
  node.place = place;
  return node;
}
YamlNode mapping(std::vector<YamlEntry> entries, const Place& place) {
  YamlNode node;
  node.kind = Kind::mapping;
  node.place = place;
  node.entries = std::move(entries);
  return node;
}

// Makes a valid value for the input, with which the component is checked.
YamlNode sample_of(const Port& port) {
  if (port.is_data())
    return mapping({{"type", port.place, scalar(std::string(port.type_word()), port.place)},
                    {"path", port.place, scalar("azureml:sample:1", port.place)}},
                   port.place);
  std::string text = "sample";
  switch (std::get<LiteralType>(port.type)) {
    case LiteralType::string: break;
    case LiteralType::boolean: text = "true"; break;
    case LiteralType::number:
    case LiteralType::integer: text = port.least ? *port.least : port.most.value_or("1"); break;
  }
  if (!port.choices.empty()) text = port.choices.front();
  return scalar(text, port.place);
}

class ComponentFileReader {
 public:
  ComponentFileReader(const std::string& path, std::string_view text, const FindComponent& find)
      : source_(source_of(path, text)),
        find_(find),
        read_text_([this](const std::string& name) { return note(name); }),
        find_fixed_([this](const AssetReference& reference) { return find_fixed(reference); }),
        components_(source_, read_text_, find_fixed_, faults_) {}

  Result<ComponentFile> read(const ComponentOptions& options) {
    TRY_ASSIGN(const YamlNode root, parse_yaml(source_));
    read_texts(root, options);
    const YamlNode own = scalar(fs::path(source_.name).filename().string(), root.place);
    if (const Component* component = components_.read(own)) {
      file_.asset.component =
          component->kind == JobKind::pipeline ? ComponentType::pipeline : ComponentType::command;
      check(*component, own);
    }
    TRY(faults_.status());
    set_root();
    if (const Status valid = validate(file_.asset); !valid)
      return source_.error(root.place, valid.error().message, valid.error().code);
    return std::move(file_);
  }

 private:
  static Source source_of(const std::string& path, std::string_view text) {
    Source source{path, without_mark(text), "a component file"};
    source.is_registered = true;
    return source;
  }
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }

  // ---- what it is called -----------------------------------------------------------------------
  void read_texts(const YamlNode& root, const ComponentOptions& options) {
    RegisteredAsset& asset = file_.asset;
    const auto text = [&](const std::string& key) -> std::string {
      for (const auto& [name, value] : options.values)
        if (name == key) return value;
      const YamlEntry* entry = root.find(key);
      if (entry == nullptr || entry->value.kind == Kind::null) return "";
      if (entry->value.kind == Kind::scalar) return entry->value.text;
      fault(entry->value.place,
            fmt::format("'{}' must be a single value, not {}", key, describe(entry->value.kind)));
      return "";
    };
    asset.name = text("name");
    asset.version = text("version");
    asset.description = text("description");
    asset.path = source_.name;
    if (asset.name.empty()) fault(root.place, "needs a name: write 'name', or give --name");
    if (const YamlEntry* tags = root.find("tags")) read_tags(tags->value);
    for (const auto& [key, value] : options.tags) asset.tags[key] = value;
  }

  void read_tags(const YamlNode& tags) {
    if (tags.kind != Kind::mapping && tags.kind != Kind::null)
      return fault(tags.place, fmt::format("'tags' must be a mapping of keys to values, not {}",
                                           describe(tags.kind)));
    for (const YamlEntry& tag : tags.entries) {
      if (tag.value.kind == Kind::mapping || tag.value.kind == Kind::sequence)
        fault(tag.value.place, fmt::format("'tags.{}' must be a single value, not {}", tag.key,
                                           describe(tag.value.kind)));
      else
        file_.asset.tags[tag.key] = tag.value.text;
    }
  }

  // ---- what it needs ---------------------------------------------------------------------------
  Result<std::string> note(const std::string& path) {
    if (path.starts_with('/') && !is_fetched(path))
      return make_error(ErrorCode::unsupported,
                        fmt::format("{} is an absolute path, which another machine does not have; "
                                    "write it relative to the file that names it",
                                    path));
    TRY_ASSIGN(std::string text, read_regular_text_file(path));
    if (!is_fetched(path)) files_.insert(absolute(path));
    return text;
  }

  // Whether the file belongs to a registered component; such files are not moved.
  bool is_fetched(const std::string& path) const {
    return std::any_of(fetched_.begin(), fetched_.end(),
                       [&](const std::string& folder) { return path.starts_with(folder + "/"); });
  }

  Result<FoundComponent> find_fixed(const AssetReference& reference) {
    if (reference.version.empty())
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("a registered component names the version of another one: "
                                    "write azureml:{}:VERSION",
                                    reference.name));
    if (!find_)
      return make_error(ErrorCode::unsupported, "registered components are not looked up here");
    TRY_ASSIGN(FoundComponent found, find_(reference));
    fetched_.insert(found.folder);
    return found;
  }

  // Checks the component as a step of a pipeline that gives it values.
  void check(const Component& component, const YamlNode& own) {
    std::vector<YamlEntry> inputs;
    for (const Port& port : component.inputs)
      if (!port.optional && !port.fallback)
        inputs.push_back({port.name, port.place, sample_of(port)});
    const Place& at = own.place;
    YamlNode step =
        mapping({{"component", at, own}, {"inputs", at, mapping(std::move(inputs), at)}}, at);
    YamlNode jobs = mapping({{kStep, at, std::move(step)}}, at);
    YamlNode root =
        mapping({{"type", at, scalar("pipeline", at)}, {"jobs", at, std::move(jobs)}}, at);
    ReadPipeline read = read_pipeline(source_, std::move(root), components_, read_text_, faults_);
    file_.notes = std::move(read.job.notes);
    for (std::size_t i = 0; i < read.steps.size(); ++i)
      take_files(read.steps[i], read.pipeline.steps[i].spec);
  }

  void take_files(ReadJob& step, JobSpec& spec) {
    if (step.code && is_named_by_own(step.code_place, *step.code, "code")) {
      const Status found = find_code(source_, step);
      faults_.add(step.code_place, found);
      if (found) {
        const bool is_file = !fs::is_directory(*step.code);
        (is_file ? files_ : sources_).insert(absolute(*step.code));
      }
    }
    take_includes(step);
    if (step.build && !is_fetched(step.build->path)) take_build(step);
    for (LocalData& local : step.local_data) {
      if (!local.url.empty() || !is_named_by_own(local.place, local.path, "path")) continue;
      for (DataInput& input : spec.data)
        if (input.name == local.name) take_data(local, input);
    }
  }

  // Whether a component itself names a file. False after an error, and for files that a registered
  // component names, because they have been stored already.
  bool is_named_by_own(const Place& place, const std::string& written, std::string_view key) {
    if (is_fetched(source_.of(place).name)) return false;
    if (!written.starts_with('/')) return true;
    fault(place, fmt::format("'{}': {} is an absolute path, which another machine does not have; "
                             "write it relative to this file",
                             key, written));
    return false;
  }

  void take_includes(ReadJob& step) {
    std::erase_if(step.includes, [&](const Include& include) {
      return !is_named_by_own(include.place, include.path, "additional_includes");
    });
    const Status found = find_includes(source_, step);
    faults_.add(step.code_place, found);
    if (!found) return;
    for (const Include& include : step.includes)
      (fs::is_directory(include.path) ? sources_ : files_).insert(absolute(include.path));
  }

  void take_build(const ReadJob& step) {
    const Status found =
        step.build->path.starts_with('/')
            ? Status(make_error(ErrorCode::unsupported,
                                step.build->where + ": an absolute path, which another machine "
                                                    "does not have; write it relative to the file"))
            : find_build(*step.build);
    faults_.add(step.code_place, found);
    if (found) folders_.insert(absolute(step.build->path));
  }

  void take_data(LocalData& local, DataInput& input) {
    const Status found = find_data(source_, local, input);
    faults_.add(local.place, found);
    if (!found || input.mode == InputMode::direct) return;
    (input.file.empty() ? folders_ : files_).insert(absolute(local.path));
  }

  // ---- where it is -----------------------------------------------------------------------------
  void set_root() {
    const std::string own = absolute(source_.name);
    fs::path root = fs::path(own).parent_path();
    const auto widen = [&](const fs::path& folder) {
      while (!is_in(folder, root)) root = root.parent_path();
    };
    for (const std::string& file : files_) widen(fs::path(file).parent_path());
    for (const auto* all : {&sources_, &folders_})
      for (const std::string& folder : *all) widen(folder);
    file_.root = root.string();
    const auto below = [&](const std::string& path) {
      const std::string relative = fs::path(path).lexically_relative(root).string();
      return relative == "." ? std::string() : relative;
    };
    file_.asset.file = below(own);
    for (const std::string& file : files_) file_.files.push_back(below(file));
    for (const std::string& folder : sources_) file_.sources.push_back(below(folder));
    for (const std::string& folder : folders_) file_.folders.push_back(below(folder));
  }
  static bool is_in(const fs::path& path, const fs::path& folder) {
    const auto [mine, end] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return mine == folder.end();
  }

  const Source source_;
  const FindComponent& find_;
  const ReadText read_text_;
  const FindComponent find_fixed_;
  Faults faults_;
  ComponentReader components_;
  ComponentFile file_;
  std::set<std::string> files_, sources_, folders_;  // absolute paths
  std::set<std::string> fetched_;                    // folders of registered components
};

}  // namespace

Result<ComponentFile> load_component(const std::string& path, const ComponentOptions& options,
                                     const FindComponent& find) {
  if (path == "-")
    return make_error(ErrorCode::unsupported,
                      "-f -: a component is kept together with its file, and standard input has "
                      "none; write it into a file, and name the file");
  TRY_ASSIGN(const std::string text, read_regular_text_file(path));
  ComponentFileReader reader(from_here(path), text, find);
  TRY_ASSIGN(ComponentFile file, reader.read(options));
  file.asset.path = path;
  return file;
}

Status check_is_inside(const std::string& folder, const ComponentFile& copy) {
  std::error_code failure;
  const std::string bound = fs::canonical(folder, failure).string();
  for (const auto* all : {&copy.files, &copy.sources, &copy.folders})
    for (const std::string& path : *all) {
      const std::string named = path.empty() ? copy.root : copy.root + "/" + path;
      const std::string real = fs::canonical(named, failure).string();
      if (!failure && (real == bound || real.starts_with(bound + "/"))) continue;
      return make_error(
          ErrorCode::permission_denied,
          fmt::format("it names {}, which is not one of its own files", quoted_name(named)));
    }
  return {};
}

}  // namespace lockstep::spec
