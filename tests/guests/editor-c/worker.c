/* The contract's side of the editor: one handoff in, one result out. */
#include "bindings/role.h"
#include "editor.h"

#include <string.h>

void exports_brain_role_worker_run(exports_brain_role_worker_handoff_packet_t *handoff,
                                   exports_brain_role_worker_worker_result_t *result) {
    struct text goal = {0}, report = {0};
    say(&goal, "%.*s", (int)handoff->task.goal.len, (const char *)handoff->task.goal.ptr);
    bool done = editor(goal.chars, &report);

    /* A field of zeros is the contract's safe value: none, empty, and a status that does not count as done. */
    memset(result, 0, sizeof *result);
    result->handoff_id = handoff->id;
    result->task_id = handoff->task.id;
    result->parent_id = handoff->task.parent_id;
    result->progress.status =
        done ? BRAIN_ROLE_PACKETS_TASK_STATUS_COMPLETED : BRAIN_ROLE_PACKETS_TASK_STATUS_FAILED;
    role_string_set(&result->summary, report.chars);

    /* The ids now belong to the result, which the bindings free; an instance serves one handoff, so the rest may stay. */
}
