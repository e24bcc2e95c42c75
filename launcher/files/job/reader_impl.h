#pragma once
// Reads one job from YAML, section by section.

#include "launcher/files/job/reader.h"

#include "launcher/files/yaml/known_word.h"

namespace lockstep::spec {

class JobReader {
 public:
  JobReader(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults)
      : source_(source), root_(std::move(root)), read_text_(read_text), faults_(faults) {}
  void be_step(StepPorts ports, ReadEnvironments& environments) {
    step_ = std::move(ports);
    environments_ = &environments;
  }

  ReadJob read();
  ReadJob read_head();

 private:
  const YamlNode* at(std::string_view path) const;  // nullptr: absent, or null
  Error error(const Place& place, std::string_view message) const {
    return source_.error(place, message);
  }

  std::string text(std::string_view path) const;
  std::optional<int> number(std::string_view path) const;
  Result<std::string> word(std::string_view path) const { return word_of(*at(path), path, path); }
  // `words`: the key of the allowed words in known_words(); `shown`: the key's path for people.
  Result<std::string> word_of(const YamlNode& node, std::string_view words,
                              std::string_view path) const {
    return known_word(source_, node, words, path);
  }
  std::map<std::string, std::string> text_map(std::string_view path) const;

  void fill_texts(ReadJob& job) const;
  void fill_ports(ReadJob& job);
  void fill_outputs(ReadJob& job) const;
  void fill_kept(JobSpec& spec) const;
  void fill_command(JobSpec& spec) const;
  void fill_compute(ReadJob& job) const;
  void fill_distribution(JobSpec& spec) const;
  void fill_limits(LimitRequest& limits) const;
  void fill_signal(const YamlNode& section, StopPolicy& stop) const;
  void fill_resources(JobSpec& spec) const;
  void fill_includes(ReadJob& job) const;
  static void take_inputs(ReadInputs inputs, ReadJob& job);
  void fill_inputs(ReadJob& job) const;
  void fill_terminal(JobSpec& spec) const;
  void fill_troubles(JobSpec& spec) const;
  void fill_metrics(JobSpec& spec) const;
  void fill_retry(JobSpec& spec) const;
  void fill_queue(ReadJob& job) const;
  void fill_environment(ReadJob& job) const;
  void warn_of_ignored(ReadJob& job) const;
  // Warns of variables that no shell replaces, because there is no shell.
  void warn_of_unreplaced(ReadJob& job) const;
  void validate_whole(const JobSpec& spec) const;
  void note_places(ReadJob& job) const;
  Place place_of(std::string_view path) const;
  // Adds a fault: the value at this path is wrong.
  void fault(std::string_view path, const Place& place, const Error& error) const {
    faults_.add(place, error);
    faults_.mark_faulty(path);
  }
  void fault(std::string_view path, const Place& place, std::string_view message) const {
    fault(path, place, error(place, message));
  }
  // The value, or nullopt behind a fault of this path.
  template <typename T>
  std::optional<T> good(std::string_view path, Result<T> read) const {
    if (read) return *std::move(read);
    fault(path, place_of(path), std::move(read).error());
    return std::nullopt;
  }

  const Source& source_;
  YamlNode root_;
  const ReadText& read_text_;
  Faults& faults_;
  std::optional<StepPorts> step_;
  ReadEnvironments* environments_ = nullptr;  // only for a step
};

}  // namespace lockstep::spec
