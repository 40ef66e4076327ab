import type { Clock } from '../../core/clock.ts'
import { createNews, type News, type Told } from './event-buffer.ts'

/** How long changes are gathered: a run that came and went meanwhile is told of once. */
const GATHER_MS = 100
/** More at once than anybody reads: looking at a list again is cheaper for both sides. */
const MOST_AT_ONCE = 500
/** How often it asks whether other nodes change runs that this one does not hear of. */
const PEERS_MS = 2_000
/** Gathering goes on for this long after the last reader left: it may be back in a moment. */
const LINGER_MS = 60_000

/** What happens to runs, for those who watch. Costs nothing while nobody does. */
export interface Feed {
  readonly news: News
  /** These runs have changed on this node. */
  touched(runIds: Iterable<number>): void
  /** A run says how far it is. */
  progress(told: () => Told): void
  /** Somebody reads until the signal aborts. */
  attend(signal: AbortSignal): void
}

export function createFeed(deps: {
  readonly clock: Clock
  /** Tells positions of this feed from those of others. */
  readonly epoch: string
  /** How these runs are now. */
  read(runIds: readonly number[]): Promise<readonly Told[]>
  countNodes(): Promise<number>
  onError(error: unknown): void
}): Feed {
  const { clock, onError } = deps
  const news = createNews(deps.epoch)
  let changed = new Set<number>()
  let readers = 0
  let attendedMono = Number.NEGATIVE_INFINITY
  let isGathering = false
  let isWatchingPeers = false

  const isAttended = () => readers > 0 || clock.mono() - attendedMono < LINGER_MS

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
    if (runIds.length > MOST_AT_ONCE) return news.reset('much has changed at once')
    try {
      for (const told of await deps.read(runIds)) news.add(told)
    } catch (error) {
      onError(error)
      news.reset('changes could not be read')
    }
  }

  /** What other nodes do is not heard here, so whoever watches has to look again now and then. */
  const watchPeers = async () => {
    isWatchingPeers = true
    while (readers > 0) {
      const nodes = await deps.countNodes().catch(() => 2)
      if (nodes > 1) news.reset('other nodes may have changed something')
      await clock.sleep(PEERS_MS)
    }
    isWatchingPeers = false
  }

  return {
    news,
    touched(runIds) {
      if (!isAttended()) return
      for (const runId of runIds) changed.add(runId)
      if (changed.size > 0 && !isGathering) void gather()
    },
    progress(told) {
      if (isAttended()) news.add(told(), 'run.progress')
    },
    attend(signal) {
      if (signal.aborted) return
      if (!isAttended()) news.forget()
      readers += 1
      signal.addEventListener('abort', () => {
        readers -= 1
        attendedMono = clock.mono()
      })
      if (!isWatchingPeers) void watchPeers()
    },
  }
}
