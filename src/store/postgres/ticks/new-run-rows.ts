import type { NewRun } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'

/** A column of an `unnest` of array parameters, and the type of its elements. */
export type InputColumn = readonly [
  name: string,
  type: 'bigint' | 'boolean' | 'int' | 'smallint' | 'text',
]

/** What every new run has, in the order of `baseValuesOf`. */
export const BASE_COLUMNS: readonly InputColumn[] = [
  ['id', 'bigint'],
  ['project_id', 'int'],
  ['job_id', 'int'],
  ['lane_id', 'int'],
  ['rank', 'smallint'],
  ['timeout_ms', 'bigint'],
  ['policy', 'text'],
  ['input', 'text'],
  ['version', 'int'],
  ['created_by', 'int'],
]

export function baseValuesOf(runs: readonly NewRun[]): unknown[] {
  return [
    bigints(runs.map((run) => run.id)),
    ints(runs.map((run) => run.projectId)),
    ints(runs.map((run) => run.jobId)),
    ints(runs.map((run) => run.laneId)),
    smallints(runs.map((run) => run.rank)),
    bigints(runs.map((run) => run.timeoutMs)),
    texts(runs.map((run) => run.policy)),
    texts(runs.map((run) => run.input)),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
  ]
}

/** Array parameters from `$first` on as the rows of `t`. */
export function unnestFrom(first: number, columns: readonly InputColumn[]): string {
  const arrays = columns.map(([, type], index) => `$${first + index}::${type}[]`)
  return `unnest(${arrays.join(', ')}) AS t (${columns.map(([name]) => name).join(', ')})`
}

/**
 * Inserts the specs of new runs, minted by the node `$2`. `source` has the base columns and `now`;
 * `more` are further columns of `run`, each with its value.
 */
export function insertSpecs(source: string, more: Readonly<Record<string, string>> = {}): string {
  const columns: Record<string, string> = {
    ...Object.fromEntries(BASE_COLUMNS.map(([name]) => [name, name])),
    created_at: 'now',
    minted_by: '$2::int',
    ...more,
  }
  return `
    INSERT INTO run (${Object.keys(columns).join(', ')})
    SELECT ${Object.values(columns).join(', ')} FROM ${source}`
}

/** Inserts the rows of new runs that are ready. */
export function insertReadyRows(source: string): string {
  return `
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no)
    SELECT lane_id, rank, id, id, 1, 0, 0 FROM ${source}`
}

/** Inserts the rows of new runs that are leased to a session of the node `$2`. */
export function insertLeaseRows(
  source: string,
  { gates, keyed }: { gates: string; keyed: string },
): string {
  return `
    INSERT INTO lease (run_id, fence, node, session, project_id, lane_id, rank, pos,
                       attempt, lost, claim_no, started_at, gates, keyed)
    SELECT id, fence, $2::int, session, project_id, lane_id, rank, id, 1, 0, 1, now, ${gates}, ${keyed}
      FROM ${source}`
}

/** Inserts the rows of new runs that wait at a gate or for other runs. */
export function insertBlockedRows(
  source: string,
  { gateId, gates, recheckMs }: { gateId: string; gates: string; recheckMs: string },
): string {
  return `
    INSERT INTO blocked (run_id, gate_id, gates, lane_id, rank, pos, attempt, lost, claim_no,
                         recheck_at)
    SELECT id, ${gateId}, ${gates}, lane_id, rank, id, 1, 0, 0, now + ${recheckMs}
      FROM ${source}`
}
