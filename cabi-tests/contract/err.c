/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_err_2str: the text of every code */
#include "contract.h"

TEST(err_2str, text_of_every_code)
{
	TEXT(rpma_err_2str(0), "Success");
	TEXT(rpma_err_2str(RPMA_E_UNKNOWN), "Unknown error");
	TEXT(rpma_err_2str(RPMA_E_NOSUPP), "Not supported");
	TEXT(rpma_err_2str(RPMA_E_PROVIDER), "Provider error occurred");
	TEXT(rpma_err_2str(RPMA_E_NOMEM), "Out of memory");
	TEXT(rpma_err_2str(RPMA_E_INVAL), "Invalid argument");
	TEXT(rpma_err_2str(RPMA_E_NO_COMPLETION),
		"No next completion available");
	TEXT(rpma_err_2str(RPMA_E_NO_EVENT), "No next event available");
	TEXT(rpma_err_2str(RPMA_E_AGAIN), "Temporary error, try again");
	TEXT(rpma_err_2str(RPMA_E_SHARED_CHANNEL),
		"Completion channel is shared");
	TEXT(rpma_err_2str(RPMA_E_NOT_SHARED_CHNL),
		"Completion channel is not shared");
}

TEST(err_2str, any_other_code_has_the_same_text)
{
	static const int codes[] = {1, -1, INT_MAX, INT_MIN, -99999, -100010};

	watch();
	for (unsigned int n = 0; n < 6; n++)
		TEXT(rpma_err_2str(codes[n]), "Unknown error");
	NO_LOG();
}
