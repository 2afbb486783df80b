// What this installation finds on the machine, as the command line reports it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/bindings.h"
#include "bindings/exceptions.h"
#include "codegen/cache/disk_cache.h"
#include "codegen/hostcc/compiler.h"
#include "cuda_api/library_inventory.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

py::dict survey_dict(const cache::CacheSurvey& survey) {
  py::dict result;
  result["entries"] = survey.entries;
  result["bytes"] = survey.bytes;
  result["damaged"] = survey.damaged;
  return result;
}

py::dict removal_dict(const cache::CacheRemoval& removal) {
  py::dict result;
  result["entries"] = removal.entries;
  result["bytes"] = removal.bytes;
  result["left"] = removal.left;
  return result;
}

py::list libraries() {
  std::vector<LibraryFact> facts;
  {
    const py::gil_scoped_release no_gil;
    facts = cuda_library_facts();
  }
  py::list list;
  for (const LibraryFact& fact : facts) {
    py::dict entry;
    entry["name"] = fact.name;
    entry["path"] = fact.path;
    entry["version"] = fact.version;
    entry["problem"] = fact.problem;
    list.append(entry);
  }
  return list;
}

}  // namespace

void bind_installation(py::module_& module) {
  module.def("cuda_libraries", &libraries, "what could be loaded, and why not what could not; loads each");
  module.def("host_compiler", [] { return value_or_throw(hostcc::find_compiler()).path; });
  module.def("cache_directory", [] { return cache::DiskCache::of_user().directory(); });
  module.def("cache_size_limit", [] { return cache::DiskCache::of_user().size_limit(); });
  module.def("cache_survey", [] {
    const auto found = [] {
      const py::gil_scoped_release no_gil;
      return cache::DiskCache::of_user().survey();
    }();
    return survey_dict(found);
  });
  module.def("clear_cache", [] { return removal_dict(cache::DiskCache::of_user().clear()); });
}

}  // namespace tessiq::bindings
