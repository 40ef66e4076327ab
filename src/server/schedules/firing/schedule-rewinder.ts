import { rewind } from '../../../core/schedule/firing/rewind.ts'
import type { RewindCommand, ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import type { RuleCache } from '../rule-cache.ts'

const PAGE = 500
/** How often a page is read again when some of its schedules have changed meanwhile. */
const TRIES = 5

/** Recomputes the next times of schedules after the clock was set back. */
export interface ScheduleRewinder {
  /** The clock was set back. */
  begin(): void
  /** Whether there are pages left. */
  isPending(): boolean
  /** Processes one page; false: there is nothing to do. */
  step(): Promise<boolean>
}

export interface ScheduleRewinderDeps {
  readonly store: Pick<ScheduleStore, 'schedulesAhead' | 'rewindSchedules' | 'rewindTimers'>
  readonly rules: RuleCache
  storeNow(): number
  readonly signals: Pick<NodeSignals, 'schedulesRewound'>
}

export function createScheduleRewinder(deps: ScheduleRewinderDeps): ScheduleRewinder {
  const { store, rules, storeNow, signals } = deps
  /** All schedules up to this id are done; null: there is nothing to do. */
  let place: number | null = null
  let tries = 0

  const commandFor = (schedule: ScheduleRecord, now: number): RewindCommand[] => {
    const { id, version, lastNominalAt, next } = schedule
    const parsed = rules(schedule.spec)
    const seen = { id, version, nominalAt: next.nominalAt, lastNominalAt }
    // A schedule with an unreadable rule is checked again now.
    if (!parsed.ok) return [{ ...seen, next: { ...next, checkAt: next.checkAt && now } }]
    const rewound = rewind(schedule, parsed.times, now)
    return rewound ? [{ ...seen, next: rewound }] : []
  }

  return {
    begin() {
      place = 0
      tries = 0
    },
    isPending: () => place !== null,
    async step() {
      if (place === null) return false
      const begun = place
      if (begun === 0) await store.rewindTimers()
      const page = await store.schedulesAhead({ after: begun, limit: PAGE })
      // The same moment for the next times and for what is void: a time between two readings would be lost.
      const now = storeNow()
      const commands = page.flatMap((schedule) => commandFor(schedule, now))
      const rewound = commands.length > 0 ? await store.rewindSchedules(commands, now) : 0
      // The clock may have been set back again meanwhile.
      if (place !== begun) return true
      tries += 1
      if (rewound < commands.length && tries < TRIES) return true
      tries = 0
      place = page.length < PAGE ? null : (page.at(-1)?.id ?? null)
      if (place === null) signals.schedulesRewound()
      return true
    },
  }
}
