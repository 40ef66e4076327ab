import type { AuditEntry } from '../../store/port.ts'

/** Who asks for a change, in which project, and through which request. */
export interface By {
  readonly project: string
  readonly actor: number | null
  readonly request: string | null
  readonly address: string | null
}

/** The line that will stand in the record. */
export function auditOf(
  { actor, request, address }: By,
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
