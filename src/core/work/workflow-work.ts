/** Lanes with this executor hold flows: no worker claims from them, nodes begin what stands there. */
export const FLOW_EXECUTOR = 'workflow'

/** What a run that is a flow executes, as it is stored where it is more than its job's definition. */
export interface FlowWork {
  readonly executor: typeof FLOW_EXECUTOR
  /** The run names the flow it repeats; this says what of that is done again. Without it, everything. */
  readonly retry?: RetryNames | undefined
  /** The time it is for, where a schedule or the run it repeats says so: the row has only its own. */
  readonly scheduled_at?: string | undefined
}

/** Steps by their names, as people know them. */
export interface RetryNames {
  readonly failed?: boolean | undefined
  readonly from?: readonly string[] | undefined
  readonly skip?: readonly string[] | undefined
}
