// write_accessors SET OUT: for the last file of a descriptor set (protoc --descriptor_set_out
// --include_imports), writes OUT/proto/<file>.access.h: typed accessors of each field by its
// number. See common/wire/access.h. A program of the build: the runtime that our programs link has
// no descriptors.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <cctype>
#include <fstream>
#include <iostream>
#include <string>

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

namespace {

std::string cpp_name(const std::string& full) {
  const std::string package = "lockstep.pb.";
  std::string name = full.substr(package.size());  // lockstep.pb.A.B -> A_B
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

std::string snake_case(const std::string& name) {
  std::string words;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) && !words.empty() && words.back() != '_') words += '_';
    words += static_cast<char>(std::tolower(letter));
  }
  return words;
}

std::string type_of(const FieldDescriptor& field) {
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

std::string list_of(const FieldDescriptor& field) {
  const bool is_enum = field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  const bool is_number = field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
                         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
  const std::string item = is_enum ? "int" : type_of(field);
  return std::string("google::protobuf::") + (is_number ? "RepeatedField<" : "RepeatedPtrField<") +
         item + ">";
}

void write_field(std::ostream& out, const FieldDescriptor& field) {
  const std::string message = cpp_name(field.containing_type()->full_name());
  const std::string& name = field.name();
  const bool is_number = !field.is_repeated() &&
                         field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
                         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
  const std::string type = field.is_repeated() ? list_of(field) : type_of(field);
  out << "template <> struct Access<" << message << ", " << field.number() << "> {\n"
      << "  static constexpr const char* kName = \"" << name << "\";\n"
      << "  static " << (is_number ? type : "const " + type + "&") << " get(const " << message
      << "& m) { return m." << name << "(); }\n";
  if (is_number)
    out << "  static void set(" << message << "& m, " << type << " v) { m.set_" << name
        << "(v); }\n";
  else
    out << "  static " << type << "* change(" << message << "& m) { return m.mutable_" << name
        << "(); }\n";
  if (field.has_presence())
    out << "  static bool has(const " << message << "& m) { return m.has_" << name << "(); }\n";
  out << "};\n";
}

void write_enum(std::ostream& out, const EnumDescriptor& type) {
  const std::string name = cpp_name(type.full_name());
  out << "inline std::string name_of(" << name << " v) { return " << name << "_Name(v); }\n";
}

void write_message(std::ostream& out, const Descriptor& message) {
  for (int i = 0; i < message.enum_type_count(); ++i) write_enum(out, *message.enum_type(i));
  for (int i = 0; i < message.nested_type_count(); ++i) write_message(out, *message.nested_type(i));
  for (int i = 0; i < message.field_count(); ++i) write_field(out, *message.field(i));
  const std::string name = cpp_name(message.full_name());
  out << "template <> inline constexpr const char* kMessageName<" << name << "> = \""
      << snake_case(name) << "\";\n"
      << "template <> inline constexpr Numbers<" << message.field_count() << "> kNumbers<" << name
      << "> = {";
  for (int i = 0; i < message.field_count(); ++i)
    out << (i == 0 ? "" : ", ") << message.field(i)->number();
  out << "};\n";
}

std::string stem(const std::string& file) { return file.substr(0, file.rfind('.')); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  google::protobuf::FileDescriptorSet set;
  std::ifstream in(argv[1], std::ios::binary);
  if (!set.ParseFromIstream(&in) || set.file_size() == 0) {
    std::cerr << "write_accessors: " << argv[1] << " is not a descriptor set\n";
    return 1;
  }
  google::protobuf::DescriptorPool pool;
  const google::protobuf::FileDescriptor* file = nullptr;
  for (const auto& one : set.file()) {
    file = pool.BuildFile(one);
    if (file == nullptr || file->package() != "lockstep.pb") {
      std::cerr << "write_accessors: cannot use " << one.name() << "\n";
      return 1;
    }
  }
  const std::string path = std::string(argv[2]) + "/" + stem(file->name()) + ".access.h";
  std::ofstream out(path);
  out << "#pragma once\n#include \"common/wire/access.h\"\n#include \"" << stem(file->name())
      << ".pb.h\"\n";
  for (int i = 0; i < file->dependency_count(); ++i)
    out << "#include \"" << stem(file->dependency(i)->name()) << ".access.h\"\n";
  out << "namespace lockstep::pb {\n";
  for (int i = 0; i < file->enum_type_count(); ++i) write_enum(out, *file->enum_type(i));
  for (int i = 0; i < file->message_type_count(); ++i) write_message(out, *file->message_type(i));
  out << "}  // namespace lockstep::pb\n";
  out.close();
  if (!out) {
    std::cerr << "write_accessors: cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
