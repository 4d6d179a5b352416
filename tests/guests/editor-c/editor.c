#include "editor.h"

#include <string.h>

bool editor(const char *goal, struct text *report) {
    if (strncmp(goal, "edit ", 5) == 0)
        return edit(goal + 5, report);
    if (strncmp(goal, "observe ", 8) == 0)
        return observe(goal + 8, report);
    say(report, "unknown goal: %s", goal);
    return false;
}
