#pragma once
// Checks the shape of a job file, a step or a component: which keys it may have, and the kind of
// each key's value. job/reader.cc interprets the values. Errors begin as those of Source::error,
// and name the key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

inline constexpr std::string_view kMemoryKey = "lockstep.resources.memory";

// Whether a number may be an expression that is replaced later, ${{parent.inputs.n}}.
enum class Numbers { as_written, may_be_bound };

// Adds each fault to `faults` and removes the faulty entry from the tree. The rest of the tree has
// the shape that the table describes.
void check_shapes(const Source& source, YamlNode& root, Faults& faults,
                  const KeyTable& table = job_keys(), Numbers numbers = Numbers::as_written);

// Adds one note for each key at the top that is read and has no effect: "job.yml:3:1: 'identity'
// has no effect: …".
void add_notes_on_unused(const Source& source, const YamlNode& root, const KeyTable& table,
                         std::vector<std::string>& notes);

// Whether a value is empty. azure-ai-ml writes empty keys that the job does not use: `properties:
// {}`, `services: null`.
bool is_empty(const YamlNode& node);

// The unsupported error "WHAT is not supported yet".
Error not_yet(const Source& source, const Place& place, std::string_view what);

// A key's path in its file: "resources.shm_size"; the key itself at the top.
std::string join(std::string_view section, std::string_view key);

std::optional<int> to_whole_number(const std::string& text);

}  // namespace lockstep::spec
