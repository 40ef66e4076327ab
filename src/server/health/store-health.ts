import type { Clock } from '../../core/clock.ts'
import { type Logger, SILENT_LOGGER } from '../../core/logging/logger.ts'
import { StoreError, type Store, type StoreTrouble } from '../../store/port.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** Why the store cannot be used: a failure of its own, or no answer. */
export interface StoreFailure {
  readonly kind: StoreTrouble | 'unavailable'
  readonly reason: string
}

export interface StoreHealth {
  /** Tries a write, unless one was tried a moment ago. Null when the store works. */
  check(): Promise<StoreFailure | null>
  /** The failure found by the last check or by a statement since then. */
  readonly failure: StoreFailure | null
  /** Reports an error of any statement; only store errors with a known reason count. */
  note(error: unknown): void
  /** Looks for damage and tries a write every minute, and more often after a failure. */
  readonly step: LoopStep
  /** Registers a callback for a new failure: `step` is due. */
  onFailure(wake: () => void): void
}

/** A check costs an fsync, so all requests within this time share one. */
const FRESH_MS = 2_000
/**
 * A small write may still fit into space the database allocated before; the next submission may
 * not.
 */
const LEAST_FREE_BYTES = 256 * 1024
const PERIOD_MS = 60_000
const FAILING_PERIOD_MS = 2_000

export function createStoreHealth(deps: {
  readonly store: Pick<Store, 'probe' | 'inspect' | 'freeBytes' | 'location'>
  readonly clock: Pick<Clock, 'mono'>
  readonly log?: Logger | undefined
}): StoreHealth {
  const { store, clock, log = SILENT_LOGGER } = deps
  let failure: StoreFailure | null = null
  let checkedMono = Number.NEGATIVE_INFINITY
  let checking: Promise<StoreFailure | null> | undefined
  let wake = () => {}

  const set = (next: StoreFailure | null) => {
    const before = failure
    failure = next
    if (before?.kind === next?.kind) return
    if (next) {
      log.error('the store cannot be used', { kind: next.kind, reason: next.reason })
      wake()
    } else log.info('the store works again', { kind: before?.kind })
  }

  const run = async (work: () => Promise<void>): Promise<StoreFailure | null> => {
    const before = failure
    try {
      await work()
      // A failure that was noted meanwhile is newer than what this work has seen.
      if (failure === before) set(null)
    } catch (error) {
      set(failureOf(error))
    }
    checkedMono = clock.mono()
    return failure
  }

  const tryWrite = async () => {
    await store.probe()
    const free = await store.freeBytes()
    if (free === null || free >= LEAST_FREE_BYTES) return
    const message = `${store.location} has ${free} bytes free`
    throw new StoreError('unavailable', message, { trouble: 'full' })
  }

  /** A failed inspection says nothing about the store. */
  const findsDamage = async (): Promise<boolean> => {
    try {
      await store.inspect()
      return false
    } catch (error) {
      if (error instanceof StoreError && error.trouble) set(failureOf(error))
      else log.warn('the store could not be inspected for damage', { error })
      return error instanceof StoreError && error.trouble !== undefined
    }
  }

  const check = (): Promise<StoreFailure | null> => {
    if (checking) return checking
    if (clock.mono() - checkedMono < FRESH_MS) return Promise.resolve(failure)
    checking = run(tryWrite).finally(() => {
      checking = undefined
    })
    return checking
  }

  return {
    check,
    get failure() {
      return failure
    },
    note(error) {
      if (!(error instanceof StoreError) || !error.trouble) return
      set(failureOf(error))
    },
    async step() {
      const isDamaged = failure === null && (await findsDamage())
      // The finding stays until the store itself reports that it works again.
      if (!isDamaged) await run(tryWrite)
      return { more: false, idleMs: failure ? FAILING_PERIOD_MS : PERIOD_MS }
    },
    onFailure(then) {
      wake = then
    },
  }
}

function failureOf(error: unknown): StoreFailure {
  const reason = error instanceof Error ? error.message : String(error)
  const kind = (error instanceof StoreError ? error.trouble : undefined) ?? 'unavailable'
  return { kind, reason }
}
