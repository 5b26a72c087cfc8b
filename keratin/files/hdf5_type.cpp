#include <algorithm>
#include <bit>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/files/hdf5_source.h"

namespace keratin::hdf5 {
namespace {

using Kind = Datatype::Kind;

struct FloatFormat {
  uint32_t size;
  uint8_t exponent_at, exponent_bits, mantissa_bits;
  uint32_t bias;
  bool brain;
};
constexpr FloatFormat float_formats[] = {{2, 10, 5, 10, 15, false},
                                         {2, 7, 8, 7, 127, true},
                                         {4, 23, 8, 23, 127, false},
                                         {8, 52, 11, 52, 1023, false}};

Datatype parse_integer(Cursor& at, uint32_t flags, uint32_t size, const std::string& who) {
  const uint16_t offset = at.u16(), precision = at.u16();
  at.require(
      offset == 0 && (size == 1 || size == 2 || size == 4 || size == 8) && precision == size * 8,
      who, " has integers of ", precision, " bits, which are not read");
  return {.kind = Kind::integer,
          .size = size,
          .is_signed = (flags & 8) != 0,
          .big_endian = (flags & 1) != 0};
}

Datatype parse_float(Cursor& at, uint32_t flags, uint32_t size, const std::string& who) {
  const uint16_t offset = at.u16(), precision = at.u16();
  const uint8_t exponent_at = at.u8(), exponent_bits = at.u8();
  const uint8_t mantissa_at = at.u8(), mantissa_bits = at.u8();
  const uint32_t bias = at.u32();
  for (const FloatFormat& format : float_formats) {
    const bool same = size == format.size && offset == 0 && precision == size * 8 &&
                      exponent_at == format.exponent_at && exponent_bits == format.exponent_bits &&
                      mantissa_at == 0 && mantissa_bits == format.mantissa_bits &&
                      bias == format.bias && (flags >> 8 & 0xff) == size * 8 - 1 &&
                      (flags >> 4 & 3) == 2 && (flags & 0x40) == 0;
    if (same)
      return {.kind = Kind::floating,
              .size = size,
              .is_signed = true,
              .big_endian = (flags & 1) != 0,
              .brain = format.brain};
  }
  at.fail(who, " has floats of ", size, " bytes in a format that is not read");
}

// h5py's bool: an enumeration of one byte with the names FALSE for 0 and TRUE for 1.
Datatype parse_enum(const Source& source, Cursor& at, uint32_t flags, uint8_t version,
                    const std::string& who) {
  at.skip(1);  // the base type's class, which parse_integer checks
  const uint32_t base_flags = static_cast<uint32_t>(at.unsigned_of(3));
  const uint32_t size = at.u32();
  const Datatype base = parse_integer(at, base_flags, size, who);
  source.check(base.size == 1 && (flags & 0xffff) == 2, who,
               " is an enumeration other than bool, which is not read");
  std::string names;
  for (int i = 0; i < 2; ++i) {
    const uint64_t begin = at.at();
    for (char c = 1; c != 0; names += c) c = at.number<char>();
    if (version < 3) at.skip((8 - (at.at() - begin) % 8) % 8);
  }
  const uint8_t first = at.u8(), second = at.u8();
  source.check(names == std::string_view("FALSE\0TRUE\0", 11) && first == 0 && second == 1, who,
               " is an enumeration other than bool, which is not read");
  return {.kind = Kind::boolean, .size = 1};
}

Datatype parse_string(const Source& source, uint32_t flags, uint32_t size, const std::string& who) {
  source.check((flags & 15) <= 2, who, " has strings with an unknown padding");
  return {
      .kind = Kind::string, .size = size, .padding = static_cast<Datatype::Padding>(flags & 15)};
}

constexpr std::string_view class_names[] = {"integer",  "float",    "time",     "string",
                                            "bitfield", "opaque",   "compound", "reference",
                                            "enum",     "variable", "array",    "complex"};

template <class Stored, class To>
void convert_integers(Bytes raw, const Datatype& type, std::span<To> out, const std::string& who) {
  for (size_t i = 0; i < out.size(); ++i) {
    std::array<std::byte, sizeof(Stored)> bytes;
    std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Stored)), sizeof(Stored),
                bytes.begin());
    if (type.big_endian) std::reverse(bytes.begin(), bytes.end());
    const auto value = std::bit_cast<Stored>(bytes);
    require(std::in_range<To>(value), who, ": the number ", +value, " does not fit into ",
            dtype_of<To>());
    out[i] = static_cast<To>(value);
  }
}

void swap_elements(Bytes raw, size_t size, std::byte* out) {
  for (size_t i = 0; i < raw.size(); i += size)
    std::reverse_copy(raw.begin() + static_cast<std::ptrdiff_t>(i),
                      raw.begin() + static_cast<std::ptrdiff_t>(i + size), out + i);
}

