import { PunctualError } from '../../src/core/errors.ts'
import type { Working } from '../../src/core/wire/protocol.ts'
import type { Seeded } from './seeded.ts'
import type { Actor, VirtualTime } from './virtual-time.ts'

/** What may happen to a message, as probabilities. */
export interface Weather {
  drop: number
  repeat: number
  delay: number
}

export interface Host {
  readonly actor: Actor
  /** The scheduler as this host serves it; undefined while it is starting or down. */
  serve(): Working | undefined
}

const GIVE_UP_MS = 5_000

/**
 * The network between workers and nodes. A call can be lost on the way there or back, arrive twice,
 * arrive late; links can be cut. The caller then gives up after a while, as a socket does.
 */
export function createNetwork(options: {
  time: VirtualTime
  seeded: Seeded
  weather: Weather
  isCut(caller: Actor, host: Actor): boolean
  onMessage(fault: 'drop' | 'repeat' | 'delay'): void
}) {
  const { time, seeded, weather } = options

  const strikes = (fault: keyof Weather) => {
    const hit = seeded.chance(weather[fault])
    if (hit) options.onMessage(fault)
    return hit
  }

  /** How long one way takes. */
  const travelMs = () => (strikes('delay') ? seeded.between(500, 8_000) : seeded.between(0, 4))

  return function call<Answer>(
    caller: Actor,
    host: Host,
    ask: (served: Working) => Promise<Answer>,
    how: { signal?: AbortSignal | undefined; mayRepeat?: boolean } = {},
  ): Promise<Answer> {
    const { signal, mayRepeat = true } = how
    return new Promise((resolve, reject) => {
      const fail = (ms: number) =>
        time.after(caller, ms, () => reject(new Error('connection lost')))
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      const isDown = () => !host.actor.isAlive || options.isCut(caller, host.actor)
      if (isDown()) return fail(seeded.chance(0.5) ? 1 : GIVE_UP_MS)
      if (strikes('drop')) return fail(GIVE_UP_MS)

      const back = (action: () => void) => {
        if (isDown() || strikes('drop')) return fail(GIVE_UP_MS)
        time.after(caller, travelMs(), action)
      }
      const arrive = (isRepeat: boolean) => {
        const served = host.serve()
        if (!served) return isRepeat ? undefined : fail(1)
        ask(served).then(
          (answer) => (isRepeat ? undefined : back(() => resolve(answer))),
          (error: unknown) => {
            if (isRepeat) return
            if (error instanceof PunctualError) back(() => reject(error))
            else fail(1)
          },
        )
      }
      time.after(host.actor, travelMs(), () => arrive(false))
      if (mayRepeat && strikes('repeat'))
        time.after(host.actor, travelMs() + seeded.int(3_000), () => arrive(true))
      // A host that dies with the request in hand answers nobody.
      time.after(caller, 30_000, () => reject(new Error('timed out')))
    })
  }
}
