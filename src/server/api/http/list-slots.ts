import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import type { ListFigures } from '../../metrics/metrics.ts'

/** How many lists may run and wait, on the whole server and per caller. */
export interface ListLimits {
  readonly slots: number
  /** Fewer than all slots, so that one caller never blocks the lists of others. */
  readonly slotsPerCaller: number
  readonly waiting: number
  readonly waitingPerCaller: number
  /** A list that has waited this long is refused. */
  readonly waitMs: number
  /**
   * A slot serves at most one list in this time, so that lists leave the event loop to other
   * requests.
   */
  readonly leastMs: number
}

export const DEFAULT_LISTS: ListLimits = {
  slots: 4,
  slotsPerCaller: 3,
  waiting: 1_000,
  waitingPerCaller: 200,
  waitMs: 5_000,
  leastMs: 10,
}

/** Ends the use of a slot. */
export type Release = () => void
export type CallerKey = string | number

export interface ListSlots {
  /** Waits for a slot. Refuses with the seconds after which to try again. */
  take(caller: CallerKey, signal: AbortSignal): Promise<Release>
  figures(): ListFigures
}

interface WaitingRequest {
  readonly grant: (release: Release) => void
}

interface Queue {
  readonly caller: CallerKey
  busy: number
  readonly waiting: Set<WaitingRequest>
}

/**
 * Assigns the slots of a server to callers in turn, oldest request of each caller first. Lists are
 * slow and can be requested without end, so they wait here and not where workers are served.
 */
export function createListSlots(
  limits: ListLimits,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): ListSlots {
  // In the order of turns: a served caller goes to the end.
  const queues = new Map<CallerKey, Queue>()
  let busy = 0
  let waitingCount = 0
  const refused = { rate_limited: 0, overloaded: 0 }

  const queueOf = (caller: CallerKey): Queue => {
    const queue = queues.get(caller) ?? { caller, busy: 0, waiting: new Set() }
    queues.set(caller, queue)
    return queue
  }

  const leave = (queue: Queue) => {
    if (queue.busy === 0 && queue.waiting.size === 0) queues.delete(queue.caller)
  }

  const occupy = (queue: Queue): Release => {
    busy += 1
    queue.busy += 1
    queues.delete(queue.caller)
    queues.set(queue.caller, queue)
    const sinceMono = clock.mono()
    let isOver = false
    const free = () => {
      busy -= 1
      queue.busy -= 1
      leave(queue)
      serve()
    }
    return () => {
      if (isOver) return
      isOver = true
      const leftMs = sinceMono + limits.leastMs - clock.mono()
      if (leftMs <= 0) free()
      else void clock.sleep(leftMs).then(free)
    }
  }

  const serve = () => {
    for (const queue of [...queues.values()]) {
      if (busy >= limits.slots) return
      const [next] = queue.waiting
      if (!next || queue.busy >= limits.slotsPerCaller) continue
      queue.waiting.delete(next)
      waitingCount -= 1
      next.grant(occupy(queue))
    }
  }

  const refuse = (code: keyof ListFigures['refused'], message: string): PunctualError => {
    refused[code] += 1
    const retryAfterS = Math.max(1, Math.round(limits.waitMs / 2_000))
    return new PunctualError(code, message, { retryAfterS })
  }

  const wait = async (queue: Queue, signal: AbortSignal): Promise<Release> => {
    const ended = new AbortController()
    let release: Release | undefined
    const waiter: WaitingRequest = {
      grant: (given) => {
        release = given
        ended.abort()
      },
    }
    queue.waiting.add(waiter)
    waitingCount += 1
    await clock.sleep(limits.waitMs, AbortSignal.any([signal, ended.signal]))
    if (release) return release
    queue.waiting.delete(waiter)
    waitingCount -= 1
    leave(queue)
    if (signal.aborted) throw new PunctualError('node_stopping', 'the request was given up')
    throw queue.busy >= limits.slotsPerCaller
      ? refuse('rate_limited', 'this token has more lists under way than it may')
      : refuse('overloaded', 'lists of other callers take too long')
  }

  return {
    async take(caller, signal) {
      const queue = queueOf(caller)
      const isFree = busy < limits.slots && queue.busy < limits.slotsPerCaller
      if (isFree && queue.waiting.size === 0) return occupy(queue)
      if (queue.waiting.size >= limits.waitingPerCaller) {
        throw refuse('rate_limited', 'this token has too many lists waiting')
      }
      if (waitingCount >= limits.waiting) {
        leave(queue)
        throw refuse('overloaded', 'too many lists are waiting')
      }
      return wait(queue, signal)
    },
    figures: () => ({ busy, waiting: waitingCount, refused: { ...refused } }),
  }
}
