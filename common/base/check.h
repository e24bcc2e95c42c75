#pragma once
// CHECK(condition, message): an always-on assertion for what *we* did wrong. It prints the place
// and the message and aborts; it is never used for what the world can do (that is Result's part).

namespace lockstep {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message);

}  // namespace lockstep

#define CHECK(condition, message)                                          \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::lockstep::check_failed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
