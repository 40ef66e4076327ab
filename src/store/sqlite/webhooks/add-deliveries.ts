import type { Database } from 'better-sqlite3'
import type { NewDelivery } from '../../port.ts'

/** A test delivery also goes to a disabled webhook: users try it before they enable it. */
export const ADD_DELIVERY = `
  INSERT INTO delivery (id, webhook_id, run_id, event, body, state, attempts, since, created_at,
                        next_at)
  SELECT :id, :webhookId, :runId, :event, :body, 0, 0, :now, :now, :now
    FROM webhook WHERE id = :webhookId AND (enabled = 1 OR :runId IS NULL)`

/** False if there is no such webhook. */
export type AddDelivery = (delivery: NewDelivery, now: number) => boolean

export function prepareAddDelivery(db: Database): AddDelivery {
  const add = db.prepare(ADD_DELIVERY)
  return ({ id, webhookId, runId, event, body }, now) =>
    add.run({ id, webhookId, runId, event, body, now }).changes === 1
}
