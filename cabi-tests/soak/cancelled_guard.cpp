/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancelled_guard.cpp -- a caller in C++, whose objects are destroyed when its thread is cancelled
 */

namespace {

class Guard {
public:
	explicit Guard(bool *destroyed) : destroyed(destroyed) {}
	Guard(const Guard &) = delete;
	~Guard() { *destroyed = true; }

private:
	bool *destroyed;
};

} // namespace

extern "C" void
guarded(void (*call)(void), bool *destroyed)
{
	Guard guard(destroyed);

	call();
}
