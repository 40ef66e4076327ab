/** Lanes with this executor hold workflows: nodes start these runs, workers never claim them. */
export const WORKFLOW_EXECUTOR = 'workflow'

/** The stored work of a workflow run, where it differs from the definition of its job. */
export interface WorkflowWork {
  readonly executor: typeof WORKFLOW_EXECUTOR
  /** The scope of a retry; the run names the workflow that it repeats. Absent: everything runs again. */
  readonly retry?: NamedRetryScope | undefined
  /** The scheduled time, if a schedule or the repeated run sets it; the row only has its own due time. */
  readonly scheduled_at?: string | undefined
}

/** Steps by their names, as users write them. */
export interface NamedRetryScope {
  readonly failed?: boolean | undefined
  readonly from?: readonly string[] | undefined
  readonly skip?: readonly string[] | undefined
}
