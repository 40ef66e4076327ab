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

export function createListSlots(
  limits: ListLimits,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): ListSlots {
  return new CallerSlots(limits, clock)
}

/**
 * Assigns the slots of a server to callers in turn, oldest request of each caller first. Lists are
 * slow and can be requested without end, so they wait here and not where workers are served.
 */
class CallerSlots implements ListSlots {
  readonly #limits: ListLimits
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>
  /** In the order of turns: a served caller goes to the end. */
  readonly #queues = new Map<CallerKey, Queue>()
  readonly #refused = { rate_limited: 0, overloaded: 0 }
  #busy = 0
  #waiting = 0

  constructor(limits: ListLimits, clock: Pick<Clock, 'mono' | 'sleep'>) {
    this.#limits = limits
    this.#clock = clock
  }

  async take(caller: CallerKey, signal: AbortSignal): Promise<Release> {
    const queue = this.#queueOf(caller)
    const isFree = this.#busy < this.#limits.slots && this.#mayRun(queue)
    if (isFree && queue.waiting.size === 0) return this.#occupy(queue)
    if (queue.waiting.size >= this.#limits.waitingPerCaller) {
      throw this.#refuse('rate_limited', 'this token has too many lists waiting')
    }
    if (this.#waiting >= this.#limits.waiting) {
      this.#leave(queue)
      throw this.#refuse('overloaded', 'too many lists are waiting')
    }
    return this.#wait(queue, signal)
  }

  /** A field, because the metrics get it without the object. */
  readonly figures = (): ListFigures => ({
    busy: this.#busy,
    waiting: this.#waiting,
    refused: { ...this.#refused },
  })

  #queueOf(caller: CallerKey): Queue {
    const queue = this.#queues.get(caller) ?? { caller, busy: 0, waiting: new Set() }
    this.#queues.set(caller, queue)
    return queue
  }

  #mayRun(queue: Queue): boolean {
    return queue.busy < this.#limits.slotsPerCaller
  }

  #leave(queue: Queue): void {
    if (queue.busy === 0 && queue.waiting.size === 0) this.#queues.delete(queue.caller)
  }

  #occupy(queue: Queue): Release {
    this.#busy += 1
    queue.busy += 1
    this.#queues.delete(queue.caller)
    this.#queues.set(queue.caller, queue)
    const sinceMono = this.#clock.mono()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const leftMs = sinceMono + this.#limits.leastMs - this.#clock.mono()
      if (leftMs <= 0) this.#free(queue)
      else void this.#clock.sleep(leftMs).then(() => this.#free(queue))
    }
  }

  #free(queue: Queue): void {
    this.#busy -= 1
    queue.busy -= 1
    this.#leave(queue)
    this.#serve()
  }

  #serve(): void {
    for (const queue of [...this.#queues.values()]) {
      if (this.#busy >= this.#limits.slots) return
      const [next] = queue.waiting
      if (!next || !this.#mayRun(queue)) continue
      queue.waiting.delete(next)
      this.#waiting -= 1
      next.grant(this.#occupy(queue))
    }
  }

  #refuse(code: keyof ListFigures['refused'], message: string): PunctualError {
    this.#refused[code] += 1
    const retryAfterS = Math.max(1, Math.round(this.#limits.waitMs / 2_000))
    return new PunctualError(code, message, { retryAfterS })
  }

  async #wait(queue: Queue, signal: AbortSignal): Promise<Release> {
    const ended = new AbortController()
    let release: Release | undefined
    const waiter: WaitingRequest = {
      grant: (given) => {
        release = given
        ended.abort()
      },
    }
    queue.waiting.add(waiter)
    this.#waiting += 1
    await this.#clock.sleep(this.#limits.waitMs, AbortSignal.any([signal, ended.signal]))
    if (release) return release
    queue.waiting.delete(waiter)
    this.#waiting -= 1
    this.#leave(queue)
    if (signal.aborted) throw new PunctualError('node_stopping', 'the request was given up')
    throw this.#mayRun(queue)
      ? this.#refuse('overloaded', 'lists of other callers take too long')
      : this.#refuse('rate_limited', 'this token has more lists under way than it may')
  }
}
