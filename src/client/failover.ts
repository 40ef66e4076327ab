/** Sends calls to one of several servers: to the same one until it fails. */
export interface Failover<Server, Call, Answer> {
  /** The server in use. */
  readonly server: Server
  call(call: Call): Promise<Answer>
}

/** What the failure of a call means for the call and for the server. */
export interface FailurePolicy<Call, Failure extends Error> {
  /**
   * The failure that an error stands for, given the previous failure of the same call. `undefined`
   * for an error that no other server can avoid: the caller gets it as it is.
   */
  failureOf(error: unknown, previous: Failure | undefined): Failure | undefined
  /** Whether later calls go to the next server. */
  isAboutServer(failure: Failure): boolean
  /** Whether the call is sent again after `tries` failures, of which this is the last. */
  mayRepeat(failure: Failure, call: Call, tries: number): boolean
  /** Waits before the call is sent again to the same server, or to the servers in another round. */
  pause?(failure: Failure, call: Call, round: number): Promise<void>
}

export function createFailover<Server, Call, Answer, Failure extends Error>(
  servers: readonly Server[],
  send: (server: Server, call: Call) => Promise<Answer>,
  policy: FailurePolicy<Call, Failure>,
): Failover<Server, Call, Answer> {
  let current = 0
  return {
    get server() {
      return servers[current] as Server
    },
    async call(call) {
      let failure: Failure | undefined
      for (let tries = 1; ; tries += 1) {
        const asked = current
        try {
          return await send(servers[asked] as Server, call)
        } catch (error) {
          failure = policy.failureOf(error, failure)
          if (failure === undefined) throw error
          // Several calls fail together when a server goes away; only the first of them moves to
          // the next.
          if (policy.isAboutServer(failure) && current === asked) {
            current = (asked + 1) % servers.length
          }
          if (!policy.mayRepeat(failure, call, tries)) throw failure
          if (current !== asked && tries % servers.length !== 0) continue
          await policy.pause?.(failure, call, tries / servers.length)
        }
      }
    },
  }
}
