#include "codegen/cache/image_cache.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "codegen/cache/cache_key.h"
#include "support/int_math.h"

namespace tessiq::cache {
namespace {

// Below this a second image costs more start-up than it saves.
constexpr int64_t kKernelsPerImage = 6;

std::string reference_name(const KernelText& kernel, const std::string& kind) {
  return kernel.key + "." + kind + ".in";
}

// Images that the cache holds; what it does not is added to `missing`.
std::vector<Image> read_images(const DiskCache& cache, std::span<const KernelText> kernels, const std::string& kind,
                               std::vector<size_t>& missing) {
  std::vector<Image> images;
  std::map<std::string, std::optional<size_t>> known;  // file name -> position in `images`
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::optional<std::string> file = cache.read(reference_name(kernels[k], kind));
    if (!file) {
      missing.push_back(k);
      continue;
    }
    auto found = known.find(*file);
    if (found == known.end()) {
      std::optional<std::string> binary = cache.read(*file);
      std::optional<size_t> position;
      if (binary) {
        position = images.size();
        images.push_back({*std::move(binary), cache.path_of(*file), {}, false});
      }
      found = known.emplace(*file, position).first;
    }
    if (found->second) {
      images[*found->second].kernels.push_back(k);
    } else {
      missing.push_back(k);
    }
  }
  return images;
}

Result<Image> compile_one(const DiskCache& cache, std::span<const KernelText> kernels, std::vector<size_t> members,
                          const std::string& kind, const CompileImage& compile) {
  std::vector<std::string> bodies;
  CacheKey key;
  for (const size_t member : members) {
    bodies.push_back(kernels[member].body);
    key.add(kernels[member].key);
  }
  Image image;
  TESSIQ_ASSIGN_OR_RETURN(image.binary, compile(bodies));
  image.compiled = true;
  const std::string file = key.hex() + "." + kind;
  if (cache.write(file, image.binary)) {
    image.file = cache.path_of(file);
    // The image first: a reference to one that is not there yet would be a miss for another process.
    for (const size_t member : members) {
      cache.write(reference_name(kernels[member], kind), file);
    }
    cache.trim();
  }
  image.kernels = std::move(members);
  return image;
}

}  // namespace

Result<std::vector<Image>> find_or_compile(const DiskCache& cache, std::span<const KernelText> kernels,
                                           const std::string& kind, int parallel, const CompileImage& compile) {
  std::vector<size_t> missing;
  std::vector<Image> images = read_images(cache, kernels, kind, missing);
  if (missing.empty()) {
    return images;
  }
  const auto count = static_cast<int64_t>(missing.size());
  const int64_t parts = std::clamp<int64_t>(ceil_div(count, kKernelsPerImage), 1, std::max(parallel, 1));
  const int64_t share = ceil_div(count, parts);
  std::vector<std::vector<size_t>> groups;
  for (int64_t start = 0; start < count; start += share) {
    groups.emplace_back(missing.begin() + start, missing.begin() + std::min(start + share, count));
  }
  std::vector<std::optional<Result<Image>>> results(groups.size());
  std::vector<std::thread> threads;
  auto work = [&](size_t group) { results[group] = compile_one(cache, kernels, groups[group], kind, compile); };
  for (size_t group = 1; group < groups.size(); ++group) {
    threads.emplace_back(work, group);
  }
  work(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::optional<Result<Image>>& result : results) {
    if (!result->ok()) {
      return std::move(*result).error();
    }
    images.push_back(*std::move(*result));
  }
  return images;
}

}  // namespace tessiq::cache
