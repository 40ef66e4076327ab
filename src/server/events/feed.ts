import type { Clock } from '../../core/clock.ts'
import { createEventBuffer, type EventBuffer, type RunChange } from './event-buffer.ts'

/** How long changes are collected: a run that changes several times meanwhile is published once. */
const GATHER_MS = 100
/** Beyond this number, reading a list again is cheaper for both sides. */
const MOST_AT_ONCE = 500
/** How often the feed checks whether other nodes may have changed runs. */
const PEERS_MS = 2_000
/** Collecting continues this long after the last reader left, because it may return. */
const LINGER_MS = 60_000

/** The live feed of run changes. It costs nothing without readers. */
export interface Feed {
  readonly buffer: EventBuffer
  /** These runs have changed on this node. */
  touched(runIds: Iterable<number>): void
  /** A run reports its progress. */
  progress(change: () => RunChange): void
  /** A reader follows the feed until the signal aborts. */
  watch(signal: AbortSignal): void
}

export function createFeed(deps: {
  readonly clock: Clock
  /** Distinguishes positions of this feed from those of others. */
  readonly epoch: string
  /** Reads the current state of these runs. */
  read(runIds: readonly number[]): Promise<readonly RunChange[]>
  countNodes(): Promise<number>
  onError(error: unknown): void
}): Feed {
  const { clock, onError } = deps
  const buffer = createEventBuffer(deps.epoch)
  let changed = new Set<number>()
  let readers = 0
  let watchedMono = Number.NEGATIVE_INFINITY
  let isGathering = false
  let isWatchingPeers = false

  const isWatched = () => readers > 0 || clock.mono() - watchedMono < LINGER_MS

  const gather = async () => {
    isGathering = true
    while (changed.size > 0) {
      await clock.sleep(GATHER_MS)
      const runIds = [...changed]
      changed = new Set()
      await publish(runIds)
    }
    isGathering = false
  }

  const publish = async (runIds: readonly number[]) => {
    if (runIds.length > MOST_AT_ONCE) return buffer.reset('much has changed at once')
    try {
      for (const change of await deps.read(runIds)) buffer.add(change)
    } catch (error) {
      onError(error)
      buffer.reset('changes could not be read')
    }
  }

  /** This node does not learn of changes on other nodes, so readers must poll from time to time. */
  const watchPeers = async () => {
    isWatchingPeers = true
    while (readers > 0) {
      const nodes = await deps.countNodes().catch(() => 2)
      if (nodes > 1) buffer.reset('other nodes may have changed something')
      await clock.sleep(PEERS_MS)
    }
    isWatchingPeers = false
  }

  return {
    buffer,
    touched(runIds) {
      if (!isWatched()) return
      for (const runId of runIds) changed.add(runId)
      if (changed.size > 0 && !isGathering) void gather()
    },
    progress(change) {
      if (isWatched()) buffer.add(change(), 'run.progress')
    },
    watch(signal) {
      if (signal.aborted) return
      if (!isWatched()) buffer.forget()
      readers += 1
      signal.addEventListener('abort', () => {
        readers -= 1
        watchedMono = clock.mono()
      })
      if (!isWatchingPeers) void watchPeers()
    },
  }
}
