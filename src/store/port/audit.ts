/** Who did what, written in the transaction that does it. */
export interface AuditEntry {
  /** Null for what concerns the whole installation. */
  readonly projectId: number | null
  /** The token it was done with; null for the installation's own. */
  readonly actor: number | null
  /** `job.put`, `token.revoke`: what kind of thing, and the verb. */
  readonly action: string
  /** The name or public id of what was changed. */
  readonly target: string
  /** JSON text of what there is to say about it. */
  readonly detail: string | null
  /** The request that asked for it, and where that came from. */
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
