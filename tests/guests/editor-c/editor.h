/* What the editor can do. Plain C: it knows nothing of roles, and runs natively too. */
#ifndef EDITOR_H
#define EDITOR_H

#include <stdbool.h>

#include "text.h"

/* Does the editing jobs in the tree at `root`; `report` gets the listing of the tree afterwards, or the job that failed
   and why. */
bool edit(const char *root, struct text *report);

/* Does experiments in the empty folder `root`; `report` gets a line for each. */
bool observe(const char *root, struct text *report);

/* Does what the goal says: `edit <root>` or `observe <root>`. */
bool editor(const char *goal, struct text *report);

#endif
