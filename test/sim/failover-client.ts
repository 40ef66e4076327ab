import type { WorkerClient } from '../../src/core/wire/protocol.ts'
import type { SchedulerNode } from '../../src/server/node/start-node.ts'
import type { createNetwork } from './network.ts'
import type { Seeded } from './seeded.ts'
import type { SimNode } from './sim-node.ts'
import type { Actor } from './virtual-time.ts'

/** A worker's client: it calls one node, and another one when that fails. */
export function createFailoverClient(options: {
  caller: Actor
  call: ReturnType<typeof createNetwork>
  nodes: readonly SimNode[]
  seeded: Seeded
  /** The client with another identity than a worker of the server's own. */
  serve?: ((node: SchedulerNode) => WorkerClient) | undefined
}): WorkerClient {
  const { caller, call, nodes, seeded } = options
  const serve = options.serve ?? ((node) => node.clientFor('default'))
  let at = seeded.int(8)
  const ask = async <T>(request: (served: WorkerClient) => Promise<T>, signal?: AbortSignal) => {
    const sim = nodes[at % Math.max(1, nodes.length)]
    if (!sim) throw new Error('there is no node')
    const host = { actor: sim.actor, serve: () => sim.node && serve(sim.node) }
    try {
      return await call(caller, host, request, { signal })
    } catch (error) {
      if (!signal?.aborted) at += 1
      throw error
    }
  }
  return {
    register: (hello, secret) => ask((served) => served.register(hello, secret)),
    exchange: (session, message, signal) =>
      ask((served) => served.exchange(session, message), signal),
    heartbeat: (session, message) => ask((served) => served.heartbeat(session, message)),
    log: (session, message) => ask((served) => served.log(session, message)),
    leave: (session, registration) => ask((served) => served.leave(session, registration)),
  }
}
