#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void say(struct text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *chars = more < 0 ? NULL : realloc(text->chars, text->len + (size_t)more + 1);
    if (chars == NULL)
        abort();
    va_start(args, format);
    vsnprintf(chars + text->len, (size_t)more + 1, format, args);
    va_end(args);
    text->chars = chars;
    text->len += (size_t)more;
}
