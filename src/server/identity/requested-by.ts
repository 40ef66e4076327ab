import type { AuditEntry } from '../../store/port.ts'

/** Who requests a change, in which project, and through which request. */
export interface RequestedBy {
  readonly project: string
  readonly actor: number | null
  readonly request: string | null
  readonly address: string | null
}

/** The entry for the audit log. */
export function auditEntryFor(
  { actor, request, address }: RequestedBy,
  projectId: number | null,
  action: string,
  target: string,
  detail: object | null = null,
): AuditEntry {
  return {
    projectId,
    actor,
    action,
    target,
    detail: detail ? JSON.stringify(detail) : null,
    request,
    address,
  }
}
