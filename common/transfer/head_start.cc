#include "common/transfer/head_start.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "common/transfer/content_queue.h"
#include "common/transfer/piece_sender.h"
#include "common/transfer/questions.h"
#include "common/transfer/request_window.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {
namespace {

// The least size: below it an upload after the capture is as fast, with fewer messages.
constexpr std::uint64_t kWorthwhileBytes = 1u << 20;
constexpr std::size_t kWorthwhileFiles = 64;
constexpr std::uint64_t kBytesPerQuestion = 4u << 20;  // contents; the last has fewer
constexpr std::size_t kProbeFactor = 16;
// The silence after which the capture continues alone, and the submission reports the error.
constexpr Duration kSilence = seconds(15);
constexpr Duration kDialling = seconds(1);

TransferOptions with_short_limits(TransferOptions options) {
  options.give_up_after = std::min(options.give_up_after, kSilence);
  options.send_within = std::min(options.send_within, kDialling);
  return options;
}

// While a tree is still being read, asks the launcher which of the files read so far are missing
// there, and sends those. The first question is about one file only. If the launcher has that file,
// it probably has the whole tree, so the next question waits until 16 times as many files were
// read, and the files in between are not asked about. Once one file is missing, every file is asked
// about.
class HeadStart {
 public:
  HeadStart(io::ClientSocket& socket, ContentQueue& queue, const OnProgress& on_progress,
            const TransferOptions& options)
      : window_(socket, with_short_limits(options)),
        sender_(window_, [this](std::uint64_t raw) { became_durable(raw); }),
        queue_(queue),
        // Less than the room for which readers wait, so that their wait ends.
        bytes_per_question_(std::min(kBytesPerQuestion, options.held_bytes / 4)),
        on_progress_(on_progress) {}

  void wake() { window_.wake(); }  // from any thread
  // Returns when the capture has ended and all its contents have arrived, or earlier with the error
  // that stopped it.
  Status run();
  std::uint64_t durable_bytes() const { return progress_.done_bytes; }

 private:
  void take_in();
  bool is_time_to_ask() const;
  Status ask();
  Status ask_about(std::vector<Digest> digests);
  Status probe();
  void answered(const MissingBlobs& question, const MissingBlobsReply& reply);
  void drop(const Digest& digest);
  void drop_unasked();
  Status send();
  void became_durable(std::uint64_t raw);
  void tell() const {
    if (on_progress_) on_progress_(progress_);
  }

