import type { FollowStore, FollowUpsSettled, NewRun, SettledFollowUp } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { startRuns } from '../workflows/workflows.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

/** Locks in a fixed order; rows that another node is settling are left to it. */
const LOCK_FOLLOW_UPS = {
  name: 'lock-follow-ups',
  text: `
  SELECT held.source_run_id AS "sourceRunId", held.job_id AS "jobId"
    FROM unnest($1::bigint[], $2::int[]) AS item (source_run_id, job_id)
   CROSS JOIN LATERAL (
     SELECT source_run_id, job_id FROM follow_up f
      WHERE f.source_run_id = item.source_run_id AND f.job_id = item.job_id
        AND settled_at IS NULL FOR UPDATE SKIP LOCKED) held`,
}
const SETTLE = {
  name: 'settle-follow-ups',
  text: `
  WITH ${CLOCK},
  settled AS (
    UPDATE follow_up f SET settled_at = now, run_id = item.run_id, reason = item.reason
      FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::text[])
             AS item (source_run_id, job_id, run_id, reason) CROSS JOIN clock
     WHERE f.source_run_id = item.source_run_id AND f.job_id = item.job_id)
  SELECT now FROM clock`,
}

export async function settleFollowUps(
  db: Database,
  { node, settled }: Parameters<FollowStore['settleFollowUps']>[0],
): Promise<FollowUpsSettled> {
  await db.weeks.ensure(settled.flatMap(runsOf).map(({ id }) => id))
  return transact(db.duty, async (tx) => {
    const ours = await lock(tx, settled)
    const [row] = await tx.query<{ now: number }>(SETTLE, [
      db.now(),
      bigints(ours.map(({ sourceRunId }) => sourceRunId)),
      ints(ours.map(({ jobId }) => jobId)),
      bigints(ours.map((one) => runsOf(one)[0]?.id ?? null)),
      texts(ours.map(({ outcome }) => ('reason' in outcome ? outcome.reason : null))),
    ])
    const runs = ours.flatMap(runsOf).toSorted((a, b) => a.id - b.id)
    const { started, lanes } = await startRuns(tx, db.now(), node, runs, [])
    return { now: row!.now, made: runs.map(({ id }) => id), started, lanes }
  })
}

async function lock(
  tx: Queryable,
  settled: readonly SettledFollowUp[],
): Promise<readonly SettledFollowUp[]> {
  const byKey = new Map(settled.map((one) => [keyOf(one), one]))
  const inOrder = [...byKey.values()].toSorted(
    (a, b) => a.sourceRunId - b.sourceRunId || a.jobId - b.jobId,
  )
  const rows = await tx.query<{ sourceRunId: number; jobId: number }>(LOCK_FOLLOW_UPS, [
    bigints(inOrder.map(({ sourceRunId }) => sourceRunId)),
    ints(inOrder.map(({ jobId }) => jobId)),
  ])
  return rows.map((row) => byKey.get(keyOf(row))!)
}

function keyOf({ sourceRunId, jobId }: { sourceRunId: number; jobId: number }): string {
  return `${sourceRunId} ${jobId}`
}

function runsOf({ outcome }: SettledFollowUp): NewRun[] {
  return 'run' in outcome ? [outcome.run] : []
}
