#pragma once
// The runner's end of one attachment, as decision 078 has it, without a process.

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/runners/attach_frames.h"

namespace lockstep::cli {

// A runner as decision 078 has it. Its program is `cat`, or writes `output` and reads nothing.
class FakeRunner {
 public:
  using Send = std::function<void(AttachBody)>;
  explicit FakeRunner(Send send) : send_(std::move(send)) {}

  void on(const AttachBody& body) {
    ++heard;
    if (const auto* open = std::get_if<AttachOpen>(&body)) on_open(*open);
    if (const auto* data = std::get_if<AttachData>(&body)) on_data(*data);
    if (const auto* taken = std::get_if<AttachTaken>(&body)) on_taken(*taken);
    if (const auto* resize = std::get_if<AttachResize>(&body)) size = resize->size;
    if (const auto* notify = std::get_if<AttachNotify>(&body)) signals.push_back(notify->number);
    if (std::holds_alternative<AttachAlive>(body)) send_(AttachAlive{});
    if (std::holds_alternative<AttachClose>(body)) closed = true;
  }

  std::string input, output;
  bool reads = true;  // else its pipe is full
  bool is_cat = true;
  bool input_ended = false, closed = false;
  int starts = 0, openings = 0, heard = 0;
  std::uint64_t most_ahead = 0;  // of bytes that were sent and not taken
  TerminalSize size;
  std::vector<int> signals;

 private:
  void on_open(const AttachOpen& open) {
    ++openings;
    if (starts == 0 && open.again) return send_(AttachRefused{"it is unknown", false});
    if (starts == 0) ++starts;
    taken_ = std::max(taken_, open.have_output);
    sent_ = taken_;  // a late opening may say less
    send_(AttachOpened{{JobId("j"), 1}, 0, 0, "n1", input.size()});
    pump();
  }
  void on_data(const AttachData& data) {
    if (!reads || data.offset > input.size()) return;
    const std::uint64_t had = input.size() - data.offset;
    if (had < data.bytes.size()) input.append(data.bytes, had);
    if (data.end && data.offset + data.bytes.size() == input.size()) input_ended = true;
    if (is_cat) output = input;
    send_(AttachTaken{AttachStream::input, input.size()});
    pump();
  }
  void on_taken(const AttachTaken& taken) {
    taken_ = std::max(taken_, taken.offset);
    sent_ = std::max(sent_, taken_);
    pump();
  }
  void pump() {
    while (sent_ < output.size() && sent_ < taken_ + kAttachWindow) {
      const std::size_t room = std::min(kMaxAttachData, taken_ + kAttachWindow - sent_);
      AttachData data{AttachStream::output, sent_, output.substr(sent_, room), false};
      sent_ += data.bytes.size();
      most_ahead = std::max(most_ahead, sent_ - taken_);
      send_(std::move(data));
    }
    if (is_cat && input_ended && sent_ == output.size()) send_(AttachEnd{3, "", output.size(), 0});
  }

  Send send_;
  std::uint64_t sent_ = 0, taken_ = 0;
};

}  // namespace lockstep::cli
