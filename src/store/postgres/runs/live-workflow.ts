/**
 * For a workflow that is looked up by its id. The sum keeps the lookup away from the index of live
 * workflows, which to a planner that believes it empty costs the same as the lookup.
 */
export const IS_LIVE = `flow.ended_at + 0 IS NULL`