// Converts integers of types that tensors do not have.
void widen(Bytes raw, const Datatype& type, const Tensor& out, const std::string& who) {
  if (type.size == 2 && type.is_signed)
    return convert_integers<int16_t>(raw, type, out.data<int32_t>(), who);
  if (type.size == 2) return convert_integers<uint16_t>(raw, type, out.data<int32_t>(), who);
  if (type.size == 4) return convert_integers<uint32_t>(raw, type, out.data<int64_t>(), who);
  convert_integers<uint64_t>(raw, type, out.data<int64_t>(), who);
}

bool needs_widening(const Datatype& type) {
  return type.kind == Kind::integer && (type.size == 2 || (type.size > 2 && !type.is_signed));
}

}  // namespace

DType Datatype::dtype() const {
  if (kind == Kind::boolean) return DType::boolean;
  if (kind == Kind::opaque || brain) return DType::bf16;
  if (kind == Kind::floating) return size == 2 ? DType::f16 : size == 4 ? DType::f32 : DType::f64;
  ensure(kind == Kind::integer, "hdf5: strings have no dtype");
  if (size == 1) return is_signed ? DType::i8 : DType::u8;
  if (size == 2 || (size == 4 && is_signed)) return DType::i32;
  return DType::i64;
}

bool Datatype::native() const {
  return !is_string() && kind != Kind::boolean && !(big_endian && size > 1) &&
         !needs_widening(*this);
}

Datatype parse_datatype(const Source& source, Cursor& at, const std::string& who) {
  const uint8_t head = at.u8();
  const uint8_t kind = head & 15, version = head >> 4;
  const auto flags = static_cast<uint32_t>(at.unsigned_of(3));
  const uint32_t size = at.u32();
  source.check(version >= 1 && version <= 5, who, " has a datatype of unknown version ",
               int{version});
  switch (kind) {
    case 0:
      return parse_integer(at, flags, size, who);
    case 1:
      return parse_float(at, flags, size, who);
    case 3:
      return parse_string(source, flags, size, who);
    case 5:
      source.check(size == 2, who, " has opaque elements of ", size,
                   " bytes; those of 2, bfloat16, are read");
      at.skip((flags & 0xff));
      return {.kind = Kind::opaque, .size = 2};
    case 8:
      return parse_enum(source, at, flags, version, who);
    case 9:
      source.check((flags & 15) == 1 && size == 16, who,
                   " has lists of variable length, which are not read; only strings are");
      return {.kind = Kind::variable_string, .size = 16};
    default:
      break;
  }
  source.check(kind < std::size(class_names), who, " has a datatype of unknown class ", int{kind});
  fail(source.name(), ": ", who, " has a datatype of class ", class_names[kind],
       ", which is not read");
}

// IV.A.2.b: the dataspace message.
Dataspace parse_dataspace(const Source& source, Cursor& at, const std::string& who) {
  const uint8_t version = at.u8(), rank = at.u8(), flags = at.u8();
  source.check(version == 1 || version == 2, who, " has a dataspace of unknown version ",
               int{version});
  const uint8_t kind = at.u8();  // reserved in version 1
  if (version == 1) at.skip(4);
  Dataspace space{.null = version == 2 && kind == 2};
  source.check(rank <= max_rank, who, " has ", int{rank}, " dimensions, but at most ", max_rank,
               " are read");
  uint64_t product = 1;  // of the dimensions that are not 0
  for (int i = 0; i < rank; ++i) {
    const uint64_t dim = at.u64();
    source.check(!__builtin_mul_overflow(product, std::max<uint64_t>(dim, 1), &product) &&
                     product < uint64_t{1} << 48,
                 who, " has more elements than a tensor can have");
    space.count *= dim;
    space.dims.push_back(static_cast<int64_t>(dim));
  }
  if ((flags & 1) != 0) at.skip(uint64_t{8} * rank);
  if (space.null) space.count = 0;
  return space;
}

Tensor decode_numbers(Bytes raw, const Datatype& type, const Shape& shape, const std::string& who) {
  Tensor out(type.dtype(), shape);
  if (raw.empty()) return out;
  if (needs_widening(type)) {
    widen(raw, type, out, who);
  } else if (type.kind == Kind::boolean) {
    std::transform(raw.begin(), raw.end(), static_cast<bool*>(out.raw()),
                   [](std::byte b) { return b != std::byte{0}; });
  } else if (type.big_endian) {
    swap_elements(raw, type.size, out.buffer().data());
  } else {
    std::memcpy(out.raw(), raw.data(), raw.size());
  }
  return out;
}

}  // namespace keratin::hdf5
