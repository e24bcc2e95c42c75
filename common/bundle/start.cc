#include "common/bundle/start.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

// Code here must not need a relocation or a function of a library: neither works yet. The compiler
// is told so (CMakeLists.txt), or it would turn a loop into a call of memset.
extern "C" {
__attribute__((visibility("hidden"))) extern const Elf64_Ehdr __ehdr_start;
__attribute__((visibility("hidden"))) void _start();  // the program's usual entry point
__attribute__((used, visibility("hidden"))) std::uintptr_t lockstep_bundle_load(std::uintptr_t*);
}

#if !defined(__x86_64__)
#error "the start of a bundled program is written for x86_64 only"
#endif

// The stack stays as the kernel made it; the dynamic linker reads it, too.
asm(R"(
  .text
  .globl lockstep_bundle_start
  .type lockstep_bundle_start, @function
lockstep_bundle_start:
  xorl %ebp, %ebp
  movq %rsp, %rbx
  movq %rsp, %rdi
  andq $-16, %rsp
  call lockstep_bundle_load
  movq %rbx, %rsp
  xorl %edx, %edx
  jmp *%rax
  .size lockstep_bundle_start, . - lockstep_bundle_start
)");

namespace lockstep::bundle {
namespace {

constexpr const char* kLinker = "/lib/ld-linux-x86-64.so.2";
constexpr std::size_t kMaxHeaders = 32;
constexpr std::uintptr_t kPage = 4096;
constexpr long kMaxErrno = 4096;

// The arrays are static, because the dynamic linker keeps pointers to both.
Elf64_Phdr program_headers[kMaxHeaders + 2];
char linker_path[4096];
// Only the first page of the linker's file is read; its program headers follow the ELF header.
alignas(16) char linker_head[kPage];

long call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

std::size_t length_of(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

void say(const char* text) {
  call(SYS_write, 2, reinterpret_cast<long>(text), static_cast<long>(length_of(text)));
}

[[noreturn]] void die(const char* why) {
  say("lockstep: cannot start from its bundle: ");
  say(linker_path);
  say(why);
  call(SYS_exit_group, 127);
  __builtin_unreachable();
}

std::uintptr_t down(std::uintptr_t address) { return address & ~(kPage - 1); }
std::uintptr_t up(std::uintptr_t address) { return down(address + kPage - 1); }

std::uintptr_t map(std::uintptr_t at, std::size_t size, int protection, int flags, int file,
                   std::uint64_t offset) {
  const long got = call(SYS_mmap, static_cast<long>(at), static_cast<long>(size), protection,
                        MAP_PRIVATE | flags, file, static_cast<long>(offset));
  if (got < 0 && got > -kMaxErrno) die(": cannot be mapped into memory\n");
  return static_cast<std::uintptr_t>(got);
}

void map_segment(std::uintptr_t base, const Elf64_Phdr& segment, int file) {
  const int protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  const std::uintptr_t begin = down(base + segment.p_vaddr);
  const std::uintptr_t file_end = base + segment.p_vaddr + segment.p_filesz;
  const std::uintptr_t end = up(base + segment.p_vaddr + segment.p_memsz);
  map(begin, up(file_end) - begin, protection, MAP_FIXED, file, down(segment.p_offset));
  if (end > up(file_end)) {
    map(up(file_end), end - up(file_end), protection, MAP_FIXED | MAP_ANONYMOUS, -1, 0);
  }
  if (segment.p_memsz <= segment.p_filesz) return;
  for (auto* byte = reinterpret_cast<volatile char*>(file_end);
       byte < reinterpret_cast<volatile char*>(up(file_end)); ++byte)
    *byte = 0;
}

// Returns where the linker is mapped; its entry point is `entry` bytes after that.
std::uintptr_t map_linker(std::uintptr_t* entry) {
  const int file =
      static_cast<int>(call(SYS_open, reinterpret_cast<long>(linker_path), O_RDONLY | O_CLOEXEC));
  if (file < 0) die(": cannot be opened; unpack the bundle whole\n");
  const long got = call(SYS_pread64, file, reinterpret_cast<long>(linker_head), sizeof linker_head);
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(linker_head);
  const bool whole =
      got >= static_cast<long>(sizeof header) && header.e_ident[0] == ELFMAG0 &&
      header.e_type == ET_DYN && header.e_machine == EM_X86_64 &&
      header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr) <= static_cast<std::uint64_t>(got);
  if (!whole) die(": is not a dynamic linker for x86_64; unpack the bundle again\n");
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(linker_head + header.e_phoff);
  std::uintptr_t size = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) size = up(segments[i].p_vaddr + segments[i].p_memsz);
  }
  const std::uintptr_t base = map(0, size, PROT_NONE, MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) map_segment(base, segments[i], file);
  }
  call(SYS_close, file);
  *entry = header.e_entry;
  return base;
}

// Copies the program headers, and adds the two that a program has when the kernel maps its linker:
// the place of the headers, from which the linker computes the program's address, and the linker's
// path.
std::size_t describe_program(const Elf64_Phdr* given, std::size_t count) {
  const auto bias = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto at = reinterpret_cast<std::uintptr_t>(program_headers) - bias;
  const std::size_t size = (count + 2) * sizeof(Elf64_Phdr);
  const auto name = reinterpret_cast<std::uintptr_t>(linker_path) - bias;
  const std::size_t length = length_of(linker_path) + 1;
  program_headers[0] = {PT_PHDR, PF_R, 0, at, at, size, size, 8};
  program_headers[1] = {PT_INTERP, PF_R, 0, name, name, length, length, 1};
  for (std::size_t i = 0; i < count; ++i) program_headers[i + 2] = given[i];
  return count + 2;
}

void set(const Auxiliary& auxiliary, std::uint64_t type, std::uint64_t value) {
  Elf64_auxv_t* entry = auxiliary.find(type);
  if (entry == nullptr) die(": the kernel did not pass a complete auxiliary vector\n");
  entry->a_un.a_val = value;
}

}  // namespace
}  // namespace lockstep::bundle

// Returns the address to continue at: the dynamic linker's entry point.
std::uintptr_t lockstep_bundle_load(std::uintptr_t* stack) {
  using namespace lockstep::bundle;
  const Auxiliary auxiliary = auxiliary_of(stack);
  const long length = call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                           reinterpret_cast<long>(linker_path), sizeof linker_path - 1);
  if (length <= 0) {
    linker_path[0] = '\0';
    die("/proc/self/exe cannot be read; mount /proc\n");
  }
  if (!beside_program(linker_path, static_cast<std::size_t>(length), sizeof linker_path, kLinker))
    die(": its path is too long\n");
  std::uintptr_t entry = 0;
  const std::uintptr_t base = map_linker(&entry);
  const Elf64_auxv_t* headers = auxiliary.find(AT_PHDR);
  const Elf64_auxv_t* count = auxiliary.find(AT_PHNUM);
  if (headers == nullptr || count == nullptr || count->a_un.a_val > kMaxHeaders)
    die(": the program's headers were changed after linking; unpack the bundle again\n");
  const std::size_t described =
      describe_program(reinterpret_cast<const Elf64_Phdr*>(headers->a_un.a_val), count->a_un.a_val);
  set(auxiliary, AT_PHDR, reinterpret_cast<std::uintptr_t>(program_headers));
  set(auxiliary, AT_PHNUM, described);
  set(auxiliary, AT_BASE, base);
  set(auxiliary, AT_ENTRY, reinterpret_cast<std::uintptr_t>(&_start));
  return base + entry;
}
