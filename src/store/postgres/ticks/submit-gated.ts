import { hasNoOptionsButGates } from '../../run-options.ts'
import type { NewRun } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import type { GateAdmission } from '../gates/admit-new-runs.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import { type InsertResult, baseColumnsOf, RECHECK_MS, storedGates } from './submit.ts'

/**
 * The spec of a run is inserted before the gates are locked, and only its state after that: ticks
 * with the same gates wait for each other, and the second insert is the smaller half. Ids must be
 * new.
 */
const WRITE_SPECS = {
  name: 'write-specs',
  text: `
  WITH ${CLOCK},
  fresh AS (
    INSERT INTO run (id, created_at, timeout_ms, project_id, job_id, lane_id,
                     minted_by, rank, policy, input, version, created_by, gates)
    SELECT id, now, timeout_ms, project_id, job_id, lane_id,
           $2::int, rank, policy, input, version, created_by, gates::int[]
      FROM unnest(
        $3::bigint[], $4::int[], $5::int[], $6::int[], $7::smallint[], $8::bigint[],
        $9::text[], $10::text[], $11::int[], $12::int[], $13::text[])
        AS t (id, project_id, job_id, lane_id, rank, timeout_ms, policy, input,
              version, created_by, gates)
     CROSS JOIN clock)
  SELECT now FROM clock`,
}
const INSERT_LEASE_STATE = {
  name: 'place-leased',
  text: `
  WITH ${CLOCK}
  INSERT INTO lease (run_id, fence, node, session, project_id, lane_id, rank, pos,
                     attempt, lost, claim_no, started_at, gates, keyed)
  SELECT id, fence, $2::int, session, project_id, lane_id, rank, id, 1, 0, 1, now, gates::int[], false
    FROM unnest($3::bigint[], $4::int[], $5::int[], $6::smallint[], $7::text[], $8::bigint[],
                $9::bigint[])
      AS t (id, project_id, lane_id, rank, gates, session, fence)
   CROSS JOIN clock`,
}
const INSERT_READY_STATE = {
  name: 'place-ready',
  text: `
  INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no)
  SELECT lane_id, rank, id, id, 1, 0, 0
    FROM unnest($1::bigint[], $2::int[], $3::smallint[]) AS t (id, lane_id, rank)`,
}
const INSERT_BLOCKED_STATE = {
  name: 'place-blocked',
  text: `
  WITH ${CLOCK}
  INSERT INTO blocked (run_id, gate_id, gates, lane_id, rank, pos, attempt, lost, claim_no, recheck_at)
  SELECT id, gate_id, gates::int[], lane_id, rank, id, 1, 0, 0, now + ${RECHECK_MS}
    FROM unnest($2::bigint[], $3::int[], $4::smallint[], $5::text[], $6::int[])
      AS t (id, lane_id, rank, gates, gate_id)
   CROSS JOIN clock`,
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
    ...baseColumnsOf(runs),
    ints(runs.map((run) => run.version)),
    ints(runs.map((run) => run.createdBy)),
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
