import type { AuditEntry, AuditRecord, AuditStore } from '../../port.ts'
import { type Database, pickLists } from '../database/database.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read } from '../connection/transaction.ts'

const ADD_AUDIT = {
  name: 'add-audit',
  text: `
  WITH ${CLOCK}
  INSERT INTO audit (at, project_id, actor, action, target, detail, request, address)
  SELECT now, $2::int, $3::int, $4, $5, $6, $7, $8 FROM clock`,
}
const COLUMNS = `
  id, at, project_id AS "projectId", actor, action, target, detail, request, address`
const AUDIT_OF_ALL = {
  name: 'audit-of-all',
  text: `SELECT ${COLUMNS} FROM audit WHERE id < $1::bigint ORDER BY id DESC LIMIT $2::int`,
}
const AUDIT_OF_PROJECT = {
  name: 'audit-of-project',
  text: `SELECT ${COLUMNS} FROM audit WHERE id < $1::bigint AND project_id = $3::int
          ORDER BY id DESC LIMIT $2::int`,
}

/** Called inside the transaction of the change it describes. */
export async function addAudit(
  tx: Queryable,
  now: number | null,
  entry: AuditEntry,
): Promise<void> {
  const { projectId, actor, action, target, detail, request, address } = entry
  await tx.query(ADD_AUDIT, [now, projectId, actor, action, target, detail, request, address])
}

export async function listAudit(
  db: Database,
  { projectId, before, limit }: Parameters<AuditStore['listAudit']>[0],
): Promise<AuditRecord[]> {
  if (projectId === null) return read<AuditRecord>(pickLists(db), AUDIT_OF_ALL, [before, limit])
  return read<AuditRecord>(pickLists(db), AUDIT_OF_PROJECT, [before, limit, projectId])
}
