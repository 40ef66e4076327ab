import type { Blobs } from '../../blobs/port.ts'
import type { Random } from '../../core/clock.ts'
import { parsePublicId } from '../../core/ids.ts'
import type { RunQueries, RunRecord } from '../../store/port.ts'
import { blobOwnerOf, readReference } from '../payloads/reference.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** Blobs checked in one step, with their runs. */
const BATCH = 100
const BETWEEN_STEPS_MS = 500
const BETWEEN_ROUNDS_MS = 3_600_000

export interface CollectBlobsDeps {
  readonly blobs: Pick<Blobs, 'list' | 'delete'>
  readonly store: Pick<RunQueries, 'findRuns'>
  readonly random: Random
  readonly area: string
  /** Far longer than any commit takes: a row may be about to refer to a younger blob. */
  readonly orphanMs: number
  /**
   * How far this machine's wall clock is ahead of the trusted time: blobs seem older by as much.
   */
  aheadMs(): number
  onCollected(count: number): void
}

/**
 * Deletes blobs that no run refers to, because their writer crashed before it wrote the row, or
 * because the run was pruned. A name is used once and contains its run, so when that run does not
 * refer to an old blob now, it never will. Blobs with other names are left alone.
 */
export function collectBlobs(deps: CollectBlobsDeps): LoopStep {
  const { blobs, store, random, area, orphanMs } = deps
  let after: string | null = null
  let hasStarted = false
  // Nodes that started together must not collect at the same time.
  const pause = () => ({ more: false, idleMs: BETWEEN_ROUNDS_MS * (0.5 + random()) })

  return async () => {
    if (!hasStarted) {
      hasStarted = true
      return pause()
    }
    const olderThanMs = orphanMs + Math.max(0, deps.aheadMs())
    const page = await blobs.list({ area, after, olderThanMs, limit: BATCH })
    const orphans = await orphansAmong(page.keys, store)
    if (orphans.length > 0) await blobs.delete(orphans)
    deps.onCollected(orphans.length)
    after = page.next
    return after === null ? pause() : { more: false, idleMs: BETWEEN_STEPS_MS }
  }
}

/** Those of the keys to which their runs do not refer. */
export async function orphansAmong(
  keys: readonly string[],
  store: Pick<RunQueries, 'findRuns'>,
): Promise<string[]> {
  const owned = keys.flatMap((key) => {
    const name = key.slice(key.indexOf('/') + 1)
    const owner = blobOwnerOf(name)
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
