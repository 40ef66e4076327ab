import { createWorker, type HandlerContext } from '../../../src/worker/index.ts'
import { createNetwork } from '../network.ts'
import type { Seeded } from '../seeded.ts'
import type { Actor, VirtualTime } from '../virtual-time.ts'
import { createFailoverClient } from '../failover-client.ts'
import type { SimNode } from '../sim-node.ts'

const SLOTS = 20
/** From runs that end at once to runs that are still running when their schedule fires again. */
const TAKES_MS = [0, 5, 300, 1_500, 20_000]

/** The real worker, with handlers that take some time. */
export function startScheduleWorker(deps: {
  readonly job: string
  readonly actor: Actor
  readonly time: VirtualTime
  readonly seeded: Seeded
  readonly nodes: readonly SimNode[]
  onStart(context: HandlerContext): void
}): void {
  const { actor, time, seeded } = deps
  const call = createNetwork({
    time,
    seeded,
    messageFaults: { drop: 0.002, repeat: 0.002, delay: 0 },
    isCut: () => false,
    onMessage: () => {},
  })
  const client = createFailoverClient({ caller: actor, call, nodes: deps.nodes, seeded })
  const clock = time.clockOf(actor)
  const worker = createWorker({
    client,
    name: actor.name,
    slots: SLOTS,
    clock,
    random: seeded.random,
    handlers: {
      async [deps.job](_input, context) {
        deps.onStart(context)
        await clock.sleep(seeded.pick(TAKES_MS), context.signal)
        context.signal.throwIfAborted()
      },
    },
  })
  worker.start().catch(() => {})
}
