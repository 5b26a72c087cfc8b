#include <keratin/keratin.h>

#include <iostream>

int main() { std::cout << "keratin " << keratin::version() << '\n'; }
