#include "codegen/hostcc/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "codegen/hostcc/scratch_directory.h"

extern char** environ;

namespace tessiq::hostcc {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty where PATH has no such program.
std::string on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return is_executable_file(program) ? program : "";
  }
  const std::string path = environment("PATH");
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    const std::string candidate = path.substr(start, end - start) + "/" + program;
    if (end > start && is_executable_file(candidate)) {
      return candidate;
    }
    start = end + 1;
  }
  return "";
}

std::string identity_of(const std::string& path) {
  char resolved[PATH_MAX];
  const std::string real = ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
  struct stat facts{};
  ::stat(real.c_str(), &facts);
  return real + " " + std::to_string(facts.st_size) + " " + std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

struct Finished {
  int status = 0;
  std::string output;
};

Result<Finished> run(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return external(std::string("creating a pipe failed: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Finished finished;
  char buffer[4096];
  for (ssize_t count = 0; failure == 0 && (count = ::read(ends[0], buffer, sizeof(buffer))) != 0;) {
    if (count < 0 && errno != EINTR) {
      break;
    }
    finished.output.append(buffer, count < 0 ? 0 : static_cast<size_t>(count));
  }
  ::close(ends[0]);
  if (failure != 0) {
    return external("starting " + command[0] + " failed: " + std::strerror(failure));
  }
  // A program that ignores SIGCHLD has its children reaped by the kernel; whether the output is there then decides.
  while (::waitpid(child, &finished.status, 0) < 0 && errno == EINTR) {
  }
  return finished;
}

}  // namespace

Result<Compiler> find_compiler() {
  for (const char* variable : {"TESSIQ_CXX", "CXX"}) {
    const std::string named = environment(variable);
    if (named.empty()) {
      continue;
    }
    const std::string path = on_path(named);
    if (path.empty()) {
      return unsupported("no C++ compiler: " + std::string(variable) + " is \"" + named +
                         "\", which is not an executable file on PATH");
    }
    return Compiler{path, identity_of(path)};
  }
  for (const char* program : {"c++", "g++", "clang++"}) {
    const std::string path = on_path(program);
    if (!path.empty()) {
      return Compiler{path, identity_of(path)};
    }
  }
  return unsupported(
      "no C++ compiler: TESSIQ_CXX and CXX are not set, and PATH has none of c++, g++ and clang++; generated loops of "
      "the reference device need one");
}

Result<std::string> compile_shared_object(const Compiler& compiler, const std::string& source) {
  TESSIQ_ASSIGN_OR_RETURN(const ScratchDirectory scratch, ScratchDirectory::create());
  const std::string input = scratch.file("loops.cpp");
  const std::string output = scratch.file("loops.so");
  TESSIQ_RETURN_IF_ERROR(write_file(input, source));
  // Integers wrap, a product and a sum stay two roundings, and nothing reads errno or floating-point flags.
  const std::vector<std::string> command = {
      compiler.path,     "-std=c++17",         "-O3", "-fPIC", "-shared", "-w", "-fwrapv", "-ffp-contract=off",
      "-fno-math-errno", "-fno-trapping-math", "-o",  output,  input};
  TESSIQ_ASSIGN_OR_RETURN(const Finished finished, run(command));
  if (finished.status != 0) {
    return external(compiler.path + " refused generated code (status " + std::to_string(finished.status) + "):\n" +
                    finished.output);
  }
  return read_file(output);
}

}  // namespace tessiq::hostcc
