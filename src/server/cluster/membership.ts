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

export interface MembershipOptions {
  readonly store: NodeStore
  readonly clock: Clock
  readonly random: Random
  readonly config: NodeConfig
  readonly storeClock: StoreClock
}

export function createMembership(options: MembershipOptions): Membership {
  return new NodeMembership(options)
}

/** Functions that other parts get without the object are fields, so that they keep it. */
class NodeMembership implements Membership {
  readonly #store: NodeStore
  readonly #clock: Clock
  readonly #config: NodeConfig
  readonly #storeClock: StoreClock
  readonly #contact: StoreContact
  readonly #ids: NodeIds
  #node = 0

  readonly storeNow: () => number

  constructor(options: MembershipOptions) {
    this.#store = options.store
    this.#clock = options.clock
    this.#config = options.config
    this.#storeClock = options.storeClock
    this.#contact = new StoreContact(options)
    this.#ids = new NodeIds(options)
    this.storeNow = options.storeClock.now
  }

  get node(): number {
    return this.#node
  }

  readonly mintId = (): number => this.#ids.mint()

  readonly mayPromise = (): boolean => this.#contact.mayPromise()

  readonly isSteady = (): boolean => this.#contact.isSteady()

  readonly hasFutureIds = (): boolean => this.#ids.hasFutureIds()

  writeSucceeded(sentMono: number): void {
    this.#contact.writeSucceeded(sentMono)
  }

  clockSetBack(): void {
    this.#ids.clockSetBack()
  }

  async join(): Promise<void> {
    await this.#startClock()
    const { sentMono, joined } = await this.#findSlot()
    this.#node = joined.node
    this.#contact.begin()
    this.#contact.renewed(sentMono, joined.now)
    this.#ids.begin(joined)
  }

  async renewRow(): Promise<boolean> {
    const sentMono = this.#clock.mono()
    const { nodeTtlMs: ttlMs } = this.#config
    const idMark = this.#ids.mark
    const { alive, now } = await this.#store.heartbeat({ node: this.#node, ttlMs, idMark })
    if (alive) {
      this.#contact.renewed(sentMono, now)
      await this.#ids.leaveSlotAhead(this.#node)
      await this.#ids.findHighestId()
    } else this.#contact.endPromises()
    return alive
  }

  async leave(): Promise<void> {
    this.#contact.endPromises()
    await this.#store.leave({ node: this.#node, idMark: this.#ids.mark })
  }

  /** Runs before the first statement, because that statement needs a trusted time. */
  async #startClock(): Promise<void> {
    if (this.#storeClock.isStarted) return
    const sentMono = this.#clock.mono()
    const { wall, newestAt, agreedMs, highestId } = await this.#store.clockFacts()
    this.#ids.learnHighest(highestId)
    this.#storeClock.start(wall, sentMono, { newestAt, agreedMs })
    this.#store.expectClock(this.storeNow)
  }

  /**
   * Servers that exit right after the start each leave a slot behind and never live long enough to
   * declare each other dead. A node that finds no slot therefore stays in contact for the time a
   * judging node needs, and then judges.
   */
  async #findSlot(): Promise<{ sentMono: number; joined: JoinedNode }> {
    const { name, nodeTtlMs: ttlMs, restartGraceMs: graceMs, steadyMs } = this.#config
    let lastWriteMono = Number.NEGATIVE_INFINITY
    let sinceMono = 0
    for (let hasJudged = false; ;) {
      const sentMono = this.#clock.mono()
      const joined = await this.#store.join({ name, ttlMs, graceMs })
      if (joined) return { sentMono, joined }
      if (hasJudged) throw new PunctualError('overloaded', NO_SLOT)
      if (sentMono - lastWriteMono > maxGapMs(this.#config)) sinceMono = sentMono
      lastWriteMono = sentMono
      if (sentMono - sinceMono >= steadyMs) {
        await this.#store.declareDeadNodes()
        hasJudged = true
      } else await this.#clock.sleep(this.#config.nodeHeartbeatMs)
    }
  }
}

/**
 * Far shorter than the TTL: after a longer outage for all nodes, another row may have expired a
 * moment before this one while its node is about to renew it.
 */
function maxGapMs({ nodeTtlMs }: NodeConfig): number {
  return nodeTtlMs / 3
}

/** When the store last accepted writes of this node, and what follows from that. */
class StoreContact {
  readonly #clock: Clock
  readonly #config: NodeConfig
  readonly #storeClock: StoreClock
  #heartbeatMono = Number.NEGATIVE_INFINITY
  /** When the last write was sent that the store accepted. */
  #lastWriteMono = Number.NEGATIVE_INFINITY
  #promisesEndMono = Number.NEGATIVE_INFINITY
  #steadySinceMono = Number.POSITIVE_INFINITY

