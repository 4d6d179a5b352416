/* Text that grows, for reports. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

struct text {
    char *chars; /* ends with a NUL; NULL while empty */
    size_t len;
};

/* Appends as printf does. Memory that runs out ends the program. */
void say(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
