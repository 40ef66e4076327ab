import type { Clock, Random } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { createMinter, MAX_ID_LEAD_MS, idAtMs, type Minter, SLOTS } from '../../core/ids.ts'
import { CLOCK_HOLD_MS } from '../../core/trusted-clock.ts'
import type { JoinedNode, NodeStore } from '../../store/port.ts'
import type { NodeConfig } from './config.ts'
import type { StoreClock } from './store-clock.ts'

/**
 * This node's row in the store, and what it entitles the node to. Promises to workers end well
 * before the row can expire, so when another node declares this one dead, the leases of its workers
 * are already over.
 */
export interface Membership {
  readonly node: number
  /** The store's clock as far as this node trusts it, carried on by the monotonic clock. */
  storeNow(): number
  mintId(): number
  /**
   * Whether this node may still renew leases and assign runs. Decided by the monotonic clock alone.
   */
  mayPromise(): boolean
  /**
   * Whether the row was renewed recently, and the store has accepted writes without a gap for long
   * enough (`steadyMs`). Only then may this node reap others.
   */
  isSteady(): boolean
  /** Another write of this node, sent at this instant, was accepted by the store. */
  writeSucceeded(sentMono: number): void
  /** Whether runs may exist whose ids were minted by a clock that was ahead. */
  hasFutureIds(): boolean
  /**
   * The trusted time was set back. The next heartbeat moves to a slot whose ids are not ahead of
   * it.
   */
  clockSetBack(): void
  join(): Promise<void>
  /**
   * Renews the row. False: this incarnation was declared dead, and `join` must start the next one.
   */
  renewRow(): Promise<boolean>
  leave(): Promise<void>
}

/** After this time all other nodes have followed an earlier time or were declared dead. */
const PEERS_FOLLOW_MS = CLOCK_HOLD_MS + 60_000
const NO_SLOT = `all ${SLOTS} node slots are taken by live nodes`

