#pragma once
// The scalars of TensorBoard's event files, read as the files grow. An event file is a TFRecord
// file of Event messages (tensorboard/compat/proto/event.proto); a scalar is a `simple_value`, or a
// tensor without dimensions. Everything else in it is passed over. It does no I/O.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/runs/point.h"
#include "launcher/metrics/sources/record_reader.h"

namespace lockstep::metrics {

// Whether TensorBoard would read a file of this name.
bool is_event_file(std::string_view file_name);

// A metric's name: the folder of the file, as TensorBoard's run, and the tag: "train/loss". `path`
// of the file in the outputs.
std::string name_of_scalar(std::string_view path, std::string_view tag);

class EventFileReader {
 public:
  // `path` in the outputs, for errors and names. `offset`: that of an earlier reader of the same
  // file, which had all before it.
  explicit EventFileReader(std::string path, std::uint64_t offset = 0)
      : path_(std::move(path)), records_(offset) {}

  // Appends to `points` what the next bytes of the file complete. corrupt, with the file and the
  // byte: the rest of the file cannot be read; what came before it is in `points`.
  Status take(std::string_view bytes, std::vector<NamedPoint>* points);

  std::uint64_t offset() const { return records_.offset(); }
  // Records that are no Event, and scalars without a name or with one that is too long.
  std::uint64_t unread() const { return unread_; }

 private:
  void read_event(std::string_view event, std::vector<NamedPoint>* points);
  void read_summary(std::string_view summary, Point at, std::vector<NamedPoint>* points);

  const std::string path_;
  RecordReader records_;
  std::uint64_t unread_ = 0;
};

}  // namespace lockstep::metrics
