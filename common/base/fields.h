#pragma once
// The members of a plain struct, described once, where it is declared:
//   struct Port {
//     std::string device;
//     int port = 0;
//     LOCKSTEP_FIELDS(Port, device, port);
//   };
// That gives it `==`, and Port::fields(port, see), which calls see("device", port.device) and so
// on, of a constant or a variable Port. At most 64 members.

#define LOCKSTEP_FIELDS(Type, ...)                                              \
  template <class Self, class See>                                              \
  static void fields([[maybe_unused]] Self& self, [[maybe_unused]] See&& see) { \
    __VA_OPT__(LOCKSTEP_EXPAND_64(LOCKSTEP_SEE_FIRST(__VA_ARGS__)))             \
  }                                                                             \
  friend bool operator==(const Type&, const Type&) = default

// The preprocessor has no loop: each expansion of a line gets one member further.
#define LOCKSTEP_SEE_FIRST(member, ...) \
  see(#member, self.member);            \
  __VA_OPT__(LOCKSTEP_SEE_REST LOCKSTEP_PARENTHESES(__VA_ARGS__))
#define LOCKSTEP_SEE_REST() LOCKSTEP_SEE_FIRST
#define LOCKSTEP_PARENTHESES ()
#define LOCKSTEP_EXPAND_64(...) \
  LOCKSTEP_EXPAND_16(LOCKSTEP_EXPAND_16(LOCKSTEP_EXPAND_16(LOCKSTEP_EXPAND_16(__VA_ARGS__))))
#define LOCKSTEP_EXPAND_16(...) \
  LOCKSTEP_EXPAND_4(LOCKSTEP_EXPAND_4(LOCKSTEP_EXPAND_4(LOCKSTEP_EXPAND_4(__VA_ARGS__))))
#define LOCKSTEP_EXPAND_4(...) \
  LOCKSTEP_EXPAND_1(LOCKSTEP_EXPAND_1(LOCKSTEP_EXPAND_1(LOCKSTEP_EXPAND_1(__VA_ARGS__))))
#define LOCKSTEP_EXPAND_1(...) __VA_ARGS__
