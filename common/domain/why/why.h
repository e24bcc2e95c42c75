#pragma once
// Why something is as it is: a job waits, an attempt ended, a machine is made. A reason is data:
// its code, and its numbers, names and times as fields. Facts, state, views and reports carry it,
// and decisions compare it. Only launcher/words makes text of it. The reasons are in reason.h.

#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

struct Reason;

// One reason, or none. It cannot change, and copies share it.
class Why {
 public:
  Why() = default;
  Why(Reason reason);
  // Of any struct that is a reason, as `Why(JobCanceled{"ann"})`. In reason.h, as all templates.
  template <class R>
  requires requires { R::kCode; }
  Why(R reason);

  explicit operator bool() const { return reason_ != nullptr; }
  // Not null when there is a reason.
  const Reason* get() const { return reason_.get(); }
  // The reason if it is an R, else null. It is valid as long as some copy of this Why is.
  template <class R>
  const R* as() const;
  template <class R>
  bool is() const {
    return as<R>() != nullptr;
  }

  friend bool operator==(const Why& a, const Why& b);

 private:
  std::shared_ptr<const Reason> reason_;
};

// What an earlier version wrote: text, of which nobody knows more. Also of other people's programs
// which say why in a text of their own.
struct Told {
  static constexpr std::string_view kCode = "told";
  std::string text;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("text", self.text);
  }
  friend bool operator==(const Told&, const Told&) = default;
};

// Told{text}; no reason of an empty text.
Why told(std::string text);

}  // namespace lockstep
