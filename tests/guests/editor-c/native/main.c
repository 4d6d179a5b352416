/* The editor as a program of its own: `editor edit <root>`. A test holds what it leaves against what the role left. */
#include "../editor.h"

#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s edit|observe ROOT\n", argv[0]);
        return 2;
    }
    struct text goal = {0}, report = {0};
    say(&goal, "%s %s", argv[1], argv[2]);
    bool done = editor(goal.chars, &report);
    puts(report.chars);
    return done ? 0 : 1;
}
