import type { Blobs } from '../../blobs/port.ts'
import type { Random } from '../../core/clock.ts'
import { parsePublicId } from '../../core/ids.ts'
import type { RunQueries, RunRecord } from '../../store/port.ts'
import { ownerOf, readReference } from '../payloads/reference.ts'
import type { Step } from '../loops/run-loop.ts'

/** Blobs looked at in one step, and the runs read for it. */
const BATCH = 100
const BETWEEN_STEPS_MS = 500
const BETWEEN_ROUNDS_MS = 3_600_000

export interface Collecting {
  readonly blobs: Pick<Blobs, 'list' | 'delete'>
  readonly store: Pick<RunQueries, 'findRuns'>
  readonly random: Random
  readonly area: string
  /** Far longer than any commit takes: what is younger may be about to be named by a row. */
  readonly orphanMs: number
  onCollected(count: number): void
}

/**
 * Deletes blobs that no run refers to: their writer crashed before it wrote the row, or the run was
 * pruned. A name is used once and says whose it is, so when an old blob is not named by its own run
 * now, it never will be. Names that say nothing are not ours to judge.
 */
export function collectBlobs(deps: Collecting): Step {
  const { blobs, store, random, area, orphanMs } = deps
  let after: string | null = null
  let hasStarted = false
  // Nodes that started together do not look together.
  const pause = () => ({ more: false, idleMs: BETWEEN_ROUNDS_MS * (0.5 + random()) })

  return async () => {
    if (!hasStarted) {
      hasStarted = true
      return pause()
    }
    const page = await blobs.list({ area, after, olderThanMs: orphanMs, limit: BATCH })
    const orphans = await orphansAmong(page.keys, store)
    if (orphans.length > 0) await blobs.delete(orphans)
    deps.onCollected(orphans.length)
    after = page.next
    return after === null ? pause() : { more: false, idleMs: BETWEEN_STEPS_MS }
  }
}

/** Of these keys, those that their runs do not name. */
export async function orphansAmong(
  keys: readonly string[],
  store: Pick<RunQueries, 'findRuns'>,
): Promise<string[]> {
  const owned = keys.flatMap((key) => {
    const name = key.slice(key.indexOf('/') + 1)
    const owner = ownerOf(name)
    const runId = owner && parsePublicId('run', owner.run)
    return !owner || runId === undefined ? [] : [{ key, name, runId, kind: owner.kind }]
  })
  if (owned.length === 0) return []
  const runIds = [...new Set(owned.map(({ runId }) => runId))]
  const runs = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  return owned
    .filter(({ runId, kind, name }) => !names(runs.get(runId), kind, name))
    .map(({ key }) => key)
}

function names(run: RunRecord | undefined, kind: 'input' | 'result', name: string): boolean {
  return run !== undefined && readReference(run.id, run[kind])?.name === name
}
