import type { Database } from 'better-sqlite3'
import { prepareListRuns } from './list-runs.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from './record-row.ts'
import type { QueryVerbs } from './verbs.ts'

export const FIND_RUN = `SELECT ${RECORD_COLUMNS} FROM run WHERE id = ? AND project_id = ?`
/** Each count walks the index of its state, never the history. */
export const LIVE_COUNTS = `
  SELECT (SELECT count(*) FROM run WHERE status = 0) AS ready,
         (SELECT count(*) FROM run WHERE status = 1) AS running,
         (SELECT count(*) FROM run WHERE status = 2) AS scheduled,
         (SELECT count(*) FROM run WHERE status = 3) AS blocked`
const JOB_NAME = `SELECT name FROM job WHERE id = ?`
const PROJECT_NAME = `SELECT name FROM project WHERE id = ?`

/** The reading verbs, on whichever connection may read: they never write. */
export function prepareQueries(db: Database): QueryVerbs {
  const findRun = db.prepare<[number, number], RecordRow>(FIND_RUN)
  const liveCounts = db.prepare<[], ReturnType<QueryVerbs['liveCounts']>>(LIVE_COUNTS)
  const listRuns = prepareListRuns(db)
  const jobName = db.prepare<[number], string>(JOB_NAME).pluck()
  const projectName = db.prepare<[number], string>(PROJECT_NAME).pluck()

  return {
    findRun({ projectId, runId }) {
      const row = findRun.get(runId, projectId)
      return row ? toRecord(row) : null
    },
    listRuns: (filter) => listRuns(filter).map(toRecord),
    liveCounts: () => liveCounts.get() ?? { ready: 0, running: 0, scheduled: 0, blocked: 0 },
    jobNames: (ids) => namesOf(ids, (id) => jobName.get(id)),
    projectNames: (ids) => namesOf(ids, (id) => projectName.get(id)),
  }
}

function namesOf(
  ids: readonly number[],
  nameOf: (id: number) => string | undefined,
): Map<number, string> {
  const names = new Map<number, string>()
  for (const id of ids) {
    const name = nameOf(id)
    if (name !== undefined) names.set(id, name)
  }
  return names
}
