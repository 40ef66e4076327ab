import { PunctualError } from '../../src/core/errors.ts'
import type { WorkerClient } from '../../src/core/wire/protocol.ts'
import type { Seeded } from './seeded.ts'
import type { Actor, VirtualTime } from './virtual-time.ts'

/** Probability of each message fault. */
export interface MessageFaultRates {
  drop: number
  repeat: number
  delay: number
}

export interface Host {
  readonly actor: Actor
  /** The scheduler on this host; undefined while it is starting or down. */
  serve(): WorkerClient | undefined
}

const CALL_TIMEOUT_MS = 5_000

/**
 * The network between workers and nodes. A call can be lost on the way there or back, arrive twice or arrive
 * late; links can be cut. The caller then times out, as with a socket.
 */
export function createNetwork(options: {
  time: VirtualTime
  seeded: Seeded
  messageFaults: MessageFaultRates
  isCut(caller: Actor, host: Actor): boolean
  onMessage(fault: 'drop' | 'repeat' | 'delay'): void
}) {
  const { time, seeded, messageFaults } = options

  const isHit = (fault: keyof MessageFaultRates) => {
    const hit = seeded.chance(messageFaults[fault])
    if (hit) options.onMessage(fault)
    return hit
  }

  /** Duration of one direction. */
  const travelMs = () => (isHit('delay') ? seeded.between(500, 8_000) : seeded.between(0, 4))

  return function call<Answer>(
    caller: Actor,
    host: Host,
    ask: (served: WorkerClient) => Promise<Answer>,
    how: { signal?: AbortSignal | undefined; mayRepeat?: boolean } = {},
  ): Promise<Answer> {
    const { signal, mayRepeat = true } = how
    return new Promise((resolve, reject) => {
      const fail = (ms: number) =>
        time.after(caller, ms, () => reject(new Error('connection lost')))
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      const isDown = () => !host.actor.isAlive || options.isCut(caller, host.actor)
      if (isDown()) return fail(seeded.chance(0.5) ? 1 : CALL_TIMEOUT_MS)
      if (isHit('drop')) return fail(CALL_TIMEOUT_MS)

      const back = (action: () => void) => {
        if (isDown() || isHit('drop')) return fail(CALL_TIMEOUT_MS)
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
      if (mayRepeat && isHit('repeat'))
        time.after(host.actor, travelMs() + seeded.int(3_000), () => arrive(true))
      // If the host dies with the request in hand, no answer comes.
      time.after(caller, 30_000, () => reject(new Error('timed out')))
    })
  }
}
