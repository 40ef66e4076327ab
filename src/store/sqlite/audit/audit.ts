import type { Database } from 'better-sqlite3'
import type { AuditEntry, AuditRecord, AuditStore } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const ADD_AUDIT = `
  INSERT INTO audit (at, project_id, actor, action, target, detail, request, address)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const COLUMNS = `id, at, project_id AS projectId, actor, action, target, detail, request, address`
export const AUDIT_OF_ALL = `
  SELECT ${COLUMNS} FROM audit WHERE id < :before ORDER BY id DESC LIMIT :limit`
export const AUDIT_OF_PROJECT = `
  SELECT ${COLUMNS} FROM audit WHERE project_id = :projectId AND id < :before
   ORDER BY id DESC LIMIT :limit`

/** Called inside the transaction of the change it describes. */
export type Audit = (entry: AuditEntry, now: number) => void

export function prepareAudit(db: Database): Audit {
  const add = db.prepare(ADD_AUDIT)
  return ({ projectId, actor, action, target, detail, request, address }, now) => {
    add.run(now, projectId, actor, action, target, detail, request, address)
  }
}

export function prepareAuditQueries(db: Database): Sync<AuditStore> {
  const ofAll = db.prepare<[object], AuditRecord>(AUDIT_OF_ALL)
  const ofProject = db.prepare<[object], AuditRecord>(AUDIT_OF_PROJECT)
  return {
    listAudit: ({ projectId, before, limit }) =>
      projectId === null
        ? ofAll.all({ before, limit })
        : ofProject.all({ projectId, before, limit }),
  }
}
