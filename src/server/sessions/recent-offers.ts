import type { Clock } from '../../core/clock.ts'
import { handlersIn } from '../../core/worker/handler-names.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { SessionIndex } from './session-index.ts'

/** How long a worker that left counts as recently seen. */
const RECENT_MS = 24 * 3_600_000
const MOST_OFFERS = 10_000

/** What the workers of this node offer, and what those of the last day offered. Memory only. */
export interface RecentOffers {
  /** A session with this offer ends here. */
  note(offer: Offer): void
  /** Whether a worker that serves the project offers, or recently offered, this executor. */
  has(project: string, executor: string): boolean
  /** Names of the handlers that workers of the project have or had. */
  handlers(project: string): string[]
}

export function createRecentOffers({
  clock,
  sessionIndex,
}: {
  readonly clock: Pick<Clock, 'mono'>
  readonly sessionIndex: Pick<SessionIndex, 'sessions'>
}): RecentOffers {
  const former = new Map<Offer, number>()

  const offersOf = (project: string): Offer[] => {
    const oldest = clock.mono() - RECENT_MS
    const recent = [...former].flatMap(([offer, mono]) => (mono < oldest ? [] : offer))
    const present = [...sessionIndex.sessions.values()].map(({ offer }) => offer)
    return [...new Set([...present, ...recent])].filter((offer) => isServing(offer, project))
  }

  return {
    note(offer) {
      if (former.size >= MOST_OFFERS && !former.has(offer)) former.clear()
      former.set(offer, clock.mono())
    },
    has: (project, executor) =>
      offersOf(project).some(({ executors }) => executors.includes(executor)),
    handlers: (project) => [
      ...new Set(offersOf(project).flatMap(({ executors }) => handlersIn(executors))),
    ],
  }
}

function isServing({ projects }: Offer, project: string): boolean {
  return projects.length === 0 || projects.includes(project)
}
