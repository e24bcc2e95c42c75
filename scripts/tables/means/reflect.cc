// Means (a'): the visitor in each struct, and Protobuf's reflection (full runtime).
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include "means/codec.h"
#include "common/wire/table_codec.h"
#ifdef WITH_PB
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
#endif
namespace lockstep::pb {
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
namespace r {
template <class T> void write_message(const T& from, Message* to);
template <class T> bool read_message(const Message& from, Fault* fault, T* to);
void set(Message* to, const Reflection* r, const FieldDescriptor* f, std::int64_t v) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: r->SetInt32(to, f, static_cast<std::int32_t>(v)); break;
    case FieldDescriptor::CPPTYPE_INT64: r->SetInt64(to, f, v); break;
    case FieldDescriptor::CPPTYPE_UINT32: r->SetUInt32(to, f, static_cast<std::uint32_t>(v)); break;
    case FieldDescriptor::CPPTYPE_UINT64: r->SetUInt64(to, f, static_cast<std::uint64_t>(v)); break;
    case FieldDescriptor::CPPTYPE_BOOL: r->SetBool(to, f, v != 0); break;
    case FieldDescriptor::CPPTYPE_ENUM: r->SetEnumValue(to, f, static_cast<int>(v)); break;
    default: break;
  }
}
std::int64_t get(const Message& m, const Reflection* r, const FieldDescriptor* f) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return r->GetInt32(m, f);
    case FieldDescriptor::CPPTYPE_INT64: return r->GetInt64(m, f);
    case FieldDescriptor::CPPTYPE_UINT32: return r->GetUInt32(m, f);
    case FieldDescriptor::CPPTYPE_UINT64: return static_cast<std::int64_t>(r->GetUInt64(m, f));
    case FieldDescriptor::CPPTYPE_BOOL: return r->GetBool(m, f);
    case FieldDescriptor::CPPTYPE_ENUM: return r->GetEnumValue(m, f);
    default: return 0;
  }
}
template <class T>
void write_field(const T& from, const Rule& rule, Message* to, const FieldDescriptor* f) {
  const Reflection* r = to->GetReflection();
  if constexpr (kIsOptional<T>) {
    if (from) write_field(*from, rule, to, f);
  } else if constexpr (kIsList<T>) {
    using Item = typename T::value_type;
    for (const Item& item : from) {
      if constexpr (std::is_arithmetic_v<Item>) r->AddInt32(to, f, number(item));
      else if constexpr (Text<Item>) { std::string s; write_text(item, rule, &s); r->AddString(to, f, std::move(s)); }
      else write_message(item, r->AddMessage(to, f));
    }
  } else if constexpr (kIsMap<T>) {
    if (f->is_repeated()) {
      for (const auto& [name, value] : from) {
        Message* entry = r->AddMessage(to, f);
        entry->GetReflection()->SetString(entry, entry->GetDescriptor()->FindFieldByNumber(1), name);
        write_field(value, rule, entry, entry->GetDescriptor()->FindFieldByNumber(2));
      }
    } else {
      Message* box = r->MutableMessage(to, f);
      write_field(from, rule, box, box->GetDescriptor()->FindFieldByNumber(1));
    }
  } else if constexpr (Text<T>) {
    std::string s; write_text(from, rule, &s); r->SetString(to, f, std::move(s));
  } else if constexpr (requires { number(from); }) {
    set(to, r, f, static_cast<std::int64_t>(number(from)));
  } else {
    if (rule.unless_empty && from == T{}) return;
    write_message(from, r->MutableMessage(to, f));
  }
}
struct Writer {
  Message* to; const Descriptor* d;
  template <int N, class T>
  void operator()(At<N>, const char*, const T& member, const char*, const Rule& rule = {}) const {
    if constexpr (N != 0) write_field(member, rule, to, d->FindFieldByNumber(N));
  }
};
template <class T> void write_message(const T& from, Message* to) { T::fields(from, Writer{to, to->GetDescriptor()}); }

