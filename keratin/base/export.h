#pragma once

// What users call leaves the shared library; everything else stays hidden. This is the one macro of
// ours: no other spelling works for every compiler.
#if defined(_WIN32) && defined(KERATIN_STATIC)
#define KERATIN_API
#elif defined(_WIN32) && defined(KERATIN_BUILDING)
#define KERATIN_API __declspec(dllexport)
#elif defined(_WIN32)
#define KERATIN_API __declspec(dllimport)
#else
#define KERATIN_API __attribute__((visibility("default")))
#endif
