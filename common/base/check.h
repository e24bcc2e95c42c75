#pragma once
// CHECK(condition, message): an always-on assertion against our own bugs. When the condition is
// false, it prints file, line and message and aborts. Failures that the outside world can cause are
// returned as a Result instead.

namespace lockstep {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message);

}  // namespace lockstep

#define CHECK(condition, message)                                          \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::lockstep::check_failed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