export function createMembership(options: {
  store: NodeStore
  clock: Clock
  random: Random
  config: NodeConfig
  storeClock: StoreClock
}): Membership {
  const { store, clock, random, config, storeClock } = options
  let node = 0
  let minter: Minter | null = null
  /** Highest id of any run: shows whether a clock that was ahead minted it. */
  let highestId = 0
  /**
   * When an earlier time became trusted while ids ahead of it are still to be checked; null:
   * nothing to check.
   */
  let setBackMono: number | null = null
  let hasToMove = false
  let heartbeatMono = Number.NEGATIVE_INFINITY
  /** When the last write was sent that the store accepted. */
  let lastWriteMono = Number.NEGATIVE_INFINITY
  let promisesEndMono = Number.NEGATIVE_INFINITY
  let steadySinceMono = Number.POSITIVE_INFINITY
  const promiseMs = config.nodeTtlMs - config.leaseTtlMs - config.renewMarginMs
  /**
   * Far shorter than the TTL: after a longer outage for all nodes, another row may have expired a
   * moment before this one while its node is about to renew it.
   */
  const gapMs = config.nodeTtlMs / 3

  /**
   * A gap is an outage of the store: while it accepts writes of this node, other nodes can renew
   * their rows. A single failed heartbeat is no gap.
   */
  const writeSucceeded = (sentMono: number) => {
    if (sentMono - lastWriteMono > gapMs) steadySinceMono = sentMono
    lastWriteMono = Math.max(lastWriteMono, sentMono)
  }

  const storeNow = storeClock.now

  /** `sentMono` is read before the write is sent: the row lives at least one TTL from then. */
  const renewed = (sentMono: number, now: number) => {
    writeSucceeded(sentMono)
    heartbeatMono = sentMono
    promisesEndMono = sentMono + promiseMs
    const { hold } = storeClock.status()
    storeClock.observe(now, sentMono)
    // Other nodes may have written their rows by another time: they get a full TTL to renew them.
    if (hold !== null || storeClock.status().hold !== null) steadySinceMono = clock.mono()
  }

  const newMinter = ({ slot, idFloor }: { slot: number; idFloor: number }) =>
    createMinter({ slot, floor: idFloor, now: storeNow, random })

  /** Runs before the first statement, because that statement needs a trusted time. */
  const startClock = async () => {
    if (storeClock.isStarted) return
    const sentMono = clock.mono()
    const { wall, newestAt, agreedMs, ...facts } = await store.clockFacts()
    highestId = facts.highestId
    storeClock.start(wall, sentMono, { newestAt, agreedMs })
    store.expectClock(storeNow)
  }

  /**
   * Servers that exit right after the start each leave a slot behind and never live long enough to
   * declare each other dead. A node that finds no slot therefore stays in contact for the time a
   * judging node needs, and then judges.
   */
  const findSlot = async (): Promise<{ sentMono: number; joined: JoinedNode }> => {
    const { name, nodeTtlMs: ttlMs, restartGraceMs: graceMs } = config
    let lastWriteMono = Number.NEGATIVE_INFINITY
    let sinceMono = 0
    for (let hasJudged = false; ;) {
      const sentMono = clock.mono()
      const joined = await store.join({ name, ttlMs, graceMs })
      if (joined) return { sentMono, joined }
      if (hasJudged) throw new PunctualError('overloaded', NO_SLOT)
      if (sentMono - lastWriteMono > gapMs) sinceMono = sentMono
      lastWriteMono = sentMono
      if (sentMono - sinceMono >= config.steadyMs) {
        await store.declareDeadNodes()
        hasJudged = true
      } else await clock.sleep(config.nodeHeartbeatMs)
    }
  }

  /** Moves to another slot if the id mark of this one lies ahead of the trusted time. */
  const leaveSlotAhead = async () => {
    if (!hasToMove) return
    if (minter && minter.mark > idAtMs(storeNow() + MAX_ID_LEAD_MS)) {
      const { nodeTtlMs: ttlMs } = config
      const changed = await store.changeSlot({ node, ttlMs, idMark: minter.mark })
      if (changed) minter = newMinter(changed)
    }
    hasToMove = false
  }

  /** Ids ahead of the trusted time are complete once no node uses the earlier clock. */
  const findHighestId = async () => {
    if (setBackMono === null || clock.mono() - setBackMono < PEERS_FOLLOW_MS) return
    const facts = await store.clockFacts()
    highestId = facts.highestId
    setBackMono = null
  }

  return {
    get node() {
      return node
    },
    storeNow,
    writeSucceeded,
    mintId() {
      if (!minter) throw new PunctualError('node_stopping', 'this node has not joined yet')
      return minter.mint()
    },
    mayPromise: () => clock.mono() < promisesEndMono,
    isSteady: () =>
      clock.mono() - heartbeatMono <= gapMs && clock.mono() - steadySinceMono >= config.steadyMs,

    hasFutureIds: () => highestId > idAtMs(storeNow() + MAX_ID_LEAD_MS),
    clockSetBack() {
      // Some node has minted ids up to here.
      highestId = Number.MAX_SAFE_INTEGER
      setBackMono = clock.mono()
      hasToMove = true
    },

    async join() {
      await startClock()
      const { sentMono, joined } = await findSlot()
      node = joined.node
      heartbeatMono = lastWriteMono = Number.NEGATIVE_INFINITY
      renewed(sentMono, joined.now)
      minter = newMinter(joined)
    },

    async renewRow() {
      const sentMono = clock.mono()
      const idMark = minter?.mark ?? 0
      const { alive, now } = await store.heartbeat({ node, ttlMs: config.nodeTtlMs, idMark })
      if (alive) {
        renewed(sentMono, now)
        await leaveSlotAhead()
        await findHighestId()
      } else promisesEndMono = Number.NEGATIVE_INFINITY
      return alive
    },

    async leave() {
      promisesEndMono = Number.NEGATIVE_INFINITY
      await store.leave({ node, idMark: minter?.mark ?? 0 })
    },
  }
}
