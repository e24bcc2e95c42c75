#pragma once
// The body of an answer that is made while it is sent: a file, a log that grows, events. The
// connection reads it only as fast as its client takes it, so a source holds what it has and reads
// no more of its own origin until it is asked.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace lockstep::http {

class BodySource {
 public:
  virtual ~BodySource() = default;

  enum class State {
    more,   // ask again
    later,  // nothing now; ready() is called when that changes
    end,
    failed,  // the rest cannot be had: the client must see that the body is not whole
  };
  struct Piece {
    std::string bytes;  // may be empty; with `end` the last ones
    State state = State::more;
  };
  virtual Piece read(std::size_t at_most) = 0;

  // Set by the connection's owner. Called at most once for each `later`, and never from read().
  void on_ready(std::function<void()> wake) { wake_ = std::move(wake); }

 protected:
  void ready() const {
    if (wake_) wake_();
  }

 private:
  std::function<void()> wake_;
};

// A text that is there as a whole, and may be that of many answers.
class TextSource final : public BodySource {
 public:
  explicit TextSource(std::string text)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  explicit TextSource(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
  Piece read(std::size_t at_most) override {
    std::string bytes = text_->substr(at_, at_most);
    at_ += bytes.size();
    return {std::move(bytes), at_ == text_->size() ? State::end : State::more};
  }

 private:
  const std::shared_ptr<const std::string> text_;
  std::size_t at_ = 0;
};

}  // namespace lockstep::http
