import { hasNoOptionsButGates } from '../../run-options.ts'
import type { NewRun } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import type { GateAdmission } from '../gates/admit-new-runs.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import {
  BASE_COLUMNS,
  baseValuesOf,
  type InputColumn,
  insertBlockedRows,
  insertLeaseRows,
  insertReadyRows,
  insertSpecs,
  unnestFrom,
} from './new-run-rows.ts'
import { type InsertResult, RECHECK_MS, storedGates } from './submit.ts'

/**
 * The spec of a run is inserted before the gates are locked, and only its state after that: ticks
 * with the same gates wait for each other, and the second insert is the smaller half. Ids must be
 * new.
 */
const WRITE_SPECS = {
  name: 'write-specs',
  text: `
  WITH ${CLOCK},
  fresh AS (${insertSpecs(
    `${unnestFrom(3, [...BASE_COLUMNS, ['gates', 'text']])} CROSS JOIN clock`,
    { gates: 'gates::int[]' },
  )})
  SELECT now FROM clock`,
}
const LEASED_COLUMNS: readonly InputColumn[] = [
  ['id', 'bigint'],
  ['project_id', 'int'],
  ['lane_id', 'int'],
  ['rank', 'smallint'],
  ['gates', 'text'],
  ['session', 'bigint'],
  ['fence', 'bigint'],
]
const INSERT_LEASE_STATE = {
  name: 'place-leased',
  text: `
  WITH ${CLOCK} ${insertLeaseRows(`${unnestFrom(3, LEASED_COLUMNS)} CROSS JOIN clock`, {
    gates: 'gates::int[]',
    keyed: 'false',
  })}`,
}
const READY_COLUMNS: readonly InputColumn[] = [
  ['id', 'bigint'],
  ['lane_id', 'int'],
  ['rank', 'smallint'],
]
const INSERT_READY_STATE = {
  name: 'place-ready',
  text: insertReadyRows(unnestFrom(1, READY_COLUMNS)),
}
const BLOCKED_COLUMNS: readonly InputColumn[] = [
  ...READY_COLUMNS,
  ['gates', 'text'],
  ['gate_id', 'int'],
]
const INSERT_BLOCKED_STATE = {
  name: 'place-blocked',
  text: `
  WITH ${CLOCK} ${insertBlockedRows(`${unnestFrom(2, BLOCKED_COLUMNS)} CROSS JOIN clock`, {
    gateId: 'gate_id',
    gates: 'gates::int[]',
    recheckMs: String(RECHECK_MS),
  })}`,
}

/** Whether the runs have no options but gates: then they can be inserted in two parts. */
export function canSplitInsert(runs: readonly NewRun[]): boolean {
  return runs.every((run) => run.dueAt === null && hasNoOptionsButGates(run, 0))
}

/**
 * Runs in ascending order of id, each id once, as for `insertRuns`; `writeGatedRows` has to follow.
 */
export function writeSpecs(
  tx: Queryable,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
): Promise<InsertResult> {
  const answer = tx.query<{ now: number }>(WRITE_SPECS, [
    now,
    node,
    ...baseValuesOf(runs),
    texts(runs.map(storedGates)),
  ])
  return reportedElsewhere(
    answer.then(([row]) => ({ now: row!.now, inserted: null, nextDueAt: null })),
  )
}

/** Inserts the states of the runs, now that it is known which pass their gates. */
export function writeGatedRows(
  tx: Queryable,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
  { passes, waitsAt }: GateAdmission,
): void {
  const {
    leased = [],
    ready = [],
    blocked = [],
  } = Object.groupBy(runs, (run) => {
    if (run.gates.length > 0 && !passes.has(run.id)) return 'blocked'
    return run.reservation ? 'leased' : 'ready'
  })
  const send = (statement: typeof INSERT_READY_STATE, values: readonly unknown[]) =>
    void reportedElsewhere(tx.query(statement, values))
  const idsOf = (those: readonly NewRun[]) => bigints(those.map((run) => run.id))
  const lanesOf = (those: readonly NewRun[]) => ints(those.map((run) => run.laneId))
  const ranksOf = (those: readonly NewRun[]) => smallints(those.map((run) => run.rank))
  if (leased.length > 0) {
    send(INSERT_LEASE_STATE, [
      now,
      node,
      idsOf(leased),
      ints(leased.map((run) => run.projectId)),
      lanesOf(leased),
      ranksOf(leased),
      texts(leased.map(storedGates)),
      bigints(leased.map((run) => run.reservation!.session)),
      bigints(leased.map((run) => run.reservation!.fence)),
    ])
  }
  if (ready.length > 0) send(INSERT_READY_STATE, [idsOf(ready), lanesOf(ready), ranksOf(ready)])
  if (blocked.length > 0) {
    send(INSERT_BLOCKED_STATE, [
      now,
      idsOf(blocked),
      lanesOf(blocked),
      ranksOf(blocked),
      texts(blocked.map(storedGates)),
      ints(blocked.map((run) => waitsAt.get(run.id) ?? run.gates[0]!)),
    ])
  }
}
