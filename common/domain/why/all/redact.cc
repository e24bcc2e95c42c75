#include "common/domain/why/all/redact.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "common/domain/why/all/reason.h"

namespace lockstep {

namespace {

constexpr std::string_view kOfAnotherProject = "(of another project)", kAny = "(hidden)";

class Redactor {
 public:
  explicit Redactor(const Redaction& redaction) : redaction_(redaction) {}
  bool has_changed() const { return has_changed_; }

  template <class T>
  void operator()(std::string_view name, T& member) {
    if constexpr (std::is_same_v<T, JobId>) {
      if (!member.value.empty() && redaction_.is_hidden(member))
        change(member, hidden(redaction_.as));
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (name == "text" || name == "said") change(member, redaction_.cut(member));
    } else if constexpr (std::is_same_v<T, Why>) {
      change(member, redacted(member, redaction_));
    } else if constexpr (requires { T::fields(member, *this); }) {
      T::fields(member, *this);
    } else if constexpr (requires { member.emplace(); }) {  // the member is a std::optional
      if (member) (*this)(name, *member);
    } else if constexpr (requires { member.emplace_back(); }) {
      for (auto& item : member) (*this)(name, item);
    }
  }
  // Removes all texts, since it is unknown which of them are names of jobs.
  void of_unknown(WhyData& data) {
    for (WhyField& field : data.fields) of_unknown(field.value);
  }

 private:
  template <class T>
  void change(T& member, T to) {
    if (member == to) return;
    member = std::move(to);
    has_changed_ = true;
  }
  void of_unknown(WhyValue& value) {
    if (auto* text = std::get_if<std::string>(&value.value)) {
      const bool is_job = redaction_.is_hidden(JobId(*text));
      change(*text, is_job ? hidden(redaction_.as).value : redaction_.cut(*text));
    } else if (auto* list = std::get_if<WhyList>(&value.value)) {
      for (WhyValue& item : *list) of_unknown(item);
    } else if (auto* data = std::get_if<WhyData>(&value.value)) {
      of_unknown(*data);
    }
  }

  const Redaction& redaction_;
  bool has_changed_ = false;
};

}  // namespace

JobId hidden(HiddenJob which) {
  return JobId(std::string(which == HiddenJob::any ? kAny : kOfAnotherProject));
}

std::optional<HiddenJob> as_hidden(const JobId& job) {
  if (job.value == kAny) return HiddenJob::any;
  if (job.value == kOfAnotherProject) return HiddenJob::of_another_project;
  return std::nullopt;
}

Why redacted(const Why& why, const Redaction& redaction) {
  if (!why) return why;
  return visit_reason(
      [&]<class R>(const R& reason) {
        R copy = reason;
        Redactor redactor(redaction);
        if constexpr (std::is_same_v<R, Unknown>)
          redactor.of_unknown(copy.data);
        else
          R::fields(copy, redactor);
        return redactor.has_changed() ? Why(std::move(copy)) : why;
      },
      *why.get());
}

}  // namespace lockstep
