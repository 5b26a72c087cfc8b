#include <sstream>

#include "fuzz/file.h"
#include "fuzz/json_mutator.h"
#include "fuzz/model.h"
#include "keratin/files/compression.h"
#include "keratin/files/zip.h"
#include "keratin/files/zip_format.h"
#include "keratin/model/file_editor.h"

namespace keratin::fuzz {
namespace {

namespace zip = files::zip;

struct Member {
  std::string name, contents;
};

std::vector<Member> members_of(const uint8_t* data, size_t size) {
  std::vector<Member> members;
  const files::ZipReader reader(file_of(data, size), {.unpacked = 1 << 20});
  for (const files::ZipEntry& entry : reader.entries()) {
    const files::FileView view = reader.read(entry);
    members.push_back({entry.name, std::string(files::as_text(view.bytes()))});
  }
  return members;
}

// A zip of stored entries with correct checksums, which a fuzzer cannot guess.
std::string zipped(const std::vector<Member>& members) {
  files::Packer local, central;
  for (const Member& member : members) {
    const auto facts = [&member](files::Packer& to) {
      const auto size = static_cast<uint32_t>(member.contents.size());
      to.zeros(4).u32(files::crc32(files::as_bytes(member.contents))).u32(size).u32(size);
      to.u16(static_cast<uint16_t>(member.name.size())).u16(0);
    };
    const auto header = static_cast<uint32_t>(local.size());
    local.u32(zip::local_signature).u16(20).u16(0).u16(0);
    facts(local);
    local.put(member.name).put(member.contents);
    central.u32(zip::central_signature).u16(20).u16(20).u16(0).u16(0);
    facts(central);
    central.zeros(10).u32(header).put(member.name);
  }
  const auto count = static_cast<uint16_t>(members.size());
  files::Packer end;
  end.u32(zip::end_signature).u32(0).u16(count).u16(count);
  end.u32(static_cast<uint32_t>(central.size())).u32(static_cast<uint32_t>(local.size())).u16(0);
  return local.bytes() + central.bytes() + end.bytes();
}

void change(Member& member, unsigned seed) {
  if (member.name.ends_with(".json")) {
    member.contents = JsonMutator(seed).run(member.contents, "");
    return;
  }
  std::vector<uint8_t> bytes(member.contents.begin(), member.contents.end());
  bytes.resize(bytes.size() + 64);
  const size_t size = LLVMFuzzerMutate(bytes.data(), member.contents.size(), bytes.size());
  member.contents.assign(bytes.begin(), bytes.begin() + static_cast<int64_t>(size));
}

// The name of another member, or one that tries to lead elsewhere.
std::string other_name(const std::vector<Member>& members, std::mt19937& random) {
  constexpr const char* names[] = {"assets/x", "assets/../x", "/x", "assets",
                                   "assets/layers/string_lookup/vocabulary.txt"};
  return random() % 2 == 0 ? names[random() % std::size(names)]
                           : members[random() % members.size()].name;
}

void change(std::vector<Member>& members, std::mt19937& random) {
  Member& member = members[random() % members.size()];
  switch (random() % 16) {
    case 0:
      member.name = other_name(members, random);
      return;
    case 1:
      members.push_back({other_name(members, random), member.contents});
      return;
    case 2:
      members.erase(members.begin() + (&member - members.data()));
      return;
    default:
      change(member, random());
  }
}

// The editor reads any file too.
void edit(const uint8_t* data, size_t size) {
  const DiskFile file(data, size, ".keras"), copy(nullptr, 0, "_edited.keras");
  try {
    const KerasFileEditor editor(file.path());
    std::ostringstream out;
    editor.summary(out);
    for (const std::string& object : editor.objects()) editor.weights(object);
    editor.save(copy.path());
    KerasFileEditor(copy.path()).summary(out);
  } catch (const UserError&) {
  }
}

}  // namespace
}  // namespace keratin::fuzz

// Any bytes give a model from a .keras file, with weights and training state, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  keratin::fuzz::open_model(data, size, ".keras");
  keratin::fuzz::edit(data, size);
  return 0;
}

// Mutates a member of the zip, and sometimes the zip itself.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace keratin;
  std::mt19937 random(seed);
  if (random() % 8 > 0) try {
      std::vector<fuzz::Member> members = fuzz::members_of(data, size);
      if (!members.empty()) {
        fuzz::change(members, random);
        const std::string changed = fuzz::zipped(members);
        if (fuzz::JsonMutator::copy_out(changed, data, max_size)) return changed.size();
      }
    } catch (const UserError&) {
    }
  return LLVMFuzzerMutate(data, size, max_size);
}
