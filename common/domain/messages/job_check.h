#pragma once
// Messages to have a job file checked without submitting it. The launcher parses it with the same
// reader as the command line (launcher/files), and also checks it against its own state.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/table.h"
#include "common/domain/job/spec.h"
#include "common/domain/messages/client_limits.h"

namespace lockstep {

inline constexpr std::size_t kMaxJobFileOverrides = 1'000;
inline constexpr std::size_t kMaxJobFileFiles = 256;
inline constexpr std::size_t kMaxJobFilePlaces = 1'000;
inline constexpr std::size_t kMaxJobFileNameBytes = 4'096;
inline constexpr std::size_t kMaxJobFileLines = 10'000;  // the most lines of errors, and the most
                                                         // lines of notes

inline constexpr Rule kJobFileLinesRule{.count = kMaxJobFileLines, .cut = Cut::middle};

struct CheckJobFile {  // answered by JobFileChecked
  static constexpr int kBody = 270;
  std::string name;  // the file's name, with which errors begin: "job.yml"
  std::string text;
  std::vector<std::string> overrides = {};  // "k.l=v", applied in order
  // Files of components and environments that it names, keyed by the path that the reader asks for:
  // the folder of `name` and the file's path relative to it. A file that is not in here counts as
  // missing.
  std::map<std::string, std::string> files = {};
  // The registered components in the file, as to_string gives them: the path of each component's
  // file in `files`.
  std::map<std::string, std::string> components = {};
  bool wait_anyway = false;  // the same field as in Submit
  // True: the client has printed the reader's faults, so the answer has only the launcher's faults
  // in the parts that could be read.
  bool faults_are_said = false;
  // In place of `text`: a job without a file, with the name of an environment that is not resolved,
  // and where its parts come from: key of a job file -> "--name night".
  std::optional<JobSpec> spec = {};
  std::string environment = {};
  std::map<std::string, std::string> places = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, {.bytes = kMaxJobFileNameBytes});
    see(field<2>, "text", s.text, {.bytes = kMaxUserMessageBytes});
    see(field<3>, "overrides", s.overrides, {.count = kMaxJobFileOverrides});
    see(field<4>, "files", s.files, {.count = kMaxJobFileFiles});
    see(field<5>, "components", s.components, {.count = kMaxJobFileFiles});
    see(field<6>, "wait_anyway", s.wait_anyway);
    see(field<7>, "faults_are_said", s.faults_are_said);
    see(field<8>, "spec", s.spec);
    see(field<9>, "environment", s.environment);
    see(field<10>, "places", s.places, {.count = kMaxJobFilePlaces});
  }
  friend bool operator==(const CheckJobFile&, const CheckJobFile&) = default;
};

struct JobFileChecked {
  static constexpr int kBody = 271;
  // The job that would be submitted, without its snapshot; absent: there are errors.
  std::optional<JobSpec> spec = {};
  std::string code = {};                 // the code folder as written; it is not checked here
  std::vector<std::string> errors = {};  // the lines that `lockstep job create` prints, with their
                                         // places
  std::vector<std::string> notes = {};   // harmless remarks
  // The request was read as a whole; false of launchers that know neither `faults_are_said` nor
  // `spec`.
  bool knows_parts = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "code", s.code);
    see(field<3>, "errors", s.errors, kJobFileLinesRule);
    see(field<4>, "notes", s.notes, kJobFileLinesRule);
    see(field<5>, "knows_parts", s.knows_parts);
  }
  friend bool operator==(const JobFileChecked&, const JobFileChecked&) = default;
};

}  // namespace lockstep
