import { StoreError, type Store } from '../../src/store/port.ts'
import type { Seeded } from './seeded.ts'
import type { Actor, VirtualTime } from './virtual-time.ts'

/** A node's connection to the one store: it can be cut, and it can lose the answer after a commit. */
export interface StoreLink {
  readonly store: Store
  /** No message passes before this time. */
  cutUntilMs: number
  /** How many of the next calls commit and then report a broken connection. */
  loseAnswers: number
  /** When an answer was last lost, and its content with it. */
  lostAtMs: number
  /** End of the node's last long absence (cut off or frozen). */
  awayUntilMs: number
}

/** Methods that answer at once from local data; a cut link does not affect them. */
const LOCAL_METHODS = new Set(['kind', 'version', 'ticksInFlight', 'tickCap', 'close'])

export function createStoreLink(options: {
  shared: Store
  time: VirtualTime
  seeded: Seeded
  actor: Actor
  /** Small on purpose: many small ticks reach more interleavings than few large ones. */
  tickCap: number
  /** `backForMs`: how long the node had been back in touch when it asked. */
  onAnswer(verb: string, result: unknown, backForMs: number): void
}): StoreLink {
  const { shared, time, seeded, actor } = options

  const call = (verb: string, args: unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      const reply = (action: () => void) => time.after(actor, seeded.int(3), action)
      const backForMs = time.nowMs - link.awayUntilMs
      const unreachable = () => new StoreError('unavailable', 'the store is cut off')
      if (isCut()) return reply(() => reject(unreachable()))
      // The request is already sent: the store serves it even if the node dies or is cut off meanwhile.
      time.after(WIRE, seeded.int(2), () => {
        if (isCut() && seeded.chance(0.5)) return reply(() => reject(unreachable()))
        const methods = shared as unknown as Record<
          string,
          (...input: unknown[]) => Promise<unknown>
        >
        // Each node sets its own clock expectation.
        if (expected) shared.expectClock(expected)
        const done = (methods[verb] as (...input: unknown[]) => Promise<unknown>).apply(
          shared,
          args,
        )
        done.then(
          (result) => {
            const isLost = isCut() || link.loseAnswers > 0
            if (link.loseAnswers > 0) link.loseAnswers -= 1
            if (isLost) link.lostAtMs = time.nowMs
            if (isLost) return reply(() => reject(new StoreError('unknown', 'the answer was lost')))
            options.onAnswer(verb, result, backForMs)
            reply(() => resolve(result))
          },
          (error: Error) => reply(() => reject(error)),
        )
      })
    })

  let expected: (() => number) | undefined
  const isCut = () => time.nowMs < link.cutUntilMs

  const link: StoreLink = {
    cutUntilMs: 0,
    loseAnswers: 0,
    lostAtMs: 0,
    awayUntilMs: time.nowMs,
    store: new Proxy(shared, {
      get(target, verb: string) {
        if (verb === 'ticksInFlight') return 2
        if (verb === 'tickCap') return options.tickCap
        if (verb === 'expectClock') return (given: () => number) => void (expected = given)
        if (LOCAL_METHODS.has(verb)) return Reflect.get(target, verb) as unknown
        return (...args: unknown[]) => call(verb, args)
      },
    }),
  }
  return link
}

/** The wire itself never dies or freezes. */
const WIRE: Actor = { name: 'wire', isAlive: true, frozenUntilMs: 0, wallSkewMs: 0 }
