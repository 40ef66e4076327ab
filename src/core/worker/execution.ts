/** How surely a worker holds its processes, in its own words. For people: nothing is decided by it. */
export interface Execution {
  /** Which kind of guardian starts them. */
  readonly launcher: string
  readonly containment: string
  /** What it can hold a command to: `memory`, `cpu`, … */
  readonly limits: readonly string[]
  /** Commands that name no user run as root, and nobody has said that this is meant. */
  readonly root?: boolean | undefined
  /** Why it is not better than that. */
  readonly why?: string | undefined
}
