#pragma once
// Tables of all known keys of job files and of pipelines: the shape of each key's value, or that
// the key is recognised but not supported yet. Also the words that some keys take, and the known
// key nearest to a misspelt one. It reads no file.

#include <span>
#include <string>
#include <string_view>

namespace lockstep::spec {

enum class Shape {
  text,  // a scalar, as written
  whole_number,
  duration,         // seconds, or 90s, 5m, 2h
  bytes,            // 2g, 512m
  section,          // a mapping with keys of its own in this table
  section_or_word,  // a section, or one of known_words()
  retry_on,         // words and exit codes: see retry_reader.h
  inputs,           // a mapping of names to scalars, or to mappings with keys of this table
  outputs,          // a mapping of names to null, or to mappings with keys of this table
  bound_outputs,    // the same; an output may also be the expression to which it is bound
  text_map,         // a mapping with keys of the user's choice; values are scalars
  words,            // one text, split as a shell does, or a list of words
  lines,            // a list of texts, or the name of a file that has them
  patterns,         // a list of texts, or one: see keep_reader.h
  after,            // names of jobs, or mappings: see queue_reader.h
  conda_file,       // the name of a conda file, or its content as a mapping: see conda_file.h
  environment,      // a name, file:PATH, or a mapping: see environment_reader.h
  anything,         // a mapping with any content
  unused,           // any value; a note tells that it has no effect: see key_notes.h
  unchecked,        // its reader checks it
  not_yet,          // recognised, refused by name
  of_pipeline,      // belongs to the pipeline; refused in its steps
  of_step,          // belongs to each step; refused in the pipeline
  of_job,           // refused in a step, which begins when its inputs are there
};

struct KnownKey {
  std::string_view path;  // dotted; '*' = a key of the user's choice
  Shape shape;
  // For not_yet: what to do instead; "": see key_notes.h. For of_job: why the key is refused; "":
  // because a step begins when its inputs exist.
  std::string_view instead = {};
};

std::span<const KnownKey> known_keys();
const KnownKey* find_key(std::string_view path);

// The keys of one kind of mapping. The keys of `own` come before the keys of `base` with the same
// path.
struct KeyTable {
  std::span<const KnownKey> own;
  std::span<const KnownKey> base = {};
  const KnownKey* find(std::string_view path) const;
};
KeyTable job_keys();
KeyTable step_keys();      // a command step together with its component
KeyTable port_keys();      // `inputs` and `outputs` of a component
KeyTable pipeline_keys();  // a pipeline, also one in a component or a step

// Words that a key takes.
struct KnownWord {
  std::string_view path;
  std::string_view word;
  bool supported;
  std::string_view instead = {};  // what to write instead of a key that is not supported
};
std::span<const KnownWord> known_words();

// The full path of the known key inside `section` ("" = top level) that is nearest to `key` by edit
// distance; otherwise the path of the same key in another section. "": there is neither.
std::string nearest_key(const KeyTable& table, std::string_view section, std::string_view key);
std::string nearest_key(std::string_view section, std::string_view key);  // the same in job_keys()

}  // namespace lockstep::spec