  RequestWindow window_;
  PieceSender sender_;
  ContentQueue& queue_;
  const std::uint64_t bytes_per_question_;
  const OnProgress& on_progress_;
  Progress progress_;
  std::unordered_set<Digest> seen_;
  std::unordered_map<Digest, snapshot::Content> held_;  // until they are sent or not needed
  std::vector<Digest> unasked_, lacking_;
  std::uint64_t unasked_bytes_ = 0;
  std::size_t taken_ = 0, probe_at_ = 0;
  int open_questions_ = 0;
  bool anything_missing_ = false;
};

Status HeadStart::run() {
  for (;;) {
    const bool is_last = queue_.ended();  // read before the queue is emptied
    take_in();
    const bool has_begun = window_.has_open() || window_.was_answered();
    if (queue_.ended_early() || (is_last && !has_begun)) return {};
    while (is_time_to_ask()) TRY(ask());
    TRY(send());
    if (window_.was_answered()) queue_.let_wait();
    if (is_last && !window_.was_answered()) return {};
    if (is_last && open_questions_ == 0 && lacking_.empty() && unasked_.empty()) break;
    const bool is_idle = lacking_.empty() && !is_time_to_ask() && queue_.empty();
    if (is_idle && is_last == queue_.ended()) TRY(window_.wait());
  }
  TRY(sender_.flush());
  return window_.drain();
}

void HeadStart::take_in() {
  for (TakenContent& one : queue_.take_all()) {
    ++taken_;
    const std::uint64_t size = one.content.size;
    if (!seen_.insert(one.digest).second) {
      queue_.give_back(size);
      continue;
    }
    unasked_.push_back(one.digest);
    unasked_bytes_ += size;
    held_.emplace(one.digest, std::move(one.content));
  }
}

bool HeadStart::is_time_to_ask() const {
  if (unasked_.empty()) return false;
  if (anything_missing_)
    return unasked_bytes_ >= bytes_per_question_ || unasked_.size() >= kDigestsPerQuestion ||
           queue_.ended();
  if (open_questions_ > 0) return false;
  return probe_at_ > 0 || unasked_bytes_ >= std::min(kWorthwhileBytes, bytes_per_question_) ||
         unasked_.size() >= kWorthwhileFiles;
}

Status HeadStart::ask() {
  if (anything_missing_) {
    unasked_bytes_ = 0;
    // More than one question covers everything that was read while the first answer was awaited.
    return in_questions(std::exchange(unasked_, {}),
                        [this](std::vector<Digest> part) { return ask_about(std::move(part)); });
  }
  if (taken_ >= probe_at_) return probe();
  drop_unasked();
  return {};
}

Status HeadStart::probe() {
  // The largest file, because small files are equal in many trees.
  const auto size_of = [&](const Digest& digest) { return held_.at(digest).size; };
  const auto largest = std::max_element(
      unasked_.begin(), unasked_.end(),
      [&](const Digest& one, const Digest& other) { return size_of(one) < size_of(other); });
  const Digest digest = *largest;
  unasked_bytes_ -= size_of(digest);
  unasked_.erase(largest);
  return ask_about({digest});
}

Status HeadStart::ask_about(std::vector<Digest> digests) {
  ++open_questions_;
  const MissingBlobs question{std::move(digests)};
  return window_.request(question, question.digests.size() * sizeof(Digest),
                         [this, question](BulkMessage& answer) -> Result<bool> {
                           const auto* reply = std::get_if<MissingBlobsReply>(&answer);
                           if (reply == nullptr) return false;
                           answered(question, *reply);
                           return true;
                         });
}

void HeadStart::answered(const MissingBlobs& question, const MissingBlobsReply& reply) {
  --open_questions_;
  const std::unordered_set<Digest> missing(reply.missing.begin(), reply.missing.end());
  for (const Digest& digest : question.digests) {
    if (missing.count(digest) == 0) {
      drop(digest);
      continue;
    }
    lacking_.push_back(digest);
    progress_.total_bytes += held_.at(digest).size;
  }
  if (!missing.empty()) anything_missing_ = true;
  if (anything_missing_) return tell();
  probe_at_ = taken_ * kProbeFactor;
  drop_unasked();
}

void HeadStart::drop(const Digest& digest) {
  const auto found = held_.find(digest);
  queue_.give_back(found->second.size);
  held_.erase(found);
}

void HeadStart::drop_unasked() {
  for (const Digest& digest : unasked_) drop(digest);
  unasked_.clear();
  unasked_bytes_ = 0;
}

Status HeadStart::send() {
  for (const Digest& digest : std::exchange(lacking_, {})) {
    TRY(sender_.add_blob(digest, held_.at(digest).view()));
    drop(digest);
  }
  return {};
}

void HeadStart::became_durable(std::uint64_t raw) {
  progress_.done_bytes += raw;
  tell();
}

// Tells the head start, once it exists, that contents have come or that no more will come.
class Waker {
 public:
  void wake() {
    std::lock_guard guard(mutex_);
    was_woken_ = true;
    first_.notify_all();
    if (head_start_ != nullptr) head_start_->wake();
  }
  void wait_for_first() {
    std::unique_lock lock(mutex_);
    first_.wait(lock, [this] { return was_woken_; });
  }
  void pass_to(HeadStart* head_start) {
    std::lock_guard guard(mutex_);
    head_start_ = head_start;
  }

 private:
  std::mutex mutex_;
  std::condition_variable first_;
  bool was_woken_ = false;
  HeadStart* head_start_ = nullptr;
};

// Returns how many bytes have arrived. A failure to send stops it, but is not an error.
Result<std::uint64_t> send_what_comes(const Dial& dial, ContentQueue& queue, Waker& waker,
                                      const OnProgress& progress, const TransferOptions& options) {
  waker.wait_for_first();
  if (queue.empty() && queue.ended()) return 0;
  TRY_ASSIGN(io::ClientSocket* const socket, dial());
  HeadStart head_start(*socket, queue, progress, options);
  waker.pass_to(&head_start);
  static_cast<void>(head_start.run());
  waker.pass_to(nullptr);
  return head_start.durable_bytes();
}

}  // namespace

Result<Captured> capture_and_send(io::ClientSocket& socket, const std::string& directory,
                                  snapshot::CaptureOptions capture, const OnProgress& progress,
                                  TransferOptions options) {
  const auto dial = [&socket]() -> Result<io::ClientSocket*> { return &socket; };
  return capture_and_send(dial, directory, std::move(capture), progress, options);
}

Result<Captured> capture_and_send(const Dial& dial, const std::string& directory,
                                  snapshot::CaptureOptions capture, const OnProgress& progress,
                                  TransferOptions options) {
  Waker waker;
  ContentQueue queue(options.held_bytes, [&waker] { waker.wake(); });
  capture.taker = &queue;
  std::optional<Result<snapshot::Snapshot>> captured;
  std::thread reader([&] {
    captured = snapshot::capture(directory, capture);
    queue.end(captured->has_value());
  });
  const auto durable = send_what_comes(dial, queue, waker, progress, options);
  queue.close();
  reader.join();
  if (!*captured) return captured->error();
  if (!durable) return durable.error();
  return Captured{**std::move(captured), *durable};
}

}  // namespace lockstep::transfer
