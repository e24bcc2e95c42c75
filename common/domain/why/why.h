#pragma once
// Why something is as it is: a job waits, an attempt ended, a machine is made. A reason is data:
// its code, and its numbers, names and times as fields. Facts, state, views and reports carry it,
// and decisions compare it. Only launcher/words makes text of it. The reasons are in all/reason.h.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/fields.h"

namespace lockstep {

// One reason of any group. A variant of all reasons would be one type less, but compilers took
// minutes and gigabytes for it (docs/decisions/089).
class Reason {
 public:
  Reason(const Reason&) = delete;
  Reason& operator=(const Reason&) = delete;
  virtual ~Reason() = default;
  std::string_view code() const { return code_; }
  virtual bool equals(const Reason& other) const = 0;

 protected:
  explicit Reason(std::string_view code) : code_(code) {}

 private:
  const std::string_view code_;
};
template <class R>
class ReasonOf final : public Reason {
 public:
  explicit ReasonOf(R reason) : Reason(R::kCode), value(std::move(reason)) {}
  bool equals(const Reason& other) const override {
    return other.code() == R::kCode && static_cast<const ReasonOf&>(other).value == value;
  }

  const R value;
};

// One reason, or none. It cannot change, and copies share it.
class Why {
 public:
  Why() = default;
  // Makes a Why of any struct that is a reason, as `Why(JobCanceled{"ann"})`.
  template <class R>
  requires requires { R::kCode; }
  Why(R reason) : reason_(std::make_shared<const ReasonOf<R>>(std::move(reason))) {}

  explicit operator bool() const { return reason_ != nullptr; }
  // The reason; null if there is none.
  const Reason* get() const { return reason_.get(); }
  // The reason if it is an R, else null. It is valid as long as some copy of this Why is.
  template <class R>
  const R* as() const {
    if (reason_ == nullptr || reason_->code() != R::kCode) return nullptr;
    return &static_cast<const ReasonOf<R>&>(*reason_).value;
  }
  template <class R>
  bool is() const {
    return as<R>() != nullptr;
  }

  friend bool operator==(const Why& a, const Why& b);

 private:
  std::shared_ptr<const Reason> reason_;
};

// A reason of which only the text is known: one that an earlier version wrote, or another program.
struct Told {
  static constexpr std::string_view kCode = "told";
  std::string text;
  LOCKSTEP_FIELDS(Told, text);
};

// Makes Told{text}; an empty text gives no reason.
Why told(std::string text);

}  // namespace lockstep
