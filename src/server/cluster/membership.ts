import type { Clock, Random } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { createMinter, type Minter, SLOTS } from '../../core/ids.ts'
import type { JoinedNode, NodeStore } from '../../store/port.ts'
import type { NodeConfig } from './config.ts'

/**
 * This node's row in the store, and what it entitles the node to. Promises to workers end well before
 * the row can expire, so whoever declares this node dead finds its workers' leases already over.
 */
export interface Membership {
  readonly node: number
  /** The store's clock as of the last beat, carried on by the monotonic clock. */
  storeNow(): number
  mintId(): number
  /** May this node still renew leases and hand out work? By the monotonic clock alone. */
  mayPromise(): boolean
  /** Has the row been renewed for long enough (`steadyMs`) without a gap? Only then may others be reaped. */
  isSteady(): boolean
  join(): Promise<void>
  /** Renews the row. False: this incarnation was declared dead and `join` must start the next one. */
  beat(): Promise<boolean>
  leave(): Promise<void>
}

const NO_SLOT = `all ${SLOTS} node slots are taken by live nodes`

export function createMembership(options: {
  store: NodeStore
  clock: Clock
  random: Random
  config: NodeConfig
}): Membership {
  const { store, clock, random, config } = options
  let node = 0
  let minter: Minter | null = null
  let storeOffset = 0
  let beatMono = Number.NEGATIVE_INFINITY
  let promisesEndMono = Number.NEGATIVE_INFINITY
  let steadySinceMono = Number.POSITIVE_INFINITY
  const promiseMs = config.nodeTtlMs - config.leaseTtlMs - config.renewMarginMs
  /**
   * Far shorter than the TTL: after a longer silence that was everybody's, another row may have
   * expired a moment before this one, and its node is about to renew it.
   */
  const gapMs = config.nodeTtlMs / 3

  const storeNow = () => Math.round(clock.mono() + storeOffset)

  /** `sentMono` is read before the write is sent: the row lives at least a TTL from there. */
  const renewed = (sentMono: number, now: number) => {
    if (sentMono - beatMono > gapMs) steadySinceMono = sentMono
    beatMono = sentMono
    promisesEndMono = sentMono + promiseMs
    // The store looked at its clock between the two. What was thought of it before is kept where that
    // fits: a slow answer says less about the time than a quick one did.
    storeOffset = Math.min(Math.max(storeOffset, now - clock.mono()), now + 1 - sentMono)
  }

  /**
   * Servers that end as soon as they have started leave a slot behind each time, and are never there for long
   * enough to declare each other dead. So whoever finds no slot stays in touch for as long as a judge has to,
   * and then judges.
   */
  const findSlot = async (): Promise<{ sentMono: number; joined: JoinedNode }> => {
    const { name, nodeTtlMs: ttlMs, restartGraceMs: graceMs } = config
    let heardMono = Number.NEGATIVE_INFINITY
    let sinceMono = 0
    for (let hasJudged = false; ;) {
      const sentMono = clock.mono()
      const joined = await store.join({ name, ttlMs, graceMs })
      if (joined) return { sentMono, joined }
      if (hasJudged) throw new PunctualError('overloaded', NO_SLOT)
      if (sentMono - heardMono > gapMs) sinceMono = sentMono
      heardMono = sentMono
      if (sentMono - sinceMono >= config.steadyMs) {
        await store.buryDead()
        hasJudged = true
      } else await clock.sleep(config.nodeBeatMs)
    }
  }

  return {
    get node() {
      return node
    },
    storeNow,
    mintId() {
      if (!minter) throw new PunctualError('node_stopping', 'this node has not joined yet')
      return minter.mint()
    },
    mayPromise: () => clock.mono() < promisesEndMono,
    isSteady: () =>
      clock.mono() - beatMono <= gapMs && clock.mono() - steadySinceMono >= config.steadyMs,

    async join() {
      const { sentMono, joined } = await findSlot()
      node = joined.node
      beatMono = Number.NEGATIVE_INFINITY
      renewed(sentMono, joined.now)
      minter = createMinter({ slot: joined.slot, floor: joined.idFloor, now: storeNow, random })
    },

    async beat() {
      const sentMono = clock.mono()
      const idMark = minter?.mark ?? 0
      const { alive, now } = await store.beat({ node, ttlMs: config.nodeTtlMs, idMark })
      if (alive) renewed(sentMono, now)
      else promisesEndMono = Number.NEGATIVE_INFINITY
      return alive
    },

    async leave() {
      promisesEndMono = Number.NEGATIVE_INFINITY
      await store.leave({ node, idMark: minter?.mark ?? 0 })
    },
  }
}
