import type { Database } from 'better-sqlite3'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import { createLineLaw, type Standing } from './queue-order-invariant.ts'
import type { WorkerOffer } from './sim-worker.ts'
import type { Truth } from './ground-truth.ts'

/** What the simulator knows of a node and of a session, apart from what the product believes. */
export interface Surroundings {
  readonly nowMs: () => number
  /** The queues a worker was made with, in its order of preference, and its slots. */
  offerOf(worker: string): WorkerOffer | undefined
  /** Since when the node has been in touch with everything. */
  inTouchSinceMs(node: number): number
  /** Since when there is one node and no other. */
  aloneSinceMs(): number
}

/** How long a tick can have been under way that knew nothing of a run yet. */
const TICK_MS = 20
/** What came in at another node is seen by the next look. */
const NEWS_MS = DEFAULT_CONFIG.laneRefreshMs + TICK_MS

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

interface Placed {
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
 * S2.6: a slot goes to the first of its worker's queues that has work for it, and nobody waits there for
 * more than its turn. Judged from the rows alone: who stood in line, since when, and who was given what
 * meanwhile.
 */
export function createPlacementLaw(
  db: Database,
  truth: Truth,
  around: Surroundings,
): { check(): void } {
  db.function('sim_now', () => around.nowMs())
  db.exec(WATCH)
  const news = db.prepare<[number], Placed>('SELECT * FROM placed WHERE n > ? ORDER BY n')
  const lane = db.prepare<[number], { queue: string; weight: number }>(
    'SELECT queue, weight FROM lane WHERE id = ?',
  )
  const worker = db.prepare<[number], string>('SELECT name FROM session WHERE id = ?').pluck()
  const ready = new Map<number, Standing>()
  const line = createLineLaw(truth)
  let last = 0

  const judge = ({ run_id, lane_id, node, session, at }: Placed) => {
    const name = worker.get(session ?? 0)
    const offer = name === undefined ? undefined : around.offerOf(name)
    const taken = lane.get(lane_id)?.queue
    if (!offer || taken === undefined || node === null) return
    // Whoever was out of touch, or missed an answer, has to look once more.
    if (around.inTouchSinceMs(node) > at - 2 * NEWS_MS) return
    // A node on its own hears of everything itself: nothing excuses it but a tick under way.
    const aloneMs = around.aloneSinceMs() + 2 * NEWS_MS
    const newsMs = (sinceMs: number) => (sinceMs >= aloneMs ? TICK_MS : NEWS_MS)
    line.taken(
      { runId: run_id, queue: taken, laneId: lane_id, node, atMs: at },
      ({ sinceMs }) => sinceMs <= at - newsMs(sinceMs),
    )
    const earlier = offer.queues.slice(0, offer.queues.indexOf(taken))
    for (const [runId, { queue, weight, sinceMs }] of ready) {
      if (sinceMs > at - newsMs(sinceMs) || weight > offer.slots || !earlier.includes(queue))
        continue
      const detail = `${name} got run ${run_id} of ${taken} while run ${runId} waited in ${queue} for ${at - sinceMs} ms`
      truth.violate('S2.6 a later queue was served before an earlier one', detail)
    }
  }

  return {
    check() {
      for (const change of news.all(last)) {
        last = change.n
        const { run_id, is_now, lane_id, rank, pos, at } = change
        ready.delete(run_id)
        line.left(run_id)
        if (is_now === 1) judge(change)
        const spec = is_now === 0 ? lane.get(lane_id) : undefined
        if (!spec) continue
        const standing = { ...spec, laneId: lane_id, rank, pos, sinceMs: at }
        ready.set(run_id, standing)
        line.joined(run_id, standing)
      }
    },
  }
}