template <class T>
bool read_field(const Message& from, const FieldDescriptor* f, const Rule& rule, Place at, Fault* fault, T&& member) {
  using Member = std::remove_cvref_t<T>;
  const Reflection* r = from.GetReflection();
  if constexpr (kIsOptional<Member>) {
    if (f->has_presence() && !r->HasField(from, f)) return true;
    return read_field(from, f, rule, at, fault, member.emplace());
  } else if constexpr (kIsList<Member>) {
    const int n = r->FieldSize(from, f);
    if (!check_count(n, rule, at, fault)) return false;
    member.reserve(n);
    for (int i = 0; i < n; ++i) {
      using Item = typename Member::value_type;
      std::string scratch; bool ok;
      if constexpr (std::is_arithmetic_v<Item>) ok = read_value(r->GetRepeatedInt32(from, f, i), rule, at, fault, &member.emplace_back());
      else if constexpr (Text<Item>) ok = read_value(r->GetRepeatedStringReference(from, f, i, &scratch), rule, at, fault, &member.emplace_back());
      else ok = read_message(r->GetRepeatedMessage(from, f, i), fault, &member.emplace_back());
      if (!ok) return false;
    }
    return true;
  } else if constexpr (kIsMap<Member>) {
    if (f->is_repeated()) {
      const int n = r->FieldSize(from, f);
      if (!check_count(n, rule, at, fault)) return false;
      for (int i = 0; i < n; ++i) {
        const Message& entry = r->GetRepeatedMessage(from, f, i);
        std::string scratch;
        const std::string& name = entry.GetReflection()->GetStringReference(entry, entry.GetDescriptor()->FindFieldByNumber(1), &scratch);
        const auto [place, is_new] = member.try_emplace(name);
        if (!is_new) return fault->set(at.message, at.field, "names '" + name + "' twice");
        if (!read_field(entry, entry.GetDescriptor()->FindFieldByNumber(2), rule, at, fault, place->second)) return false;
      }
      return true;
    }
    const Message& box = r->GetMessage(from, f);
    return read_field(box, box.GetDescriptor()->FindFieldByNumber(1), rule, at, fault, member);
  } else if constexpr (Text<Member>) {
    std::string scratch;
    return read_value(r->GetStringReference(from, f, &scratch), rule, at, fault, &member);
  } else if constexpr (requires { number(member); }) {
    if (f->has_presence() && !r->HasField(from, f)) return true;
    return read_value(get(from, r, f), rule, at, fault, &member);
  } else if constexpr (requires { member.member; }) {
    return read_value(get(from, r, f), rule, at, fault, member);
  } else {
    if (rule.unless_empty && !r->HasField(from, f)) return true;
    return read_message(r->GetMessage(from, f), fault, &member);
  }
}
template <class T>
struct Reader {
  const Message& from; const Descriptor* d; Fault* fault;
  template <int N, class Member>
  void operator()(At<N>, const char* name, Member&& member, const char*, const Rule& rule = {}) const {
    if constexpr (N != 0) {
      if (!fault->error) read_field(from, d->FindFieldByNumber(N), rule, Place{T::kName, name}, fault, member);
    }
  }
};
template <class T> bool read_message(const Message& from, Fault* fault, T* to) {
  T::fields(*to, Reader<T>{from, from.GetDescriptor(), fault});
  if constexpr (requires { T::mend(*to); }) T::mend(*to);
  return !fault->error;
}
}  // namespace r
}  // namespace lockstep::pb
namespace lockstep::means {
void write_any(const ExitReport& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const RankExit& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const ComputeSpec& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const Inventory& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const launcher::PartGone& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const launcher::TokenCreated& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
void write_any(const ResourceRequest& f, google::protobuf::Message* to) { pb::r::write_message(f, to); }
#define READ(T) Status read_any(const google::protobuf::Message& from, T* to) { pb::Fault fault; if (!pb::r::read_message(from, &fault, to)) return *std::move(fault.error); return {}; }
READ(ExitReport) READ(RankExit) READ(ComputeSpec) READ(Inventory) READ(launcher::PartGone) READ(launcher::TokenCreated) READ(ResourceRequest)
}
