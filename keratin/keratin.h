// All a user needs: the headers named here, and what they include, are Keratin's public face.
#pragma once

#include "keratin/base/version.h"
