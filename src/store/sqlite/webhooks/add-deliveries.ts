import type { Database } from 'better-sqlite3'
import type { NewDelivery } from '../../port.ts'

/** A test goes to a webhook that is disabled too: people try before they switch it on. */
export const ADD_DELIVERY = `
  INSERT INTO delivery (id, webhook_id, run_id, event, body, state, attempts, since, created_at,
                        next_at)
  SELECT :id, :webhookId, :runId, :event, :body, 0, 0, :now, :now, :now
    FROM webhook WHERE id = :webhookId AND (enabled = 1 OR :runId IS NULL)`

/** False if there is nobody to deliver to. */
export type AddDelivery = (delivery: NewDelivery, now: number) => boolean

export function prepareAddDelivery(db: Database): AddDelivery {
  const add = db.prepare(ADD_DELIVERY)
  return ({ id, webhookId, runId, event, body }, now) =>
    add.run({ id, webhookId, runId, event, body, now }).changes === 1
}
