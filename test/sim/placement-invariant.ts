import type { Database } from 'better-sqlite3'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import { createQueueOrderInvariant, type WaitingRun } from './queue-order-invariant.ts'
import type { WorkerOffer } from './sim-worker.ts'
import type { GroundTruth } from './ground-truth.ts'

/** What the simulator knows of nodes and sessions, independent of the product's view. */
export interface PlacementContext {
  readonly nowMs: () => number
  /** The queues a worker was started with, in its order of preference, and its slots. */
  offerOf(worker: string): WorkerOffer | undefined
  /** Since when the node has had no fault. */
  inTouchSinceMs(node: number): number
  /** Since when this node is the only one. */
  aloneSinceMs(): number
}

/** A tick that started before a run arrived cannot know it for this long. */
const TICK_MS = 20
/** A run submitted at another node is seen by the next refresh. */
const PROPAGATION_MS = DEFAULT_CONFIG.laneRefreshMs + TICK_MS

const WATCH = `
  CREATE TEMP TABLE placed (n INTEGER PRIMARY KEY, run_id, is_now, lane_id, rank, pos, node, session, at);
  CREATE TEMP TRIGGER watch_arrival AFTER INSERT ON run BEGIN
    INSERT INTO placed (run_id, is_now, lane_id, rank, pos, node, session, at)
    VALUES (NEW.id, NEW.status, NEW.lane_id, NEW.rank, NEW.pos, NEW.node, NEW.session, sim_now());
  END;
  CREATE TEMP TRIGGER watch_placing AFTER UPDATE OF status ON run WHEN NEW.status IS NOT OLD.status BEGIN
    INSERT INTO placed (run_id, is_now, lane_id, rank, pos, node, session, at)
    VALUES (NEW.id, NEW.status, NEW.lane_id, NEW.rank, NEW.pos, NEW.node, NEW.session, sim_now());
  END;`

interface PlacementChange {
  readonly n: number
  readonly run_id: number
  readonly is_now: number
  readonly lane_id: number
  readonly rank: number
  readonly pos: number
  readonly node: number | null
  readonly session: number | null
  readonly at: number
}

/**
 * S2.6: a slot goes to the first of its worker's queues that has work for it, and no run waits there for more
 * than its turn. Checked from the rows alone: which runs waited since when, and which were granted meanwhile.
 */
export function createPlacementInvariant(
  db: Database,
  truth: GroundTruth,
  context: PlacementContext,
): { check(): void } {
  db.function('sim_now', () => context.nowMs())
  db.exec(WATCH)
  const newRows = db.prepare<[number], PlacementChange>(
    'SELECT * FROM placed WHERE n > ? ORDER BY n',
  )
  const lane = db.prepare<[number], { queue: string; weight: number }>(
    'SELECT queue, weight FROM lane WHERE id = ?',
  )
  const worker = db.prepare<[number], string>('SELECT name FROM session WHERE id = ?').pluck()
  const ready = new Map<number, WaitingRun>()
  const queueOrder = createQueueOrderInvariant(truth)
  let last = 0

  const judge = ({ run_id, lane_id, node, session, at }: PlacementChange) => {
    const name = worker.get(session ?? 0)
    const offer = name === undefined ? undefined : context.offerOf(name)
    const grantedQueue = lane.get(lane_id)?.queue
    if (!offer || grantedQueue === undefined || node === null) return
    // A node that was out of touch or missed an answer has to refresh first.
    if (context.inTouchSinceMs(node) > at - 2 * PROPAGATION_MS) return
    // A single node learns of everything itself: only a running tick excuses it.
    const aloneMs = context.aloneSinceMs() + 2 * PROPAGATION_MS
    const propagationMs = (sinceMs: number) => (sinceMs >= aloneMs ? TICK_MS : PROPAGATION_MS)
    queueOrder.granted(
      { runId: run_id, queue: grantedQueue, laneId: lane_id, node, atMs: at },
      ({ sinceMs }) => sinceMs <= at - propagationMs(sinceMs),
    )
    const earlier = offer.queues.slice(0, offer.queues.indexOf(grantedQueue))
    for (const [runId, { queue, weight, sinceMs }] of ready) {
      if (sinceMs > at - propagationMs(sinceMs) || weight > offer.slots || !earlier.includes(queue))
        continue
      const detail = `${name} got run ${run_id} of ${grantedQueue} while run ${runId} waited in ${queue} for ${at - sinceMs} ms`
      truth.violate('S2.6 a later queue was served before an earlier one', detail)
    }
  }

  return {
    check() {
      for (const change of newRows.all(last)) {
        last = change.n
        const { run_id, is_now, lane_id, rank, pos, at } = change
        ready.delete(run_id)
        queueOrder.left(run_id)
        if (is_now === 1) judge(change)
        const spec = is_now === 0 ? lane.get(lane_id) : undefined
        if (!spec) continue
        const waiting = { ...spec, laneId: lane_id, rank, pos, sinceMs: at }
        ready.set(run_id, waiting)
        queueOrder.joined(run_id, waiting)
      }
    },
  }
}
