/** Who did what, written in the transaction that makes the change. */
export interface AuditEntry {
  /** Null if the entry concerns the whole installation. */
  readonly projectId: number | null
  /** The token it was done with; null for the installation's own principal. */
  readonly actor: number | null
  /** `job.put`, `token.revoke`: the kind of object, and the action. */
  readonly action: string
  /** The name or public id of what was changed. */
  readonly target: string
  /** Details as JSON text. */
  readonly detail: string | null
  /** The request that caused it, and the address it came from. */
  readonly request: string | null
  readonly address: string | null
}

export interface AuditRecord extends AuditEntry {
  readonly id: number
  readonly at: number
}

export interface AuditStore {
  /** Newest first, ids below `before`; of one project, or with null of the whole installation. */
  listAudit(input: {
    projectId: number | null
    before: number
    limit: number
  }): Promise<readonly AuditRecord[]>
}
