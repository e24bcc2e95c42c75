// make_access SET OUT: for each message of a descriptor set (protoc --descriptor_set_out
// --include_imports), writes OUT/proto/<file>.access.h: a field's typed accessors by its number.
//   Access<pb::RankExit, 8>::get(m), ::set(m, v), ::change(m), ::has(m)
// Also kNumbers<pb::RankExit>, for the test that each number is in a table.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

using namespace google::protobuf;

namespace {

std::string cpp_name(const std::string& full) {
  std::string name = full.substr(full.find("pb.") + 3);  // lockstep.pb.A.B -> A_B
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

std::string scalar_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return "std::int32_t";
    case FieldDescriptor::CPPTYPE_INT64: return "std::int64_t";
    case FieldDescriptor::CPPTYPE_UINT32: return "std::uint32_t";
    case FieldDescriptor::CPPTYPE_UINT64: return "std::uint64_t";
    case FieldDescriptor::CPPTYPE_DOUBLE: return "double";
    case FieldDescriptor::CPPTYPE_FLOAT: return "float";
    case FieldDescriptor::CPPTYPE_BOOL: return "bool";
    case FieldDescriptor::CPPTYPE_ENUM: return cpp_name(field.enum_type()->full_name());
    case FieldDescriptor::CPPTYPE_STRING: return "std::string";
    case FieldDescriptor::CPPTYPE_MESSAGE: return cpp_name(field.message_type()->full_name());
  }
  return "";
}

void write_field(std::ostream& out, const FieldDescriptor& field) {
  const std::string m = cpp_name(field.containing_type()->full_name()), type = scalar_of(field);
  const std::string name = field.name();
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  out << "template <> struct Access<" << m << ", " << field.number() << "> {\n";
  if (field.is_repeated()) {
    const std::string list = is_text || is_message ? "RepeatedPtrField<" + type + ">"
                             : field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM
                                 ? "RepeatedField<int>"
                                 : "RepeatedField<" + type + ">";
    out << "  static const google::protobuf::" << list << "& get(const " << m << "& m) { return m." << name
        << "(); }\n  static google::protobuf::" << list << "* change(" << m << "& m) { return m.mutable_" << name
        << "(); }\n";
  } else if (is_text || is_message) {
    out << "  static const " << type << "& get(const " << m << "& m) { return m." << name
        << "(); }\n  static " << type << "* change(" << m << "& m) { return m.mutable_" << name << "(); }\n";
  } else {
    out << "  static " << type << " get(const " << m << "& m) { return m." << name << "(); }\n"
        << "  static void set(" << m << "& m, " << type << " v) { m.set_" << name << "(v); }\n";
  }
  if (field.has_presence())
    out << "  static bool has(const " << m << "& m) { return m.has_" << name << "(); }\n";
  out << "};\n";
}

void write_message(std::ostream& out, const Descriptor& message) {
  for (int i = 0; i < message.nested_type_count(); ++i) write_message(out, *message.nested_type(i));
  for (int i = 0; i < message.field_count(); ++i) write_field(out, *message.field(i));
  std::string words;
  for (const char c : cpp_name(message.full_name())) {
    if (std::isupper(static_cast<unsigned char>(c)) && !words.empty()) words += '_';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  out << "template <> inline constexpr const char* kMessageName<" << cpp_name(message.full_name()) << "> = \"" << words
      << "\";\n";
  out << "template <> inline constexpr Numbers<" << message.field_count() << "> kNumbers<"
      << cpp_name(message.full_name()) << "> = {";
  for (int i = 0; i < message.field_count(); ++i) out << message.field(i)->number() << ", ";
  out << "};\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  FileDescriptorSet set;
  std::ifstream in(argv[1], std::ios::binary);
  if (!set.ParseFromIstream(&in)) return 1;
  DescriptorPool pool;
  for (const FileDescriptorProto& file : set.file()) {
    const FileDescriptor* const built = pool.BuildFile(file);
    if (built == nullptr) return 1;
    std::string stem = file.name().substr(0, file.name().rfind('.'));
    const std::filesystem::path path = std::filesystem::path(argv[2]) / (stem + ".access.h");
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path);
    out << "#pragma once\n#include \"common/wire/access.h\"\n#include \"" << stem << ".pb.h\"\n";
    for (int i = 0; i < built->dependency_count(); ++i) {
      const std::string& other = built->dependency(i)->name();
      out << "#include \"" << other.substr(0, other.rfind('.')) << ".access.h\"\n";
    }
    out << "namespace lockstep::pb {\n";
    for (int i = 0; i < built->message_type_count(); ++i) write_message(out, *built->message_type(i));
    out << "}  // namespace lockstep::pb\n";
  }
}