  constructor({ clock, config, storeClock }: MembershipOptions) {
    this.#clock = clock
    this.#config = config
    this.#storeClock = storeClock
  }

  /** A new incarnation begins. */
  begin(): void {
    this.#heartbeatMono = this.#lastWriteMono = Number.NEGATIVE_INFINITY
  }

  /**
   * A gap is an outage of the store: while it accepts writes of this node, other nodes can renew
   * their rows. A single failed heartbeat is no gap.
   */
  writeSucceeded(sentMono: number): void {
    if (sentMono - this.#lastWriteMono > maxGapMs(this.#config)) this.#steadySinceMono = sentMono
    this.#lastWriteMono = Math.max(this.#lastWriteMono, sentMono)
  }

  /** `sentMono` is read before the write is sent: the row lives at least one TTL from then. */
  renewed(sentMono: number, now: number): void {
    const { nodeTtlMs, leaseTtlMs, renewMarginMs } = this.#config
    this.writeSucceeded(sentMono)
    this.#heartbeatMono = sentMono
    this.#promisesEndMono = sentMono + (nodeTtlMs - leaseTtlMs - renewMarginMs)
    const { hold } = this.#storeClock.status()
    this.#storeClock.observe(now, sentMono)
    // Other nodes may have written their rows by another time: they get a full TTL to renew them.
    if (hold !== null || this.#storeClock.status().hold !== null) {
      this.#steadySinceMono = this.#clock.mono()
    }
  }

  endPromises(): void {
    this.#promisesEndMono = Number.NEGATIVE_INFINITY
  }

  mayPromise(): boolean {
    return this.#clock.mono() < this.#promisesEndMono
  }

  isSteady(): boolean {
    const mono = this.#clock.mono()
    return (
      mono - this.#heartbeatMono <= maxGapMs(this.#config) &&
      mono - this.#steadySinceMono >= this.#config.steadyMs
    )
  }
}

/** The ids that this node mints, and ids that lie ahead of the trusted time. */
class NodeIds {
  readonly #store: NodeStore
  readonly #clock: Clock
  readonly #random: Random
  readonly #config: NodeConfig
  readonly #storeNow: () => number
  #minter: Minter | null = null
  /** Highest id of any run: shows whether a clock that was ahead minted it. */
  #highestId = 0
  /**
   * When an earlier time became trusted while ids ahead of it are still to be checked; null:
   * nothing to check.
   */
  #setBackMono: number | null = null
  #hasToMove = false

  constructor({ store, clock, random, config, storeClock }: MembershipOptions) {
    this.#store = store
    this.#clock = clock
    this.#random = random
    this.#config = config
    this.#storeNow = storeClock.now
  }

  /** The node has this slot from now on. */
  begin({ slot, idFloor }: { readonly slot: number; readonly idFloor: number }): void {
    this.#minter = createMinter({ slot, floor: idFloor, now: this.#storeNow, random: this.#random })
  }

  mint(): number {
    if (!this.#minter) throw new PunctualError('node_stopping', 'this node has not joined yet')
    return this.#minter.mint()
  }

  /** No id above this one was minted; 0 before the node has joined. */
  get mark(): number {
    return this.#minter?.mark ?? 0
  }

  learnHighest(id: number): void {
    this.#highestId = id
  }

  hasFutureIds(): boolean {
    return this.#highestId > idAtMs(this.#storeNow() + MAX_ID_LEAD_MS)
  }

  clockSetBack(): void {
    // Some node has minted ids up to here.
    this.#highestId = Number.MAX_SAFE_INTEGER
    this.#setBackMono = this.#clock.mono()
    this.#hasToMove = true
  }

  /** Moves to another slot if the id mark of this one lies ahead of the trusted time. */
  async leaveSlotAhead(node: number): Promise<void> {
    if (!this.#hasToMove) return
    if (this.#minter && this.mark > idAtMs(this.#storeNow() + MAX_ID_LEAD_MS)) {
      const { nodeTtlMs: ttlMs } = this.#config
      const changed = await this.#store.changeSlot({ node, ttlMs, idMark: this.mark })
      if (changed) this.begin(changed)
    }
    this.#hasToMove = false
  }

  /** Ids ahead of the trusted time are complete once no node uses the earlier clock. */
  async findHighestId(): Promise<void> {
    const sinceMono = this.#setBackMono
    if (sinceMono === null || this.#clock.mono() - sinceMono < PEERS_FOLLOW_MS) return
    const { highestId } = await this.#store.clockFacts()
    this.#highestId = highestId
    this.#setBackMono = null
  }
}
