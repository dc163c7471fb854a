/* SPDX-License-Identifier: BSD-3-Clause */
/* a program that does nothing but load the library */

int main(void)
{
	return 0;
}
