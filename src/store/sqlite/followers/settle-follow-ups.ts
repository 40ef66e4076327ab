import type { Database } from 'better-sqlite3'
import {
  type FollowStore,
  type FollowUpsSettled,
  type NewRun,
  type SettledFollowUp,
} from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import type { Needs } from '../ticks/needs.ts'
import { byRankAndId, insertMinted, prepareSubmits } from '../ticks/submit.ts'
import { ascending, startTick } from '../tick-state/tick-state.ts'

export const SETTLE_FOLLOW_UP = `
  UPDATE follow_up SET settled_at = :now, run_id = :runId, reason = :reason
   WHERE source_run_id = :sourceRunId AND job_id = :jobId AND settled_at IS NULL`

type Input = Parameters<FollowStore['settleFollowUps']>[0]

export function prepareSettleFollowUps(
  db: Database,
  parts: { gates: Gates; keys: Keys; needs: Needs },
): (input: Input, now: number) => FollowUpsSettled {
  const settle = db.prepare<[object]>(SETTLE_FOLLOW_UP)
  const submits = prepareSubmits(db, parts)

  /** The run it becomes, unless another node settled it first. */
  const settleOne = ({ sourceRunId, jobId, outcome }: SettledFollowUp, now: number): NewRun[] => {
    const run = 'run' in outcome ? outcome.run : null
    const reason = 'reason' in outcome ? outcome.reason : null
    const row = { now, runId: run?.id ?? null, reason, sourceRunId, jobId }
    return settle.run(row).changes > 0 && run ? [run] : []
  }

  return ({ node, settled }, now) => {
    const tick = startTick(now, node)
    const runs = settled.flatMap((one) => settleOne(one, now)).sort(byRankAndId)
    const started = insertMinted(runs, tick, submits)
    parts.gates.admitTouched(tick)
    const made = ascending(runs.map(({ id }) => id))
    return { now, made, started, lanes: ascending(tick.refilled) }
  }
}
